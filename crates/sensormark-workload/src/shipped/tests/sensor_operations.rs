//! Sensor-operations: its steps and counts, questions and answers against brute force over the written rows, numbers, and which layouts are chosen.

use crate::shipped::SENSOR_OPERATIONS;
use sensormark_conformance::memory::MemoryStore;
use sensormark_conformance::reference::Reference;
use sensormark_engine::adjust::adjust_values;
use sensormark_engine::operations::{Operations, Request, Slot};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::script::{LoadSpec, PhaseSpec, Step, check, phases};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_result::measurement::names;
use sensormark_store::{
    Answer, AnswerSource, Ask, DefaultSelection, Index, Layout, LayoutOption, RepeatedWrite, Schema,
    Selection, Store, Values, WriteMethod,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Seven sensors, 100 single and 20 multi operations of 50 readings, by one client.
const SMALL: [&str; 7] =
    ["sensors=7", "single=100", "multi=1000", "batch=50", "clients=1", "sweep=false", "grown=0"];

fn set(settings: &[&str]) -> Result<Value, String> {
    let preset = SENSOR_OPERATIONS.preset(Scale::Quick).unwrap();
    let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
    let numbers = adjust_values(preset, &settings, SENSOR_OPERATIONS.parameters())?;
    SENSOR_OPERATIONS.check(&numbers).map(|()| numbers)
}

fn build(settings: &[&str]) -> Box<dyn Workload> {
    let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
    let subject = Subject { store: &store, layout: &Layout::row_per_reading(), layout_name: "individual" };
    SENSOR_OPERATIONS.build(&set(settings).unwrap(), 42, subject).unwrap()
}

fn steps(settings: &[&str]) -> Vec<Step> {
    let steps = build(settings).steps();
    assert_eq!(check(&steps), Ok(()));
    steps
}

/// The load of this phase.
fn load(steps: &[Step], phase: &str) -> LoadSpec {
    let mut found = phases(steps).filter(|one| one.name == phase);
    found.next().unwrap_or_else(|| panic!("no phase {phase}")).loads[0].clone()
}

/// What the first so many statements write, as a database would have it.
fn written(schema: &Arc<Schema>, writes: &dyn Operations, statements: u64) -> Reference {
    let mut reference = Reference::new(Arc::clone(schema));
    let mut slot = Slot::new(schema);
    for index in 0..statements {
        writes.fill(index, u64::MAX, &mut slot);
        assert_eq!(slot.request(), Request::Write(0));
        let batch = slot.batch().unwrap();
        assert_eq!(batch.check(&schema.tables[0], false), Ok(()));
        let sensor = u32::try_from(index % 7).unwrap();
        assert!(batch.series.iter().all(|series| *series == sensor));
        reference.add(batch);
    }
    reference.prepare();
    reference
}

#[test]
fn statements_are_of_one_sensor_and_write_every_reading_once() {
    let workload = build(&SMALL);
    let (schema, steps) = (workload.schema(), workload.steps());
    for (phase, statements, per_statement) in
        [("single-write-100-by-1", 100, 1), ("multi-write-20-by-1", 20, 50)]
    {
        let writes = load(&steps, phase).operations;
        assert_eq!(writes.len(), statements);
        let mut keys = BTreeSet::new();
        written(&schema, writes.as_ref(), statements).scan(0, &mut |batch| {
            keys.extend(batch.series.iter().copied().zip(batch.times_ns.clone()));
        });
        assert_eq!(keys.len() as u64, statements * per_statement);
        // Each sensor's readings have no gap.
        for sensor in 0..7_u32 {
            let own = keys.iter().filter(|(series, _)| *series == sensor);
            for (tick, (_, time_ns)) in (0_i64..).zip(own) {
                // 30 s, of which a sensor has a seventh.
                let at_ms = tick * 30_000 + i64::from(sensor) * 30_000 / 7;
                assert_eq!(*time_ns, (1_325_376_000_000 + at_ms) * 1_000_000);
            }
        }
    }
}

/// Every question finds its readings, and the expected answer is the one of brute force; also when the writing was cut.
#[test]
fn every_question_is_about_what_is_stored_and_its_answer_is_known() {
    let workload = build(&SMALL);
    let (schema, steps) = (workload.schema(), workload.steps());
    for (at, kind, statements, per_statement) in
        [("100-by-1", "single", 100, 1), ("20-by-1", "multi", 20, 50)]
    {
        let writes = load(&steps, &format!("{kind}-write-{at}")).operations;
        let reads = load(&steps, &format!("{kind}-read-{at}")).operations;
        assert_eq!(reads.len(), statements);
        assert_eq!(reads.least_watermark(), 1);
        let mut slot = Slot::new(&schema);
        for stored in [1, 2, 9, statements] {
            let reference = written(&schema, writes.as_ref(), stored);
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
    let workload = build(&SMALL);
    let reads = load(&workload.steps(), "single-read-100-by-1").operations;
    let mut slot = Slot::new(&workload.schema());
    reads.fill(3, u64::MAX, &mut slot);
    let expected = reads.expected(3, slot.query()).unwrap();
    let Answer::Readings(mut batch) = expected.clone() else {
        panic!("{expected:?}");
    };
    let Values::F64(values) = &mut batch.columns[0].values else {
        panic!("{batch:?}");
    };
    values[0] = f64::from_bits(values[0].to_bits() ^ 1);
    assert!(Answer::Readings(batch).disagreement(&expected, slot.query()).is_some());
}

#[test]
fn questions_are_drawn_from_everything() {
    let settings =
        ["sensors=7", "single=1000", "multi=3500", "batch=50", "clients=1", "sweep=false", "grown=0"];
    let workload = build(&settings);
    let steps = workload.steps();
    let single = load(&steps, "single-read-1000-by-1").operations;
    let multi = load(&steps, "multi-read-70-by-1").operations;
    let mut slot = Slot::new(&workload.schema());
    let (mut points, mut starts, mut sensors) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
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
        starts.insert(query.range.start_ns);
    }
    assert_eq!((sensors.len(), starts.len()), (7, 70));
}

#[test]
fn numbers_are_checked_with_one_clear_message() {
    for scale in Scale::ALL {
        let value = SENSOR_OPERATIONS.preset(scale).unwrap();
        assert_eq!(SENSOR_OPERATIONS.check(&value), Ok(()));
        assert_eq!(value.as_object().unwrap().len(), SENSOR_OPERATIONS.parameters().len());
    }
    for (setting, words) in [
        ("sensors=0", "sensors is 0"),
        ("multi=1500", "multi is 1500; it must be a multiple of batch, 1000"),
        ("clients=1,0", "clients holds 0"),
        ("clients=4,4", "twice"),
        ("clients=[]", "clients is empty"),
        ("limit_seconds=0", "limit_seconds is 0"),
        ("single=0", "single is 0"),
        ("interval_ms=0", "interval_ms is 0"),
        ("interval_ms=1h", "past 2262"),
        ("clients=many", "1,4,16"),
        ("index=maybe", "both, with, without"),
    ] {
        let error = set(&[setting]).unwrap_err();
        assert!(error.contains(words), "{setting}: {error}");
    }
    let clients = |text: &str| set(&[text]).map(|set| set["clients"].clone());
    assert_eq!(clients("clients=8"), Ok(json!([8])));
    assert_eq!(clients("clients=1, 2"), Ok(json!([1, 2])));
    assert_eq!(clients("clients=[1,2]"), Ok(json!([1, 2])));
    assert_eq!(set(&["interval_ms=30s"]).unwrap()["interval_ms"], 30_000);
}

fn settled(steps: &[Step]) -> Vec<&str> {
    let names = steps.iter().filter_map(|step| match step {
        Step::Settle(name) => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}

#[test]
fn tests_begin_empty_and_their_phases_say_what_they_are() {
    let steps = steps(&["grown=0"]);
    let phases: Vec<&PhaseSpec> = phases(&steps).collect();
    let sizes =
        ["1", "10", "100", "1000", "2000", "2000", "2000"].into_iter().chain(["1", "10", "20", "20", "20"]);
    assert_eq!(phases.len(), 2 * sizes.count());
    let names: Vec<&str> = phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(
        names[..4],
        ["single-write-1-by-1", "single-read-1-by-1", "single-write-10-by-1", "single-read-10-by-1"]
    );
    assert_eq!(names[22..], ["multi-write-20-by-16", "multi-read-20-by-16"]);
    assert_eq!(steps.iter().filter(|step| matches!(step, Step::Reset)).count(), 11);
    assert_eq!(settled(&steps), ["settled"], "at the end");
    let scored = phases.iter().filter(|phase| !phase.labels.contains_key(names::SCORED));
    assert_eq!(scored.count(), 2 * 2 * 3);
    for phase in &phases {
        let (size, load) = (phase.labels["size"].as_u64().unwrap(), &phase.loads[0]);
        assert_eq!(phase.labels["operation"], load.name);
        assert_eq!(phase.labels["clients"], load.clients);
        assert_eq!(size, load.operations.len() * if load.name.starts_with("multi") { 1_000 } else { 1 });
        assert_eq!(phase.limit.unwrap().as_secs(), 60);
    }
}

#[test]
fn a_database_is_brought_to_rest_between_where_it_is_asked_for() {
    let steps = steps(&["settle=true", "sweep=false", "grown=0"]);
    let settled = settled(&steps);
    assert_eq!(settled.len(), 6);
    assert_eq!([settled[0], settled[5]], ["settled-single-2000-by-1", "settled-multi-20-by-16"]);
}

#[test]
fn after_the_tests_data_grow_from_size_to_size_and_reads_are_about_all_of_it() {
    let steps = steps(&["sweep=false", "grown=320000"]);
    let sizes = steps.iter().filter_map(|step| match step {
        Step::Size(readings) => Some(*readings),
        _ => None,
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [20_000, 80_000, 320_000]);
    assert_eq!(settled(&steps)[1..], ["settled-at-20000", "settled-at-80000", "settled-at-320000"]);
    let of = |name: &str| phases(&steps).find(|phase| phase.name == name).unwrap();
    let labels = json!({ "grown": "multi read", "scored": false, names::STORED: 80_000 });
    assert_eq!(json!(of("multi-read-at-80000").labels), labels);
    assert_eq!(of("single-read-at-80000").limit.unwrap().as_secs(), 1);
    // The second size writes on where the first ended, and its reads ask about both.
    let writes = &of("multi-write-at-80000").loads[0];
    assert_eq!((writes.operations.len(), writes.clients), (60, 16));
    let schema = build(&["grown=0"]).schema();
    let mut slot = Slot::new(&schema);
    writes.operations.fill(0, u64::MAX, &mut slot);
    let batch = slot.batch().unwrap();
    assert_eq!((batch.series[0], batch.len()), (20, 1_000));
    let reads = load(&steps, "single-read-at-80000").operations;
    assert_eq!(reads.len(), 80);
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
fn measured(settings: [&str; 2], mut offers: Vec<LayoutOption>) -> Vec<String> {
    SENSOR_OPERATIONS.choose(&set(&settings).unwrap(), "individual", &mut offers);
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
    let usually = "statements=usual";
    assert_eq!(measured(["index=both", usually], relational()), ["", "no-index", "clustered"]);
    assert_eq!(measured(["index=with", "statements=all"], relational()), ["", "clustered", "copy"]);
    assert_eq!(measured(["index=without", usually], relational()), ["no-index"]);
    // Partitions by sensor and time, or by sensor alone, which is the study's.
    let partitioned = || {
        vec![
            offer("", of(Index::Clustered), DefaultSelection::Usual),
            offer("partition-per-series", of(Index::Series), DefaultSelection::OnRequest),
        ]
    };
    for index in ["index=both", "index=with", "index=without"] {
        assert_eq!(measured([index, usually], partitioned()), ["partition-per-series"]);
    }
    let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
    let own = store.layouts(&build(&SMALL).schema(), sensormark_store::Family::PerReading);
    assert_eq!(measured(["index=without", usually], own), [""]);
}
