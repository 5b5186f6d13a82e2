//! Aggregates over packed records, computed in the client: SQLite does not look into them.
//!
//! Records are decoded into one batch in the order of series and time; groups are runs or sets of its rows.

use super::aggregate::GroupKey;
use super::records;
use crate::session::SqliteSession;
use sensormark_store::{
    Aggregate, Batch, Column, FieldSet, Function, Group, Grouping, Query, StoreError, Value, Values,
};
use std::collections::{BTreeMap, HashMap};

/// The groups that aggregates over the range give.
///
/// # Errors
/// What SQLite says, or that a record could not be decoded.
pub fn aggregate(
    session: &mut SqliteSession,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
) -> Result<Vec<Group>, StoreError> {
    let fields = aggregates
        .iter()
        .fold(FieldSet::first(0), |set, one| set.with(one.field));
    let batch = records::range(session, query, fields)?;
    let series = &session.design.schema.tables[query.table].series;
    let mut lowest: HashMap<String, u32> = HashMap::new();
    let mut name = |number: u32| match grouping.by_tag {
        Some(tag) if lowest.is_empty() => {
            for number in 0..series.len() {
                lowest
                    .entry(series.columns()[tag].text(number))
                    .or_insert(number);
            }
            lowest.get(&series.columns()[tag].text(number)).copied()
        }
        Some(tag) => lowest.get(&series.columns()[tag].text(number)).copied(),
        None => grouping.by_series.then_some(number),
    };
    let mut groups: BTreeMap<GroupKey, Vec<usize>> = BTreeMap::new();
    for row in 0..batch.len() {
        let time = batch.times_ns[row];
        let key = (
            name(batch.series[row]),
            grouping.window.map(|window| window.start_of(time)),
            grouping.by_day_part.map(|split| !split.is_day(time)),
        );
        groups.entry(key).or_default().push(row);
    }
    let group = |((series, start, night), rows): (GroupKey, Vec<usize>)| {
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
                .map(|one| value(&batch, *one, &rows, end))
                .collect(),
        }
    };
    Ok(groups.into_iter().map(group).collect())
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
    let smaller = |one: &usize, other: &usize| records::compare(column, *one, *other);
    let at = |row: Option<usize>| row.map_or(Value::Null, |row| column.value(row));
    match aggregate.function {
        Function::Count => Value::Null,
        Function::Sum => sum(column, &rows).map_or(Value::Null, |(whole, real)| {
            whole.map_or(Value::F64(real), Value::I64)
        }),
        Function::Mean => sum(column, &rows).map_or(Value::Null, |(_, real)| {
            Value::F64(real / rows.len() as f64)
        }),
        Function::Min => at(rows.iter().copied().min_by(smaller)),
        Function::Max => at(rows.iter().copied().max_by(smaller)),
        Function::Last => at(rows.iter().copied().max_by_key(|&row| {
            (
                batch.times_ns[row],
                std::cmp::Reverse(batch.series[row]),
                row,
            )
        })),
        Function::TimeWeightedShare => share(batch, column, &rows, end_ns),
        Function::MostFrequent => most_frequent(column, rows),
    }
}

/// The sum as a whole number, where it is one, and as a floating point number; compensated by Neumaier's method (ZAMM 54, 1974).
fn sum(column: &Column, rows: &[usize]) -> Option<(Option<i64>, f64)> {
    if rows.is_empty() {
        return None;
    }
    let whole = |row: &usize| match &column.values {
        Values::Bool(values) => Some(i128::from(values[*row])),
        Values::I64(values) => Some(i128::from(values[*row])),
        Values::U16(values) => Some(i128::from(values[*row])),
        Values::F64(_) | Values::Text(_) => None,
    };
    if let Some(sum) = rows.iter().map(whole).sum::<Option<i128>>() {
        return Some((i64::try_from(sum).ok(), sum as f64));
    }
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for &row in rows {
        let value = column.number(row)?;
        let next = total + value;
        lost += if total.abs() >= value.abs() {
            (total - next) + value
        } else {
            (value - next) + total
        };
        total = next;
    }
    Some((None, total + lost))
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
    rows.sort_by(|&one, &other| records::compare(column, one, other));
    let runs = rows.chunk_by(|&one, &other| records::compare(column, one, other).is_eq());
    runs.reduce(|best, run| if run.len() > best.len() { run } else { best })
        .map_or(Value::Null, |run| column.value(run[0]))
}
