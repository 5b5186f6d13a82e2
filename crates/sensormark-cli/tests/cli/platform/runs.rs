//! Clean runs: every reading stored once, every answer right, what is not supported said so.

use super::support::measure;
use crate::support::{Place, reasons, said};
use serde_json::Value;

fn load<'a>(trial: &'a Value, phase: &str) -> &'a Value {
    let loads = trial["loads"].as_array().expect("loads");
    let found = loads.iter().find(|load| load["phase"] == phase);
    found.unwrap_or_else(|| panic!("no phase {phase}"))
}

fn readings(load: &Value) -> u64 {
    let classes = load["classes"].as_object().expect("classes").values();
    classes.filter_map(|class| class["readings"].as_u64()).sum()
}

#[test]
fn all_layouts_of_sqlite_are_valid_with_every_answer_checked() {
    let place = Place::new();
    let output = measure(&place, &["variants=flat-no-index"], &["--on", "sqlite"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let trials = place.trials();
    let layouts: Vec<_> = trials
        .iter()
        .map(|trial| trial["implementation"]["layout_name"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(layouts, ["flat-no-index", "flat", "summary"], "{text}");
    for trial in &trials {
        assert!(reasons(trial).is_empty(), "{text}");
        let ledger = &trial["ledger"];
        let stored = ledger["stored"].as_u64().expect("a count");
        assert_eq!(ledger["attempted"], ledger["stored"]);
        assert_eq!((&ledger["lost"], &ledger["altered"]), (&0.into(), &0.into()));
        assert_eq!(ledger["checksum"], ledger["expected_checksum"]);
        let written = ["messages", "live", "load"].map(|phase| readings(load(trial, phase)));
        assert_eq!(stored, written.iter().sum::<u64>());
        // About 12,771 values a day.
        assert!((50_000..52_500).contains(&readings(load(trial, "load"))), "{text}");
        assert_eq!(trial["answers"]["checked"], trial["answers"]["answered"]);
        let layout = trial["implementation"]["layout_name"].as_str();
        let not_supported = &load(trial, "daily-sums-3d")["not_supported"];
        assert_eq!(not_supported.is_null(), layout == Some("summary"), "{text}");
        let phases = if layout == Some("summary") { 19 } else { 13 };
        let loads = trial["loads"].as_array().expect("loads").iter();
        let live = loads.filter(|load| load["phase"] == "live");
        let live: u64 = live.filter_map(|load| load["answers"]["answered"].as_u64()).sum();
        assert!(live >= 6, "two questions twice a second: {live}");
        assert_eq!(trial["answers"]["answered"], phases * 12 + live, "{text}");
    }
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "The platform's queries",
        "from sums",
        "The index: without it",
        "What keeping sums costs",
        "none of the study's claims can be judged",
    ] {
        assert!(plain.contains(words), "{words}: {text}");
    }
}

#[test]
fn several_homes_and_clients_and_small_batches_write_everything() {
    let place = Place::new();
    let settings = ["homes=3", "days=2", "spans=1", "statistics=2", "batch=700", "clients=3"];
    let output = measure(&place, &settings, &["--on", "sqlite:flat", "--seed", "9"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let trials = place.trials();
    let written = readings(load(&trials[0], "load"));
    assert!((74_000..79_000).contains(&written), "{written}");
    assert_eq!(load(&trials[0], "statistics-2d")["answers"]["wrong"], 0);
}

/// A load that is cut leaves queries about what it wrote, and those without enough of it say so.
#[test]
fn queries_keep_below_a_load_that_was_cut() {
    let place = Place::new();
    let settings = [
        "days=3000",
        "grown=12000",
        "spans=1,3000",
        "messages=0",
        "limit=1",
        "queries=raw,daily,chart,statistics",
        "batch=5000",
    ];
    let output = measure(&place, &settings, &["--on", "sqlite:flat"]);
    let text = said(&output);
    let trial = &place.trials()[0];
    assert!(load(trial, "load")["cut"].is_string(), "{text}");
    assert_eq!(trial["answers"]["wrong"], 0, "{text}");
    assert_eq!(load(trial, "raw-1d")["answers"]["checked"], 12, "{text}");
    assert_eq!(load(trial, "chart-1d")["answers"]["checked"], 12, "{text}");
    let reason = load(trial, "daily-3000d")["not_supported"].as_str();
    assert!(reason.is_some_and(|reason| reason.contains("cut")), "{text}");
    // No size is built upon it, and it is none itself.
    let loads = trial["loads"].as_array().expect("loads");
    assert!(loads.iter().all(|load| load["phase"] != "load-12000d"), "{text}");
    assert!(
        trial["warnings"].to_string().contains("readings were not begun: load before them was cut"),
        "{text}"
    );
    assert!(!text.contains("measured at "), "{text}");
}

#[test]
fn numbers_and_data_are_shown_and_generated() {
    let place = Place::new();
    let list = said(&place.run(&["list", "iot-platform"]));
    for words in ["questions", "flat-clustered", "bucketed", "summary", "[1,7,30]"] {
        assert!(list.contains(words), "{words}: {list}");
    }
    let generate = |further: &[&str]| {
        let arguments = ["generate", "iot-platform", "--set", "days=1", "--set", "spans=1"];
        let arguments = [&arguments[..], &["--set", "statistics=1"], further].concat();
        let output = place.run(&arguments);
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let lines = generate(&[]);
    let count = lines.lines().count();
    assert!((12_500..13_100).contains(&count), "{count}");
    assert!(lines.starts_with("property_values,device_id="), "{lines:.200}");
    let part = |shard| generate(&["--format", "json", "--shard", shard]).lines().count();
    assert_eq!(part("0/3") + part("1/3") + part("2/3"), count);
    let csv = generate(&["--format", "csv"]);
    assert!(csv.starts_with("time_ns,device_id,device_name,thing_id,property_id,value_bool"));
}
