//! What the machine had sent before: samples of an earlier time, loaded in bulk before anything is measured, so that readers read old data too.
//!
//! A sample's time and values follow from its number, so that no journal is needed to know what is due.

use super::parameters::Parameters;
use super::writes::push;
use super::{HISTORY, SPAN_NS};
use sensormark_data::machine_tool::MachineTool;
use sensormark_data::units::signed;
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_result::ledger::journal::{Entry, Standing};
use sensormark_store::{Answer, Query, TimeRange, TimeResolution};

/// When history ends, in ns since the Unix epoch: 2026-01-01.
const END_NS: i64 = 1_767_225_600 * SPAN_NS;
/// The number of history's first sample among the signal's; those of the source are far below.
const FIRST: u64 = 1 << 40;

/// The samples before the source's.
#[derive(Debug, Clone)]
pub struct History {
    tool: MachineTool,
    start_ns: i64,
    /// From one sample to the next.
    step_ns: i64,
    samples: u64,
    /// The time that a write is of.
    width_ns: i64,
    classes: [String; 1],
}

impl History {
    /// History as a run's numbers have it, with about so many samples in a write, or those of a second.
    pub fn new(
        parameters: &Parameters,
        seed: u64,
        resolution: TimeResolution,
        of_a_write: Option<u64>,
    ) -> Self {
        let step_ns = signed(parameters.period_ns()).max(resolution.nanoseconds());
        let length_ns = i64::from(parameters.history_seconds) * SPAN_NS;
        Self {
            tool: MachineTool::new(seed),
            start_ns: END_NS - length_ns,
            step_ns,
            samples: length_ns.div_euclid(step_ns).unsigned_abs(),
            width_ns: of_a_write.map_or(SPAN_NS, |samples| step_ns.saturating_mul(signed(samples.max(1)))),
            classes: [HISTORY.to_owned()],
        }
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// Times of the first and the last sample.
    pub fn bounds_ns(&self) -> Option<(i64, i64)> {
        let last = self.samples.checked_sub(1)?;
        Some((self.start_ns, self.time_ns(last)))
    }

    fn time_ns(&self, index: u64) -> i64 {
        self.start_ns + signed(index) * self.step_ns
    }

    /// The first sample that is not before this time.
    fn index_from(&self, time_ns: i64) -> u64 {
        let since_ns = time_ns.saturating_sub(self.start_ns).max(0).unsigned_abs();
        since_ns.div_ceil(self.step_ns.unsigned_abs()).min(self.samples)
    }

    /// The samples in a range of time, as a journal has them.
    pub fn entries(&self, range: TimeRange) -> Vec<Entry> {
        let entry = |index| Entry {
            sequence: FIRST + index,
            time_ns: self.time_ns(index),
            standing: Standing::Acknowledged,
        };
        (self.index_from(range.start_ns)..self.index_from(range.end_ns)).map(entry).collect()
    }
}

impl Operations for History {
    fn len(&self) -> u64 {
        let length_ns = self.samples * self.step_ns.unsigned_abs();
        length_ns.div_ceil(self.width_ns.unsigned_abs())
    }

    fn extent(&self) -> Extent {
        Extent::of(self.samples as f64 / self.len().max(1) as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let batch = slot.write(0);
        let start_ns = self.start_ns + signed(index) * self.width_ns;
        for sample in self.index_from(start_ns)..self.index_from(start_ns + self.width_ns) {
            push(batch, self.time_ns(sample), self.tool.sample(FIRST + sample));
        }
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_data::machine_tool::schema;
    use sensormark_engine::scale::Scale;

    fn history(
        settings: impl FnOnce(&mut Parameters),
        resolution: TimeResolution,
        of_a_write: Option<u64>,
    ) -> History {
        let mut parameters = Parameters { history_seconds: 7, ..Parameters::of(Scale::Quick) };
        settings(&mut parameters);
        History::new(&parameters, 3, resolution, of_a_write)
    }

    /// Times and first channels of all writes.
    fn written(history: &History) -> Vec<Vec<i64>> {
        let mut slot = Slot::new(&schema(TimeResolution::Nanoseconds));
        let write = |index| {
            history.fill(index, u64::MAX, &mut slot);
            slot.batch().expect("a write").times_ns.clone()
        };
        (0..history.len()).map(write).collect()
    }

    #[test]
    fn writes_have_every_sample_once_in_the_order_of_time() {
        for of_a_write in [None, Some(1), Some(300), Some(1_000_000)] {
            let history = history(|_| (), TimeResolution::Nanoseconds, of_a_write);
            let writes = written(&history);
            assert!(writes.iter().all(|write| !write.is_empty()));
            let all = writes.concat();
            assert_eq!(all.len(), 7_000);
            assert!(all.is_sorted_by(|one, other| one < other));
            assert_eq!(history.bounds_ns(), Some((all[0], all[6_999])));
            assert_eq!(all[0], END_NS - 7 * SPAN_NS);
            if of_a_write.is_none() {
                assert!(writes.iter().all(|write| write.len() == 1_000), "a second each");
            }
        }
    }

    #[test]
    fn samples_that_do_not_divide_a_second_stay_in_theirs() {
        let history = history(|it| it.samples_per_second = 3_000, TimeResolution::Milliseconds, None);
        let writes = written(&history);
        assert_eq!(writes.concat().len(), 7_000, "a layout that keeps milliseconds has one sample in each");
        let is_of_one_second =
            |write: &Vec<i64>| write.iter().all(|time| time / SPAN_NS == write[0] / SPAN_NS);
        assert!(writes.iter().all(is_of_one_second));
        let odd = super::tests::history(|it| it.samples_per_second = 7, TimeResolution::Nanoseconds, None);
        assert!(written(&odd).iter().all(is_of_one_second));
    }

    #[test]
    fn what_is_due_near_a_time_is_what_was_written_there() {
        let history = history(|_| (), TimeResolution::Nanoseconds, Some(300));
        let around = END_NS - 3 * SPAN_NS;
        let entries = history.entries(TimeRange::new(around - SPAN_NS, around + SPAN_NS));
        assert_eq!(entries.len(), 2_000);
        assert_eq!((entries[0].time_ns, entries[0].sequence), (around - SPAN_NS, FIRST + 3_000));
        assert!(history.entries(TimeRange::new(END_NS, END_NS + SPAN_NS)).is_empty());
        assert!(
            super::tests::history(|it| it.history_seconds = 0, TimeResolution::Nanoseconds, None).is_empty()
        );
    }
}
