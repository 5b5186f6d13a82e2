//! Shipped workloads at more than one size: data grow, everything is asked of all of it, and what is stored is proved.

use crate::support::{Place, held_against, said};
use serde_json::Value;
use std::collections::BTreeSet;

/// Time for a further size on the slowest disk.
const AMPLE: &str = "20m";

/// The sizes whose loads finished something.
fn sizes(trial: &Value) -> BTreeSet<u64> {
    let loads = trial["loads"].as_array().expect("loads").iter();
    let finished =
        loads.filter(|load| load["classes"].as_object().is_some_and(|classes| !classes.is_empty()));
    finished.filter_map(|load| load["labels"]["stored"].as_u64()).collect()
}

/// Nothing speaks against a trial, and nothing is lost.
fn is_sound(trial: &Value, text: &str) {
    assert!(held_against(trial).is_empty(), "{text}");
    let ledger = &trial["ledger"];
    assert_eq!((&ledger["lost"], &ledger["altered"]), (&0.into(), &0.into()), "{text}");
    assert_eq!(ledger["checksum"], ledger["expected_checksum"], "{text}");
}

/// Answers were checked, and none is wrong.
fn is_right(trial: &Value, text: &str) {
    assert_eq!(trial["answers"]["wrong"], 0, "{text}");
    assert!(trial["answers"]["checked"].as_u64() > Some(0), "{text}");
}

#[test]
fn meters_come_to_those_that_were_billed() {
    let place = Place::new();
    let settings = ["devices=4", "clients=4", "records=600", "bill_rounds=3", "grown=64", "grown_seconds=1"];
    let output =
        place.measure("billing", &settings, &["--on", "sqlite:reading-clustered", "--budget", AMPLE]);
    let text = said(&output);
    let trial = &place.trials()[0];
    is_sound(trial, &text);
    is_right(trial, &text);
    assert_eq!(sizes(trial), BTreeSet::from([16 * 600, 64 * 600]), "{text}");
    assert_eq!(trial["ledger"]["stored"], 64 * 600, "{text}");
    assert!(text.contains("measured at 38,400 readings; a year is 560,640"), "{text}");
}

/// QuestDB's load one by one was cut, and bills of the next size were called wrong.
#[test]
fn no_size_is_built_upon_a_load_that_was_cut() {
    let place = Place::new();
    let settings =
        ["devices=4", "clients=4", "records=87648", "bill_rounds=3", "limit_seconds=1", "grown=16"];
    let output = place.measure("billing", &settings, &["--on", "sqlite:reading-clustered"]);
    let text = said(&output);
    let trial = &place.trials()[0];
    is_sound(trial, &text);
    is_right(trial, &text);
    assert!(sizes(trial).is_empty(), "{text}");
}

#[test]
fn days_come_to_those_of_a_home() {
    let place = Place::new();
    let settings = [
        "days=2",
        "spans=1",
        "statistics=1",
        "messages=0",
        "questions=12",
        "grown=8",
        "grown_seconds=0.3",
        "layouts=flat",
    ];
    let output = place.measure("iot-platform", &settings, &["--on", "sqlite", "--budget", AMPLE]);
    let text = said(&output);
    let trial = &place.trials()[0];
    is_sound(trial, &text);
    is_right(trial, &text);
    assert_eq!(sizes(trial).len(), 2, "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("a year is 4,661,488"), "{text}");
    let loads = trial["loads"].as_array().expect("loads");
    let at_last = |load: &&Value| load["labels"]["stored"].as_u64() == sizes(trial).last().copied();
    let names: Vec<&str> = loads.iter().filter(at_last).filter_map(|load| load["name"].as_str()).collect();
    let all = ["load", "raw", "hourly", "daily", "day-night", "total", "chart", "statistics", "latest"];
    assert_eq!(names, all, "{text}");
}

#[test]
fn readers_look_for_cycles_of_long_ago() {
    let place = Place::new();
    let settings = ["warmup_seconds=0.5", "measured_seconds=3.5", "reads=6", "history_seconds=60"];
    let output =
        place.measure("machine-tool", &settings, &["--on", "sqlite:individual-clustered,sqlite:bulk"]);
    let text = said(&output);
    let trials = place.trials();
    trials.iter().for_each(|trial| assert!(held_against(trial).is_empty(), "{text}"));
    for trial in trials.iter().filter(|trial| trial["side"] == "write") {
        is_sound(trial, &text);
        let ledger = &trial["ledger"];
        assert_eq!(ledger["history"], 60_000, "{text}");
        // Counts are of what the source sent.
        assert!(ledger["produced"].as_u64() < Some(6_000), "{ledger}");
        assert_eq!(ledger["stored"], ledger["acknowledged"], "{ledger}");
    }
    for trial in trials.iter().filter(|trial| trial["side"] == "read") {
        is_right(trial, &text);
    }
    assert!(text.contains("64,200 readings measured"), "{text}");
}
