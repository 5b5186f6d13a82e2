//! Answers, aggregates and searches over readings in memory. Stores use them where a database lacks an operation and its users do it in the client.
//!
//! The stores' own tool, apart from the oracle in `sensormark-conformance`, which checks it.
//!
//! Readings are in the order of series and time; groups are sets of their rows.

use crate::FieldSet;
use crate::answer::{Answer, Group, Moment};
use crate::batch::{Batch, Column, Values};
use crate::error::StoreError;
use crate::query::{Aggregate, Ask, Derived, Function, Grouping, Predicate, Query, Selection, TimeRange};
use crate::schema::{Series, Table, Value};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap};

mod derived;

/// Why the client answers, where a store says nothing else.
pub const IN_THE_CLIENT: &str = "the store has no statement for it; the client answers it from the readings";

/// Series, start of the window, night: what tells groups apart.
type GroupKey = (Option<u32>, Option<i64>, Option<bool>);

/// The question for what [`answer`] answers this one from: the readings of its series and range with any of its fields, or for a difference the means of both series.
///
/// # Errors
/// [`crate::ErrorKind::Unsupported`] for sums that were kept at write time: readings do not have them.
pub fn readings_of(query: &Query) -> Result<Query, StoreError> {
    let mut range = query.range;
    let fields = match &query.ask {
        Ask::Point { fields } => {
            range = TimeRange::new(range.start_ns, range.start_ns.saturating_add(1));
            *fields
        }
        Ask::Range { fields, .. } | Ask::LastReading { fields } => *fields,
        Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
            FieldSet::one(predicate.field)
        }
        Ask::Minimum { field } => FieldSet::one(*field),
        Ask::Aggregate { from_sums: true, .. } => {
            let reason = "the client has readings, and no sums of write time";
            return Err(StoreError::unsupported("aggregate from sums", reason));
        }
        Ask::Aggregate { aggregates, .. } => {
            aggregates.iter().fold(FieldSet::first(0), |set, one| set.with(one.field))
        }
        Ask::Derived(derived) => derived.fields(),
    };
    if let (&Selection::One(one), &Ask::Derived(Derived::Difference { other, field, window })) =
        (&query.series, &query.ask)
    {
        let both = [one.min(other), one.max(other)];
        let series = if one == other { Selection::One(one) } else { Selection::Set(both.to_vec()) };
        let grouping = Grouping { window: Some(window), by_series: true, ..Grouping::default() };
        let aggregates = vec![Aggregate { function: Function::Mean, field }];
        let ask = Ask::Aggregate { aggregates, grouping, from_sums: false };
        return Ok(Query { ask, series, ..query.clone() });
    }
    let coarse_filter = false;
    Ok(Query { ask: Ask::Range { fields, coarse_filter }, range, ..query.clone() })
}

/// The answer from what [`readings_of`] asks for, in the order of series and time.
pub fn answer(query: &Query, table: &Table, found: Answer) -> Answer {
    let batch = match found {
        Answer::Readings(batch) => batch,
        Answer::Groups(means) => return derived::difference(query, &means),
        other => return other,
    };
    match &query.ask {
        Ask::Point { .. } | Ask::Range { .. } => Answer::Readings(batch),
        Ask::LastReading { .. } => Answer::Readings(last_of_each(batch)),
        Ask::First(predicate) => {
            let found =
                passing(&batch, *predicate).min_by_key(|&row| (batch.times_ns[row], batch.series[row], row));
            Answer::Moment(found.map(|row| moment(&batch, predicate.field, row)))
        }
        Ask::Last(predicate) => {
            let found = passing(&batch, *predicate)
                .max_by_key(|&row| (batch.times_ns[row], Reverse(batch.series[row]), row));
            Answer::Moment(found.map(|row| moment(&batch, predicate.field, row)))
        }
        Ask::Minimum { field } => Answer::Moment(minimum(&batch, *field)),
        Ask::SeriesMatching(predicate) => {
            let rows = passing(&batch, *predicate);
            let mut series: Vec<u32> = rows.map(|row| batch.series[row]).collect();
            series.dedup();
            Answer::Series(series)
        }
        Ask::Aggregate { aggregates, grouping, .. } => {
            let name = group_names(&table.series, *grouping);
            Answer::groups(groups(&batch, name, query, aggregates, *grouping))
        }
        Ask::Derived(asked) => derived::answer(query, asked, &batch),
    }
}

fn passing(batch: &Batch, predicate: Predicate) -> impl Iterator<Item = usize> {
    let column = &batch.columns[predicate.field];
    (0..batch.len()).filter(move |&row| column.number(row).is_some_and(|value| predicate.passes(value)))
}

/// The last of each series' readings, of a batch in the order of series.
pub fn last_of_each(batch: Batch) -> Batch {
    if batch.series.windows(2).all(|pair| pair[0] != pair[1]) {
        return batch;
    }
    batch.kept(|row| batch.series.get(row + 1) != Some(&batch.series[row]))
}

/// The name of each series' group, when grouped by series or tag.
pub fn group_names(series: &Series, grouping: Grouping) -> impl Fn(u32) -> Option<u32> {
    let lowest: Option<Vec<u32>> = grouping.by_tag.map(|tag| {
        let mut lowest = HashMap::new();
        let number = |number| *lowest.entry(series.columns()[tag].text(number)).or_insert(number);
        (0..series.len()).map(number).collect()
    });
    move |number| match &lowest {
        Some(lowest) => lowest.get(number as usize).copied(),
        None => grouping.by_series.then_some(number),
    }
}

/// The groups that aggregates over these readings give; `name` is that of a series' group, as [`group_names`] has it.
pub fn groups(
    batch: &Batch,
    name: impl Fn(u32) -> Option<u32>,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
) -> Vec<Group> {
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
        let end =
            start.map_or(query.range.end_ns, |start| query.range.end_ns.min(start.saturating_add(width)));
        Group {
            series,
            window_start_ns: start,
            day: night.map(|night| !night),
            values: aggregates.iter().map(|one| value(batch, *one, &rows, end)).collect(),
        }
    };
    groups.into_iter().map(group).collect()
}

/// The smallest value, the earliest of equals.
pub fn minimum(batch: &Batch, field: usize) -> Option<Moment> {
    let column = &batch.columns[field];
    let found = (0..batch.len()).min_by(|&one, &other| {
        compare(column, one, other).then(batch.times_ns[one].cmp(&batch.times_ns[other]))
    });
    found.map(|row| moment(batch, field, row))
}

/// A row's time and its value of a field.
pub fn moment(batch: &Batch, field: usize, row: usize) -> Moment {
    Moment { time_ns: batch.times_ns[row], value: batch.columns[field].value(row) }
}

/// The order of two values of a column: numbers by value, false before true, text by bytes.
pub fn compare(column: &Column, one: usize, other: usize) -> Ordering {
    match &column.values {
        Values::Bool(values) => values[one].cmp(&values[other]),
        Values::I64(values) => values[one].cmp(&values[other]),
        Values::U16(values) => values[one].cmp(&values[other]),
        Values::F64(values) => values[one].partial_cmp(&values[other]).unwrap_or(Ordering::Equal),
        Values::Text(values) => values.get(one).cmp(values.get(other)),
    }
}

/// The order of two values of one field: numbers by value, false before true, text by bytes.
pub fn order(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::I64(one), Value::I64(other)) => one.cmp(other),
        (Value::F64(one), Value::F64(other)) => one.partial_cmp(other).unwrap_or(Ordering::Equal),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Text(one), Value::Text(other)) => one.cmp(other),
        _ => Ordering::Equal,
    }
}

/// One aggregate of the rows of a group that ends at `end_ns`.
fn value(batch: &Batch, aggregate: Aggregate, rows: &[usize], end_ns: i64) -> Value {
    let column = &batch.columns[aggregate.field];
    let rows: Vec<usize> = rows.iter().copied().filter(|&row| column.has(row)).collect();
    if aggregate.function == Function::Count {
        return Value::I64(i64::try_from(rows.len()).unwrap_or(i64::MAX));
    }
    let smaller = |one: &usize, other: &usize| compare(column, *one, *other);
    let at = |row: Option<usize>| row.map_or(Value::Null, |row| column.value(row));
    match aggregate.function {
        Function::Count => Value::Null,
        Function::Sum => {
            sum(column, &rows).map_or(Value::Null, |(whole, real)| whole.map_or(Value::F64(real), Value::I64))
        }
        Function::Mean => {
            sum(column, &rows).map_or(Value::Null, |(_, real)| Value::F64(real / rows.len() as f64))
        }
        Function::StandardDeviation => derived::deviation(batch, aggregate.field, &rows),
        Function::Min => at(rows.iter().copied().min_by(smaller)),
        Function::Max => at(rows.iter().copied().max_by(smaller)),
        Function::Last => {
            at(rows.iter().copied().max_by_key(|&row| (batch.times_ns[row], Reverse(batch.series[row]), row)))
        }
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
        lost += if total.abs() >= value.abs() { (total - next) + value } else { (value - next) + total };
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
    if all == 0 { Value::Null } else { Value::F64(on as f64 / all as f64) }
}

/// The value that most rows have, the smallest of equals.
fn most_frequent(column: &Column, mut rows: Vec<usize>) -> Value {
    rows.sort_by(|&one, &other| compare(column, one, other));
    let runs = rows.chunk_by(|&one, &other| compare(column, one, other).is_eq());
    runs.reduce(|best, run| if run.len() > best.len() { run } else { best })
        .map_or(Value::Null, |run| column.value(run[0]))
}
