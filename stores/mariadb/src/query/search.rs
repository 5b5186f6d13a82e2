//! Questions that a moment or a list of series answers: first, last, minimum, and series that match.

use super::cells;
use super::source::Source;
use super::sql::Sql;
use crate::connection::{Link, cell};
use crate::schema::Model;
use mysql_async::Value;
use sensormark_store::{
    Answer, Comparison, ErrorKind, FieldSet, FieldType, Moment, Predicate, Query, StoreError,
};

/// Which moment is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Search {
    /// The earliest reading that passes.
    First(Predicate),
    /// The latest reading that passes.
    Last(Predicate),
    /// The smallest value of a field.
    Minimum(usize),
}

/// Finds a moment.
pub(crate) async fn moment(
    link: &mut Link,
    model: &Model,
    query: &Query,
    search: Search,
) -> Result<Answer, StoreError> {
    const OPERATION: &str = "search";
    let field = match search {
        Search::First(predicate) | Search::Last(predicate) => predicate.field,
        Search::Minimum(field) => field,
    };
    let source = Source::new(model, query, one_field(model, query, field)?)?;
    let kind = source.table.fields[field].kind;
    require_numeric(OPERATION, kind)?;
    let numbered = source.described.tags.is_some();
    if !source.is_single(query) && !numbered {
        return Err(StoreError::unsupported(
            OPERATION,
            "inline tags have no order of series: ask about one series, or keep tags in a table of their own",
        ));
    }
    let mut sql = Sql::new("SELECT ");
    sql.list(&[source.time(), source.field(field)]);
    source.push_from(&mut sql, false);
    source.push_where(&mut sql, query);
    let mut order = source.order();
    match search {
        Search::First(predicate) => push_predicate(&mut sql, &source, predicate),
        Search::Last(predicate) => {
            push_predicate(&mut sql, &source, predicate);
            for column in &mut order {
                column.push_str(" DESC");
            }
        }
        Search::Minimum(_) => {
            sql.and().push(&source.field(field)).push(" IS NOT NULL");
            order.insert(0, source.field(field));
        }
    }
    if !source.is_single(query) {
        order.extend(source.identity());
    }
    sql.push(" ORDER BY ").list(&order).push(" LIMIT 1");
    let mut found = None;
    link.rows(OPERATION, &sql.text, sql.parameters, &mut |row| {
        found = Some(Moment {
            time_ns: cell::integer(&row, 0)?,
            value: cells::value(&row, 1, kind)?,
        });
        Ok(())
    })
    .await?;
    Ok(Answer::Moment(found))
}

/// The series that have a reading which passes.
pub(crate) async fn matching(
    link: &mut Link,
    model: &Model,
    query: &Query,
    predicate: Predicate,
) -> Result<Answer, StoreError> {
    const OPERATION: &str = "find series";
    let source = Source::new(model, query, one_field(model, query, predicate.field)?)?;
    require_numeric(OPERATION, source.table.fields[predicate.field].kind)?;
    let identity: Vec<String> = source.identity().collect();
    let mut sql = Sql::default();
    if identity.is_empty() {
        sql.push("SELECT 1");
    } else {
        sql.push("SELECT DISTINCT ").list(&identity);
    }
    source.push_from(&mut sql, false);
    if let Some(index) = source.secondary_index() {
        // In the order of an index, for the sake of DISTINCT, all readings would be looked up one by one.
        sql.push(&format!(" IGNORE INDEX FOR GROUP BY ({index})"));
    }
    source.push_where(&mut sql, query);
    push_predicate(&mut sql, &source, predicate);
    if identity.is_empty() {
        sql.push(" LIMIT 1");
    }
    let mut series = Vec::new();
    link.rows(OPERATION, &sql.text, sql.parameters, &mut |row| {
        series.push(source.described.series.of_row(&row, 0)?);
        Ok(())
    })
    .await?;
    series.sort_unstable();
    Ok(Answer::Series(series))
}

/// The set of one field, which must be there.
pub(crate) fn one_field(
    model: &Model,
    query: &Query,
    field: usize,
) -> Result<FieldSet, StoreError> {
    let (table, _) = model.table(query.table)?;
    if field < table.fields.len() {
        return Ok(FieldSet::one(field));
    }
    Err(StoreError::new(
        ErrorKind::NotFound,
        "find a field",
        format!("table {} has no field number {field}", table.name),
    ))
}

fn require_numeric(operation: &str, kind: FieldType) -> Result<(), StoreError> {
    if kind == FieldType::Text {
        return Err(StoreError::unsupported(
            operation,
            "text has no threshold and no minimum",
        ));
    }
    Ok(())
}

fn push_predicate(sql: &mut Sql, source: &Source<'_>, predicate: Predicate) {
    let sign = match predicate.comparison {
        Comparison::Above => " > ",
        Comparison::Below => " < ",
    };
    sql.and().push(&source.field(predicate.field)).push(sign);
    sql.parameters(vec![Value::Double(predicate.threshold)]);
}
