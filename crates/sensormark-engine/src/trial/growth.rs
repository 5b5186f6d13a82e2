//! The sizes that a trial goes through: which of them are whole, and whether there is time for the next.
//!
//! What was done at the sizes before says how long the next one takes, step by step. A load takes as long for each of its writes as before. A question takes
//! until its limit at most. A rest and a proof grow by a straight line over the readings. Some databases wait some seconds in a rest of any size. That is no
//! growth.

use super::script::{PhaseSpec, Step};
use sensormark_result::measurement::record::TrialRecord;
use sensormark_result::measurement::sizes::TIMES;
use std::time::{Duration, Instant};

/// Rests of one length differ by so much at most, in seconds: InfluxDB and QuestDB look every second or two whether there is something to do.
const WAITED: f64 = 3.0;
/// A size is begun if it is told to end within so many times the budget. Nothing is told more exactly.
const OVER: f64 = 1.1;
/// A trial may take so much longer than its budget before the size at work is given up.
const OVERDUE: f64 = 1.2;

/// The sizes of one trial.
pub struct Growth {
    budget: Option<Duration>,
    began: Instant,
    is_at_work: bool,
    /// Readings of the size at work, or of the last one.
    readings: u64,
    /// What was done at each size, in its order.
    took: Vec<Took>,
    whole: Option<Whole>,
}

/// Something that was done at a size.
struct Took {
    work: Work,
    readings: u64,
    /// Operations of a phase.
    operations: u64,
    seconds: f64,
}

/// What a size goes through.
#[derive(PartialEq)]
enum Work {
    /// A phase, by the name of its first load and whether that writes.
    Phase(String, bool),
    Settle,
    Prove,
}

impl Work {
    fn of(step: &Step) -> Option<(Self, u64)> {
        match step {
            Step::Run(phase) => {
                let load = phase.loads.first()?;
                Some((Self::Phase(load.name.clone(), load.writes), load.operations.len()))
            }
            Step::Settle(_) => Some((Self::Settle, 0)),
            Step::Reset | Step::Size(_) => None,
        }
    }
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
        Self { budget, began: Instant::now(), is_at_work: false, readings: 0, took: Vec::new(), whole: None }
    }

    /// Whether a size is at work.
    pub const fn is_at_work(&self) -> bool {
        self.is_at_work
    }

    /// A size of so many readings begins.
    pub const fn begin(&mut self, readings: u64) {
        (self.is_at_work, self.readings) = (true, readings);
    }

    /// A step of the size at work took so long.
    pub fn add(&mut self, step: &Step, lasted: Duration) {
        if let Some((work, operations)) = Work::of(step).filter(|_| self.is_at_work) {
            self.note(work, operations, lasted);
        }
    }

    fn note(&mut self, work: Work, operations: u64, lasted: Duration) {
        self.took.push(Took { work, readings: self.readings, operations, seconds: lasted.as_secs_f64() });
    }

    /// The size at work is whole; its proof took so long.
    pub fn finish(&mut self, whole: Whole, proof: Duration) {
        self.note(Work::Prove, 0, proof);
        (self.is_at_work, self.whole) = (false, Some(whole));
    }

    /// What these steps take at a size of so many readings, and its proof, in seconds; none where no size is whole.
    fn seconds(&self, steps: &[Step], readings: u64) -> Option<f64> {
        self.whole.as_ref()?;
        let step = |step: &Step| match step {
            Step::Run(phase) => self.phase_seconds(phase, step),
            Step::Settle(_) => self.grown_seconds(&Work::Settle, readings, 1.0),
            Step::Reset | Step::Size(_) => 0.0,
        };
        let proof = self.grown_seconds(&Work::Prove, readings, TIMES as f64);
        Some(steps.iter().map(step).sum::<f64>() + proof)
    }

    /// A load writes on as fast as it did; a question takes as many times as long as there are readings, or its limit.
    fn phase_seconds(&self, phase: &PhaseSpec, step: &Step) -> f64 {
        let limit = phase.limit.map(|limit| limit.as_secs_f64());
        let Some((work, operations)) = Work::of(step) else { return 0.0 };
        let Some(last) = self.took.iter().rfind(|took| took.work == work) else {
            return limit.unwrap_or(0.0);
        };
        let times = if phase.only_reads() { TIMES as f64 } else { 1.0 };
        let seconds = last.seconds * times * operations as f64 / last.operations.max(1) as f64;
        limit.map_or(seconds, |limit| seconds.min(limit))
    }

    /// By a straight line through the last two sizes; after one alone, so many times as long.
    fn grown_seconds(&self, work: &Work, readings: u64, times: f64) -> f64 {
        let mut found = self.took.iter().rev().filter(|took| took.work == *work);
        let Some(last) = found.next() else { return 0.0 };
        let Some(before) = found.find(|before| before.readings < last.readings) else {
            return last.seconds * times;
        };
        let earlier = found.find(|earlier| earlier.readings < before.readings);
        let grew = last.seconds - before.seconds;
        let grew_before = earlier.map_or(0.0, |earlier| before.seconds - earlier.seconds);
        // What grows with the readings grows by far more each time.
        let is_more_each_time = grew_before > 0.0 && grew > 2.0 * grew_before;
        let is_growth = *work != Work::Settle || grew > WAITED || is_more_each_time;
        let slope = if is_growth { grew.max(0.0) / (last.readings - before.readings) as f64 } else { 0.0 };
        last.seconds + slope * readings.saturating_sub(last.readings) as f64
    }

    /// How much of the budget is missing for these steps, which lead to so many readings, in seconds; none where it is enough.
    pub fn missing_seconds(&self, steps: &[Step], readings: u64) -> Option<f64> {
        let left = self.budget?.as_secs_f64() * OVER - self.began.elapsed().as_secs_f64();
        let missing = self.seconds(steps, readings)? - left;
        (missing > 0.0).then_some(missing)
    }

    /// Whether the size at work takes far longer than was told, so that a whole one before it has to do.
    pub fn is_overdue(&self) -> bool {
        let is_late = |budget: Duration| self.began.elapsed() > budget.mul_f64(OVERDUE);
        self.whole.is_some() && self.is_at_work && self.budget.is_some_and(is_late)
    }

    /// The last whole size, if one is at work after it.
    pub fn give_up(&mut self) -> Option<Whole> {
        if !std::mem::take(&mut self.is_at_work) {
            return None;
        }
        self.whole.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::Checking;
    use crate::operations::{ENDLESS, Operations, Slot};
    use crate::tests::trials::attempt;
    use crate::trial::script::LoadSpec;
    use sensormark_store::{Answer, Query};
    use std::sync::Arc;

    /// So many operations, which nobody issues.
    struct Planned(u64);

    impl Operations for Planned {
        fn len(&self) -> u64 {
            self.0
        }
        fn classes(&self) -> &[String] {
            &[]
        }
        fn fill(&self, _index: u64, _watermark: u64, _slot: &mut Slot) {}
        fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
            None
        }
    }

    fn write(count: u64) -> Step {
        Step::Run(PhaseSpec::new("a load", vec![LoadSpec::writing("load", Arc::new(Planned(count)), 1)]))
    }

    fn ask(count: u64, limit: f64) -> Step {
        let asking = LoadSpec::asking("a question", Arc::new(Planned(count)), 1, Checking::All);
        let mut phase = PhaseSpec::new("asked", vec![asking]);
        phase.limit = Some(Duration::from_secs_f64(limit));
        Step::Run(phase)
    }

    fn rest() -> Step {
        Step::Settle("settled".to_owned())
    }

    /// A size of so many readings, whose steps and proof took so many seconds.
    type Size<'a> = (u64, &'a [(Step, f64)], f64);

    fn after(sizes: &[Size<'_>], budget: f64) -> Growth {
        let seconds = Duration::from_secs_f64;
        let mut growth = Growth::new(Some(seconds(budget)));
        for (readings, steps, proof) in sizes {
            growth.begin(*readings);
            steps.iter().for_each(|(step, lasted)| growth.add(step, seconds(*lasted)));
            let record = attempt(0, [("a load", 0.0, 1), ("asked", 0.0, 1)]);
            growth.finish(Whole { record, reasons: 0, step: 0 }, seconds(*proof));
        }
        growth
    }

    #[test]
    fn a_rest_of_seconds_after_a_short_load_does_not_grow_with_the_readings() {
        assert_eq!(
            after(&[], 1.0).missing_seconds(&[write(300)], 400),
            None,
            "the first is measured whatever it takes"
        );
        // InfluxDB: its load took half a second, its rest six, and the whole was told to take four times as long.
        let first = [(write(100), 0.5), (rest(), 6.0), (ask(200, 5.0), 0.1), (ask(200, 5.0), 3.0)];
        let next = [write(300), rest(), ask(ENDLESS, 0.5)];
        let growth = after(&[(100, &first, 0.25)], 30.0);
        assert_eq!(growth.seconds(&next, 400), Some(1.5 + 6.0 + 0.5 + 1.0));
        assert_eq!(growth.missing_seconds(&next, 400), None);
        let second = [(write(300), 1.5), (rest(), 8.5), (ask(ENDLESS, 0.5), 0.5)];
        let next = [write(1_200), rest(), ask(ENDLESS, 0.5)];
        let growth = after(&[(100, &first, 0.25), (400, &second, 0.75)], 100.0);
        assert_eq!(growth.seconds(&next, 1_600), Some(6.0 + 8.5 + 0.5 + (0.75 + 2.0)));
        // Over 3 s longer is growth, and so is more each time.
        let second = [(write(300), 1.5), (rest(), 10.0), (ask(ENDLESS, 0.5), 0.5)];
        let growth = after(&[(100, &first, 0.25), (400, &second, 0.75)], 100.0);
        assert_eq!(growth.seconds(&next, 1_600), Some(6.0 + (10.0 + 16.0) + 0.5 + (0.75 + 2.0)));
        let rests =
            [(100, 0.5), (400, 1.0), (1_600, 3.0)].map(|(size, lasted)| (size, [(rest(), lasted)], 0.0));
        let sizes: Vec<Size<'_>> =
            rests.iter().map(|(size, steps, proof)| (*size, &steps[..], *proof)).collect();
        assert_eq!(after(&sizes, 100.0).seconds(&[rest()], 2_800), Some(5.0));
    }

    #[test]
    fn a_question_that_was_over_early_takes_longer_with_more_readings_up_to_its_limit() {
        let growth = after(&[(100, &[(ask(200, 5.0), 0.25)], 0.0)], 30.0);
        assert_eq!(growth.seconds(&[ask(200, 5.0)], 400), Some(1.0));
        assert_eq!(growth.seconds(&[ask(800, 3.0)], 400), Some(3.0));
    }

    #[test]
    fn a_size_that_does_not_fit_is_not_begun() {
        let growth = after(&[(100, &[(write(100), 20.0)], 0.0)], 30.0);
        let missing = growth.missing_seconds(&[write(300)], 400).unwrap();
        assert!((27.0..27.5).contains(&missing), "{missing}");
    }
}
