//! Answering questions. A store of a database plans a statement here, sends it, and decodes its rows.

use sensormark_store::client_side::{self, group_names, groups};
use sensormark_store::{
    Aggregate, Answer, Ask, Batch, Column, FieldSet, Grouping, Predicate, Query, Selection,
    StoreError, Table,
};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The answer over these readings of a table.
///
/// # Errors
/// [`sensormark_store::ErrorKind::Unsupported`] for sums kept at write time.
pub fn answer(readings: &Batch, table: &Table, query: &Query) -> Result<Answer, StoreError> {
    let rows = (0..readings.len()).filter(|&row| is_chosen(readings, row, table, query));
    let found = taken(readings, table, rows);
    let with_any = |fields: FieldSet| {
        let has_any = |row: &usize| {
            let mut columns = found.columns.iter().enumerate();
            columns.any(|(field, column)| fields.contains(field) && column.has(*row))
        };
        taken(&found, table, (0..found.len()).filter(has_any))
    };
    Ok(match &query.ask {
        Ask::Point { fields } | Ask::Range { fields, .. } => {
            Answer::Readings(some_fields(with_any(*fields), table, *fields))
        }
        Ask::LastReading { fields } => {
            let all = with_any(*fields);
            let is_last = |row: &usize| all.series.get(row + 1) != Some(&all.series[*row]);
            let last = taken(&all, table, (0..all.len()).filter(is_last));
            Answer::Readings(some_fields(last, table, *fields))
        }
        Ask::Minimum { field } => {
            let all = with_any(FieldSet::one(*field));
            Answer::Moment(client_side::minimum(&all, *field))
        }
        Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
            passing(&found, predicate, &query.ask)
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
            let all = with_any(wanted.fold(FieldSet::first(0), FieldSet::with));
            aggregated(&all, table, query, aggregates, *grouping)
        }
    })
}

/// What is asked of the readings that pass.
fn passing(found: &Batch, predicate: &Predicate, ask: &Ask) -> Answer {
    let column = &found.columns[predicate.field];
    let passes = |row: &usize| {
        let number = column.number(*row);
        number.is_some_and(|number| predicate.passes(number))
    };
    let rows = (0..found.len()).filter(passes);
    let row = match ask {
        Ask::First(_) => rows.min_by_key(|&row| (found.times_ns[row], found.series[row])),
        Ask::Last(_) => rows.max_by_key(|&row| (found.times_ns[row], Reverse(found.series[row]))),
        _ => {
            let series: BTreeSet<u32> = rows.map(|row| found.series[row]).collect();
            return Answer::Series(series.into_iter().collect());
        }
    };
    Answer::Moment(row.map(|row| client_side::moment(found, predicate.field, row)))
}

/// Aggregates over these readings.
fn aggregated(
    found: &Batch,
    table: &Table,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
) -> Answer {
    let names = group_names(&table.series, grouping);
    Answer::groups(groups(found, names, query, aggregates, grouping))
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
