//! What a run will do: its trials in their order, how long they take, and how much disk. The run itself follows it, and `--dry-run` shows it.

use super::benchmark_case::BenchmarkCase;
use super::context::CaseRunner;
use super::estimate::{CaseEstimate, Terms};
use super::repeats::DisturbedHost;
use super::study_protocol::Protocol;
use sensormark_result::measurement::record::{Cache, Side};
use std::time::Duration;

/// What a run takes before its first trial, in seconds: a look at the host, and how many flushes a second the disk does.
const BEFORE_SECONDS: f64 = 1.4;

/// A case at its place in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledCase {
    /// The repetition, from 0.
    pub repetition: u32,
    /// The place in the repetition, from 0.
    pub place: usize,
    /// The case, by its number.
    pub case: usize,
}

/// The schedule of a run: repetition by repetition, and each repetition begins with the next case, so that drift hits all alike.
pub fn schedule(cases: usize, repetitions: u32) -> impl Iterator<Item = ScheduledCase> {
    (0..repetitions).flat_map(move |repetition| {
        (0..cases).map(move |place| ScheduledCase {
            repetition,
            place,
            case: (place + repetition as usize) % cases.max(1),
        })
    })
}

/// The order of a case's trials: as they come or, where the run follows a study that did so, each repetition begins with the next reading one.
pub fn in_turn(protocol: Option<&Protocol>, trials: &[Side], repetition: u32) -> Vec<usize> {
    let (mut reading, mut order): (Vec<usize>, Vec<usize>) =
        (0..trials.len()).partition(|&number| trials[number] == Side::Read);
    if protocol.is_some_and(|study| study.strategies_turn) && !reading.is_empty() {
        let first = repetition as usize % reading.len();
        reading.rotate_left(first);
    }
    order.append(&mut reading);
    order
}

/// What the length of a run's trials depends on.
pub fn terms(cache: Cache, protocol: Option<&Protocol>, budget: Option<Duration>) -> Terms {
    let restarts = cache == Cache::Cold || protocol.is_some_and(|study| study.restart_before_reading);
    Terms { restarts, budget_seconds: budget.map(|budget| budget.as_secs_f64()) }
}

/// What a run will do.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// By case: how long it takes.
    pub cases: Vec<CaseEstimate>,
    /// Its cases in their order, repetition by repetition.
    pub schedule: Vec<ScheduledCase>,
}

impl RunPlan {
    /// The plan of these cases.
    pub fn new(runner: &dyn CaseRunner, cases: &[BenchmarkCase], repetitions: u32, terms: &Terms) -> Self {
        Self {
            cases: cases.iter().map(|case| runner.estimate(case, terms)).collect(),
            schedule: schedule(cases.len(), repetitions).collect(),
        }
    }

    /// Trials in all.
    pub fn trials(&self) -> usize {
        let of = |scheduled: &ScheduledCase| self.cases[scheduled.case].trials.len().max(1);
        self.schedule.iter().map(of).sum()
    }

    /// How long a case takes once, in seconds.
    pub fn case_seconds(&self, scheduled: &ScheduledCase) -> f64 {
        self.cases[scheduled.case].seconds()
    }

    /// How long all of it takes if nothing is repeated, in seconds.
    pub fn seconds(&self) -> f64 {
        let cases: f64 = self.schedule.iter().map(|scheduled| self.case_seconds(scheduled)).sum();
        BEFORE_SECONDS + cases
    }

    /// How long all of it takes at most on a host that others use, in seconds.
    pub fn most_seconds(&self, host: DisturbedHost) -> f64 {
        self.seconds() + host.most_repeats_seconds(self.seconds())
    }

    /// What the databases occupy at most, in bytes: one after another, so that the largest counts.
    pub fn disk_bytes(&self) -> u64 {
        let largest = self.cases.iter().map(|case| case.disk_bytes).max();
        largest.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_protocol;

    #[test]
    fn as_the_study_did_each_repetition_begins_with_the_next_strategy() {
        let case = [Side::Write, Side::Read, Side::Read, Side::Read];
        let study = study_protocol::protocol("machine-tool");
        assert!(study.is_some());
        assert_eq!(in_turn(study, &case, 0), [0, 1, 2, 3]);
        assert_eq!(in_turn(study, &case, 1), [0, 2, 3, 1]);
        assert_eq!(in_turn(study, &case, 2), [0, 3, 1, 2]);
        assert_eq!(in_turn(study, &case, 3), in_turn(study, &case, 0));
        assert_eq!(in_turn(None, &case, 1), in_turn(study, &case, 0), "ours stays");
        assert_eq!(in_turn(study, &case[..1], 1), [0]);
    }

    #[test]
    fn each_repetition_begins_with_the_next_case() {
        let cases: Vec<usize> = schedule(3, 2).map(|scheduled| scheduled.case).collect();
        assert_eq!(cases, [0, 1, 2, 1, 2, 0]);
        assert_eq!(schedule(0, 2).count(), 0);
        let last = schedule(3, 2).last();
        let expected = ScheduledCase { repetition: 1, place: 2, case: 0 };
        assert_eq!(last, Some(expected));
    }
}
