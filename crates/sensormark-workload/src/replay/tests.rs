//! Questions about recordings: the same on every run, about readings that are there, and answered as the file says.

use std::path::Path;
use std::sync::Arc;

use sensormark_conformance::faulty::FaultyStore;
use sensormark_conformance::memory::MemoryStore;
use sensormark_store::{
    Answer, Ask, DatabaseName, Durability, Family, Layout, Plan, Query, RepeatedWrite, Selection, Store,
    TimeResolution, Value,
};

use super::copies::Order;
use super::*;
use sensormark_data::recording::RecordingOptions;
use sensormark_engine::clients::Clients;
use sensormark_engine::deployment::block_on;
use sensormark_engine::operations::{ENDLESS, Operations};
use sensormark_engine::outcome::LoadOutcome;
use sensormark_engine::phase::{Load, Phase, Target};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::script::{self, Step};
use sensormark_engine::trial::{Subject, WorkloadFactory};

fn recording(name: &str, tags: &[&str]) -> Recording {
    let options = RecordingOptions {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        skip_bad_rows: true,
        ..RecordingOptions::default()
    };
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data")).join(name);
    Recording::read(&path, &options).unwrap()
}

fn questions(recording: &Recording, repeated: RepeatedWrite, seed: u64) -> Questions {
    let replay = Replay::new(recording, TimeResolution::Nanoseconds, repeated, 1);
    Questions::new(Arc::new(replay), seed, 200)
}

fn all(questions: &Questions) -> Vec<Query> {
    (0..questions.len()).map(|index| questions.question(index)).collect()
}

#[test]
fn questions_depend_on_the_seed_alone_and_take_turns() {
    let recording = recording("boiler.csv", &[]);
    let one = questions(&recording, RepeatedWrite::Replaces, 7);
    assert_eq!(one.len(), 1_200);
    assert_eq!(one.class_names().len(), 6);
    assert_eq!(all(&one), all(&questions(&recording, RepeatedWrite::KeepsBoth, 7)));
    assert_ne!(all(&one), all(&questions(&recording, RepeatedWrite::Replaces, 8)));
    for (index, query) in all(&one).into_iter().enumerate() {
        let name = &one.class_names()[one.class(index as u64)];
        let is = match query.ask {
            Ask::Point { .. } => "point",
            Ask::Range { .. } => "range",
            Ask::Minimum { .. } => "minimum",
            Ask::LastReading { .. } => "last value",
            Ask::Aggregate { grouping, .. } if grouping.window.is_some() => "window mean",
            Ask::Aggregate { .. } => "maximum",
            other => panic!("{other:?}"),
        };
        assert_eq!(name, is);
    }
    for class in Class::ALL {
        let only = one.only(class).unwrap();
        let place = class as usize;
        let turns = all(&one).into_iter().skip(place).step_by(6);
        assert_eq!(all(&only), turns.collect::<Vec<_>>());
        assert_eq!(only.class_names(), [class.name()]);
    }
}

#[test]
fn answers_hold_something_and_are_what_the_file_says() {
    let recording = recording("boiler.csv", &[]);
    let questions = questions(&recording, RepeatedWrite::KeepsBoth, 1);
    let readings = &recording.readings;
    let (mut hours, mut empty) = (0, 0);
    for query in all(&questions) {
        let answer = questions.answer(&query);
        empty += u32::from(answer.is_empty());
        let rows = (0..readings.len()).filter(|&row| query.range.contains(readings.times_ns[row]));
        match (&query.ask, &answer) {
            (Ask::Point { .. }, Answer::Readings(got)) => assert_eq!(got.len(), 1),
            (Ask::Range { .. }, Answer::Readings(got)) => assert_eq!(got.len(), rows.count()),
            (Ask::Minimum { field }, Answer::Moment(Some(got))) => {
                let column = &readings.columns[*field];
                let least = rows.filter_map(|row| column.number(row)).fold(f64::INFINITY, f64::min);
                let got = match got.value {
                    Value::F64(value) => value,
                    Value::I64(value) => value as f64,
                    ref other => panic!("{other:?}"),
                };
                assert_eq!(got.to_bits(), least.to_bits());
            }
            (Ask::Aggregate { .. }, Answer::Groups(groups)) => hours = hours.max(groups.len()),
            (Ask::LastReading { .. }, Answer::Readings(got)) => assert_eq!(got.len(), 1),
            (ask, answer) => panic!("{ask:?}: {answer:?}"),
        }
    }
    // A quarter of three days, by half hours; one bound may fall into a window.
    assert!((36..=37).contains(&hours), "{hours}");
    assert_eq!(empty, 0);
}

#[test]
fn times_that_occur_twice_are_left_alone_where_order_would_matter() {
    let recording = recording("greenhouse.csv", &["Room"]);
    assert_eq!(recording.report.timing.repeated, 1);
    let kept = Replay::new(&recording, TimeResolution::Nanoseconds, RepeatedWrite::KeepsBoth, 1);
    assert!(kept.notes().is_empty());
    let twice = {
        let batch = &recording.readings;
        let key = |row: usize| (batch.series[row], batch.times_ns[row]);
        let row = (1..batch.len()).find(|&row| (0..row).any(|earlier| key(earlier) == key(row)));
        key(row.unwrap())
    };
    let questions = Questions::new(Arc::new(kept), 3, 500);
    assert_eq!(questions.class_names().len(), 6, "{:?}", questions.notes());
    let mut touched = 0;
    for query in all(&questions) {
        let touches = query.series == Selection::One(twice.0) && query.range.contains(twice.1);
        match query.ask {
            Ask::Point { .. } | Ask::Range { .. } => assert!(!touches, "{query:?}"),
            Ask::LastReading { .. } => match questions.answer(&query) {
                Answer::Readings(last) => {
                    assert!(!last.times_ns.contains(&twice.1) || last.series[0] != twice.0);
                }
                other => panic!("{other:?}"),
            },
            _ => touched += u32::from(touches),
        }
    }
    assert!(touched > 100, "{touched}");
    let replaced = Replay::new(&recording, TimeResolution::Nanoseconds, RepeatedWrite::Replaces, 1);
    assert_eq!(replaced.reference().census().readings(), 115);
    assert_eq!(replaced.notes().len(), 1);
}

#[test]
fn a_layout_that_refuses_repeats_is_given_none() {
    let recording = recording("greenhouse.csv", &["Room"]);
    let replay = Replay::new(&recording, TimeResolution::Nanoseconds, RepeatedWrite::Refused, 1);
    assert_eq!((replay.readings().len(), replay.reference().census().readings()), (115, 115));
    assert!(replay.notes()[0].contains("1 readings"), "{:?}", replay.notes());
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new(RepeatedWrite::KeepsBoth))
}

/// Loads so many copies of a recording into a store and asks everything; gives the outcomes of the two phases.
fn replayed(recording: &Recording, copies: u32, store: Arc<dyn Store>) -> [LoadOutcome; 2] {
    let repeated = store.description().repeated_write;
    let replay = Arc::new(Replay::new(recording, TimeResolution::Nanoseconds, repeated, copies));
    let plan = Plan {
        endpoint: store.endpoint("anything").unwrap(),
        database: DatabaseName::new("replay").unwrap(),
        owner: "tests".into(),
        schema: Arc::clone(replay.schema()),
        layout: Layout::row_per_reading(),
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 5_000,
    };
    block_on(async {
        let mut administrator = store.administrator(&plan).await?;
        administrator.create().await
    })
    .unwrap();
    let target =
        Target { kind: store.description().session, store, plan: Arc::new(plan), stop: Arc::default() };
    let run = |operations: Arc<dyn Operations>| {
        let phase = Phase { loads: vec![Load::new("replay", operations, 1)], ..Phase::default() };
        let clients = Clients::connect(&target, phase).unwrap();
        let mut finished = clients.run(&mut |_| {}).unwrap();
        finished.close();
        finished.outcome().loads.remove(0)
    };
    let order = Order { copies: 0..copies, together: 7 };
    let load = run(Arc::new(Loading::new(Arc::clone(&replay), order, 50)));
    [load, run(Arc::new(Questions::new(replay, 1, 100).of_copies(copies, 100)))]
}

#[test]
fn a_recording_is_loaded_whole_and_every_answer_is_compared() {
    for (name, tags, readings) in [("boiler.csv", &[][..], 429), ("greenhouse.csv", &["Room"], 116)] {
        for copies in [1, 4] {
            let [load, asked] = replayed(&recording(name, tags), copies, memory());
            assert_eq!((load.readings(), load.failed()), (readings * u64::from(copies), 0));
            assert_eq!((asked.operations(), asked.failed()), (600, 0));
            assert_eq!((asked.answers.checked, asked.answers.wrong), (600, 0), "{:?}", asked.answers);
            assert_eq!(asked.classes.len(), 6);
        }
    }
}

#[test]
fn a_wrong_answer_of_each_kind_is_found() {
    let recording = recording("boiler.csv", &[]);
    let kinds = [("point", 100), ("range", 100), ("minimum", 100), ("aggregate", 200), ("last-reading", 100)];
    for (kind, questions) in kinds {
        let fault = format!("wrong-answer:{kind}").parse().unwrap();
        let store = FaultyStore::new(memory(), fault);
        let [load, asked] = replayed(&recording, 1, Arc::new(store));
        assert_eq!((load.readings(), asked.answers.checked), (429, 600));
        assert_eq!(asked.answers.wrong, questions, "{kind}: {:?}", asked.answers);
    }
    let lost = FaultyStore::new(memory(), "drop:20".parse().unwrap());
    let [_, asked] = replayed(&recording, 1, Arc::new(lost));
    assert!(asked.answers.wrong > 50, "{:?}", asked.answers);
}

#[test]
fn a_layout_that_keeps_less_of_times_is_asked_about_what_it_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fast.csv");
    let mut text = String::from("time_ns,x\n");
    for index in 0..100_i64 {
        text += &format!("{},{index}\n", 1_700_000_000_000_000_000 + index * 1_500_001);
    }
    std::fs::write(&path, text).unwrap();
    let recording = Recording::read(&path, &RecordingOptions::default()).unwrap();
    let replay = Replay::new(&recording, TimeResolution::Milliseconds, RepeatedWrite::Replaces, 1);
    assert_eq!(replay.schema().tables[0].time_resolution, TimeResolution::Milliseconds);
    assert!(replay.notes()[0].contains("cut to 1000000 ns"), "{:?}", replay.notes());
    let questions = Questions::new(Arc::new(replay), 1, 50);
    for query in all(&questions) {
        assert!(!questions.answer(&query).is_empty(), "{query:?}");
    }
}

#[test]
fn a_recording_without_numbers_has_no_questions_about_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("door.csv");
    std::fs::write(&path, "time,door\n2020-01-01 10:00,open\n2020-01-01 10:07,shut\n").unwrap();
    let recording = Recording::read(&path, &RecordingOptions::default()).unwrap();
    let questions = questions(&recording, RepeatedWrite::Replaces, 1);
    assert_eq!(questions.class_names(), ["point", "range", "last value"]);
    assert_eq!((questions.notes().len(), questions.len()), (3, 600));
}

#[test]
fn a_replay_is_a_load_and_a_phase_for_each_class() {
    let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/boiler.csv"));
    let options = RecordingOptions { leave_out: vec!["Starts".into()], ..RecordingOptions::default() };
    let parameters = Parameters::of(Scale::Quick, file.to_owned(), options);
    let value = serde_json::to_value(&parameters).unwrap();
    assert_eq!(ReplayWorkload.schema(&value).unwrap().tables[0].fields.len(), 4);
    let families = ReplayWorkload.families(&value).unwrap();
    // A thousand readings, one each ten minutes, take 6.9 days.
    let week_ns = 7 * 86_400_000_000_000;
    assert_eq!(families[1], ("bulk".to_owned(), Family::PerSpan { span_ns: week_ns }));
    let store = memory();
    let subject =
        Subject { store: store.as_ref(), layout: &Layout::row_per_reading(), layout_name: "individual" };
    let workload = ReplayWorkload.build(&value, 1, subject).unwrap();
    let steps = workload.steps();
    script::check(&steps).unwrap();
    let name = |step: &Step| match step {
        Step::Run(phase) => (phase.name.clone(), phase.loads[0].operations.len()),
        Step::Settle(name) => (name.clone(), 0),
        Step::Reset | Step::Size(_) => (String::new(), 0),
    };
    let names: Vec<(String, u64)> = steps.iter().map(name).filter(|(name, _)| !name.is_empty()).collect();
    let classes = Class::ALL.map(|class| (class.name().to_owned(), 100));
    assert_eq!(names[1], ("settled".to_owned(), 0));
    assert_eq!(names[2..8], classes);
    assert_eq!(names[9], ("settled-256".to_owned(), 0));
    assert_eq!(names[10], ("point-256".to_owned(), ENDLESS));
    let sizes = steps.iter().filter_map(|step| match step {
        Step::Size(readings) => Some(*readings),
        _ => None,
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [429, 109_824, 439_296, 1_757_184]);
    let missing = Parameters::of(Scale::Quick, "no/such.csv".into(), RecordingOptions::default());
    let error = ReplayWorkload.schema(&serde_json::to_value(missing).unwrap()).unwrap_err();
    assert!(error.contains("no/such.csv"), "{error}");
}
