//! Devops: writes cover everything once in whatever order they are made; answers are those of the contract's reference; its steps and numbers.

use crate::own::writes::{Batches, Copies, Writes};
use crate::own::{Parameters, file, sensors};
use crate::shipped::DEVOPS;
use sensormark_conformance::memory::MemoryStore;
use sensormark_conformance::reference::Reference;
use sensormark_data::devops::{INTERVAL_NS, START_NS};
use sensormark_data::export::{DataRequest, Shard};
use sensormark_data::shapes::order::Order;
use sensormark_engine::adjust::adjust_values;
use sensormark_engine::operations::{ENDLESS, Operations, Slot};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::script::{LoadSpec, PhaseSpec, Step, check, phases};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_result::measurement::names;
use sensormark_store::census::Census;
use sensormark_store::{
    AnswerSource, Ask, Batch, DefaultSelection, Family, Layout, LayoutOption, RepeatedWrite, Schema,
    Selection, TimeRange, TimeResolution, WriteMethod,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The questions of data at rest.
const QUESTIONS: [&str; 6] =
    ["max-1-host", "max-1-host-long", "max-several-hosts", "mean-all-hosts", "last-reading", "busy-hosts"];

/// Eight hosts over two and a half hours, so that walks are taken up at an hour that was kept.
const SMALL: [&str; 13] = [
    "hosts=8",
    "hours=2.5",
    "more_hours=",
    "workers=1",
    "clients=1",
    "batch=160",
    "queries=40",
    "short_minutes=7",
    "long_minutes=40",
    "several_hosts=3",
    "mean_minutes=33",
    "threshold=55",
    "live_speed=300",
];

fn set(settings: &[&str]) -> Result<Value, String> {
    let preset = DEVOPS.preset(Scale::Quick).unwrap();
    let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
    let numbers = adjust_values(preset, &settings, DEVOPS.parameters())?;
    DEVOPS.check(&numbers).map(|()| numbers)
}

fn small(settings: &[&str]) -> Value {
    set(&[&SMALL[..], settings].concat()).unwrap()
}

fn build(numbers: &Value) -> Box<dyn Workload> {
    let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
    let subject = Subject { store: &store, layout: &Layout::row_per_reading(), layout_name: "individual" };
    let workload = DEVOPS.build(numbers, 11, subject).unwrap();
    assert_eq!(check(&workload.steps()), Ok(()));
    workload
}

/// The load of this name of a phase.
fn load(steps: &[Step], phase: &str, load: &str) -> LoadSpec {
    let phase = phases(steps).find(|one| one.name == phase).unwrap_or_else(|| panic!("no phase {phase}"));
    let found = phase.loads.iter().find(|one| one.name == load);
    found.unwrap_or_else(|| panic!("no load {load}")).clone()
}

/// The first tick at or after an instant.
fn tick_from(ns: i64) -> u64 {
    (ns - START_NS).max(0).unsigned_abs().div_ceil(INTERVAL_NS.unsigned_abs())
}

/// Readings in the largest write of each table, on a store that advises 1,000.
fn sizes_of_writes(batch: &str) -> Vec<usize> {
    let workload = build(&set(&["hosts=100", "more_hours=", "workers=1", batch]).unwrap());
    let (writes, mut slot) =
        (load(&workload.steps(), "load-1", "load").operations, Slot::new(&workload.schema()));
    let mut most = vec![0; 9];
    for index in 0..writes.len() {
        writes.fill(index, u64::MAX, &mut slot);
        let batch = slot.batch().unwrap();
        most[batch.table] = most[batch.table].max(batch.len());
    }
    most
}

#[test]
fn a_write_is_as_large_as_the_store_advises_however_wide_its_table() {
    assert_eq!(sizes_of_writes("batch_times=1"), [1_000; 9]);
    assert_eq!(sizes_of_writes("batch_times=0.5"), [500; 9]);
    assert_eq!(sizes_of_writes("batch_times=4"), [4_000; 9]);
    assert_eq!(sizes_of_writes("batch=2000"), [2_000; 9], "the user's own");
}

/// Writes of so many readings of each table.
struct Place {
    schema: Schema,
    writes: Writes,
    batches: Batches,
    hosts: u64,
}

/// Of these ticks.
fn place(hosts: u32, walk: &str, ticks: Range<u64>, batches: &[u64]) -> Place {
    let [hosts_are, walk] = [format!("hosts={hosts}"), format!("walk={walk}")];
    let text = DEVOPS.file(&set(&["more_hours=", &hosts_are, &walk]).unwrap()).unwrap();
    let parameters: Parameters = file::parse(&text, "devops", Path::new(""), &[], &|_| Ok(())).unwrap();
    let copies = Copies { sent: false, kept: false };
    let sensors = (0..9).map(|number| {
        let sensors = sensors::sensors(&parameters, number, 3, TimeResolution::Seconds);
        (Arc::new(sensors.unwrap()), copies)
    });
    let (hosts, batches) = (u64::from(hosts), Batches(batches.to_vec()));
    let sent = (ticks.start * hosts..ticks.end * hosts, Order::of_time(parameters.tables[0].series.count));
    let part = &parameters.phases[0].writers[0];
    let writes = Writes::new(part, sensors.collect(), sent, batches.clone(), false);
    Place { schema: sensors::schema(&parameters, 3), writes, batches, hosts }
}

const UNEVEN: [u64; 9] = [50, 7, 120, 1, 33, 64, 64, 20, 9];

impl Place {
    fn write(&self, index: u64, slot: &mut Slot) -> Batch {
        self.writes.fill(index, u64::MAX, slot);
        slot.batch().expect("it writes").clone()
    }
}

#[test]
fn every_reading_is_written_once_and_in_the_order_of_time() {
    for (hosts, ticks) in [(8, 0..97), (3, 40..61), (64, 0..5)] {
        let place = place(hosts, "clamped", ticks.clone(), &UNEVEN);
        let (mut slot, mut outline) = (Slot::new(&place.schema), Slot::new(&place.schema));
        let mut seen = BTreeMap::new();
        let mut latest = 0;
        for index in 0..place.writes.len() {
            let batch = place.write(index, &mut slot);
            assert!(!batch.is_empty() && batch.len() as u64 <= UNEVEN[batch.table], "{index}");
            place.writes.outline(index, &mut outline);
            assert_eq!(outline.request(), slot.request());
            // Each begins no earlier than the one before, and none is ahead of it by more than its own readings.
            assert!(latest <= batch.times_ns[0], "{index}");
            latest = latest.max(batch.times_ns[0]);
            for row in 0..batch.len() {
                let key = (batch.table, batch.series[row], batch.times_ns[row]);
                assert!(seen.insert(key, index).is_none(), "{key:?} twice");
            }
        }
        let span = ticks.end - ticks.start;
        assert_eq!(seen.len() as u64, span * place.hosts * 9);
        // Below what is complete, everything was written before.
        let turn = |series: u32, ns: i64| (tick_from(ns) - ticks.start) * place.hosts + u64::from(series);
        for watermark in 0..=place.writes.len() {
            let complete = place.batches.turn(watermark).min(span * place.hosts);
            let early = seen.iter().filter(|((_, series, ns), _)| turn(*series, *ns) < complete);
            assert!(early.clone().all(|(_, index)| *index < watermark));
            assert_eq!(early.count() as u64, complete * 9);
        }
        for turns in 0..=span * place.hosts {
            let writes = place.batches.before(turns);
            assert!(place.batches.turn(writes) >= turns);
            assert!(writes == 0 || place.batches.turn(writes - 1) < turns, "{turns}: {writes}");
        }
    }
}

#[test]
fn a_day_of_a_hundred_hosts_is_written_as_87_264_000_values() {
    for readings in [[1_000; 9], [313; 9], [64; 9], UNEVEN] {
        let place = place(100, "clamped", 0..8_640, &readings);
        let fields: Vec<u64> = place.schema.tables.iter().map(|table| table.fields.len() as u64).collect();
        let values = (0..9).map(|table| {
            let one = Batches(vec![readings[table]]);
            let count = one.before(864_000);
            assert!(one.turn(count - 1) < 864_000 && one.turn(count) >= 864_000);
            864_000 * fields[table]
        });
        assert_eq!(values.sum::<u64>(), 87_264_000);
        let all = readings.iter().map(|readings| 864_000_u64.div_ceil(*readings));
        assert_eq!(place.writes.len(), all.sum::<u64>());
    }
}

#[test]
fn the_order_in_which_writes_are_made_does_not_matter() {
    let place = place(8, "reflected", 20..400, &UNEVEN);
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

/// Going back is as right where there are more positions than are kept.
#[test]
fn a_turn_of_long_ago_is_found_again() {
    let (far, near) = (place(1, "clamped", 0..60_000, &[90; 9]), place(1, "clamped", 0..60_000, &[90; 9]));
    let (mut slot, mut other) = (Slot::new(&far.schema), Slot::new(&far.schema));
    for index in 0..far.writes.len() {
        far.writes.fill(index, u64::MAX, &mut slot);
    }
    for index in [0, 8, 3_000, 3_001, 17, 5_990] {
        assert_eq!(far.write(index, &mut slot), near.write(index, &mut other), "{index}");
    }
}

/// What the first so many writes of a load write.
fn reference(schema: &Arc<Schema>, writes: &dyn Operations, count: u64) -> Reference {
    let (mut reference, mut slot) = (Reference::new(Arc::clone(schema)), Slot::new(schema));
    for index in 0..count {
        writes.fill(index, u64::MAX, &mut slot);
        reference.add(slot.batch().expect("it writes"));
    }
    reference.prepare();
    reference
}

#[test]
fn answers_are_the_reference_s_whatever_was_written() {
    for walk in ["walk=clamped", "walk=reflected"] {
        let workload = build(&small(&[walk]));
        let (schema, steps) = (workload.schema(), workload.steps());
        let writes = load(&steps, "load-1", "load").operations;
        let mut slot = Slot::new(&schema);
        for watermark in [u64::MAX, writes.len() / 2, 40] {
            let reference = reference(&schema, writes.as_ref(), watermark.min(writes.len()));
            for kind in QUESTIONS {
                let questions = load(&steps, &format!("{kind}-1"), kind).operations;
                assert!(questions.least_watermark() <= watermark);
                let mut found = 0;
                for index in 0..questions.len() {
                    questions.fill(index, watermark, &mut slot);
                    let query = slot.query();
                    let expected = questions.expected(index, query).expect("it is known");
                    let known = reference.answer(query);
                    assert_eq!(expected.disagreement(&known, query), None, "{query:?}");
                    let length = questions.answer_len(index, query);
                    assert_eq!(length, (kind != "busy-hosts").then_some(known.len()), "{query:?}");
                    found += known.len();
                }
                assert!(found > 0, "{kind} finds something");
            }
        }
    }
}

#[test]
fn what_is_newest_ends_where_everything_has_come() {
    let workload = build(&small(&[]));
    let (schema, steps) = (workload.schema(), workload.steps());
    let [before, writes] =
        [("load-1", "load"), ("live", "writers")].map(|(phase, name)| load(&steps, phase, name).operations);
    // 3 s of 300 times as fast: 90 ticks, each of which is a write of 8 readings in each table.
    assert_eq!(writes.len(), 90 * 9);
    let mut slot = Slot::new(&schema);
    for kind in ["max-1-host", "last-of-site"] {
        let questions = load(&steps, "live", kind);
        assert!(questions.accompanies);
        let questions = questions.operations;
        for watermark in [questions.least_watermark(), writes.len() / 2] {
            let mut reference = reference(&schema, before.as_ref(), before.len());
            for index in 0..watermark {
                writes.fill(index, u64::MAX, &mut slot);
                reference.add(slot.batch().expect("it writes"));
            }
            reference.prepare();
            let mut answers = BTreeMap::new();
            for index in 0..40 {
                questions.fill(index, watermark, &mut slot);
                let query = slot.query();
                assert_eq!(tick_from(query.range.end_ns), 900 + watermark / 9);
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
fn questions_are_about_windows_of_their_length_all_over_what_was_added() {
    let workload = build(&small(&["more_hours=4", "query_seconds=0"]));
    let steps = workload.steps();
    let mut slot = Slot::new(&workload.schema());
    for kind in QUESTIONS {
        let questions = load(&steps, &format!("{kind}-4h"), kind).operations;
        let mut ranges: Vec<TimeRange> = Vec::new();
        for index in 0..questions.len() {
            questions.fill(index, u64::MAX, &mut slot);
            let first = slot.query().clone();
            ranges.push(first.range);
            questions.fill(index, u64::MAX, &mut slot);
            assert_eq!(*slot.query(), first, "the same question again");
            // After the first 2.5 hours and what came live.
            assert!(tick_from(first.range.start_ns) >= 990, "{kind}");
            assert!(tick_from(first.range.end_ns) <= 1_440);
        }
        let minutes = match kind {
            "max-1-host-long" => 40,
            "mean-all-hosts" => 33,
            "last-reading" => continue,
            _ => 7,
        };
        assert_eq!(ranges.len(), 40);
        assert!(ranges.iter().all(|range| range.length_ns() == minutes * 60_000_000_000));
        let starts: BTreeSet<i64> = ranges.iter().map(|range| range.start_ns).collect();
        assert!(starts.len() > 30, "{kind}: {} of 40 windows differ", starts.len());
        assert!(starts.iter().all(|ns| ns % 1_000_000_000 == 0), "whole seconds");
        assert!(matches!(slot.query().ask, Ask::Aggregate { .. } | Ask::SeriesMatching(_)));
    }
}

#[test]
fn several_hosts_are_each_as_likely_as_the_others() {
    let workload = build(&small(&["queries=400"]));
    let questions = load(&workload.steps(), "max-several-hosts-1", "max-several-hosts").operations;
    let (mut slot, mut seen) = (Slot::new(&workload.schema()), [0; 8]);
    for index in 0..400 {
        questions.fill(index, u64::MAX, &mut slot);
        let Selection::Set(hosts) = &slot.query().series else { panic!("{:?}", slot.query()) };
        assert_eq!(hosts.len(), 3);
        assert!(hosts.is_sorted_by(|one, other| one < other));
        hosts.iter().for_each(|host| seen[*host as usize] += 1);
    }
    // 150 each, with a standard deviation of 10.
    assert!(seen.iter().all(|count| (115..185).contains(count)), "{seen:?}");
    let few = build(&small(&["several_hosts=20"]));
    load(&few.steps(), "max-several-hosts-1", "max-several-hosts").operations.fill(0, u64::MAX, &mut slot);
    assert_eq!(slot.query().series, Selection::Set((0..8).collect()));
}

/// Questions about less than they wait for are asked when everything is there; windows longer than the data are the whole of it.
#[test]
fn little_data_is_asked_about_as_far_as_it_goes() {
    let workload = build(&small(&["hours=0.1", "long_minutes=50000"]));
    let steps = workload.steps();
    let questions = load(&steps, "max-1-host-long-1", "max-1-host-long").operations;
    assert!(questions.least_watermark() <= load(&steps, "load-1", "load").operations.len());
    let mut slot = Slot::new(&workload.schema());
    questions.fill(0, u64::MAX, &mut slot);
    assert_eq!(slot.query().range.length_ns(), 36 * INTERVAL_NS);
}

/// What a trial goes through.
#[test]
fn each_number_of_workers_loads_an_empty_database_and_then_the_data_grow() {
    let numbers = set(&["workers=1,4", "clients=1,2,4", "hours=1.0", "more_hours=4,16.5"]).unwrap();
    let steps = build(&numbers).steps();
    let outline = steps.iter().map(|step| match step {
        Step::Run(phase) => phase.name.clone(),
        Step::Settle(name) => name.clone(),
        Step::Reset => "reset".to_owned(),
        Step::Size(readings) => readings.to_string(),
    });
    let asked = |at: &str| QUESTIONS.map(|kind| format!("{kind}-{at}"));
    let mut wanted = ["load-1", "settled-load-1", "reset", "32400", "load-4", "settled-load-4"]
        .map(str::to_owned)
        .to_vec();
    wanted.extend(asked("1"));
    wanted.push("max-1-host-2".to_owned());
    wanted.extend(asked("4"));
    wanted.extend(["live", "129600", "grow-4h", "settled-grow-4h"].map(str::to_owned));
    wanted.extend(asked("4h"));
    wanted.extend(["534600", "grow-16.5h", "settled-grow-16.5h"].map(str::to_owned));
    wanted.extend(asked("16.5h"));
    assert_eq!(outline.collect::<Vec<_>>(), wanted);
    let of = |name: &str| phases(&steps).find(|phase| phase.name == name).unwrap();
    let labels = |name: &str| json!(of(name).labels);
    let loaded = json!({ "operation": "load", "workers": 4, "hours": 1.0, "settled": "settled-load-4", names::STORED: 32_400 });
    assert_eq!(labels("load-4"), loaded);
    let asked = json!({ "operation": "busy-hosts", "clients": 4, "hours": 1.0, names::STORED: 32_400 });
    assert_eq!(labels("busy-hosts-4"), asked);
    assert_eq!(labels("live"), json!({ "operation": "live" }), "it is of no size");
    let grown = json!({ "operation": "grow", "workers": 4, "hours": 16.5, "settled": "settled-grow-16.5h", names::STORED: 534_600 });
    assert_eq!(labels("grow-16.5h"), grown);
    let seconds = |phase: &PhaseSpec| phase.limit.map(|limit| limit.as_secs());
    assert_eq!(
        ["load-4", "busy-hosts-4", "live", "grow-4h", "busy-hosts-4h"].map(|name| seconds(of(name))),
        [Some(60), Some(5), None, None, Some(5)]
    );
    let asked = |name: &str| of(name).loads[0].operations.len();
    assert_eq!(["busy-hosts-4", "busy-hosts-4h"].map(asked), [200, ENDLESS]);
    assert_eq!(of("live").loads.len(), 3);
    // Growth goes on where the live data ended, with the most workers.
    let grow = &of("grow-4h").loads[0];
    assert_eq!((grow.clients, grow.name.as_str()), (4, "load"));
    let mut slot = Slot::new(&build(&numbers).schema());
    grow.operations.fill(0, u64::MAX, &mut slot);
    assert_eq!(tick_from(slot.batch().unwrap().times_ns[0]), 360 + 30);
}

#[test]
fn what_a_trial_s_budget_has_no_time_for_is_not_asked() {
    let fitted = DEVOPS.fit(set(&[]).unwrap(), std::time::Duration::from_secs(30));
    assert_eq!(fitted["query_seconds"], 0.5);
    let endless = DEVOPS.fit(set(&["query_seconds=0"]).unwrap(), std::time::Duration::from_secs(30));
    assert_eq!(endless["query_seconds"], 0.0, "somebody has asked for it");
}

#[test]
fn families_are_rows_and_buckets_and_nobody_acknowledges_datagrams() {
    let families = DEVOPS.families(&set(&["layouts=individual,buckets"]).unwrap()).unwrap();
    let [(one, Family::PerReading), (other, Family::Bucketed { limit: 6, per_ns: 60_000_000_000, .. })] =
        &families[..]
    else {
        panic!("{families:?}")
    };
    assert_eq!([one.as_str(), other], ["individual", "buckets"]);
    let offer = |write| LayoutOption {
        variant: String::new(),
        layout: Layout::row_per_reading().with_write(write),
        default_selection: DefaultSelection::Further,
        description: String::new(),
    };
    let mut offers = [offer(WriteMethod::Usual), offer(WriteMethod::Datagram)];
    DEVOPS.choose(&set(&[]).unwrap(), "individual", &mut offers);
    assert_eq!(
        offers.map(|offer| offer.default_selection),
        [DefaultSelection::Further, DefaultSelection::OnRequest]
    );
}

#[test]
fn data_are_the_same_in_parts_and_as_they_are_loaded() {
    let numbers = small(&["hours=1"]);
    let (workload, data) = (build(&numbers), DEVOPS.data_set(&numbers, &DataRequest::of(11)).unwrap());
    let of = |shards: u32| {
        let mut census = Census::new(&data.schema);
        let mut latest = [0; 9];
        for number in 0..shards {
            let shard = Shard::new(number, shards).unwrap();
            let read = data.each_batch(shard, |batch| {
                latest[batch.table] = batch.times_ns[0];
                // No table is ahead of the others by more than a part.
                let behind = latest[..batch.table].iter().filter(|ns| **ns > batch.times_ns[0]).count();
                assert!(shards > 1 || behind == 0);
                census.add(batch);
                Ok(())
            });
            read.unwrap();
        }
        (census.readings(), census.checksum())
    };
    let writes = load(&workload.steps(), "load-1", "load").operations;
    let (mut loaded, mut slot) = (Census::new(&workload.schema()), Slot::new(&workload.schema()));
    for index in 0..writes.len() {
        writes.fill(index, u64::MAX, &mut slot);
        loaded.add(slot.batch().unwrap());
    }
    assert_eq!(of(1), (loaded.readings(), loaded.checksum()));
    assert_eq!(of(3), of(1));
    let wrong = DataRequest { start_ns: Some(0), ..DataRequest::of(1) };
    assert!(DEVOPS.data_set(&numbers, &wrong).err().unwrap().contains("always begins at 2016"));
}

#[test]
fn every_preset_is_sound() {
    for scale in Scale::ALL {
        let numbers = DEVOPS.preset(scale).unwrap();
        assert_eq!(DEVOPS.check(&numbers), Ok(()));
        assert_eq!(numbers.as_object().unwrap().len(), DEVOPS.parameters().len());
    }
}

#[test]
fn lengths_of_time_have_units() {
    let numbers = set(&["hours=90m", "more_hours=2h, 1d", "short_minutes=10m"]).unwrap();
    assert_eq!((&numbers["hours"], &numbers["short_minutes"]), (&json!(1.5), &json!(10)));
    assert_eq!(numbers["more_hours"], json!([2.0, 24.0]));
    assert_eq!(set(&["threshold=75%"]).unwrap()["threshold"], 75.0);
    let typed = set(&["load_seconds=0", "query_seconds=1500ms"]).unwrap();
    assert_eq!((&typed["load_seconds"], &typed["query_seconds"]), (&json!(0), &json!(1.5)));
}

#[test]
fn lists_are_written_in_every_usual_way() {
    for text in ["workers=1,4,16", "workers=[1,4,16]", "workers=1, 4, 16"] {
        assert_eq!(set(&[text]).unwrap()["workers"], json!([1, 4, 16]), "{text}");
    }
    assert_eq!(set(&["workers=3"]).unwrap()["workers"], json!([3]));
    assert_eq!(set(&["more_hours="]).unwrap()["more_hours"], json!([]));
    assert_eq!(set(&["layouts=buckets"]).unwrap()["layouts"], json!(["buckets"]));
    assert_eq!(set(&["walk=reflected"]).unwrap()["walk"], "reflected");
}

#[test]
fn what_makes_no_sense_is_said_in_one_line() {
    for (setting, words) in [
        ("hosts=0", "hosts is 0"),
        ("hours=0.01", "at least 5 minutes"),
        ("hours=1GB", "a length of time like 90s"),
        ("short_minutes=90s", "in whole minutes, and 90s is 1.5"),
        ("hosts=10s", "a whole number without a unit"),
        ("more_hours=1", "each span is longer"),
        ("workers=4,1", "ascending"),
        ("workers=", "at least one number"),
        ("workers=a", "write commas between them"),
        ("workers=4,4", "named twice"),
        ("layouts=bucket", "did you mean buckets?"),
        ("walk=mirrored", "mirrored"),
        ("threshold=100", "over 100 percent"),
        ("threshold=101", "over 0, and 100 at most"),
        ("query_seconds=-1", "query_seconds is -1"),
        ("querys=3", "did you mean queries?"),
    ] {
        let text = set(&[setting]).unwrap_err();
        assert!(text.contains(words), "{setting}: {text}");
        assert!(!text.contains('\n'), "{setting}: {text}");
    }
}
