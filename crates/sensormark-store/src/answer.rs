//! What the logical operations give back, and when two answers are the same.
//!
//! Expected answers come from a generator, measured ones from a store. They are compared by [`Answer::disagreement`]. Integers, counts, times and text must be
//! equal. Sums, means and deviations of floating point numbers must agree within 1e-9 (relative), where numbers under 0.001 count as 0.001, because readings on both
//! sides of 0 cancel. So must what is derived, where numbers under 1 count as 1.

use crate::batch::Batch;
use crate::query::{Aggregate, Ask, Function, Query};
use crate::schema::Value;
use serde::{Deserialize, Serialize};

/// The largest relative difference between floating point sums and means that counts as equal.
pub const FLOAT_TOLERANCE: f64 = 1e-9;

/// What a query gives back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// Readings in the order of (series, time); columns of fields that were not asked for are empty.
    Readings(Batch),
    /// One reading's time and value of the field in question, or none.
    Moment(Option<Moment>),
    /// Aggregates by group, in the order of (series, window, day before night).
    Groups(Vec<Group>),
    /// Series numbers, ascending.
    Series(Vec<u32>),
}

/// A reading's time and one of its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Time in ns since the Unix epoch.
    pub time_ns: i64,
    /// The value of the field that was asked about.
    pub value: Value,
}

/// Aggregates of one group of readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The series, when grouped by series; the lowest series with the tag's value (of all series of the table), when grouped by tag.
    pub series: Option<u32>,
    /// Start of the window in ns since the Unix epoch, when grouped by window.
    pub window_start_ns: Option<i64>,
    /// Whether the group is of the day, when split into day and night.
    pub day: Option<bool>,
    /// One value an aggregate asked for, in its order; where no reading of the group has the field, a count is 0 and the rest [`Value::Null`].
    pub values: Vec<Value>,
}

impl Group {
    fn key(&self) -> (Option<u32>, Option<i64>, Option<bool>) {
        (self.series, self.window_start_ns, self.day.map(|day| !day))
    }
}

impl Answer {
    /// How many readings, groups or series the answer holds; 0 is an empty answer.
    pub fn len(&self) -> usize {
        match self {
            Self::Readings(batch) => batch.len(),
            Self::Moment(moment) => usize::from(moment.is_some()),
            Self::Groups(groups) => groups.len(),
            Self::Series(series) => series.len(),
        }
    }

    /// Whether the answer holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Groups in the order that answers have.
    pub fn groups(mut groups: Vec<Group>) -> Self {
        groups.sort_by_key(Group::key);
        Self::Groups(groups)
    }

    /// The first difference between this answer and the expected one to `query`, in words; `None` when they agree.
    pub fn disagreement(&self, expected: &Self, query: &Query) -> Option<String> {
        match (self, expected) {
            (Self::Readings(got), Self::Readings(expected)) => readings_differ(got, expected),
            (Self::Moment(got), Self::Moment(expected)) => (got != expected).then(|| {
                format!("expected {}, got {}", moment_text(expected.as_ref()), moment_text(got.as_ref()))
            }),
            (Self::Groups(got), Self::Groups(expected)) => groups_differ(got, expected, query),
            (Self::Series(got), Self::Series(expected)) => {
                (got != expected).then(|| format!("expected series {expected:?}, got {got:?}"))
            }
            _ => Some("expected an answer of another kind".to_owned()),
        }
    }
}

fn moment_text(moment: Option<&Moment>) -> String {
    moment.map_or_else(
        || "no reading".to_owned(),
        |moment| format!("{} at {} ns", moment.value, moment.time_ns),
    )
}

fn readings_differ(got: &Batch, expected: &Batch) -> Option<String> {
    if got.len() != expected.len() {
        return Some(format!("expected {} readings, got {}", expected.len(), got.len()));
    }
    if (got.table, got.columns.len()) != (expected.table, expected.columns.len()) {
        return Some(format!(
            "expected {} columns of table {}, got {} of table {}",
            expected.columns.len(),
            expected.table,
            got.columns.len(),
            got.table
        ));
    }
    for row in 0..expected.len() {
        let key = (expected.series[row], expected.times_ns[row]);
        if (got.series[row], got.times_ns[row]) != key {
            return Some(format!(
                "reading {row}: expected series {} at {} ns, got series {} at {} ns",
                key.0, key.1, got.series[row], got.times_ns[row]
            ));
        }
        for (field, (column, wanted)) in got.columns.iter().zip(&expected.columns).enumerate() {
            let (value, wanted) = (column.value(row), wanted.value(row));
            if !same_bits(&value, &wanted) {
                return Some(format!(
                    "series {} at {} ns, field {field}: expected {wanted}, got {value}",
                    key.0, key.1
                ));
            }
        }
    }
    None
}

fn same_bits(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::F64(one), Value::F64(other)) => {
            one.to_bits() == other.to_bits() || (*one == 0.0 && *other == 0.0)
        }
        _ => one == other,
    }
}

fn groups_differ(got: &[Group], expected: &[Group], query: &Query) -> Option<String> {
    let aggregates: &[Aggregate] = match &query.ask {
        Ask::Aggregate { aggregates, .. } => aggregates,
        _ => &[],
    };
    for (got, expected) in got.iter().zip(expected) {
        if got.key() != expected.key() {
            return Some(format!("expected group {}, got {}", group_text(expected), group_text(got)));
        }
        for (number, wanted) in expected.values.iter().enumerate() {
            let value = got.values.get(number).unwrap_or(&Value::Null);
            let aggregate = aggregates.get(number);
            if !same_value(aggregate.map(|one| one.function), value, wanted) {
                let what = aggregate.map_or_else(
                    || format!("value {number}"),
                    |one| format!("{:?} of field {}", one.function, one.field),
                );
                let group = group_text(expected);
                return Some(format!("group {group}, {what}: expected {wanted}, got {value}"));
            }
        }
    }
    (got.len() != expected.len()).then(|| format!("expected {} groups, got {}", expected.len(), got.len()))
}

/// Whether two values of a group are the same; of a function, or derived. Both cancel, derived ones most: smaller ones are compared as if they were so large.
fn same_value(function: Option<Function>, value: &Value, wanted: &Value) -> bool {
    let least = match function {
        Some(Function::Sum | Function::Mean | Function::TimeWeightedShare | Function::StandardDeviation) => {
            1e-3
        }
        None => 1.0,
        _ => return same_bits(value, wanted),
    };
    match (value, wanted) {
        (Value::F64(value), Value::F64(wanted)) => {
            let scale = value.abs().max(wanted.abs()).max(least);
            (value - wanted).abs() <= FLOAT_TOLERANCE * scale
        }
        _ => same_bits(value, wanted),
    }
}

fn group_text(group: &Group) -> String {
    let mut parts = Vec::new();
    if let Some(series) = group.series {
        parts.push(format!("series {series}"));
    }
    if let Some(start) = group.window_start_ns {
        parts.push(format!("window {start} ns"));
    }
    if let Some(day) = group.day {
        parts.push(if day { "day" } else { "night" }.to_owned());
    }
    if parts.is_empty() { "of all".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Grouping, Selection, TimeRange};

    fn question(function: Function) -> Query {
        Query {
            table: 0,
            series: Selection::One(0),
            range: TimeRange::new(0, 10),
            ask: Ask::Aggregate {
                aggregates: vec![Aggregate { function, field: 0 }],
                grouping: Grouping::default(),
                from_sums: false,
            },
        }
    }

    fn answer(value: Value) -> Answer {
        Answer::Groups(vec![Group { series: None, window_start_ns: None, day: None, values: vec![value] }])
    }

    #[test]
    fn means_may_differ_in_the_last_digits_and_counts_may_not() {
        let (one, close) = (answer(Value::F64(1.0)), answer(Value::F64(1.0 + 5e-10)));
        assert_eq!(close.disagreement(&one, &question(Function::Mean)), None);
        assert!(close.disagreement(&one, &question(Function::Max)).is_some());
        assert!(
            answer(Value::I64(2)).disagreement(&answer(Value::I64(3)), &question(Function::Count)).is_some()
        );
        assert!(answer(Value::F64(1.0 + 1e-8)).disagreement(&one, &question(Function::Mean)).is_some());
    }

    /// The means of twelve readings of two decimals on both sides of 0, as TimescaleDB and the generator added them up. It was a wrong answer.
    #[test]
    fn what_is_left_of_readings_that_cancel_is_nothing() {
        let (got, expected) = (
            answer(Value::F64(2.081_668_171_172_168_5e-17)),
            answer(Value::F64(1.517_883_041_479_706_2e-17)),
        );
        for function in [Function::Mean, Function::Sum] {
            assert_eq!(got.disagreement(&expected, &question(function)), None);
        }
        assert!(got.disagreement(&expected, &question(Function::Max)).is_some());
        let (got, expected) = (answer(Value::F64(0.000_01)), answer(Value::F64(0.000_010_001)));
        assert!(got.disagreement(&expected, &question(Function::Mean)).is_some());
    }

    #[test]
    fn an_empty_answer_is_wrong_where_one_is_due() {
        let empty = Answer::Groups(Vec::new());
        assert!(empty.disagreement(&answer(Value::I64(0)), &question(Function::Count)).is_some());
        assert!(
            Answer::Moment(None).disagreement(&answer(Value::I64(0)), &question(Function::Count)).is_some()
        );
    }
}
