//! The sizes that a trial goes through: which of them are whole, and whether there is time for the next.
//!
//! The sizes before it say how long the next one takes. A phase that its own time ended takes as long again. The rest grows by a straight line over the
//! readings, and each size has four times the readings of the one before.

use sensormark_result::measurement::record::TrialRecord;
use sensormark_result::measurement::sizes::TIMES;
use std::time::{Duration, Instant};

/// A trial may take so much longer than its budget before the size at work is given up.
const OVERDUE: f64 = 1.2;

/// The sizes of one trial.
pub struct Growth {
    budget: Option<Duration>,
    began: Instant,
    /// The size at work: when it began, and how long its phases with a time of their own took.
    at_work: Option<(Instant, Duration)>,
    /// By whole size: what it took besides those phases, and in them, in seconds.
    took: Vec<(f64, f64)>,
    whole: Option<Whole>,
}

/// What there is when a size is whole.
pub struct Whole {
    /// What was measured up to it.
    pub record: TrialRecord,
    /// How many reasons spoke against the trial.
    pub reasons: usize,
    /// The number of the step that would have come next.
    pub step: usize,
}

impl Growth {
    /// Of a trial that may take so long; without an end where nothing is said.
    pub fn new(budget: Option<Duration>) -> Self {
        Self { budget, began: Instant::now(), at_work: None, took: Vec::new(), whole: None }
    }

    /// Whether a size is at work.
    pub const fn is_at_work(&self) -> bool {
        self.at_work.is_some()
    }

    /// A size begins.
    pub fn begin(&mut self) {
        self.at_work = Some((Instant::now(), Duration::ZERO));
    }

    /// A phase of the size at work had a time of its own.
    pub fn add_fixed(&mut self, lasted: Duration) {
        if let Some((_, fixed)) = &mut self.at_work {
            *fixed += lasted;
        }
    }

    /// The size at work is whole.
    pub fn finish(&mut self, whole: Whole) {
        if let Some((began, fixed)) = self.at_work.take() {
            let fixed = fixed.as_secs_f64();
            self.took.push(((began.elapsed().as_secs_f64() - fixed).max(0.0), fixed));
        }
        self.whole = Some(whole);
    }

    /// What the next size takes, in seconds; none where no size is whole.
    fn next_seconds(&self) -> Option<f64> {
        let times = TIMES as f64;
        match self.took.as_slice() {
            [] => None,
            [(grows, fixed)] => Some(grows * times + fixed),
            [.., (before, _), (grows, fixed)] => Some(grows + times * (grows - before).max(0.0) + fixed),
        }
    }

    /// How much of the budget is missing for the next size, in seconds; none where it is enough.
    pub fn missing_seconds(&self) -> Option<f64> {
        let left = self.budget?.as_secs_f64() - self.began.elapsed().as_secs_f64();
        let missing = self.next_seconds()? - left;
        (missing > 0.0).then_some(missing)
    }

    /// Whether the size at work takes far longer than was told, so that a whole one before it has to do.
    pub fn is_overdue(&self) -> bool {
        let is_late = |budget: Duration| self.began.elapsed() > budget.mul_f64(OVERDUE);
        self.whole.is_some() && self.is_at_work() && self.budget.is_some_and(is_late)
    }

    /// The last whole size, if one is at work after it.
    pub fn give_up(&mut self) -> Option<Whole> {
        self.at_work.take().and(self.whole.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(took: &[(f64, f64)], budget: f64) -> Growth {
        Growth { took: took.to_vec(), ..Growth::new(Some(Duration::from_secs_f64(budget))) }
    }

    #[test]
    fn the_next_size_takes_what_its_readings_add() {
        assert_eq!(after(&[], 1.0).missing_seconds(), None, "the first is measured whatever it takes");
        // A second of every size does not depend on the readings: 1 + 0.5, 1 + 2, 1 + 8.
        let next = |took: &[(f64, f64)]| after(took, 100.0).next_seconds();
        assert_eq!(next(&[(1.5, 4.0)]), Some(10.0));
        assert_eq!(next(&[(1.5, 4.0), (3.0, 4.0)]), Some(9.0 + 4.0));
        assert_eq!(next(&[(3.0, 0.0), (2.0, 0.0)]), Some(2.0), "the first was slow to begin");
    }

    #[test]
    fn a_size_that_does_not_fit_is_not_begun() {
        assert_eq!(after(&[(1.0, 0.0), (2.0, 0.0)], 60.0).missing_seconds(), None);
        let missing = after(&[(1.0, 0.0), (20.0, 0.0)], 60.0).missing_seconds().unwrap();
        assert!((36.0..36.5).contains(&missing), "{missing}");
    }
}
