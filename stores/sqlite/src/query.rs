//! Questions in SQL: each kind is a statement, built once for its shape and prepared once a connection.
//!
//! Readings are in [`readings`], searches in [`search`], aggregates in [`aggregate`], everything that is stored in [`scan`].

use crate::design::SeriesKey;
use crate::error;
use crate::relation::Choice;
use crate::session::{SqliteSession, end_ns};
use rusqlite::types::ValueRef;
use sensormark_store::record::json;
use sensormark_store::{
    Answer, Ask, Batch, Column, Comparison, FieldType, Moment, Query, Selection, Shape, StoreError,
    Table, TagColumn, Value, Values,
};

pub mod aggregate;
pub mod local;
pub mod readings;
pub mod records;
pub mod scan;
pub mod search;
pub mod sums;
#[cfg(test)]
mod tests;

/// What tells statements apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The table's number.
    pub table: usize,
    /// How series are chosen.
    pub choice: Choice,
    /// What is asked.
    pub what: What,
}

/// What a statement asks, without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// Readings of a range with the fields of this mask.
    Range(u64),
    /// Readings of one instant with the fields of this mask.
    Point(u64),
    /// The latest reading of each series with the fields of this mask.
    Latest(u64),
    /// The time of each series' latest reading with any of the fields of this mask.
    LatestTime(u64),
    /// Records whose spans meet the range.
    Records,
    /// Earliest passing value of a field.
    First(usize, Comparison),
    /// Latest passing value of a field.
    Last(usize, Comparison),
    /// Smallest value of a field.
    Minimum(usize),
    /// Series with a passing value of a field.
    Matching(usize, Comparison),
}

/// Answers a question.
///
/// # Errors
/// What SQLite says, or [`sensormark_store::ErrorKind::Unsupported`] where the layout cannot answer.
pub fn answer(session: &mut SqliteSession, query: &Query) -> Result<Answer, StoreError> {
    if asks_for_nothing(session, query) {
        return Ok(empty(session, query));
    }
    match &query.ask {
        Ask::Point { fields } | Ask::Range { fields, .. } => {
            readings::range(session, query, *fields).map(Answer::Readings)
        }
        Ask::LastReading { fields } => {
            readings::latest(session, query, *fields).map(Answer::Readings)
        }
        Ask::First(predicate) => search::first(session, query, *predicate).map(Answer::Moment),
        Ask::Last(predicate) => search::last(session, query, *predicate).map(Answer::Moment),
        Ask::Minimum { field } => search::minimum(session, query, *field).map(Answer::Moment),
        Ask::SeriesMatching(predicate) => {
            search::matching(session, query, *predicate).map(Answer::Series)
        }
        Ask::Aggregate {
            aggregates,
            grouping,
            from_sums: true,
        } => sums::aggregate(session, query, aggregates, *grouping).map(Answer::groups),
        Ask::Aggregate {
            aggregates,
            grouping,
            ..
        } => aggregate::aggregate(session, query, aggregates, *grouping).map(Answer::groups),
    }
}

/// Whether nothing can answer: an empty range, no series, or one that the schema does not have.
fn asks_for_nothing(session: &SqliteSession, query: &Query) -> bool {
    let count = session.design.schema.tables[query.table].series.len();
    let no_series = match &query.series {
        Selection::One(series) => *series >= count,
        Selection::Set(numbers) => numbers.iter().all(|&series| series >= count),
        Selection::Tagged { .. } | Selection::All => false,
    };
    no_series || query.range.start_ns >= end_ns(query)
}

fn empty(session: &SqliteSession, query: &Query) -> Answer {
    match query.ask {
        Ask::Point { .. } | Ask::Range { .. } | Ask::LastReading { .. } => Answer::Readings(
            Batch::new(query.table, &session.design.schema.tables[query.table]),
        ),
        Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => Answer::Moment(None),
        Ask::Aggregate { .. } => Answer::Groups(Vec::new()),
        Ask::SeriesMatching(_) => Answer::Series(Vec::new()),
    }
}

/// Whether rows are searched by the client, for SQLite does not look into them.
pub fn is_packed(session: &SqliteSession) -> bool {
    matches!(
        session.design.layout.shape,
        Shape::RecordPerSpan {
            encoding: sensormark_store::Encoding::Blob,
            ..
        }
    )
}

/// The comparison in SQL.
pub const fn operator(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Above => ">",
        Comparison::Below => "<",
    }
}

/// Series as a JSON array: of their numbers, of their tag, or of arrays of their tags.
pub fn set_text(key: &SeriesKey, table: &Table, series: impl Iterator<Item = u32>) -> String {
    let mut text = vec![b'['];
    for (place, number) in series.enumerate() {
        if place > 0 {
            text.push(b',');
        }
        let tag = |tag: usize, text: &mut Vec<u8>| match &table.series.columns()[tag] {
            TagColumn::Integer(values) => json::integer(values[number as usize], text),
            TagColumn::Text(values) => json::text(&values[number as usize], text),
        };
        match key {
            SeriesKey::Tags { identifying, .. } if identifying.len() == 1 => {
                tag(identifying[0], &mut text)
            }
            SeriesKey::Tags { identifying, .. } => {
                text.push(b'[');
                for (place, &number) in identifying.iter().enumerate() {
                    if place > 0 {
                        text.push(b',');
                    }
                    tag(number, &mut text);
                }
                text.push(b']');
            }
            _ => json::integer(i64::from(number), &mut text),
        }
    }
    text.push(b']');
    String::from_utf8(text).expect("JSON of UTF-8 is UTF-8")
}

/// A moment from a row's time and value.
pub fn moment(
    time: ValueRef<'_>,
    value: ValueRef<'_>,
    kind: FieldType,
) -> Result<Moment, StoreError> {
    Ok(Moment {
        time_ns: whole(time)?,
        value: value_of(value, kind)?,
    })
}

/// A whole number that a row holds.
pub fn whole(value: ValueRef<'_>) -> Result<i64, StoreError> {
    match value {
        ValueRef::Integer(value) => Ok(value),
        other => Err(wrong_type("a whole number", other)),
    }
}

/// A value that a row holds, of a field's type.
pub fn value_of(value: ValueRef<'_>, kind: FieldType) -> Result<Value, StoreError> {
    match (kind, value) {
        (_, ValueRef::Null) => Ok(Value::Null),
        (FieldType::Bool, ValueRef::Integer(value @ (0 | 1))) => Ok(Value::Bool(value == 1)),
        (FieldType::I64 | FieldType::U16, ValueRef::Integer(value)) => Ok(Value::I64(value)),
        (FieldType::F64, ValueRef::Real(value)) => Ok(Value::F64(value)),
        (FieldType::Text, ValueRef::Text(text)) => match std::str::from_utf8(text) {
            Ok(text) => Ok(Value::Text(text.to_owned())),
            Err(cause) => {
                Err(error::unexpected("read a value", "text is not UTF-8").with_source(cause))
            }
        },
        (_, other) => Err(wrong_type("a value of the field's type", other)),
    }
}

/// Appends a row's value to a column, without a detour for values that are there.
pub fn push(column: &mut Column, value: ValueRef<'_>) -> Result<(), StoreError> {
    match (&mut column.values, value) {
        (_, ValueRef::Null) => {
            column.push_null();
            return Ok(());
        }
        (Values::Bool(values), ValueRef::Integer(value @ (0 | 1))) => values.push(value == 1),
        (Values::I64(values), ValueRef::Integer(value)) => values.push(value),
        (Values::U16(values), ValueRef::Integer(value)) => match u16::try_from(value) {
            Ok(value) => values.push(value),
            Err(_) => {
                return Err(error::unexpected(
                    "read a value",
                    "a 16-bit number is out of range",
                ));
            }
        },
        (Values::F64(values), ValueRef::Real(value)) => values.push(value),
        (Values::Text(values), ValueRef::Text(text)) => match std::str::from_utf8(text) {
            Ok(text) => values.push(text),
            Err(cause) => {
                return Err(
                    error::unexpected("read a value", "text is not UTF-8").with_source(cause)
                );
            }
        },
        (_, other) => return Err(wrong_type("a value of the field's type", other)),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

fn wrong_type(wanted: &str, got: ValueRef<'_>) -> StoreError {
    error::unexpected(
        "read a value",
        format!("a row holds {} in place of {wanted}", got.data_type()),
    )
}
