//! Operations and expected bills, against brute force over the readings that the operations write.

#![expect(clippy::cast_possible_truncation, reason = "test data sets are small")]

use super::bills::{Bills, cents};
use super::ingest::{Ingest, Order};
use super::parameters::Parameters;
use super::{BILLS_FILE, BillingWorkload};
use sensormark_conformance::memory::MemoryStore;
use sensormark_data::billing::{USAGE_SINCE_READ, schema, time_ns};
use sensormark_engine::adjust::adjust_values;
use sensormark_engine::operations::{Operations, Request, Slot};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::script::{Step, check};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_store::{
    Answer, Atomicity, DefaultSelection, Group, Index, Layout, LayoutOption, Query, RepeatedWrite, Selection,
    Store, Value, WriteMethod,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

fn order(devices: Range<u32>) -> Order {
    Order { devices, lanes: 4, hours: 0..800 }
}

/// Usage of each (series, time) that the operations below a number write, in hundredths.
fn written(order: &Order, below: u64) -> BTreeMap<(u32, i64), i64> {
    let ingest = Ingest::new(7, order.clone(), Atomicity::Separate);
    let mut slot = Slot::new(&schema(order.devices.end));
    (0..below.min(ingest.len()))
        .map(|index| {
            ingest.fill(index, u64::MAX, &mut slot);
            assert_eq!(slot.request(), Request::Upsert(0, Atomicity::Separate));
            let batch = slot.batch().expect("a reading");
            assert_eq!((batch.len(), slot.entity().len()), (1, 9));
            let usage = batch.columns[USAGE_SINCE_READ].number(0);
            let usage = (usage.expect("a number") * 100.0).round() as i64;
            ((batch.series[0], batch.times_ns[0]), usage)
        })
        .collect()
}

/// The sum that a question asks for, by brute force.
fn summed(readings: &BTreeMap<(u32, i64), i64>, query: &Query) -> Option<i64> {
    let Selection::One(series) = query.series else {
        panic!("a bill is one device's");
    };
    let own = readings.iter().filter(|((of, time), _)| *of == series && query.range.contains(*time));
    own.map(|(_, usage)| *usage).reduce(|one, more| one + more)
}

fn ask(bills: &Bills, index: u64, watermark: u64) -> Query {
    let mut slot = Slot::new(&schema(12));
    bills.fill(index, watermark, &mut slot);
    slot.query().clone()
}

#[test]
fn every_reading_is_written_once_and_a_client_stays_with_a_device() {
    let order = order(4..12);
    let readings = written(&order, u64::MAX);
    assert_eq!(readings.len() as u64, order.len());
    for series in 4..12 {
        for hour in 0..800 {
            assert!(readings.contains_key(&(series, time_ns(hour))));
        }
    }
    for client in 0..4 {
        let own = (0..order.len()).filter(|index| index % 4 == client);
        let own: Vec<(u32, u32)> = own.map(|index| order.reading(index)).collect();
        let mut expected = Vec::new();
        for batch in 0..2 {
            let series = 4 + batch * 4 + u32::try_from(client).expect("small");
            expected.extend((0..800).map(|hour| (series, hour)));
        }
        assert_eq!(own, expected, "client {client}");
    }
}

#[test]
fn bills_are_sums_of_what_is_written() {
    let (first, second) = (order(0..4), order(4..12));
    let mut readings = written(&first, u64::MAX);
    readings.extend(written(&second, u64::MAX));
    for month in [0..744, 744..800] {
        let bills = Bills::new(7, second.clone(), month, Some(2));
        assert_eq!(bills.len(), 24);
        let mut devices = BTreeSet::new();
        for index in 0..bills.len() {
            let query = ask(&bills, index, u64::MAX);
            let expected = bills.expected(index, &query).expect("it is known");
            let due = summed(&readings, &query).expect("there are readings");
            assert_eq!(cents(&expected), Some(due), "{index}");
            assert_eq!(bills.answer_len(index, &query), Some(expected.len()));
            devices.insert(format!("{:?}", query.series));
        }
        assert_eq!(devices.len(), 12, "every device has its bill");
    }
}

/// Where the load before was cut, bills are of what is certainly written: of everything below the watermark, and of nothing else.
#[test]
fn bills_keep_below_what_a_cut_load_has_written() {
    for start in [0, 4] {
        let load = order(start..start + 8);
        let mut readings = written(&order(0..4), if start == 0 { 0 } else { u64::MAX });
        let before = readings.clone();
        let bills = Bills::new(7, load.clone(), 100..744, Some(3));
        let least = bills.least_watermark();
        assert_eq!(least, if start == 0 { 404 } else { 0 });
        for watermark in [least, 405, 3_199, 3_200, 3_201, 5_000, 6_399] {
            readings.clone_from(&before);
            readings.extend(written(&load, watermark));
            for index in 0..bills.len() {
                let query = ask(&bills, index, watermark);
                let expected = bills.expected(index, &query).expect("it is known");
                let due = summed(&readings, &query);
                assert!(due.is_some(), "{watermark}: nothing is asked in vain");
                assert_eq!(cents(&expected), due, "{watermark}, {index}");
            }
        }
    }
}

#[test]
fn a_bill_that_is_a_cent_off_is_wrong() {
    let bills = Bills::new(7, order(0..4), 0..744, Some(1));
    let query = ask(&bills, 2, u64::MAX);
    let answer = |sum: f64| {
        Answer::Groups(vec![Group {
            series: None,
            window_start_ns: None,
            day: None,
            values: vec![Value::F64(sum)],
        }])
    };
    let due = answer(1_234.56);
    let differs = |sum| bills.disagreement(&answer(sum), &due, &query).is_some();
    assert!(!differs(1_234.56) && !differs(1_234.56 + 1e-9));
    assert!(differs(1_234.57) && differs(1_234.55));
    // A huge bill: a cent is within the tolerance of sums, and wrong all the same.
    let (huge, off) = (answer(98_765_432.10), answer(98_765_432.11));
    assert_eq!(off.disagreement(&huge, &query), None);
    assert!(bills.disagreement(&off, &huge, &query).is_some());
    let none = Answer::Groups(Vec::new());
    assert!(bills.disagreement(&none, &due, &query).is_some());
}

#[test]
fn bills_make_a_file_of_one_line_each() {
    let bills = Bills::new(7, order(0..4), 0..744, Some(3));
    assert_eq!(bills.file().map(|file| file.0), Some(BILLS_FILE));
    let line = |index| {
        let query = ask(&bills, index, u64::MAX);
        let answer = bills.expected(index, &query).expect("it is known");
        (cents(&answer), bills.line(index, &query, &answer))
    };
    let (due, text) = line(3);
    let due = due.expect("a sum");
    assert_eq!(
        text,
        Some(format!("4,2018-01-01T00:00:00Z,2018-02-01T00:00:00Z,{}.{:02}", due / 100, due % 100))
    );
    assert_eq!(line(4).1, None, "a later round makes no second bill");
    let query = ask(&bills, 0, u64::MAX);
    assert_eq!(bills.line(0, &query, &Answer::Groups(Vec::new())), None);
}

#[test]
fn presets_make_sense_and_every_number_is_documented() {
    for scale in Scale::ALL {
        let preset = BillingWorkload.preset(scale).expect("a preset");
        assert_eq!(BillingWorkload.check(&preset), Ok(()), "{}", scale.name());
        let names: BTreeSet<&str> = BillingWorkload.parameters().iter().map(|one| one.name).collect();
        let numbers = preset.as_object().expect("an object");
        assert_eq!(names, numbers.keys().map(String::as_str).collect());
    }
}

fn built(parameters: &Parameters, store: &dyn Store) -> Box<dyn Workload> {
    let layout = Layout::row_per_reading();
    let subject = Subject { store, layout: &layout, layout_name: "reading" };
    let parameters = serde_json::to_value(parameters).expect("numbers");
    BillingWorkload.build(&parameters, 7, subject).expect("a workload")
}

/// Steps in short: what is loaded and billed, and where the database is emptied.
fn in_short(parameters: &Parameters) -> Vec<String> {
    let steps = built(parameters, &MemoryStore::new(RepeatedWrite::KeepsBoth)).steps();
    assert_eq!(check(&steps), Ok(()));
    let short = |step: &Step| match step {
        Step::Reset | Step::Size(_) => "empty".to_owned(),
        Step::Settle(name) => name.clone(),
        Step::Run(phase) => format!("{} {}", phase.name, phase.loads[0].operations.len()),
    };
    steps.iter().map(short).collect()
}

#[test]
fn ingest_is_measured_with_one_device_a_client_and_bills_with_more() {
    let mut parameters = Parameters {
        devices: vec![32, 48],
        grown: 0,
        records: 10,
        bill_month: 1,
        bill_rounds: 1,
        ..Parameters::of(Scale::Quick)
    };
    let grown =
        ["ingest-32 320", "settled-32", "extract-32 32", "ingest-48 160", "settled-48", "extract-48 48"];
    assert_eq!(in_short(&parameters), grown);
    parameters.ingest_devices = 16;
    let mut alone = grown.map(str::to_owned).to_vec();
    alone.insert(0, "ingest-16 160".to_owned());
    alone[1] = "ingest-32 160".to_owned();
    assert_eq!(in_short(&parameters), alone);
    parameters.emptied = true;
    assert_eq!(
        in_short(&parameters),
        [
            "ingest-16 160",
            "empty",
            "ingest-32 320",
            "settled-32",
            "extract-32 32",
            "empty",
            "ingest-48 480",
            "settled-48",
            "extract-48 48",
        ]
    );
}

/// What all writing phases write: readings, and the last time of each meter.
fn all_written(steps: &[Step], devices: u32) -> (Vec<(u32, i64)>, BTreeMap<u32, i64>) {
    let (mut readings, mut last) = (Vec::new(), BTreeMap::new());
    let mut slot = Slot::new(&schema(devices));
    let phases = steps.iter().filter_map(|step| if let Step::Run(phase) = step { Some(phase) } else { None });
    for load in phases.filter(|phase| !phase.only_reads()).map(|phase| &phase.loads[0]) {
        for index in 0..load.operations.len() {
            load.operations.fill(index, u64::MAX, &mut slot);
            let batch = slot.batch().expect("a write");
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
    let parameters = Parameters {
        devices: vec![16],
        grown: 256,
        records: 200,
        bill_month: 1,
        ..Parameters::of(Scale::Quick)
    };
    parameters.check().expect("sense");
    let steps = built(&parameters, &MemoryStore::new(RepeatedWrite::KeepsBoth)).steps();
    assert_eq!(check(&steps), Ok(()));
    let sizes: Vec<u64> = steps
        .iter()
        .filter_map(|step| if let Step::Size(size) = step { Some(*size) } else { None })
        .collect();
    assert_eq!(sizes, [64 * 200, 256 * 200]);
    let (readings, last) = all_written(&steps, 256);
    let once: BTreeSet<_> = readings.iter().copied().collect();
    assert_eq!((readings.len(), once.len()), (256 * 200, 256 * 200));
    assert_eq!(last.len(), 256);
    let sizes = |records: u32| Parameters { records, ..parameters.clone() }.sizes();
    assert_eq!((sizes(2).len(), sizes(1).len()), (2, 0), "one hour cannot be history and come after it");
    assert!(last.values().all(|time| *time == time_ns(199)));
}

#[test]
fn bills_at_a_size_are_of_all_devices() {
    let parameters = Parameters { devices: vec![16], grown: 64, ..Parameters::of(Scale::Quick) };
    let steps = built(&parameters, &MemoryStore::new(RepeatedWrite::KeepsBoth)).steps();
    let Some(Step::Run(phase)) = steps.last() else { panic!("bills at the end") };
    let (bills, about) =
        (&phase.loads[0].operations, phase.loads[0].about.as_ref().expect("what was loaded"));
    let written = steps.iter().find_map(|step| match step {
        Step::Run(phase) if phase.name == about.phase => Some(phase.loads[0].operations.len()),
        _ => None,
    });
    let mut slot = Slot::new(&schema(64));
    for device in 0..64 {
        bills.fill(device, written.expect("the load before"), &mut slot);
        assert_eq!(slot.query().series, Selection::One(u32::try_from(device).unwrap()));
        assert_eq!((slot.query().range.start_ns, slot.query().range.end_ns), (time_ns(0), time_ns(744)));
        let expected = bills.expected(device, slot.query()).expect("it is known");
        assert!(cents(&expected).is_some());
    }
}

#[test]
fn numbers_that_make_no_sense_get_one_clear_message() {
    let set = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
        let preset = BillingWorkload.preset(Scale::Quick).expect("a preset");
        let numbers = adjust_values(preset, &settings, BillingWorkload.parameters())?;
        BillingWorkload.check(&numbers)
    };
    for good in [
        vec!["devices=160,320", "clients=160", "grown=640"],
        vec!["devices=[16]"],
        vec!["devices=48", "records=10h"],
        vec!["atomic=true", "processes=5"],
        vec!["devices=48,64", "ingest_devices=16", "emptied=true"],
        vec!["devices=48", "ingest_devices=32", "grown=0"],
    ] {
        assert_eq!(set(&good), Ok(()), "{good:?}");
    }
    for (bad, words) in [
        (vec!["devices=10"], "a multiple of clients, 16 for one"),
        (vec!["devices=32,16"], "larger than the one before it"),
        (vec!["devices=many"], "write commas between them"),
        (vec!["devices=0"], "devices holds 0; each must be 1 or more"),
        (vec!["ingest_devices=10"], "ingest_devices=10: each of 16"),
        (vec!["ingest_devices=16"], "less than the first of devices, 16"),
        (vec!["emptied=perhaps"], "--set emptied=perhaps"),
        (vec!["records=0"], "records is 0; it must be 1 to 87648"),
        (vec!["clients=0"], "clients is 0; it must be 1 or more"),
        (vec!["processes=17"], "1 to 16 processes"),
        (vec!["bill_month=121"], "1 (January 2018) to 120"),
        (vec!["bill_month=2"], "744 records end before 2018-02 begins"),
        (vec!["bill_rounds=0"], "bill_rounds is 0; it must be 1 or more"),
        (vec!["atomic=perhaps"], "--set atomic=perhaps"),
        (vec!["device=16"], "did you mean devices?"),
    ] {
        let text = set(&bad).expect_err("it is wrong");
        assert!(text.contains(words), "{bad:?}: {text}");
    }
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
    // The constraint itself is measured by name alone.
    let mut bound = offer("foreign-key", request, Index::Series, usual);
    bound.layout.foreign_key = true;
    let chosen = |first| {
        let bound = bound.clone();
        let mut offers = vec![
            offer("", DefaultSelection::Usual, first, usual),
            offer("clustered", DefaultSelection::Further, Index::Clustered, usual),
            bound,
            offer("series-index", request, Index::Series, usual),
            offer("udp", DefaultSelection::Further, first, WriteMethod::Datagram),
        ];
        BillingWorkload.choose(&serde_json::Value::Null, "reading", &mut offers);
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
    let first = Index::SeriesTime;
    assert_eq!(chosen(first), expected("time-index", first));
    let first = Index::Clustered;
    assert_eq!(chosen(first), expected("by-time", first));
    let mut alone = vec![offer("", DefaultSelection::Usual, Index::Clustered, usual)];
    BillingWorkload.choose(&serde_json::Value::Null, "reading", &mut alone);
    assert_eq!((alone[0].variant.as_str(), alone[0].default_selection), ("", DefaultSelection::Usual));
}
