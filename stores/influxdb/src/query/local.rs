//! Aggregates that the server lacks, computed here from readings in the order of series and time.

use super::aggregate::Key;
use sensormark_store::{Aggregate, Batch, Column, Function, Group, Grouping, Query, Value, Values};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The groups of these readings; `series` gives what a reading's group is named by.
pub(crate) fn aggregate(
    batch: &Batch,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
    series: impl Fn(u32) -> Option<u32>,
) -> Vec<Group> {
    let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for row in 0..batch.len() {
        let time = batch.times_ns[row];
        let key = (
            series(batch.series[row]),
            grouping.window.map(|window| window.start_of(time)),
            grouping.by_day_part.map(|split| !split.is_day(time)),
        );
        groups.entry(key).or_default().push(row);
    }
    let group = |((series, start, night), rows): (Key, Vec<usize>)| {
        let width = grouping.window.map_or(0, |window| window.width_ns);
        let end = start.map_or(query.range.end_ns, |start| {
            query.range.end_ns.min(start.saturating_add(width))
        });
        Group {
            series,
            window_start_ns: start,
            day: night.map(|night| !night),
            values: aggregates
                .iter()
                .map(|one| value(batch, *one, &rows, end))
                .collect(),
        }
    };
    groups.into_iter().map(group).collect()
}

/// One aggregate of the rows of a group that ends at `end_ns`.
fn value(batch: &Batch, aggregate: Aggregate, rows: &[usize], end_ns: i64) -> Value {
    let column = &batch.columns[aggregate.field];
    let rows: Vec<usize> = rows
        .iter()
        .copied()
        .filter(|&row| column.has(row))
        .collect();
    if aggregate.function == Function::Count {
        return Value::I64(i64::try_from(rows.len()).unwrap_or(i64::MAX));
    }
    if rows.is_empty() {
        return Value::Null;
    }
    let smaller = |one: &usize, other: &usize| compare(column, *one, *other);
    let at = |row: Option<usize>| row.map_or(Value::Null, |row| column.value(row));
    match aggregate.function {
        Function::Count => Value::Null,
        Function::Sum => total(column, &rows),
        Function::Mean => match total(column, &rows) {
            Value::I64(sum) => Value::F64(sum as f64 / rows.len() as f64),
            Value::F64(sum) => Value::F64(sum / rows.len() as f64),
            _ => Value::Null,
        },
        Function::Min => at(rows.iter().copied().min_by(smaller)),
        Function::Max => at(rows.iter().copied().max_by(smaller)),
        Function::Last => at(rows.iter().copied().max_by_key(|&row| batch.times_ns[row])),
        Function::TimeWeightedShare => share(batch, column, &rows, end_ns),
        Function::MostFrequent => most_frequent(column, rows),
    }
}

/// The sum, whole for whole numbers.
fn total(column: &Column, rows: &[usize]) -> Value {
    match &column.values {
        Values::I64(values) => Value::I64(
            rows.iter()
                .map(|&row| values[row])
                .fold(0, i64::wrapping_add),
        ),
        Values::U16(values) => Value::I64(rows.iter().map(|&row| i64::from(values[row])).sum()),
        Values::F64(values) => Value::F64(rows.iter().map(|&row| values[row]).sum()),
        Values::Bool(_) | Values::Text(_) => Value::Null,
    }
}

/// The share of time in which the value was true: each reading holds until the series' next one that has the field, or the end.
fn share(batch: &Batch, column: &Column, rows: &[usize], end_ns: i64) -> Value {
    let Values::Bool(values) = &column.values else {
        return Value::Null;
    };
    let (mut on, mut all) = (0_i128, 0_i128);
    for &row in rows {
        let next = (row + 1..batch.len())
            .take_while(|&next| batch.series[next] == batch.series[row])
            .find(|&next| column.has(next));
        let until = next.map_or(end_ns, |next| batch.times_ns[next].min(end_ns));
        let held = i128::from(until) - i128::from(batch.times_ns[row]);
        all += held;
        on += if values[row] { held } else { 0 };
    }
    if all == 0 {
        Value::Null
    } else {
        Value::F64(on as f64 / all as f64)
    }
}

/// The value that most rows have, the smallest of equals.
fn most_frequent(column: &Column, mut rows: Vec<usize>) -> Value {
    rows.sort_by(|&one, &other| compare(column, one, other));
    rows.chunk_by(|&one, &other| compare(column, one, other).is_eq())
        .reduce(|best, run| if run.len() > best.len() { run } else { best })
        .map_or(Value::Null, |run| column.value(run[0]))
}

/// The order of two values: false before true, numbers by value, text by bytes.
fn compare(column: &Column, one: usize, other: usize) -> Ordering {
    match &column.values {
        Values::Bool(values) => values[one].cmp(&values[other]),
        Values::I64(values) => values[one].cmp(&values[other]),
        Values::U16(values) => values[one].cmp(&values[other]),
        Values::F64(values) => values[one]
            .partial_cmp(&values[other])
            .unwrap_or(Ordering::Equal),
        Values::Text(values) => values.get(one).as_bytes().cmp(values.get(other).as_bytes()),
    }
}
