//! Iot-platform: loads and messages write everything once; questions and answers against readings as they were written; its steps, layouts and numbers.

use crate::shipped::IOT_PLATFORM;
use sensormark_conformance::memory::MemoryStore;
use sensormark_conformance::reference::Reference;
use sensormark_data::export::{DataRequest, Shard};
use sensormark_data::iot_platform::{DAY_NS, HOUR_NS, Homes, START_NS};
use sensormark_engine::adjust::adjust_values;
use sensormark_engine::operations::{ENDLESS, Operations, Slot};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::script::{LoadSpec, PhaseSpec, Step, check, phases};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_result::measurement::names;
use sensormark_store::{
    AnswerSource, Ask, Batch, Census, DaySplit, DefaultSelection, Extremes, Family, Function, Layout,
    LayoutOption, Query, RepeatedWrite, Schema, Selection, Shape, TimeKey, WriteMethod,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Nine days of two homes.
const SMALL: [&str; 8] = [
    "homes=2",
    "days=9",
    "grown=0",
    "spans=2,3",
    "statistics=1",
    "messages=1500",
    "questions=30",
    "live_rate=200",
];

fn set(settings: &[&str]) -> Result<Value, String> {
    let preset = IOT_PLATFORM.preset(Scale::Quick).unwrap();
    let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
    let numbers = adjust_values(preset, &settings, IOT_PLATFORM.parameters())?;
    IOT_PLATFORM.check(&numbers).map(|()| numbers)
}

fn bucketed() -> Layout {
    let split = DaySplit { day_start_ns: 6 * HOUR_NS, day_end_ns: 22 * HOUR_NS };
    let shape = Shape::Bucketed { limit: 200, per_ns: DAY_NS, split, extremes: Extremes::default() };
    Layout { shape, ..Layout::row_per_reading() }
}

fn build_on(settings: &[&str], layout: Layout) -> Result<Box<dyn Workload>, String> {
    let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
    let subject = Subject { store: &store, layout: &layout, layout_name: "flat" };
    IOT_PLATFORM.build(&set(settings).unwrap(), 7, subject)
}

fn build(settings: &[&str]) -> Box<dyn Workload> {
    let workload = build_on(settings, bucketed()).unwrap();
    assert_eq!(check(&workload.steps()), Ok(()));
    workload
}

fn small(settings: &[&str]) -> Box<dyn Workload> {
    build(&[&SMALL[..], settings].concat())
}

fn phase(steps: &[Step], name: &str) -> PhaseSpec {
    phases(steps).find(|one| one.name == name).unwrap_or_else(|| panic!("no phase {name}")).clone()
}

/// The load of this name of a phase.
fn load(steps: &[Step], of: &str, name: &str) -> LoadSpec {
    let found = phase(steps, of).loads.into_iter().find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("no load {name} in {of}"))
}

/// What so many first operations write, in their order.
fn written(schema: &Schema, writes: &dyn Operations, below: u64) -> Batch {
    let (mut all, mut slot) = (Batch::new(0, &schema.tables[0]), Slot::new(schema));
    for index in 0..below.min(writes.len()) {
        writes.fill(index, u64::MAX, &mut slot);
        let batch = slot.batch().expect("a write");
        assert_eq!(batch.check(&schema.tables[0], false), Ok(()));
        assert!(!batch.is_empty());
        (0..batch.len()).for_each(|row| all.push_row(batch, row));
    }
    all
}

fn reference(schema: &Arc<Schema>, batches: &[&Batch]) -> Reference {
    let mut reference = Reference::new(Arc::clone(schema));
    batches.iter().for_each(|batch| reference.add(batch));
    reference.prepare();
    reference
}

/// The questions of a load at a watermark, at most so many.
fn asked(schema: &Schema, questions: &dyn Operations, watermark: u64, most: u64) -> Vec<Query> {
    let mut slot = Slot::new(schema);
    let question = |index| {
        questions.fill(index, watermark, &mut slot);
        slot.query().clone()
    };
    (0..questions.len().min(most)).map(question).collect()
}

#[test]
fn loads_write_everything_once_whatever_their_batches_and_go_on_at_further_sizes() {
    let settings = ["days=3", "grown=12", "spans=1", "messages=0"];
    let whole = |batch: &str| {
        let workload = small(&[&settings[..], &[batch]].concat());
        let (schema, steps) = (workload.schema(), workload.steps());
        let [first, more] = ["load", "load-12d"].map(|name| load(&steps, name, "load").operations);
        let mut all = written(&schema, first.as_ref(), u64::MAX);
        let end = START_NS + 3 * DAY_NS;
        assert!(all.times_ns.iter().all(|time| *time < end), "{batch}");
        let grown = written(&schema, more.as_ref(), u64::MAX);
        assert!(grown.times_ns.iter().all(|time| *time >= end), "{batch}");
        (0..grown.len()).for_each(|row| all.push_row(&grown, row));
        let size = steps.iter().rev().find_map(|step| match step {
            Step::Size(readings) => Some(*readings as f64),
            _ => None,
        });
        assert!((size.unwrap() / all.len() as f64 - 1.0).abs() < 0.02);
        all
    };
    let all = whole("batch=600");
    assert_eq!(all.clone().sorted(), whole("batch=100000").sorted());
    assert_eq!(all.clone().sorted(), whole("batch=0").sorted());
    let (homes, mut wanted) = (Homes::new(7, 2), all.clone());
    wanted.clear();
    (0..2).for_each(|home| homes.push_hours(home, 0..12 * 24, &mut wanted));
    assert_eq!(all.sorted(), wanted.clone().sorted());
    // What is exported is the same, whole and in parts.
    let numbers = set(&[&SMALL[..], &["days=12", "spans=1"]].concat()).unwrap();
    let data = IOT_PLATFORM.data_set(&numbers, &DataRequest::of(7)).unwrap();
    for shards in [1, 3] {
        let mut found = Census::new(&data.schema);
        for shard in (0..shards).map(|number| Shard::new(number, shards).unwrap()) {
            let each = data.each_batch(shard, |batch| {
                assert!(batch.len() < 3_000);
                found.add(batch);
                Ok(())
            });
            each.unwrap();
        }
        let mut loaded = Census::new(&data.schema);
        loaded.add(&wanted);
        assert_eq!(found, loaded, "{shards}");
    }
}

#[test]
fn messages_are_the_first_of_the_load_in_the_order_of_time() {
    let workload = small(&[]);
    let (schema, steps) = (workload.schema(), workload.steps());
    let [messages, live] = ["messages", "live"].map(|of| load(&steps, of, "messages").operations);
    // 3 s of 200.
    assert_eq!([messages.len(), live.len()], [1_500, 600]);
    let mut slot = Slot::new(&schema);
    let (mut keys, mut last) = (BTreeSet::new(), i64::MIN);
    for (writes, count) in [(&messages, 1_500), (&live, 600)] {
        for index in 0..count {
            writes.fill(index, u64::MAX, &mut slot);
            let batch = slot.batch().expect("a write");
            assert!((1..=4).contains(&batch.len()));
            assert!(batch.times_ns.iter().all(|&time| time == batch.times_ns[0]));
            assert!(last <= batch.times_ns[0]);
            last = batch.times_ns[0];
            keys.extend((0..batch.len()).map(|row| (batch.times_ns[row], batch.series[row])));
        }
    }
    let all = written(&schema, load(&steps, "load", "load").operations.as_ref(), u64::MAX);
    let earlier = (0..all.len()).filter(|&row| all.times_ns[row] < last);
    let earlier: BTreeSet<_> = earlier.map(|row| (all.times_ns[row], all.series[row])).collect();
    assert!(earlier.len() > 3_000 && earlier.is_subset(&keys));
}

#[test]
fn what_is_newest_is_that_of_the_messages_that_have_come() {
    let workload = small(&[]);
    let (schema, steps) = (workload.schema(), workload.steps());
    let [before, live] = ["messages", "live"].map(|of| load(&steps, of, "messages").operations);
    let before = written(&schema, before.as_ref(), u64::MAX);
    for name in ["chart", "latest"] {
        let questions = load(&steps, "live", name);
        assert!(questions.accompanies);
        let questions = questions.operations;
        for watermark in [questions.least_watermark(), 250, 600] {
            let come = written(&schema, live.as_ref(), watermark);
            let reference = reference(&schema, &[&before, &come]);
            let mut found = 0;
            for (index, query) in asked(&schema, questions.as_ref(), watermark, 24).iter().enumerate() {
                let expected = questions.expected(index as u64, query).expect("it is known");
                assert_eq!(expected.disagreement(&reference.answer(query), query), None, "{query:?}");
                // As far as everything has come, and no further.
                let newest = come.times_ns.last().or(before.times_ns.last()).unwrap();
                assert!((query.range.end_ns - newest).abs() < HOUR_NS / 4 && query.range.end_ns >= *newest);
                found += expected.len();
            }
            assert!(found > 20, "{name}, {watermark}: {found}");
        }
    }
}

/// Names of phases that ask over the first of the spans.
const ASKED: [(&str, &str); 12] = [
    ("raw-2d", "raw"),
    ("raw-without-days-2d", "raw-without-days"),
    ("hourly-2d", "hourly"),
    ("daily-2d", "daily"),
    ("daily-sums-2d", "daily-sums"),
    ("day-night-2d", "day-night"),
    ("day-night-sums-2d", "day-night-sums"),
    ("total-2d", "total"),
    ("total-sums-2d", "total-sums"),
    ("chart-1d", "chart"),
    ("statistics-1d", "statistics"),
    ("latest-1d", "latest"),
];

#[test]
fn answers_are_those_of_what_was_written() {
    let workload = small(&[]);
    let (schema, steps) = (workload.schema(), workload.steps());
    let writes = load(&steps, "load", "load").operations;
    for below in [writes.len(), writes.len() * 2 / 3] {
        let all = written(&schema, writes.as_ref(), below);
        let reference = reference(&schema, &[&all]);
        for (phase, name) in ASKED {
            let questions = load(&steps, phase, name).operations;
            assert!(questions.least_watermark() <= below);
            for (index, query) in asked(&schema, questions.as_ref(), below, u64::MAX).iter().enumerate() {
                let expected = questions.expected(index as u64, query).expect("it is known");
                assert_eq!(expected.disagreement(&reference.answer(query), query), None, "{query:?}");
                assert_eq!(questions.answer_len(index as u64, query), None, "values are not counted");
                let lengths = match name {
                    "raw" | "raw-without-days" => 170..=192,
                    "hourly" => 44..=48,
                    "daily" | "daily-sums" | "day-night" | "day-night-sums" => 2..=2,
                    "total" | "total-sums" => 1..=1,
                    "chart" => 5..=500,
                    // Properties of a device.
                    _ => 1..=10,
                };
                assert!(lengths.contains(&expected.len()), "{name}: {}", expected.len());
            }
        }
    }
}

#[test]
fn each_kind_asks_what_it_says() {
    let workload = small(&["questions=80"]);
    let (schema, steps) = (workload.schema(), workload.steps());
    let series = &schema.tables[0].series;
    let all = |phase: &str, name: &str| {
        asked(&schema, load(&steps, phase, name).operations.as_ref(), u64::MAX, u64::MAX)
    };
    for (phase, name) in ASKED {
        let questions = all(phase, name);
        assert_eq!(questions.len(), 80);
        for (index, query) in questions.iter().enumerate() {
            let Selection::One(one) = query.series else { continue };
            if name == "chart" {
                continue;
            }
            // The weather station's temperature, of each home in turn.
            assert_eq!([2, 3].map(|tag| series.columns()[tag].text(one)), ["meteo", "temp"], "{name}");
            assert_eq!(one / 46, u32::try_from(index % 2).unwrap(), "{name}");
            match &query.ask {
                Ask::Range { fields, coarse_filter } => {
                    assert_eq!((fields.iter().collect::<Vec<_>>(), *coarse_filter), (vec![2], name == "raw"));
                }
                Ask::Aggregate { aggregates, from_sums, .. } => {
                    let [aggregate] = aggregates.as_slice() else { panic!("{aggregates:?}") };
                    assert_eq!((aggregate.function, aggregate.field), (Function::Mean, 2));
                    assert_eq!(*from_sums, name.ends_with("sums"));
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    let distinct = |queries: &[Query]| queries.iter().map(|one| format!("{:?}", one.series)).collect();
    let charts = all("chart-1d", "chart");
    let of_charts: BTreeSet<String> = distinct(&charts);
    assert_eq!(of_charts.len(), 62, "each number of two homes has its turn");
    for query in &charts {
        let Ask::Aggregate { grouping, .. } = &query.ask else { panic!("{query:?}") };
        let window = grouping.window.expect("points");
        assert_eq!((window.origin_ns, window.width_ns), (query.range.start_ns, 172_800_000_000));
    }
    for (phase, name) in [("statistics-1d", "statistics"), ("latest-1d", "latest")] {
        let questions = all(phase, name);
        let devices: BTreeSet<String> = distinct(&questions);
        assert_eq!(devices.len(), 24, "each device has its turn");
        assert!(questions.iter().all(|one| one.range.end_ns == START_NS + 9 * DAY_NS));
    }
    let Ask::Aggregate { aggregates, grouping, .. } = &all("statistics-1d", "statistics")[0].ask else {
        panic!("an aggregate")
    };
    // Numbers have four, truth values three and texts two.
    assert!(aggregates.len() == 13 && grouping.by_series, "{aggregates:?}");
    let one_home = small(&["homes=1"]);
    let latest = load(&one_home.steps(), "latest-1d", "latest").operations;
    let query = asked(&one_home.schema(), latest.as_ref(), u64::MAX, 1).remove(0);
    assert!(
        matches!((&query.series, &query.ask), (Selection::All, Ask::LastReading { fields }) if fields.len() == 4)
    );
}

#[test]
fn times_keep_below_what_was_loaded_and_compare() {
    let workload = small(&[]);
    let (schema, steps) = (workload.schema(), workload.steps());
    let writes = load(&steps, "load", "load").operations;
    let starts = |phase: &str, name: &str, watermark: u64| -> Vec<i64> {
        let questions = load(&steps, phase, name).operations;
        let queries = asked(&schema, questions.as_ref(), watermark, u64::MAX);
        assert_eq!(queries, asked(&schema, questions.as_ref(), watermark, u64::MAX), "the same again");
        let days = if phase.ends_with("-1d") { 1 } else { 2 };
        let end_ns = START_NS + i64::try_from(watermark.min(9 * 24 * 2) / 2).unwrap() * HOUR_NS;
        for query in &queries {
            assert_eq!(query.range.length_ns(), days * DAY_NS, "{name}");
            assert!(query.range.start_ns >= START_NS && query.range.end_ns <= end_ns, "{name}, {watermark}");
        }
        queries.iter().map(|query| query.range.start_ns).collect()
    };
    // A write is an hour of a home or more: as many of them as there are hours at most.
    assert!(writes.len() <= 9 * 24 * 2);
    let hours = small(&["batch=1"]);
    let hourly = load(&hours.steps(), "raw-2d", "raw").operations;
    assert_eq!(hourly.least_watermark(), 2 * 24 * 2, "two days of two homes");
    let all = |phase: &str, name: &str| starts(phase, name, u64::MAX);
    let raw = all("raw-2d", "raw");
    assert_eq!(raw, all("raw-without-days-2d", "raw-without-days"));
    assert_eq!(raw, all("hourly-2d", "hourly"));
    assert_eq!(all("daily-2d", "daily"), all("daily-sums-2d", "daily-sums"));
    assert_eq!(all("daily-2d", "daily"), all("total-2d", "total"));
    assert!(raw.iter().any(|start| (start - START_NS) % DAY_NS != 0));
    assert!(raw.iter().all(|start| (start - START_NS) % HOUR_NS == 0));
    assert!(all("daily-2d", "daily").iter().all(|start| (start - START_NS) % DAY_NS == 0));
    assert!(raw.iter().collect::<BTreeSet<_>>().len() > 15);
}

/// Steps in short.
fn in_short(steps: &[Step]) -> Vec<String> {
    let short = |step: &Step| match step {
        Step::Run(phase) => phase.name.clone(),
        Step::Settle(name) => name.clone(),
        Step::Reset => "reset".to_owned(),
        Step::Size(readings) => format!("size {readings}"),
    };
    steps.iter().map(short).collect()
}

#[test]
fn messages_come_to_a_database_of_their_own_and_then_days_come_to_days() {
    let settings =
        ["days=7", "spans=1,7", "grown=30", "grown_seconds=0.5", "queries=raw,daily-sums,chart,latest"];
    let steps = build(&settings).steps();
    assert_eq!(
        in_short(&steps),
        [
            "messages",
            "live",
            "reset",
            "size 89398",
            "load",
            "settled",
            "raw-1d",
            "raw-7d",
            "daily-sums-1d",
            "daily-sums-7d",
            "chart-1d",
            "latest-1d",
            "size 357593",
            "load-28d",
            "settled-28d",
            "raw-7d-of-28d",
            "chart-1d-of-28d",
            "latest-1d-of-28d",
        ]
    );
    let labels = |name: &str| json!(phase(&steps, name).labels);
    assert_eq!(labels("messages"), json!({ "operation": "messages" }));
    assert_eq!(labels("load"), json!({ "operation": "load", names::STORED: 89_398 }));
    assert_eq!(labels("raw-1d"), json!({ "operation": "raw", "days": 1 }));
    assert_eq!(labels("raw-7d"), json!({ "operation": "raw", "days": 7, names::STORED: 89_398 }));
    assert_eq!(labels("raw-7d-of-28d"), json!({ "grown": "raw", names::STORED: 357_593 }));
    let limits = ["messages", "live", "load", "raw-1d", "load-28d", "raw-7d-of-28d"];
    assert_eq!(
        limits.map(|name| phase(&steps, name).limit.map(|limit| limit.as_millis())),
        [Some(60_000), None, Some(60_000), Some(60_000), None, Some(500)]
    );
    let counts = [("raw-1d", "raw"), ("raw-7d-of-28d", "raw")];
    assert_eq!(counts.map(|(of, name)| load(&steps, of, name).operations.len()), [10, ENDLESS]);
    // Without growth nothing is a size; without messages nothing is emptied.
    let plain = build(&[&settings[..], &["grown=0", "messages=0"]].concat()).steps();
    assert_eq!(in_short(&plain)[..3], ["load", "settled", "raw-1d"]);
    assert!(!json!(phase(&plain, "raw-7d").labels).to_string().contains(names::STORED));
}

/// Only documents of a day are looked for without their day, and an array of a document cannot grow without end.
#[test]
fn a_layout_is_asked_what_it_has() {
    let settings = ["days=7", "spans=1", "statistics=1", "grown=30", "queries=raw-without-days,latest"];
    let of = |shape| {
        let layout = Layout { shape, ..Layout::row_per_reading() };
        in_short(&build_on(&settings, layout).unwrap().steps())[3..].join(" ")
    };
    assert_eq!(
        of(bucketed().shape),
        "size 89398 load settled raw-without-days-1d latest-1d size 357593 load-28d settled-28d latest-1d-of-28d"
    );
    assert_eq!(
        of(Shape::RowPerReading),
        "size 89398 load settled latest-1d size 357593 load-28d settled-28d latest-1d-of-28d"
    );
    assert_eq!(of(Shape::GrowingArray), "size 89398 load settled latest-1d");
    let native = Layout { time: TimeKey::Native, ..Layout::row_per_reading() };
    assert!(build_on(&settings, native).is_ok(), "milliseconds are enough");
}

#[test]
fn layouts_are_the_usual_ones_and_those_that_are_named() {
    let numbers = set(&["bucket=50", "day_begins=7"]).unwrap();
    let families: BTreeMap<String, Family> = IOT_PLATFORM.families(&numbers).unwrap().into_iter().collect();
    let split = DaySplit { day_start_ns: 7 * HOUR_NS, day_end_ns: 22 * HOUR_NS };
    let wanted = [
        ("array", Family::GrowingArray),
        ("bucketed", Family::Bucketed { limit: 50, per_ns: DAY_NS, split }),
        ("flat", Family::PerReading),
        ("summary", Family::Summary { per_ns: DAY_NS, split }),
    ];
    assert_eq!(families, BTreeMap::from(wanted.map(|(name, family)| (name.to_owned(), family))));
    let offer = |variant: &str| LayoutOption {
        variant: variant.to_owned(),
        layout: Layout::row_per_reading().with_write(WriteMethod::Datagram),
        default_selection: if variant.is_empty() {
            DefaultSelection::Usual
        } else {
            DefaultSelection::Further
        },
        description: String::new(),
    };
    let mut offers = ["", "flux", "no-index"].map(offer);
    let mut choose = |family| {
        IOT_PLATFORM.choose(&numbers, family, &mut offers);
        offers.clone().map(|offer| offer.default_selection)
    };
    let request = DefaultSelection::OnRequest;
    assert_eq!(choose("flat")[1..], [DefaultSelection::Further, request]);
    assert_eq!(choose("bucketed")[1..], [request, DefaultSelection::Further]);
}

#[test]
fn numbers_that_make_no_sense_get_one_clear_message() {
    for scale in Scale::ALL {
        let numbers = IOT_PLATFORM.preset(scale).unwrap();
        assert_eq!(IOT_PLATFORM.check(&numbers), Ok(()), "{}", scale.name());
        assert_eq!(numbers.as_object().unwrap().len(), IOT_PLATFORM.parameters().len());
    }
    let numbers = set(&["spans=1,7", "layouts=flat", "queries=chart,daily", "variants="]).unwrap();
    assert_eq!((&numbers["spans"], &numbers["variants"]), (&json!([1, 7]), &json!([])));
    for (settings, words) in [
        (vec!["spans=1,90"], "spans: 90 days are more than there is data of; set days=90 or more"),
        (vec!["days=5"], "spans: 7 days"),
        (vec!["spans=7,1"], "ascending"),
        (vec!["spans=week"], "--set spans=week: \"week\" in spans"),
        (vec!["layouts=bucketd"], "did you mean bucketed?"),
        (vec!["layouts="], "layouts is empty"),
        (vec!["queries=dayly"], "did you mean daily?"),
        (vec!["queries=raw,raw"], "named twice"),
        (vec!["variants=no-index"], "like flat-no-index"),
        (vec!["day_begins=22"], "day begins before it ends"),
        (vec!["homes=0"], "homes"),
        (vec!["questions=0"], "questions is 0; it must be 1 to"),
        (vec!["dayz=3"], "did you mean days?"),
    ] {
        let message = set(&settings).expect_err("refused");
        assert!(message.contains(words) && !message.contains('\n'), "{settings:?}: {message}");
    }
    let fitted = IOT_PLATFORM.fit(set(&[]).unwrap(), std::time::Duration::from_secs(30));
    assert_eq!(fitted["grown_seconds"], 0.5);
    // What is generated depends on days alone, and not on what is asked about them.
    let mut few = set(&[]).unwrap();
    few["days"] = 1.into();
    let data = IOT_PLATFORM.data_set(&few, &DataRequest::of(1)).unwrap();
    let mut count = 0;
    let each = data.each_batch(Shard::WHOLE, |batch| {
        count += batch.len();
        Ok(())
    });
    each.unwrap();
    assert!((12_500..13_100).contains(&count), "{count}");
    let wrong = DataRequest { start_ns: Some(0), ..DataRequest::of(1) };
    assert!(IOT_PLATFORM.data_set(&few, &wrong).is_err_and(|why| why.contains("always begins at 2021")));
}
