//! Searches: the first and last reading that passes, the smallest value, and the series that have a passing reading.

use super::{Key, What, is_packed, moment, operator};
use crate::error;
use crate::query::records;
use crate::relation::{Bind, Choice, Relation, Statement, filter};
use crate::session::SqliteSession;
use sensormark_store::{Moment, Predicate, Query, StoreError};

const OPERATION: &str = "search readings";

/// The earliest reading in the range that passes; of several series at that time, the lowest's.
///
/// # Errors
/// What SQLite says.
pub fn first(
    session: &mut SqliteSession,
    query: &Query,
    predicate: Predicate,
) -> Result<Option<Moment>, StoreError> {
    if is_packed(session) {
        return records::first(session, query, predicate);
    }
    let choice = Choice::of(&query.series);
    let what = What::First(predicate.field, predicate.comparison);
    let statement = session.statement(key(query, what), |relation| {
        passing(relation, choice, predicate, false)
    });
    find(session, &statement, query, predicate.field)
}

/// The latest reading in the range that passes; of several series at that time, the lowest's.
///
/// # Errors
/// What SQLite says.
pub fn last(
    session: &mut SqliteSession,
    query: &Query,
    predicate: Predicate,
) -> Result<Option<Moment>, StoreError> {
    if is_packed(session) {
        return records::last(session, query, predicate);
    }
    let choice = Choice::of(&query.series);
    let what = What::Last(predicate.field, predicate.comparison);
    let statement = session.statement(key(query, what), |relation| {
        passing(relation, choice, predicate, true)
    });
    find(session, &statement, query, predicate.field)
}

/// The smallest value in the range, the earliest of equals.
///
/// # Errors
/// What SQLite says.
pub fn minimum(
    session: &mut SqliteSession,
    query: &Query,
    field: usize,
) -> Result<Option<Moment>, StoreError> {
    if is_packed(session) {
        return records::minimum(session, query, field);
    }
    let choice = Choice::of(&query.series);
    let statement = session.statement(key(query, What::Minimum(field)), |relation| {
        smallest(relation, choice, field)
    });
    find(session, &statement, query, field)
}

/// The series that have a passing reading in the range, ascending.
///
/// # Errors
/// What SQLite says.
pub fn matching(
    session: &mut SqliteSession,
    query: &Query,
    predicate: Predicate,
) -> Result<Vec<u32>, StoreError> {
    if is_packed(session) {
        return records::matching(session, query, predicate);
    }
    let choice = Choice::of(&query.series);
    let what = What::Matching(predicate.field, predicate.comparison);
    let statement = session.statement(key(query, what), |relation| {
        series_with(relation, choice, predicate)
    });
    let mut prepared = session.bound(&statement, query)?;
    let reader = session.reader(query.table);
    let columns = reader.columns(&session.design.tables[query.table].key);
    let mut rows = prepared.raw_query();
    let mut series = Vec::new();
    while let Some(row) = rows
        .next()
        .map_err(|cause| error::native(OPERATION, cause))?
    {
        series.push(reader.read(row, 0, columns)?);
    }
    series.sort_unstable();
    series.dedup();
    Ok(series)
}

fn key(query: &Query, what: What) -> Key {
    Key {
        table: query.table,
        choice: Choice::of(&query.series),
        what,
    }
}

/// Whether the order of rows says which series is the lowest.
fn is_ordered(relation: &Relation<'_>, choice: Choice) -> bool {
    choice == Choice::One || relation.in_series_order()
}

/// Time, value and series of the passing readings, the one asked for first.
fn passing(relation: &Relation<'_>, choice: Choice, predicate: Predicate, last: bool) -> Statement {
    let mut statement = Statement::default();
    let value = relation.field(predicate.field);
    let mut conditions = relation.chosen(choice, &mut statement);
    conditions.extend(relation.in_range(&mut statement));
    if let Some(has) = relation.has_any(sensormark_store::FieldSet::one(predicate.field)) {
        conditions.push(has);
    }
    let threshold = statement.parameter(Bind::Threshold);
    conditions.push(format!(
        "{value} {} {threshold}",
        operator(predicate.comparison)
    ));
    let direction = if last { " DESC" } else { "" };
    let mut order: Vec<String> = relation
        .coarse()
        .into_iter()
        .map(|span| format!("{span}{direction}"))
        .collect();
    order.push(format!("{}{direction}", relation.time()));
    if choice != Choice::One {
        order.extend(relation.series());
    }
    order.push(if last {
        relation.copy_descending()
    } else {
        relation.copy()
    });
    finish(relation, choice, statement, &value, &conditions, &order)
}

/// Time, value and series of the readings that have the field, smallest value first.
fn smallest(relation: &Relation<'_>, choice: Choice, field: usize) -> Statement {
    let mut statement = Statement::default();
    let value = relation.field(field);
    let mut conditions = relation.chosen(choice, &mut statement);
    conditions.extend(relation.in_range(&mut statement));
    conditions.extend(relation.has_any(sensormark_store::FieldSet::one(field)));
    let mut order = vec![value.clone(), relation.time()];
    if choice != Choice::One {
        order.extend(relation.series());
    }
    order.push(relation.copy());
    finish(relation, choice, statement, &value, &conditions, &order)
}

fn finish(
    relation: &Relation<'_>,
    choice: Choice,
    mut statement: Statement,
    value: &str,
    conditions: &[String],
    order: &[String],
) -> Statement {
    let mut columns = vec![relation.time(), value.to_owned()];
    columns.extend(relation.series());
    let limit = if is_ordered(relation, choice) {
        " LIMIT 1"
    } else {
        ""
    };
    statement.push(&format!(
        "SELECT {} FROM {}{} ORDER BY {}{limit}",
        columns.join(", "),
        relation.from(),
        filter(conditions),
        order.join(", ")
    ));
    statement
}

/// The series that have a passing reading.
fn series_with(relation: &Relation<'_>, choice: Choice, predicate: Predicate) -> Statement {
    let mut statement = Statement::default();
    let each = relation.each_series(choice, &mut statement);
    let mut conditions = match &each {
        Some(_) => vec![format!("{} = s.\"series\"", relation.series()[0])],
        None => relation.chosen(choice, &mut statement),
    };
    conditions.extend(relation.in_range(&mut statement));
    conditions.extend(relation.has_any(sensormark_store::FieldSet::one(predicate.field)));
    let threshold = statement.parameter(Bind::Threshold);
    conditions.push(format!(
        "{} {} {threshold}",
        relation.field(predicate.field),
        operator(predicate.comparison)
    ));
    let (from, filter) = (relation.from(), filter(&conditions));
    let text = match each {
        Some(each) => format!(
            "SELECT s.\"series\" FROM ({each}) AS s WHERE EXISTS (SELECT 1 FROM {from}{filter})"
        ),
        None if relation.series().is_empty() => format!("SELECT 0 FROM {from}{filter} LIMIT 1"),
        None if choice == Choice::One => format!(
            "SELECT {} FROM {from}{filter} LIMIT 1",
            relation.series().join(", ")
        ),
        None => format!(
            "SELECT DISTINCT {} FROM {from}{filter}",
            relation.series().join(", ")
        ),
    };
    statement.push(&text);
    statement
}

/// The first row as a moment. Where rows are not in the order of series, those that tie with it are looked through for the
/// lowest series.
fn find(
    session: &SqliteSession,
    statement: &Statement,
    query: &Query,
    field: usize,
) -> Result<Option<Moment>, StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let kind = session.design.schema.tables[query.table].fields[field].kind;
    let relation = Relation::new(&session.design, query.table);
    let mut prepared = session.bound(statement, query)?;
    let mut rows = prepared.raw_query();
    let Some(row) = rows.next().map_err(wrong)? else {
        return Ok(None);
    };
    let mut found = moment(row.get_ref_unwrap(0), row.get_ref_unwrap(1), kind)?;
    if is_ordered(&relation, Choice::of(&query.series)) {
        return Ok(Some(found));
    }
    let smallest = matches!(query.ask, sensormark_store::Ask::Minimum { .. });
    let reader = session.reader(query.table);
    let columns = relation.series().len();
    let mut lowest = reader.read(row, 2, columns)?;
    while let Some(row) = rows.next().map_err(wrong)? {
        let other = moment(row.get_ref_unwrap(0), row.get_ref_unwrap(1), kind)?;
        if other.time_ns != found.time_ns || (smallest && other.value != found.value) {
            break;
        }
        let series = reader.read(row, 2, columns)?;
        if series < lowest {
            (lowest, found) = (series, other);
        }
    }
    Ok(Some(found))
}
