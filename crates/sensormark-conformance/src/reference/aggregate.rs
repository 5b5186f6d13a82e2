//! Aggregates of the reference: readings are put into their groups, then each function is computed from its definition.
//!
//! Nothing is kept up incrementally. Floating point sums are compensated, so that they are nearer the true sum than any store's.

use super::derived::Spread;
use super::{Reference, compare};
use sensormark_store::answer::Group;
use sensormark_store::batch::{Column, Values};
use sensormark_store::query::{Aggregate, Function, Grouping, Query};
use sensormark_store::schema::{FieldType, Value};
use std::collections::{BTreeMap, HashMap};

/// What tells groups apart: series or the lowest series with a tag's value, window, night.
type Key = (Option<u32>, Option<i64>, Option<bool>);

/// A reading of a group: its row, and the first row behind its series' rows in the range.
#[derive(Clone, Copy)]
struct Member {
    row: usize,
    behind: usize,
}

impl Reference {
    /// The groups of the readings in question, in no particular order.
    pub(super) fn aggregate(
        &self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Vec<Group> {
        let mut groups: BTreeMap<Key, Vec<Member>> = BTreeMap::new();
        let times = &self.tables[query.table].batch.times_ns;
        let names = self.names(query, grouping);
        for (series, rows) in self.rows(query) {
            for row in rows.clone() {
                let counts = aggregates.iter().any(|aggregate| self.column(query, aggregate.field).has(row));
                if counts {
                    let key = (
                        names.as_ref().map(|names| names[&series]),
                        grouping.window.map(|window| window.start_of(times[row])),
                        grouping.by_day_part.map(|split| !split.is_day(times[row])),
                    );
                    groups.entry(key).or_default().push(Member { row, behind: rows.end });
                }
            }
        }
        let group = |(key, members): (Key, Vec<Member>)| Group {
            series: key.0,
            window_start_ns: key.1,
            day: key.2.map(|night| !night),
            values: aggregates
                .iter()
                .map(|aggregate| self.value(query, grouping, *aggregate, key.1, &members))
                .collect(),
        };
        groups.into_iter().map(group).collect()
    }

    /// The series by which each chosen series' group is named, when grouped by series or tag.
    fn names(&self, query: &Query, grouping: Grouping) -> Option<HashMap<u32, u32>> {
        let series = &self.schema.tables[query.table].series;
        if let Some(tag) = grouping.by_tag {
            let mut lowest = HashMap::new();
            for number in 0..series.len() {
                lowest.entry(series.columns()[tag].text(number)).or_insert(number);
            }
            let name = |number| lowest[&series.columns()[tag].text(number)];
            return Some((0..series.len()).map(|number| (number, name(number))).collect());
        }
        grouping.by_series.then(|| (0..series.len()).map(|number| (number, number)).collect())
    }

    /// One aggregate of a group that starts, if grouped by window, at `window_start_ns`.
    fn value(
        &self,
        query: &Query,
        grouping: Grouping,
        aggregate: Aggregate,
        window_start_ns: Option<i64>,
        members: &[Member],
    ) -> Value {
        let column = self.column(query, aggregate.field);
        let members: Vec<Member> = members.iter().copied().filter(|member| column.has(member.row)).collect();
        if aggregate.function == Function::Count {
            return Value::I64(i64::try_from(members.len()).unwrap_or(i64::MAX));
        }
        if members.is_empty() {
            return Value::Null;
        }
        let values = members.iter().map(|member| column.value(member.row));
        match aggregate.function {
            Function::Count => unreachable!("counted above"),
            Function::Sum => sum(column, &members),
            Function::Mean => mean(column, &members),
            Function::StandardDeviation => {
                let numbers: Vec<f64> = members.iter().filter_map(|one| column.number(one.row)).collect();
                Spread::of(&numbers).deviation().map_or(Value::Null, Value::F64)
            }
            Function::Min => values.min_by(compare).unwrap_or(Value::Null),
            Function::Max => values.max_by(compare).unwrap_or(Value::Null),
            Function::Last => self.latest(query, column, &members),
            Function::TimeWeightedShare => {
                let end = match (grouping.window, window_start_ns) {
                    (Some(window), Some(start)) => {
                        query.range.end_ns.min(start.saturating_add(window.width_ns))
                    }
                    _ => query.range.end_ns,
                };
                self.share(query, column, end, &members)
            }
            Function::MostFrequent => most_frequent(values.collect()),
        }
    }

    /// The value of the latest reading; of several series at that time, of the lowest.
    fn latest(&self, query: &Query, column: &Column, members: &[Member]) -> Value {
        let batch = &self.tables[query.table].batch;
        let key = |row: usize| (batch.times_ns[row], std::cmp::Reverse(batch.series[row]));
        members
            .iter()
            .max_by_key(|member| key(member.row)) // of equals the one added last
            .map_or(Value::Null, |member| column.value(member.row))
    }

    /// The share of time in which the value was true.
    fn share(&self, query: &Query, column: &Column, end_ns: i64, members: &[Member]) -> Value {
        let Values::Bool(values) = &column.values else {
            return Value::Null;
        };
        let times = &self.tables[query.table].batch.times_ns;
        let (mut on, mut all) = (0_i128, 0_i128);
        for member in members {
            let next = (member.row + 1..member.behind).find(|&row| column.has(row));
            let until = next.map_or(end_ns, |row| times[row].min(end_ns));
            let held = i128::from(until) - i128::from(times[member.row]);
            all += held;
            if values[member.row] {
                on += held;
            }
        }
        Value::F64(on as f64 / all as f64)
    }
}

/// The sum of the members' values: exact for integers, and of 64 bits where it fits.
fn sum(column: &Column, members: &[Member]) -> Value {
    match column.values.kind() {
        FieldType::I64 | FieldType::U16 => {
            let sum = whole_sum(column, members);
            i64::try_from(sum).map_or(Value::F64(sum as f64), Value::I64)
        }
        FieldType::F64 => Value::F64(float_sum(column, members)),
        FieldType::Bool | FieldType::Text => Value::Null,
    }
}

fn mean(column: &Column, members: &[Member]) -> Value {
    let count = members.len() as f64;
    match column.values.kind() {
        FieldType::I64 | FieldType::U16 => Value::F64(whole_sum(column, members) as f64 / count),
        FieldType::F64 => Value::F64(float_sum(column, members) / count),
        FieldType::Bool | FieldType::Text => Value::Null,
    }
}

fn whole_sum(column: &Column, members: &[Member]) -> i128 {
    let whole = |member: &Member| match &column.values {
        Values::I64(values) => i128::from(values[member.row]),
        Values::U16(values) => i128::from(values[member.row]),
        _ => 0,
    };
    members.iter().map(whole).sum()
}

/// The sum with Neumaier's compensation (A. Neumaier, Zeitschrift für Angewandte Mathematik und Mechanik 54, 1974).
fn float_sum(column: &Column, members: &[Member]) -> f64 {
    let (mut sum, mut compensation) = (0.0_f64, 0.0_f64);
    for member in members {
        let value = column.number(member.row).unwrap_or(0.0);
        let next = sum + value;
        compensation += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + compensation
}

/// The value that occurs most often, the smallest of equals.
fn most_frequent(mut values: Vec<Value>) -> Value {
    values.sort_by(compare);
    let mut best: (usize, Value) = (0, Value::Null);
    for run in values.chunk_by(|one, other| compare(one, other).is_eq()) {
        if run.len() > best.0 {
            best = (run.len(), run[0].clone());
        }
    }
    best.1
}
