//! Figures over repetitions as cells: means with their intervals where there are enough repetitions.

use crate::prelude::*;

/// The arithmetic mean over repetitions. Costs and sizes have it.
pub fn mean(values: &[Known], missing: &str) -> Cell {
    let values = values.iter().copied().flatten().collect_vec();
    match summarize(&values) {
        Ok(summary) => number(summary.mean, summary.interval.map_or(Spread::None, Spread::Plus)),
        Err(_) => Cell::missing(missing),
    }
}

impl Field {
    /// The arithmetic mean of a figure over the arm's repetitions.
    pub fn mean(&self, arm: &Arm, of: impl Fn(&TrialRecord) -> Known) -> Cell {
        mean(&self.figures(arm, of), NOT_MEASURED)
    }
}

/// The geometric mean over repetitions. Times and rates have it. If one of them is 0, it is the arithmetic mean without an interval.
pub fn geometric_mean(values: &[Known], missing: &str) -> Cell {
    let values = values.iter().copied().flatten().collect_vec();
    match summarize_logarithms(&values) {
        Ok(summary) => number(summary.geometric_mean, summary.interval.map_or(Spread::None, Spread::Range)),
        Err(_) => match summarize(&values) {
            Ok(summary) => number(summary.mean, Spread::None),
            Err(_) => Cell::missing(missing),
        },
    }
}

/// A figure of somebody else's, a study's or the user's own, as it was written.
pub fn exact(value: f64) -> Cell {
    Cell::Number(Number { value, spread: Spread::None, digits: Digits::Exact })
}

/// Why there is no figure of a server.
pub const EMBEDDED: &str = "embedded: one process, shown as the client's";
/// Why there is no figure.
pub const NOT_MEASURED: &str = "not measured";
/// Why an arm has no figure.
pub const NO_TRIAL: &str = "no valid trial";
/// What logs are, below a table that states them apart.
pub const LOGS_APART: &str = "Logs are what a database writes first so as to lose nothing, and uses again or gives up. Their space does not grow with the readings, so it is in no other figure of the disk.";
/// Why there is no figure of the disk.
pub const NO_DISK: &str = "not measured, or an earlier version did not tell logs apart";

/// What the logs take at rest, in MB, and what bounds them.
pub fn logs_apart(field: &Field, arm: &Arm) -> [Cell; 2] {
    let mut trials = field.valid_of(arm);
    let bound = trials.find_map(|trial| trial.log_bound.as_deref());
    [
        field.mean(arm, |trial| Some(figure(trial, names::DISK_SETTLED_LOGS)? / 1e6)),
        bound.map_or_else(|| Cell::missing("an earlier version did not keep it"), Cell::text),
    ]
}

/// The largest of all repetitions.
pub fn largest(values: &[Known], missing: &str) -> Cell {
    Cell::maybe(values.iter().copied().flatten().reduce(f64::max), missing)
}

/// The smallest of all repetitions.
pub fn smallest(values: &[Known], missing: &str) -> Cell {
    Cell::maybe(values.iter().copied().flatten().reduce(f64::min), missing)
}

/// A rank, or that there is none.
pub fn rank(rank: Option<usize>) -> Cell {
    Cell::count(rank.and_then(|rank| u64::try_from(rank).ok()), "too few repetitions to be compared")
}

/// A figure with three significant digits.
pub fn number(value: f64, spread: Spread) -> Cell {
    Cell::Number(Number { value, spread, digits: Digits::Significant(3) })
}

/// The names as one phrase: "A", "A and B", "A, B and C"; where a name has a comma of its own, "A, x; B".
pub fn listed<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let names = names.into_iter().collect_vec();
    let names = names.iter().map(AsRef::as_ref).collect_vec();
    if names.iter().any(|name| name.contains(',')) {
        return names.join("; ");
    }
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

/// Each of them once, in the order in which they first come.
pub fn each_once<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = vec![];
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// A count with its noun: "1 trial", "3 trials".
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
