//! Answering questions. A store of a database plans a statement here, sends it, and decodes its rows.

use sensormark_store::client_side::{self, group_names, groups};
use sensormark_store::{
    Answer, Ask, Batch, Column, FieldSet, Predicate, Query, Selection, StoreError, Table,
};
use std::cmp::Reverse;

/// The answer over these readings of a table.
///
/// # Errors
/// [`sensormark_store::ErrorKind::Unsupported`] for sums kept at write time.
pub fn answer(readings: &Batch, table: &Table, query: &Query) -> Result<Answer, StoreError> {
    let has_any = |fields: FieldSet, row: usize| {
        let mut columns = readings.columns.iter().enumerate();
        columns.any(|(field, column)| fields.contains(field) && column.has(row))
    };
    let passes = |predicate: &Predicate, row: usize| {
        let number = readings.columns[predicate.field].number(row);
        number.is_some_and(|number| predicate.passes(number))
    };
    let time = |row: usize| readings.times_ns[row];
    let chosen = || (0..readings.len()).filter(|&row| is_chosen(readings, row, table, query));
    let moment = |field, row: Option<usize>| {
        Answer::Moment(row.map(|row| client_side::moment(readings, field, row)))
    };
    Ok(match &query.ask {
        Ask::Point { fields } | Ask::Range { fields, .. } => {
            let rows = chosen().filter(|&row| has_any(*fields, row));
            Answer::Readings(some_fields(taken(readings, table, rows), table, *fields))
        }
        Ask::First(predicate) => {
            let rows = chosen().filter(|&row| passes(predicate, row));
            let first = rows.min_by_key(|&row| (time(row), readings.series[row]));
            moment(predicate.field, first)
        }
        Ask::Last(predicate) => {
            let rows = chosen().filter(|&row| passes(predicate, row));
            let last = rows.max_by_key(|&row| (time(row), Reverse(readings.series[row])));
            moment(predicate.field, last)
        }
        Ask::Minimum { field } => {
            let rows = chosen().filter(|&row| readings.columns[*field].has(row));
            let least = client_side::minimum(&taken(readings, table, rows), *field);
            Answer::Moment(least)
        }
        Ask::LastReading { fields } => {
            let rows = chosen().filter(|&row| has_any(*fields, row));
            let all = taken(readings, table, rows);
            let is_last = |row: &usize| all.series.get(row + 1) != Some(&all.series[*row]);
            let last = taken(&all, table, (0..all.len()).filter(is_last));
            Answer::Readings(some_fields(last, table, *fields))
        }
        Ask::SeriesMatching(predicate) => {
            let rows = chosen().filter(|&row| passes(predicate, row));
            let mut series: Vec<u32> = rows.map(|row| readings.series[row]).collect();
            series.sort_unstable();
            series.dedup();
            Answer::Series(series)
        }
        Ask::Aggregate {
            from_sums: true, ..
        } => {
            let reason = "no sums are kept at write time";
            return Err(StoreError::unsupported("aggregate from sums", reason));
        }
        Ask::Aggregate {
            aggregates,
            grouping,
            ..
        } => {
            let wanted = aggregates.iter().map(|one| one.field);
            let wanted = wanted.fold(FieldSet::first(0), FieldSet::with);
            let rows = chosen().filter(|&row| has_any(wanted, row));
            let found = taken(readings, table, rows);
            let names = group_names(&table.series, *grouping);
            Answer::groups(groups(&found, names, query, aggregates, *grouping))
        }
    })
}

/// Whether a reading is of a chosen series and in the range.
fn is_chosen(readings: &Batch, row: usize, table: &Table, query: &Query) -> bool {
    let (series, time) = (readings.series[row], readings.times_ns[row]);
    let in_range = match query.ask {
        Ask::Point { .. } => time == query.range.start_ns,
        _ => query.range.contains(time),
    };
    in_range
        && match &query.series {
            Selection::One(one) => series == *one,
            Selection::Set(set) => set.contains(&series),
            Selection::Tagged { tag, value } => {
                *table.series.columns()[*tag].text(series) == **value
            }
            Selection::All => true,
        }
}

/// These rows, in the order of series and time.
fn taken(readings: &Batch, table: &Table, rows: impl Iterator<Item = usize>) -> Batch {
    let mut taken = Batch::new(readings.table, table);
    rows.for_each(|row| taken.push_row(readings, row));
    taken.sorted()
}

/// The readings with these fields alone.
fn some_fields(mut readings: Batch, table: &Table, fields: FieldSet) -> Batch {
    for (number, field) in table.fields.iter().enumerate() {
        if !fields.contains(number) {
            readings.columns[number] = Column::absent(field.kind);
        }
    }
    readings
}
