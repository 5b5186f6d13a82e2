//! Questions that a moment or a list of series answers: first, last, minimum, and series that match.

use super::slot::Slot;
use super::source::Source;
use super::sql::Sql;
use super::{Reader, cells};
use crate::connection::cell;
use crate::schema::Model;
use mysql_async::Row;
use sensormark_store::{
    Answer, Ask, Comparison, ErrorKind, FieldSet, FieldType, Moment, Predicate, Query, StoreError,
};

/// The statement for the earliest reading that passes, the latest one, or the smallest value.
pub(crate) fn moment_statement(model: &Model, query: &Query) -> Result<Sql, StoreError> {
    const OPERATION: &str = "search";
    let field = field_of(query);
    let source = Source::new(model, query, one_field(model, query, field)?)?;
    require_numeric(OPERATION, source.table.fields[field].kind)?;
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
    source.push_where(&mut sql);
    let mut order = source.order();
    match &query.ask {
        Ask::First(predicate) => push_predicate(&mut sql, &source, *predicate),
        Ask::Last(predicate) => {
            push_predicate(&mut sql, &source, *predicate);
            for column in &mut order {
                column.push_str(" DESC");
            }
        }
        _ => {
            sql.and().push(&source.field(field)).push(" IS NOT NULL");
            order.insert(0, source.field(field));
        }
    }
    if !source.is_single(query) {
        order.extend(source.identity());
    }
    sql.push(" ORDER BY ").list(&order).push(" LIMIT 1");
    Ok(sql)
}

/// The statement for the series that have a reading which passes.
pub(crate) fn matching_statement(
    model: &Model,
    query: &Query,
    predicate: Predicate,
) -> Result<Sql, StoreError> {
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
    source.push_where(&mut sql);
    push_predicate(&mut sql, &source, predicate);
    if identity.is_empty() {
        sql.push(" LIMIT 1");
    }
    Ok(sql)
}

impl Reader<'_> {
    /// Finds a moment.
    pub(crate) async fn moment(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let asked = self.asked(query)?;
        let field = field_of(query);
        let source = Source::new(self.model, query, FieldSet::one(field))?;
        let kind = source.table.fields[field].kind;
        let mut found = None;
        let mut sink = |row: Row| {
            found = Some(Moment {
                time_ns: cell::integer(&row, 0)?,
                value: cells::value(&row, 1, kind)?,
            });
            Ok(())
        };
        self.rows("search", &asked[0], query, &source, &mut sink)
            .await?;
        Ok(Answer::Moment(found))
    }

    /// Finds the series that have a reading which passes.
    pub(crate) async fn matching(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let asked = self.asked(query)?;
        let source = Source::new(self.model, query, FieldSet::first(0))?;
        let mut series = Vec::new();
        let mut sink = |row: Row| {
            series.push(source.described.series.of_row(&row, 0)?);
            Ok(())
        };
        self.rows("find series", &asked[0], query, &source, &mut sink)
            .await?;
        series.sort_unstable();
        Ok(Answer::Series(series))
    }
}

/// The field that is searched.
fn field_of(query: &Query) -> usize {
    match &query.ask {
        Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
            predicate.field
        }
        Ask::Minimum { field } => *field,
        _ => usize::MAX,
    }
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
    sql.marks(1, Slot::Threshold);
}
