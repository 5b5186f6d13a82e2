//! Records of a span, read whole and decoded; and, where they are packed, searched here.

use super::{Key, What, readings, whole};
use crate::error;
use crate::relation::{Choice, Relation, Statement, filter};
use crate::session::{SqliteSession, end_ns};
use rusqlite::types::ValueRef;
use sensormark_store::client_side::{self, moment};
use sensormark_store::record::{Wanted, blob, json};
use sensormark_store::{Batch, Encoding, FieldSet, Moment, Predicate, Query, Shape, StoreError};

const OPERATION: &str = "read records";

/// The readings of the range with the chosen fields, in the order of series and time.
///
/// # Errors
/// What SQLite says, or that a record could not be decoded.
pub fn range(
    session: &mut SqliteSession,
    query: &Query,
    fields: FieldSet,
) -> Result<Batch, StoreError> {
    let choice = Choice::of(&query.series);
    let key = Key {
        table: query.table,
        choice,
        what: What::Records,
    };
    let statement = session.statement(key, |relation| {
        let mut statement = Statement::default();
        let mut conditions = relation.chosen(choice, &mut statement);
        conditions.extend(relation.in_spans(&mut statement));
        select(relation, &conditions, &mut statement);
        statement
    });
    let mut prepared = session.bound(&statement, query)?;
    let mut batch = Batch::new(query.table, &session.design.schema.tables[query.table]);
    let last_ns = end_ns(query).saturating_sub(1);
    let mut rows = prepared.raw_query();
    while let Some(row) = rows
        .next()
        .map_err(|cause| error::native(OPERATION, cause))?
    {
        decode(
            session,
            row,
            (query.range.start_ns, last_ns),
            fields,
            &mut batch,
        )?;
    }
    Ok(with_any(batch, fields).sorted())
}

/// Selects records as [`decode`] expects them: span, size, data, series.
pub fn select(relation: &Relation<'_>, conditions: &[String], statement: &mut Statement) {
    let values = relation.field_and_value();
    let span = relation.coarse().unwrap_or_default();
    let data = match relation.shape {
        Shape::RecordPerSpan {
            encoding: Encoding::BinaryJson,
            ..
        } => format!("json({})", values[1]),
        _ => values[1].clone(),
    };
    let mut columns = vec![span.clone(), values[0].clone(), data];
    columns.extend(relation.series());
    let mut order = relation.series();
    order.push(span);
    order.push(relation.records_copy());
    statement.push(&format!(
        "SELECT {} FROM {}{} ORDER BY {}",
        columns.join(", "),
        relation.records(),
        filter(conditions),
        order.join(", ")
    ));
}

/// Appends the wanted readings of a record; times from `wanted.0` to `wanted.1`, both included.
pub fn decode(
    session: &SqliteSession,
    row: &rusqlite::Row<'_>,
    (from_ns, to_ns): (i64, i64),
    fields: FieldSet,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let Shape::RecordPerSpan { span_ns, .. } = session.design.layout.shape else {
        return Err(error::unexpected(OPERATION, "the layout has no records"));
    };
    let reader = session.reader(batch.table);
    let columns = reader.columns(&session.design.tables[batch.table].key);
    let wanted = Wanted {
        series: reader.read(row, 3, columns)?,
        start_ns: whole(row.get_ref_unwrap(0))?.wrapping_mul(span_ns),
        from_ns,
        to_ns,
        fields,
    };
    match row.get_ref_unwrap(2) {
        ValueRef::Blob(bytes) => blob::decode(bytes, &wanted, batch),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|cause| {
                error::unexpected(OPERATION, "a record is not UTF-8").with_source(cause)
            })?;
            json::decode(text, &wanted, batch)
        }
        other => Err(error::unexpected(
            OPERATION,
            format!("a record holds {}", other.data_type()),
        )),
    }
}

/// The readings that have any of the fields.
fn with_any(batch: Batch, fields: FieldSet) -> Batch {
    let has = |row: usize| fields.iter().any(|field| batch.columns[field].has(row));
    if (0..batch.len()).all(has) {
        return batch;
    }
    let mut kept = batch.clone();
    kept.clear();
    for row in (0..batch.len()).filter(|&row| has(row)) {
        kept.push_row(&batch, row);
    }
    kept
}

/// The latest reading of each series that has any of the fields.
///
/// # Errors
/// As [`range`].
pub fn latest(
    session: &mut SqliteSession,
    query: &Query,
    fields: FieldSet,
) -> Result<Batch, StoreError> {
    range(session, query, fields).map(readings::last_of_each)
}

/// The earliest passing reading; of several series at that time, the lowest's.
///
/// # Errors
/// As [`range`].
pub fn first(
    session: &mut SqliteSession,
    query: &Query,
    predicate: Predicate,
) -> Result<Option<Moment>, StoreError> {
    let batch = range(session, query, FieldSet::one(predicate.field))?;
    let found =
        passing(&batch, predicate).min_by_key(|&row| (batch.times_ns[row], batch.series[row], row));
    Ok(found.map(|row| moment(&batch, predicate.field, row)))
}

/// The latest passing reading; of several series at that time, the lowest's.
///
/// # Errors
/// As [`range`].
pub fn last(
    session: &mut SqliteSession,
    query: &Query,
    predicate: Predicate,
) -> Result<Option<Moment>, StoreError> {
    let batch = range(session, query, FieldSet::one(predicate.field))?;
    let found = passing(&batch, predicate).max_by_key(|&row| {
        (
            batch.times_ns[row],
            std::cmp::Reverse(batch.series[row]),
            row,
        )
    });
    Ok(found.map(|row| moment(&batch, predicate.field, row)))
}

/// The smallest value, the earliest of equals.
///
/// # Errors
/// As [`range`].
pub fn minimum(
    session: &mut SqliteSession,
    query: &Query,
    field: usize,
) -> Result<Option<Moment>, StoreError> {
    let batch = range(session, query, FieldSet::one(field))?;
    Ok(client_side::minimum(&batch, field))
}

/// The series with a passing reading, ascending.
///
/// # Errors
/// As [`range`].
pub fn matching(
    session: &mut SqliteSession,
    query: &Query,
    predicate: Predicate,
) -> Result<Vec<u32>, StoreError> {
    let batch = range(session, query, FieldSet::one(predicate.field))?;
    let mut series: Vec<u32> = passing(&batch, predicate)
        .map(|row| batch.series[row])
        .collect();
    series.dedup();
    Ok(series)
}

fn passing(batch: &Batch, predicate: Predicate) -> impl Iterator<Item = usize> {
    let column = &batch.columns[predicate.field];
    (0..batch.len()).filter(move |&row| {
        column
            .number(row)
            .is_some_and(|value| predicate.passes(value))
    })
}
