//! Writes cover everything once in whatever order they are made; answers are those of the contract's reference.

use super::history::History;
use super::parameters::Parameters;
use super::questions::{QuestionKind, Questions};
use super::steps::Script;
use super::writes::{Lanes, Plan, Writes};
use sensormark_conformance::memory::MemoryStore;
use sensormark_conformance::reference::Reference;
use sensormark_data::devops::fields::MEASUREMENTS;
use sensormark_data::devops::{Devops, Walk, tick_from};
use sensormark_engine::operations::{Operations, Slot};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::Subject;
use sensormark_store::{AnswerSource, Ask, Batch, Layout, RepeatedWrite, Schema, TimeRange};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Readings in the largest write of each table, on a store that advises 1,000.
fn sizes_of_writes(batch: u64, batch_times: f64) -> Vec<u64> {
    let parameters = Parameters {
        hosts: 100,
        hours: 1.0,
        more_hours: Vec::new(),
        batch,
        batch_times,
        ..Parameters::of(Scale::Quick)
    };
    let data = Devops { seed: 3, hosts: 100, walk: Walk::Clamped };
    let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
    let subject = Subject { store: &store, layout: &Layout::row_per_reading(), layout_name: "individual" };
    let schema = Arc::new(data.schema());
    let base = Script::new(Arc::new(parameters), data, schema, subject).base;
    (0..MEASUREMENTS.len()).map(|table| base.readings(table)).collect()
}

#[test]
fn a_write_is_as_large_as_the_store_advises_however_wide_its_table() {
    assert_eq!(sizes_of_writes(0, 1.0), [1_000; 9]);
    assert_eq!(sizes_of_writes(0, 0.5), [500; 9]);
    assert_eq!(sizes_of_writes(0, 4.0), [4_000; 9]);
    assert_eq!(sizes_of_writes(2_000, 1.0), [2_000; 9], "the user's own");
}

struct Place {
    data: Devops,
    schema: Arc<Schema>,
    plan: Arc<Plan>,
    writes: Writes,
}

/// Writes of these sizes; the lanes go on beyond them.
fn place(hosts: u32, walk: Walk, ticks: Range<u64>, readings: &[u64]) -> Place {
    let data = Devops { seed: 3, hosts, walk };
    let plan = Arc::new(Plan::new(hosts, ticks.clone(), readings));
    let lanes = Arc::new(Lanes::new(&data, ticks.end + 100, &plan));
    Place { schema: Arc::new(data.schema()), writes: Writes::new(Arc::clone(&plan), lanes), data, plan }
}

const UNEVEN: [u64; 9] = [50, 7, 120, 1, 33, 64, 64, 20, 9];

impl Place {
    fn write(&self, index: u64, slot: &mut Slot) -> Batch {
        self.writes.fill(index, u64::MAX, slot);
        slot.batch().expect("it writes").clone()
    }

    /// Everything before this write.
    fn reference(&self, writes: u64) -> Reference {
        let mut reference = Reference::new(Arc::clone(&self.schema));
        let mut slot = Slot::new(&self.schema);
        for index in 0..writes {
            reference.add(&self.write(index, &mut slot));
        }
        reference.prepare();
        reference
    }

    fn questions(&self, kind: QuestionKind, parameters: &Parameters, ticks: u64) -> Questions {
        let history = History::new(self.data, Arc::clone(&self.schema), ticks);
        Questions::new(kind, Arc::new(parameters.clone()), Arc::new(history), Arc::clone(&self.plan), 11)
    }
}

#[test]
fn every_reading_is_written_once_and_in_the_order_of_time() {
    for (hosts, ticks) in [(8, 0..97), (3, 40..61), (64, 0..5)] {
        let place = place(hosts, Walk::Clamped, ticks.clone(), &UNEVEN);
        let mut slot = Slot::new(&place.schema);
        let mut seen = BTreeMap::new();
        let mut latest = 0;
        for index in 0..place.writes.len() {
            let batch = place.write(index, &mut slot);
            let own = UNEVEN[batch.table].max(1);
            assert!(!batch.is_empty() && batch.len() as u64 <= own.max(1), "{index}");
            assert!(batch.len() as u64 <= place.plan.readings(batch.table));
            latest = latest.max(batch.times_ns[0]);
            // No table lags behind by more than a block.
            let blocks = 2 * 120 / i64::from(hosts).max(1) + 2;
            assert!(latest - batch.times_ns[0] <= blocks * 10_000_000_000);
            for row in 0..batch.len() {
                let key = (batch.table, batch.series[row], batch.times_ns[row]);
                assert!(seen.insert(key, index).is_none(), "{key:?} twice");
            }
        }
        let span = ticks.end - ticks.start;
        assert_eq!(seen.len() as u64, span * u64::from(hosts) * 9);
        // Below what is complete, everything was written before.
        for watermark in 0..=place.writes.len() {
            let complete = place.plan.complete(watermark);
            assert_eq!(complete.start, ticks.start);
            let early = seen.iter().filter(|((.., time), _)| tick_from(*time) < complete.end);
            assert!(early.clone().all(|(_, index)| *index < watermark));
            let expected = (complete.end - complete.start) * u64::from(hosts) * 9;
            assert_eq!(early.count() as u64, expected);
        }
        for ticks in 0..=span {
            let writes = place.plan.writes_for(ticks);
            let complete = |writes| {
                let complete = place.plan.complete(writes);
                complete.end - complete.start
            };
            assert!(complete(writes) >= ticks);
            assert!(writes == 0 || complete(writes - 1) < ticks, "{ticks}: {writes}");
        }
    }
}

#[test]
fn a_day_of_a_hundred_hosts_is_written_as_87_264_000_values() {
    for readings in [[1_000; 9], [313; 9], [64; 9], UNEVEN] {
        let plan = Plan::new(100, 0..8_640, &readings);
        let values = (0..plan.writes()).map(|index| {
            let (table, readings) = plan.size(index);
            readings * MEASUREMENTS[table].fields.len() as u64
        });
        assert_eq!(values.sum::<u64>(), 87_264_000);
    }
}

#[test]
fn the_order_in_which_writes_are_made_does_not_matter() {
    let place = place(8, Walk::Reflected, 20..400, &UNEVEN);
    let mut slot = Slot::new(&place.schema);
    let count = place.writes.len();
    let in_order: Vec<Batch> = (0..count).map(|index| place.write(index, &mut slot)).collect();
    // From the end, in jumps, and a little out of order.
    let jumps = (0..count).map(|index| index * 7_919 % count);
    let swapped = (0..count).map(|index| (index ^ 5).min(count - 1));
    for index in (0..count).rev().step_by(31).chain(jumps.step_by(13)).chain(swapped) {
        let number = usize::try_from(index).unwrap();
        assert_eq!(place.write(index, &mut slot), in_order[number], "{index}");
    }
}

fn small() -> Parameters {
    Parameters {
        hosts: 8,
        hours: 1.0,
        more_hours: Vec::new(),
        queries: 40,
        short_minutes: 7,
        long_minutes: 40,
        several_hosts: 3,
        mean_minutes: 33,
        mean_step_minutes: 10,
        threshold: 55.0,
        ..Parameters::of(Scale::Quick)
    }
}

#[test]
fn answers_are_the_reference_s_whatever_was_written() {
    let parameters = small();
    for walk in [Walk::Clamped, Walk::Reflected] {
        // Several hours, so that walks are taken up at an hour that was kept.
        let place = place(8, walk, 0..900, &[160; 9]);
        let all = place.writes.len();
        for watermark in [u64::MAX, all / 2, 40] {
            let reference = place.reference(watermark.min(all));
            for kind in QuestionKind::ALL {
                let questions = place.questions(kind, &parameters, 900);
                assert!(questions.least_watermark() <= watermark);
                let mut slot = Slot::new(&place.schema);
                let mut found = 0;
                for index in 0..questions.len() {
                    questions.fill(index, watermark, &mut slot);
                    let query = slot.query();
                    let expected = questions.expected(index, query).expect("it is known");
                    let known = reference.answer(query);
                    assert_eq!(expected.disagreement(&known, query), None, "{query:?}");
                    if let Some(length) = questions.answer_len(index, query) {
                        assert_eq!(length, known.len(), "{query:?}");
                    }
                    found += known.len();
                }
                assert!(found > 0, "{kind:?} finds something");
            }
        }
    }
}

#[test]
fn what_is_newest_ends_where_everything_has_come() {
    let parameters = small();
    let place = place(8, Walk::Clamped, 0..900, &[160; 9]);
    let mut slot = Slot::new(&place.schema);
    for kind in [QuestionKind::MaximumShort, QuestionKind::LastOfSite] {
        let mut questions = place.questions(kind, &parameters, 900);
        questions.is_newest = true;
        for watermark in [questions.least_watermark(), place.writes.len() / 2] {
            let reference = place.reference(watermark);
            let mut answers = BTreeMap::new();
            for index in 0..questions.len() {
                questions.fill(index, watermark, &mut slot);
                let query = slot.query();
                assert_eq!(tick_from(query.range.end_ns), place.plan.complete(watermark).end);
                let expected = questions.expected(index, query).expect("it is known");
                let known = reference.answer(query);
                assert_eq!(expected.disagreement(&known, query), None, "{query:?}");
                assert_eq!(questions.answer_len(index, query), Some(known.len()), "{query:?}");
                answers.insert(format!("{:?}", query.series), known.len());
            }
            assert!(answers.len() > 2 && answers.values().all(|length| *length > 0), "{answers:?}");
        }
    }
}

#[test]
fn questions_are_about_windows_of_their_length_all_over_the_data() {
    let parameters = small();
    let place = place(8, Walk::Clamped, 360..1_080, &[160; 9]);
    let mut slot = Slot::new(&place.schema);
    for kind in QuestionKind::ALL {
        let questions = place.questions(kind, &parameters, 1_080);
        let mut ranges: Vec<TimeRange> = Vec::new();
        for index in 0..questions.len() {
            questions.fill(index, u64::MAX, &mut slot);
            let query = slot.query();
            ranges.push(query.range);
            let first = slot.query().clone();
            questions.fill(index, u64::MAX, &mut slot);
            assert_eq!(*slot.query(), first, "the same question again");
            assert!(tick_from(first.range.start_ns) >= 360);
            assert!(tick_from(first.range.end_ns) <= 1_080);
        }
        let minutes = match kind {
            QuestionKind::MaximumShort | QuestionKind::MaximumSeveral | QuestionKind::Busy => 7,
            QuestionKind::MaximumLong => 40,
            QuestionKind::MeanAll => 33,
            QuestionKind::LastReading | QuestionKind::LastOfSite => continue,
        };
        assert!(ranges.iter().all(|range| range.length_ns() == minutes * 60_000_000_000));
        let mut starts: Vec<i64> = ranges.iter().map(|range| range.start_ns).collect();
        starts.sort_unstable();
        starts.dedup();
        assert!(starts.len() > 30, "{kind:?}: {} of 40 windows differ", starts.len());
        assert!(matches!(slot.query().ask, Ask::Aggregate { .. } | Ask::SeriesMatching(_)));
    }
}

/// Questions about less than they wait for are asked when everything is there.
#[test]
fn few_ticks_are_waited_for_as_far_as_they_go() {
    let plan = Plan::new(8, 0..3, &UNEVEN);
    assert_eq!(plan.writes_for(6), plan.writes());
}

/// Windows longer than the data are the whole of it.
#[test]
fn a_window_is_cut_to_what_there_is() {
    let mut parameters = small();
    parameters.long_minutes = 100_000;
    let place = place(8, Walk::Clamped, 0..360, &[160; 9]);
    let questions = place.questions(QuestionKind::MaximumLong, &parameters, 360);
    let mut slot = Slot::new(&place.schema);
    questions.fill(0, u64::MAX, &mut slot);
    assert_eq!(slot.query().range.length_ns(), 3_600_000_000_000);
}
