//! Aggregates from sums kept at write time: the same groups, from a row a period and part of the day.

use super::aggregate::parts::output_type;
use super::aggregate::{self, GroupShape, Part};
use crate::relation::{Bind, Choice, Relation, Statement, filter};
use crate::session::SqliteSession;
use sensormark_store::{Aggregate, FieldType, Function, Group, Grouping, Query, Shape, StoreError};

const OPERATION: &str = "aggregate from sums";

/// The groups that aggregates over the range give.
///
/// # Errors
/// [`sensormark_store::ErrorKind::Unsupported`] for what the sums do not hold; what SQLite says.
pub fn aggregate(
    session: &mut SqliteSession,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
) -> Result<Vec<Group>, StoreError> {
    if let Some(reason) = not_in_sums(session, query, aggregates, grouping) {
        return Err(StoreError::unsupported(OPERATION, reason));
    }
    aggregate::run(session, query, aggregates, grouping, true, parts)
}

fn not_in_sums(
    session: &SqliteSession,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
) -> Option<&'static str> {
    let Shape::Summary { per_ns, split } = session.design.layout.shape else {
        return Some("no sums are kept at write time in this layout");
    };
    let off = |time: i64| time.rem_euclid(per_ns) != 0;
    let fields = &session.design.schema.tables[query.table].fields;
    if off(query.range.start_ns) || off(query.range.end_ns) {
        return Some("the range does not start and end with the periods of the sums");
    }
    if grouping
        .window
        .is_some_and(|window| off(window.width_ns) || off(window.origin_ns))
    {
        return Some("the windows are not made of whole periods of the sums");
    }
    if grouping.by_day_part.is_some_and(|wanted| wanted != split) {
        return Some("the sums are split into day and night at other times");
    }
    let kept = |aggregate: &Aggregate| match aggregate.function {
        Function::Count => true,
        Function::Sum | Function::Min | Function::Max | Function::Mean => {
            fields[aggregate.field].kind != FieldType::Text
        }
        Function::Last | Function::TimeWeightedShare | Function::MostFrequent => false,
    };
    (!aggregates.iter().all(kept)).then_some("the sums hold count, sum, minimum and maximum alone")
}

fn parts(
    relation: &Relation<'_>,
    choice: Choice,
    aggregates: &[Aggregate],
    shape: GroupShape,
) -> Vec<Part> {
    let Some(sums) = &relation.design.sums else {
        return Vec::new();
    };
    let mut statement = Statement::default();
    let (period, day) = (format!("r.{}", sums.period), format!("r.{}", sums.day));
    let groups = shape.columns(relation, &period, Some(&day), &mut statement);
    let mut conditions = relation.chosen(choice, &mut statement);
    conditions.push(format!("{period} >= {}", statement.parameter(Bind::Start)));
    conditions.push(format!("{period} < {}", statement.parameter(Bind::End)));
    let mut columns = groups.clone();
    let mut present = Vec::new();
    for Aggregate { function, field } in aggregates {
        let [count, sum, min, max] = &sums.fields[*field];
        let some = format!("sum(r.{count}) > 0");
        columns.push(match function {
            Function::Count => format!("sum(r.{count})"),
            Function::Min => format!("min(r.{min})"),
            Function::Max => format!("max(r.{max})"),
            Function::Mean => format!("sum(r.{sum}) * 1.0 / nullif(sum(r.{count}), 0)"),
            _ => format!("CASE WHEN {some} THEN sum(r.{sum}) END"),
        });
        present.push(some);
    }
    let by = if groups.is_empty() {
        String::new()
    } else {
        format!(" GROUP BY {}", groups.join(", "))
    };
    statement.push(&format!(
        "SELECT {} FROM {} AS r{}{}{by} HAVING {}",
        columns.join(", "),
        sums.table,
        shape.tags(relation),
        filter(&conditions),
        present.join(" OR ")
    ));
    let output = |(number, aggregate): (usize, &Aggregate)| {
        let kind = relation.table.fields[aggregate.field].kind;
        (number, output_type(aggregate.function, kind))
    };
    vec![Part {
        statement,
        outputs: aggregates.iter().enumerate().map(output).collect(),
        ties: false,
    }]
}
