//! Operations and expected answers against brute force over the generated rows; parameters; which layouts are chosen.

use super::*;
use sensormark_conformance::memory::MemoryStore;
use sensormark_conformance::reference::Reference;
use sensormark_data::sensor_operations::SensorReadings;
use sensormark_engine::adjust::adjust;
use sensormark_engine::operations::{Operations, Request, Slot};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::Subject;
use sensormark_engine::trial::WorkloadFactory;
use sensormark_engine::trial::script::{Step, check};
use sensormark_result::measurement::names;
use sensormark_store::{
    Answer, AnswerSource, Ask, DefaultSelection, Index, Layout, LayoutOption, RepeatedWrite, Selection,
    Store, WriteMethod,
};
use std::collections::BTreeSet;
use std::sync::Arc;

const SENSORS: u32 = 7;
const INTERVAL_MS: u32 = 30_000;

fn readings() -> Arc<SensorReadings> {
    Arc::new(SensorReadings::new(42, SENSORS, INTERVAL_MS).unwrap())
}

fn writes(operation: Operation, statements: u64, per_statement: u64) -> Writes {
    Writes::new(operation, readings(), 0..statements, per_statement)
}

fn reads(operation: Operation, statements: u64, per_statement: u64) -> Reads {
    let table = schema(SENSORS, INTERVAL_MS).tables.remove(0);
    Reads::new(operation, readings(), table, 42, (0..statements, per_statement))
}

/// What the first so many statements write, as a database would have it.
fn written(writes: &Writes, statements: u64) -> Reference {
    let schema = Arc::new(schema(SENSORS, INTERVAL_MS));
    let mut reference = Reference::new(Arc::clone(&schema));
    let mut slot = Slot::new(&schema);
    for index in 0..statements {
        writes.fill(index, u64::MAX, &mut slot);
        assert_eq!(slot.request(), Request::Write(0));
        let batch = slot.batch().unwrap();
        assert_eq!(batch.check(&schema.tables[0], false), Ok(()));
        let sensor = u32::try_from(index % u64::from(SENSORS)).unwrap();
        assert!(batch.series.iter().all(|series| *series == sensor));
        reference.add(batch);
    }
    reference.prepare();
    reference
}

#[test]
fn statements_write_every_reading_once() {
    for (operation, statements, per_statement) in
        [(Operation::SingleWrite, 100, 1), (Operation::MultiWrite, 20, 50)]
    {
        let writes = writes(operation, statements, per_statement);
        assert_eq!(writes.len(), statements);
        let mut keys = BTreeSet::new();
        written(&writes, statements).scan(0, &mut |batch| {
            keys.extend(batch.series.iter().copied().zip(batch.times_ns.clone()));
        });
        assert_eq!(keys.len() as u64, statements * per_statement);
        // Each sensor's readings have no gap.
        let readings = readings();
        for sensor in 0..SENSORS {
            let own = keys.iter().filter(|(series, _)| *series == sensor);
            for (tick, (_, time_ns)) in own.enumerate() {
                assert_eq!(*time_ns, readings.time_ns(sensor, tick as u64));
            }
        }
    }
}

/// Every question finds its readings, and the expected answer is the one of brute force; also when the writing was cut.
#[test]
fn every_question_is_about_what_is_stored_and_its_answer_is_known() {
    for (write, read, statements, per_statement) in [
        (Operation::SingleWrite, Operation::SingleRead, 100, 1),
        (Operation::MultiWrite, Operation::MultiRead, 20, 50),
    ] {
        let writes = writes(write, statements, per_statement);
        let reads = reads(read, statements, per_statement);
        assert_eq!(reads.len(), statements);
        assert_eq!(reads.least_watermark(), 1);
        let mut slot = Slot::new(&schema(SENSORS, INTERVAL_MS));
        for stored in [1, 2, 9, statements] {
            let reference = written(&writes, stored);
            for index in 0..statements {
                let watermark = if stored == statements { u64::MAX } else { stored };
                reads.fill(index, watermark, &mut slot);
                assert_eq!(slot.request(), Request::Query);
                let query = slot.query();
                let brute = reference.answer(query);
                assert_eq!(brute.len() as u64, per_statement, "{query:?}");
                assert_eq!(reads.answer_len(index, query), Some(brute.len()));
                let expected = reads.expected(index, query).unwrap();
                assert_eq!(expected, brute);
                assert_eq!(brute.disagreement(&expected, query), None);
            }
        }
    }
}

#[test]
fn a_wrong_value_is_a_disagreement() {
    let reads = reads(Operation::SingleRead, 100, 1);
    let mut slot = Slot::new(&schema(SENSORS, INTERVAL_MS));
    reads.fill(3, u64::MAX, &mut slot);
    let expected = reads.expected(3, slot.query()).unwrap();
    let Answer::Readings(mut batch) = expected.clone() else {
        panic!("{expected:?}");
    };
    let sensormark_store::Values::F64(values) = &mut batch.columns[0].values else {
        panic!("{batch:?}");
    };
    values[0] = f64::from_bits(values[0].to_bits() ^ 1);
    let wrong = Answer::Readings(batch);
    assert!(wrong.disagreement(&expected, slot.query()).is_some());
}

#[test]
fn questions_are_drawn_from_everything() {
    let single = reads(Operation::SingleRead, 1_000, 1);
    let multi = reads(Operation::MultiRead, 70, 50);
    let mut slot = Slot::new(&schema(SENSORS, INTERVAL_MS));
    let (mut points, mut unaligned, mut sensors) = (BTreeSet::new(), 0, BTreeSet::new());
    for index in 0..1_000 {
        single.fill(index, u64::MAX, &mut slot);
        points.insert(slot.query().range.start_ns);
        assert!(matches!(slot.query().ask, Ask::Point { .. }));
    }
    // Of 1,000 drawn with replacement, a share of 1 − 1/e is there.
    assert!((600..665).contains(&points.len()), "{}", points.len());
    for index in 0..70 {
        multi.fill(index, u64::MAX, &mut slot);
        let query = slot.query();
        let Selection::One(sensor) = query.series else {
            panic!("{query:?}");
        };
        sensors.insert(sensor);
        let start = readings().ticks_within(sensor, query.range).start;
        unaligned += u32::from(!start.is_multiple_of(50));
    }
    assert_eq!(sensors.len(), SENSORS as usize);
    assert!(unaligned > 50, "{unaligned}");
}

fn quick() -> Parameters {
    Parameters::of(Scale::Quick)
}

fn set(setting: &str) -> Result<Parameters, String> {
    let set = adjust(&quick(), &[setting.to_owned()], Parameters::TABLE)?;
    set.check().map(|()| set)
}

#[test]
fn numbers_are_checked_with_one_clear_message() {
    for scale in Scale::ALL {
        let parameters = Parameters::of(scale);
        assert_eq!(parameters.check(), Ok(()));
        let value = SensorOperationsWorkload.preset(scale).unwrap();
        let object = value.as_object().unwrap();
        assert_eq!(object.len(), Parameters::TABLE.len());
    }
    for (setting, words) in [
        ("sensors=0", "sensors is 0"),
        ("multi=1500", "a multiple of batch"),
        ("clients=1,0", "clients holds 0"),
        ("clients=4,4", "twice"),
        ("clients=[]", "clients is empty"),
        ("limit_seconds=0", "limit_seconds is 0"),
        ("single=0", "single is 0"),
        ("interval_ms=0", "interval_ms is 0"),
        ("single=60000000000", "past 2262"),
    ] {
        let error = set(setting).unwrap_err();
        assert!(error.contains(words), "{setting}: {error}");
    }
    let clients = |text: &str| set(text).map(|set| set.clients);
    assert_eq!(clients("clients=8"), Ok(vec![8]));
    assert_eq!(clients("clients=1, 2"), Ok(vec![1, 2]));
    assert_eq!(clients("clients=[1,2]"), Ok(vec![1, 2]));
    assert!(clients("clients=many").unwrap_err().contains("1,4,16"));
    assert!(set("index=maybe").unwrap_err().contains("both, with, without"));
    assert_eq!(set("interval_ms=30s").unwrap().interval_ms, 30_000);
}

#[test]
fn tests_begin_empty_and_their_phases_say_what_they_are() {
    let parameters = Parameters { grown: 0, ..quick() };
    let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
    let layout = Layout::row_per_reading();
    let subject = Subject { store: &store, layout: &layout, layout_name: "individual" };
    let value = serde_json::to_value(&parameters).unwrap();
    let workload = SensorOperationsWorkload.build(&value, 1, subject).unwrap();
    let steps = workload.steps();
    assert_eq!(check(&steps), Ok(()));
    let phases: Vec<_> = (steps.iter())
        .filter_map(|step| match step {
            Step::Run(phase) => Some(phase),
            _ => None,
        })
        .collect();
    let tests = parameters.tests(false).len() + parameters.tests(true).len();
    assert_eq!(phases.len(), 2 * tests);
    let resets = steps.iter().filter(|step| matches!(step, Step::Reset));
    assert_eq!(resets.count(), tests - 1);
    let scored = |phase: &&&_| {
        let phase: &sensormark_engine::trial::script::PhaseSpec = phase;
        !phase.labels.contains_key(names::SCORED)
    };
    assert_eq!(phases.iter().filter(scored).count(), 2 * 2 * 3);
    for phase in &phases {
        let size = phase.labels[labels::SIZE].as_u64().unwrap();
        let load = &phase.loads[0];
        let per = if size == load.operations.len() { 1 } else { 1_000 };
        assert_eq!(size, load.operations.len() * per);
        assert_eq!(phase.labels[labels::CLIENTS], load.clients);
    }
}

#[test]
fn a_database_is_brought_to_rest_between_where_it_is_asked_for() {
    let parameters = Parameters { settle: true, sweep: false, grown: 0, ..quick() };
    let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
    let layout = Layout::row_per_reading();
    let subject = Subject { store: &store, layout: &layout, layout_name: "individual" };
    let value = serde_json::to_value(parameters).unwrap();
    let steps = SensorOperationsWorkload.build(&value, 1, subject).unwrap().steps();
    assert_eq!(check(&steps), Ok(()));
    let settled = steps.iter().filter(|step| matches!(step, Step::Settle(_)));
    assert_eq!(settled.count(), 6);
}

#[test]
fn after_the_tests_data_grow_from_size_to_size_and_reads_are_about_all_of_it() {
    let parameters = Parameters { sweep: false, grown: 320_000, ..quick() };
    let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
    let layout = Layout::row_per_reading();
    let subject = Subject { store: &store, layout: &layout, layout_name: "individual" };
    let value = serde_json::to_value(&parameters).unwrap();
    let steps = SensorOperationsWorkload.build(&value, 1, subject).unwrap().steps();
    assert_eq!(check(&steps), Ok(()));
    let sizes: Vec<u64> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Size(readings) => Some(*readings),
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [20_000, 80_000, 320_000]);
    // The second size writes on where the first ended, and its reads ask about both.
    let readings = Arc::new(SensorReadings::new(1, parameters.sensors, parameters.interval_ms).unwrap());
    let writes = Writes::new(Operation::MultiWrite, Arc::clone(&readings), 20..80, 1_000);
    assert_eq!(writes.len(), 60);
    let schema = schema(parameters.sensors, parameters.interval_ms);
    let mut slot = Slot::new(&schema);
    writes.fill(0, u64::MAX, &mut slot);
    let batch = slot.batch().unwrap();
    assert_eq!((batch.series[0], batch.len()), (20, 1_000));
    let reads = Reads::new(Operation::SingleRead, readings, schema.tables[0].clone(), 1, (20..80, 1));
    let asked = |watermark: u64| {
        let series = |index| {
            let mut slot = Slot::new(&schema);
            reads.fill(index, watermark, &mut slot);
            match slot.ask().series {
                Selection::One(series) => series,
                _ => u32::MAX,
            }
        };
        (0..200).map(series).max()
    };
    assert!(asked(u64::MAX) > Some(70) && asked(u64::MAX) < Some(80));
    // The load was cut after ten statements.
    assert!(asked(10) < Some(30) && asked(10) > Some(20));
}

fn offer(variant: &str, layout: Layout, default_selection: DefaultSelection) -> LayoutOption {
    LayoutOption { variant: variant.to_owned(), layout, default_selection, description: String::new() }
}

/// The variants that are measured unasked.
fn measured(index: Indexes, statements: Statements, mut offers: Vec<LayoutOption>) -> Vec<String> {
    let parameters = Parameters { index, statements, ..quick() };
    let value = serde_json::to_value(parameters).unwrap();
    SensorOperationsWorkload.choose(&value, "individual", &mut offers);
    let chosen = offers.into_iter().filter(|offer| offer.default_selection != DefaultSelection::OnRequest);
    chosen.map(|offer| offer.variant).collect()
}

#[test]
fn layouts_are_chosen_by_what_they_are() {
    let usual = Layout::row_per_reading();
    let of = |index| usual.with_index(index);
    let by = |write| usual.with_write(write);
    let relational = || {
        vec![
            offer("", usual, DefaultSelection::Usual),
            offer("no-index", of(Index::None), DefaultSelection::OnRequest),
            offer("clustered", of(Index::Clustered), DefaultSelection::Further),
            offer("series-index", of(Index::Series), DefaultSelection::OnRequest),
            offer("copy", by(WriteMethod::FastPath), DefaultSelection::OnRequest),
            offer("udp", by(WriteMethod::Datagram), DefaultSelection::Further),
        ]
    };
    let usually = Statements::Usual;
    let both = measured(Indexes::Both, usually, relational());
    assert_eq!(both, ["", "no-index", "clustered"]);
    let with = measured(Indexes::With, Statements::All, relational());
    assert_eq!(with, ["", "clustered", "copy"]);
    assert_eq!(measured(Indexes::Without, usually, relational()), ["no-index"]);
    // Partitions by sensor and time, or by sensor alone, which is the study's.
    let partitioned = || {
        vec![
            offer("", of(Index::Clustered), DefaultSelection::Usual),
            offer("partition-per-series", of(Index::Series), DefaultSelection::OnRequest),
        ]
    };
    for index in [Indexes::Both, Indexes::With, Indexes::Without] {
        assert_eq!(measured(index, usually, partitioned()), ["partition-per-series"]);
    }
    let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
    let own = store.layouts(&schema(1, INTERVAL_MS), sensormark_store::Family::PerReading);
    assert_eq!(measured(Indexes::Without, usually, own), [""]);
}
