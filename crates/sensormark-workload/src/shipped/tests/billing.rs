//! Billing: steps and counts, operations and expected bills against brute force over the readings that the operations write, numbers, and which layout is first.

#![expect(clippy::cast_possible_truncation, reason = "test data sets are small")]

use crate::shipped::BILLING;
use sensormark_conformance::memory::MemoryStore;
use sensormark_data::export::{DataRequest, Shard};
use sensormark_data::shapes::meter::{HOUR_NS, START_NS};
use sensormark_engine::adjust::adjust_values;
use sensormark_engine::operations::{Operations, Request, Slot};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::script::{LoadSpec, PhaseSpec, Step, check, phases};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_engine::work_distribution::WorkDistribution;
use sensormark_store::census::Census;
use sensormark_store::{
    Answer, Atomicity, DefaultSelection, Index, Layout, LayoutOption, Query, RepeatedWrite, Schema,
    Selection, Store, Value, WriteMethod,
};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Two numbers of devices by four clients, 800 hours each.
const SMALL: [&str; 6] =
    ["devices=4,12", "clients=4", "records=800", "bill_rounds=2", "limit_seconds=1", "grown=0"];

fn set(settings: &[&str]) -> Result<Json, String> {
    let preset = BILLING.preset(Scale::Quick).unwrap();
    let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
    let numbers = adjust_values(preset, &settings, BILLING.parameters())?;
    BILLING.check(&numbers).map(|()| numbers)
}

fn build_on(settings: &[&str], store: &dyn Store, layout: Layout) -> Box<dyn Workload> {
    let subject = Subject { store, layout: &layout, layout_name: "reading" };
    BILLING.build(&set(settings).unwrap(), 7, subject).unwrap()
}

fn build(settings: &[&str]) -> Box<dyn Workload> {
    let built = build_on(settings, &MemoryStore::new(RepeatedWrite::KeepsBoth), Layout::row_per_reading());
    assert_eq!(check(&built.steps()), Ok(()));
    built
}

fn phase(steps: &[Step], name: &str) -> PhaseSpec {
    let mut found = phases(steps).filter(|phase| phase.name == name);
    found.next().unwrap_or_else(|| panic!("no phase {name}")).clone()
}

fn load(steps: &[Step], name: &str) -> LoadSpec {
    phase(steps, name).loads.remove(0)
}

fn time_ns(hour: i64) -> i64 {
    START_NS + hour * HOUR_NS
}

/// Usage of each (series, time) that the operations below a number write, in hundredths.
fn written(schema: &Arc<Schema>, load: &dyn Operations, below: u64) -> BTreeMap<(u32, i64), i64> {
    let mut slot = Slot::new(schema);
    let one = |index| {
        load.fill(index, u64::MAX, &mut slot);
        assert_eq!(slot.request(), Request::Upsert(0, Atomicity::Separate));
        let batch = slot.batch().expect("a reading");
        assert_eq!((batch.len(), slot.entity().len()), (1, 9));
        let usage = batch.columns[0].number(0).expect("a number") * 100.0;
        ((batch.series[0], batch.times_ns[0]), usage.round() as i64)
    };
    (0..below.min(load.len())).map(one).collect()
}

/// The sum that a question asks for, by brute force.
fn summed(readings: &BTreeMap<(u32, i64), i64>, query: &Query) -> Option<i64> {
    let Selection::One(series) = query.series else { panic!("a bill is one device's") };
    let own = readings.iter().filter(|((of, time), _)| *of == series && query.range.contains(*time));
    own.map(|(_, usage)| *usage).reduce(|one, more| one + more)
}

fn cents(answer: &Answer) -> Option<i64> {
    let Answer::Groups(groups) = answer else { panic!("a bill is a group") };
    let Value::F64(sum) = groups.first()?.values[0] else { panic!("a sum") };
    Some((sum * 100.0).round() as i64)
}

#[test]
fn every_reading_is_written_once_and_a_client_stays_with_a_device() {
    let workload = build(&SMALL);
    let (schema, steps) = (workload.schema(), workload.steps());
    let ingest = load(&steps, "ingest-12");
    assert_eq!((ingest.distribution, ingest.clients), (WorkDistribution::STRIDE, 4));
    let readings = written(&schema, ingest.operations.as_ref(), u64::MAX);
    assert_eq!((readings.len(), ingest.operations.len()), (8 * 800, 8 * 800));
    for series in 4..12 {
        assert!((0..800).all(|hour| readings.contains_key(&(series, time_ns(hour)))), "{series}");
    }
    let mut slot = Slot::new(&schema);
    for client in 0..4_u64 {
        let own = (client..ingest.operations.len()).step_by(4).map(|index| {
            ingest.operations.fill(index, u64::MAX, &mut slot);
            let batch = slot.batch().unwrap();
            (i64::from(batch.series[0]), batch.times_ns[0])
        });
        let device = |number: i64| (0..800).map(move |hour| (number + client.cast_signed(), time_ns(hour)));
        assert!(own.eq(device(4).chain(device(8))), "client {client}");
    }
}

#[test]
fn bills_are_sums_of_what_is_written() {
    for month in ["bill_month=1", "bill_month=2"] {
        let workload = build(&[&SMALL[..], &[month]].concat());
        let (schema, steps) = (workload.schema(), workload.steps());
        let mut readings = written(&schema, load(&steps, "ingest-4").operations.as_ref(), u64::MAX);
        readings.extend(written(&schema, load(&steps, "ingest-12").operations.as_ref(), u64::MAX));
        let bills = load(&steps, "extract-12").operations;
        assert_eq!(bills.len(), 24);
        let (mut slot, mut devices) = (Slot::new(&schema), BTreeSet::new());
        for index in 0..bills.len() {
            bills.fill(index, u64::MAX, &mut slot);
            let query = slot.query();
            let expected = bills.expected(index, query).expect("it is known");
            let due = summed(&readings, query).expect("there are readings");
            assert_eq!(cents(&expected), Some(due), "{index}");
            assert_eq!(bills.answer_len(index, query), Some(1));
            devices.insert(format!("{:?}", query.series));
        }
        assert_eq!(devices.len(), 12, "every device has its bill");
    }
}

/// Where the load before was cut, bills are of what is certainly written: of everything below the watermark, and of nothing else.
#[test]
fn bills_keep_below_what_a_cut_load_has_written() {
    let workload = build(&[&SMALL[..], &["bill_month=2"]].concat());
    let (schema, steps) = (workload.schema(), workload.steps());
    let first = written(&schema, load(&steps, "ingest-4").operations.as_ref(), u64::MAX);
    for (devices, before) in [("4", BTreeMap::new()), ("12", first)] {
        let writes = load(&steps, &format!("ingest-{devices}")).operations;
        let bills = load(&steps, &format!("extract-{devices}")).operations;
        let least = bills.least_watermark();
        // Of January's 744 hours and one more, by four clients.
        assert_eq!(least, if devices == "4" { 4 * 745 } else { 0 });
        let mut slot = Slot::new(&schema);
        for watermark in [least, 2_981, 3_199, 3_200, 3_201, 6_180, 6_399] {
            let watermark = watermark.min(writes.len());
            let mut readings = before.clone();
            readings.extend(written(&schema, writes.as_ref(), watermark));
            for index in 0..bills.len() {
                bills.fill(index, watermark, &mut slot);
                let expected = bills.expected(index, slot.query()).expect("it is known");
                let due = summed(&readings, slot.query());
                assert!(due.is_some(), "{watermark}: nothing is asked in vain");
                assert_eq!(cents(&expected), due, "{watermark}, {index}");
            }
        }
    }
}

#[test]
fn bills_make_a_file_of_one_line_each_and_a_cent_off_is_wrong() {
    let workload = build(&SMALL);
    let bills = load(&workload.steps(), "extract-4").operations;
    assert_eq!(bills.file(), Some(("bills.csv", "meter,from,until,amount")));
    let mut slot = Slot::new(&workload.schema());
    let mut line = |index| {
        bills.fill(index, u64::MAX, &mut slot);
        let query = slot.query();
        let answer = bills.expected(index, query).expect("it is known");
        for (off, differs) in [(0.0, false), (1e-9, false), (0.01, true), (-0.01, true)] {
            let mut other = answer.clone();
            let Answer::Groups(groups) = &mut other else { panic!("a bill is a group") };
            let Value::F64(sum) = &mut groups[0].values[0] else { panic!("a sum") };
            *sum += off;
            assert_eq!(bills.disagreement(&other, &answer, query).is_some(), differs, "{off}");
        }
        let none = Answer::Groups(Vec::new());
        assert!(bills.disagreement(&none, &answer, query).is_some());
        assert_eq!(bills.line(index, query, &none), None);
        (cents(&answer).expect("a sum"), bills.line(index, query, &answer))
    };
    let (due, text) = line(3);
    let amount = format!("{}.{:02}", due / 100, due % 100);
    assert_eq!(text, Some(format!("4,2018-01-01T00:00:00Z,2018-02-01T00:00:00Z,{amount}")));
    assert_eq!(line(4).1, None, "a later round makes no second bill");
}

/// Steps in short: what is loaded and billed, and where the database is emptied.
fn in_short(settings: &[&str]) -> Vec<String> {
    let short = |step: &Step| match step {
        Step::Reset => "empty".to_owned(),
        Step::Size(readings) => format!("size {readings}"),
        Step::Settle(name) => name.clone(),
        Step::Run(phase) => format!("{} {}", phase.name, phase.loads[0].operations.len()),
    };
    build(settings).steps().iter().map(short).collect()
}

#[test]
fn ingest_is_measured_with_one_device_a_client_and_bills_with_more() {
    let settings = ["devices=32,48", "grown=0", "records=10", "bill_rounds=1"];
    let grown =
        ["ingest-32 320", "settled-32", "extract-32 32", "ingest-48 160", "settled-48", "extract-48 48"];
    assert_eq!(in_short(&settings), grown);
    let alone = [&settings[..], &["ingest_devices=16"]].concat();
    let mut expected = grown.map(str::to_owned).to_vec();
    expected.insert(0, "ingest-16 160".to_owned());
    expected[1] = "ingest-32 160".to_owned();
    assert_eq!(in_short(&alone), expected);
    expected[1] = "ingest-32 320".to_owned();
    expected[4] = "ingest-48 480".to_owned();
    expected.insert(4, "empty".to_owned());
    expected.insert(1, "empty".to_owned());
    assert_eq!(in_short(&[&alone[..], &["emptied=true"]].concat()), expected);
}

#[test]
fn phases_say_what_they_are() {
    let of = |settings: &[&str], name| {
        let phase = phase(&build(&[&SMALL[..], settings].concat()).steps(), name);
        (json!(phase.labels), phase.processes, phase.limit.map(|limit| limit.as_secs()))
    };
    let ingest = |commits: u32| json!({ "operation": "ingest", "devices": 12, "commits": commits });
    assert_eq!(of(&[], "ingest-12"), (ingest(2), 1, Some(1)));
    let shared = ["atomic=true", "processes=3", "limit_seconds=0"];
    assert_eq!(of(&shared, "ingest-12"), (ingest(1), 3, None));
    // Several processes share out everything by stride, history too.
    build(&["grown=64", "processes=2"]);
    assert_eq!(of(&[], "extract-4").0, json!({ "operation": "extract", "devices": 4 }));
    let grown = json!({ "grown": "bills", "readings stored": 48 * 800 });
    let (labels, _, limit) = of(&["grown=48"], "bills-48");
    assert_eq!((labels.as_object().unwrap().len(), limit), (grown.as_object().unwrap().len(), Some(5)));
}

/// What all writing phases write: readings, and the last time of each meter.
fn all_written(workload: &dyn Workload) -> (Vec<(u32, i64)>, BTreeMap<u32, i64>) {
    let (mut readings, mut last) = (Vec::new(), BTreeMap::new());
    let mut slot = Slot::new(&workload.schema());
    for load in phases(&workload.steps()).flat_map(|phase| &phase.loads).filter(|load| load.writes) {
        for index in 0..load.operations.len() {
            load.operations.fill(index, u64::MAX, &mut slot);
            let batch = slot.batch().expect("a write");
            assert!(!batch.is_empty());
            readings.extend(batch.series.iter().copied().zip(batch.times_ns.iter().copied()));
            if let Request::Upsert(..) = slot.request() {
                let known = last.entry(batch.series[0]).or_insert(batch.times_ns[0]);
                *known = batch.times_ns[0].max(*known);
            }
        }
    }
    (readings, last)
}

#[test]
fn each_size_has_every_reading_once_and_every_meter_s_last() {
    let settings = ["devices=16", "grown=256", "records=200"];
    let workload = build(&settings);
    let short = in_short(&settings);
    // 2,000 single writes of 16 clients are 125 hours of their last devices.
    let tail = 125 * 16;
    assert_eq!(short[3], format!("size {}", 64 * 200));
    assert_eq!(
        short[5..8],
        [format!("tail-64 {tail}"), "settled-64".to_owned(), "bills-64 1099511627776".to_owned()]
    );
    assert_eq!(short[8], format!("size {}", 256 * 200));
    let (readings, last) = all_written(workload.as_ref());
    let once: BTreeSet<_> = readings.iter().copied().collect();
    assert_eq!((readings.len(), once.len()), (256 * 200, 256 * 200));
    assert_eq!(last.len(), 256);
    assert!(last.values().all(|time| *time == time_ns(199)));
    let steps = |records| in_short(&["devices=16", "grown=256", records]).len();
    assert_eq!(
        (steps("records=2"), steps("records=1")),
        (13, 3),
        "one hour cannot be history and come after it"
    );
}

#[test]
fn bills_at_a_size_are_of_all_devices() {
    let workload = build(&["devices=16", "grown=64"]);
    let (steps, mut slot) = (workload.steps(), Slot::new(&workload.schema()));
    let bills = load(&steps, "bills-64");
    assert_eq!(bills.about.as_ref().map(|about| about.phase.as_str()), Some("tail-64"));
    let written = load(&steps, "tail-64").operations.len();
    for device in 0..64 {
        bills.operations.fill(device, written, &mut slot);
        assert_eq!(slot.query().series, Selection::One(u32::try_from(device).unwrap()));
        assert_eq!((slot.query().range.start_ns, slot.query().range.end_ns), (time_ns(0), time_ns(744)));
        assert!(bills.operations.expected(device, slot.query()).is_some_and(|due| cents(&due).is_some()));
    }
}

/// A reading cannot come before its meter there, so history cannot.
#[test]
fn nothing_grows_under_a_foreign_key() {
    let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
    let mut layout = Layout::row_per_reading();
    layout.foreign_key = true;
    let workload = build_on(&["devices=16", "grown=64"], &store, layout);
    assert_eq!(
        phases(&workload.steps()).map(|phase| phase.name.as_str()).collect::<Vec<_>>(),
        ["ingest-16", "extract-16"]
    );
}

#[test]
fn numbers_that_make_no_sense_get_one_clear_message() {
    for scale in Scale::ALL {
        let preset = BILLING.preset(scale).expect("a preset");
        assert_eq!(BILLING.check(&preset), Ok(()), "{}", scale.name());
    }
    for good in [
        vec!["devices=160,320", "clients=160", "grown=640"],
        vec!["devices=[16]"],
        vec!["devices=48", "records=10h"],
        vec!["atomic=true", "processes=5"],
        vec!["devices=48,64", "ingest_devices=16", "emptied=true"],
        vec!["devices=48", "ingest_devices=32", "grown=0"],
        vec!["records=87648", "bill_month=120"],
    ] {
        assert!(set(&good).is_ok(), "{good:?}: {:?}", set(&good));
    }
    for (bad, words) in [
        (vec!["devices=10"], "a multiple of clients, 16 for one"),
        (vec!["devices=32,16"], "larger than the one before it"),
        (vec!["devices=[]"], "at least one number"),
        (vec!["devices=many"], "write commas between them"),
        (vec!["devices=0"], "devices holds 0"),
        (vec!["ingest_devices=10"], "has 10; each client stays with a device"),
        (vec!["ingest_devices=16"], "less than the first of devices, 16"),
        (vec!["emptied=perhaps"], "--set emptied=perhaps"),
        (vec!["records=0"], "records is 0; it must be 1 to 87648"),
        (vec!["clients=0"], "clients is 0"),
        (vec!["processes=17"], "1 to 16 processes"),
        (vec!["bill_month=121"], "bill_month is 121"),
        (vec!["bill_month=2"], "744 records end before 2018-02 begins; load more than 744"),
        // February of 2020 has 29 days.
        (
            vec!["records=18960", "bill_month=27"],
            "18960 records end before 2020-03 begins; load more than 18960",
        ),
        (vec!["bill_rounds=0"], "bill_rounds is 0"),
        (vec!["atomic=perhaps"], "--set atomic=perhaps"),
        (vec!["device=16"], "did you mean devices?"),
    ] {
        let text = set(&bad).expect_err("it is wrong");
        assert!(text.contains(words) && !text.contains('\n'), "{bad:?}: {text}");
    }
}

/// What is generated are the devices that are loaded first, whatever they grow to.
#[test]
fn what_is_generated_is_what_is_loaded_first() {
    let numbers = set(&["devices=4,12", "clients=4", "records=50", "grown=192"]).unwrap();
    let of = |start_ns| BILLING.data_set(&numbers, &DataRequest { seed: 7, start_ns, duration_ns: None });
    let data = of(None).unwrap();
    let mut census = Census::new(&BILLING.schema(&numbers).unwrap());
    let (mut last, mut count) = (0, 0);
    let each = data.each_batch(Shard::WHOLE, |batch| {
        census.add(batch);
        last = batch.series.iter().copied().fold(last, u32::max);
        count += batch.len();
        Ok(())
    });
    each.unwrap();
    assert_eq!((last, count), (11, 12 * 50));
    assert_eq!(
        census.checksum(),
        1_262_073_094_960_022_683,
        "the data set has changed: say so in CHANGELOG.md"
    );
    assert!(of(Some(0)).is_err_and(|why| why.contains("from 2018 on")));
}

#[test]
fn the_study_s_layout_is_first_and_the_store_s_own_beside_it() {
    let offer = |variant: &str, default_selection, index, write| LayoutOption {
        variant: variant.to_owned(),
        layout: Layout::row_per_reading().with_index(index).with_write(write),
        default_selection,
        description: String::new(),
    };
    let (usual, request) = (WriteMethod::Usual, DefaultSelection::OnRequest);
    let mut bound = offer("foreign-key", request, Index::Series, usual);
    bound.layout.foreign_key = true;
    let numbers = set(&[]).unwrap();
    let chosen = |first| {
        let mut offers = vec![
            offer("", DefaultSelection::Usual, first, usual),
            offer("clustered", DefaultSelection::Further, Index::Clustered, usual),
            bound.clone(),
            offer("series-index", request, Index::Series, usual),
            offer("udp", DefaultSelection::Further, first, WriteMethod::Datagram),
        ];
        BILLING.choose(&numbers, "reading", &mut offers);
        let named = |offer: LayoutOption| (offer.variant, offer.layout.index, offer.default_selection);
        offers.into_iter().map(named).collect::<Vec<_>>()
    };
    let expected = |name: &str, first| {
        vec![
            (String::new(), Index::Series, DefaultSelection::Usual),
            (name.to_owned(), first, DefaultSelection::Further),
            ("clustered".to_owned(), Index::Clustered, DefaultSelection::Further),
            ("foreign-key".to_owned(), Index::Series, request),
            ("udp".to_owned(), first, request),
        ]
    };
    assert_eq!(chosen(Index::SeriesTime), expected("time-index", Index::SeriesTime));
    assert_eq!(chosen(Index::Clustered), expected("by-time", Index::Clustered));
    let mut alone = vec![offer("", DefaultSelection::Usual, Index::Clustered, usual)];
    BILLING.choose(&numbers, "reading", &mut alone);
    assert_eq!((alone[0].variant.as_str(), alone[0].default_selection), ("", DefaultSelection::Usual));
}
