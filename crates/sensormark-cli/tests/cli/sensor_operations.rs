//! Sensor-operations from end to end on SQLite: exact ledger, every answer checked, each planted fault caught, wrong numbers refused.

use crate::support::{Place, errors, held_against, reasons};
use serde_json::Value;
use std::process::Output;

/// Small tests: 60 single and 8 multi operations of 50 readings, by 1 and 3 clients.
const SMALL: [&str; 19] = [
    "run",
    "sensor-operations",
    "--set",
    "single=60",
    "--set",
    "multi=400",
    "--set",
    "batch=50",
    "--set",
    "sensors=7",
    "--set",
    "clients=1,3",
    "--set",
    "grown=0",
    "--results",
    "results",
    "--tolerate-disturbance",
    "--progress=plain",
    "--full",
];

fn small(place: &Place, further: &[&str]) -> Output {
    place.run(&[&SMALL[..], further].concat())
}

fn loads(trial: &Value) -> &[Value] {
    trial["loads"].as_array().expect("loads")
}

#[test]
fn every_layout_is_valid_with_an_exact_ledger_and_every_answer_right() {
    let place = Place::new();
    let output = small(&place, &["--set", "statements=all"]);
    let text = errors(&output);
    let trials = place.trials();
    let layouts: Vec<&str> =
        trials.iter().filter_map(|trial| trial["implementation"]["layout_name"].as_str()).collect();
    for name in [
        "individual",
        "individual-clustered",
        "individual-concatenated",
        "individual-multi-row",
        "individual-no-index",
    ] {
        assert!(layouts.contains(&name), "{name}: {layouts:?}");
    }
    assert_eq!(layouts.len(), 5);
    for trial in &trials {
        let against = held_against(trial);
        assert!(against.is_empty(), "{}: {against:?}: {text}", trial["name"]);
        // Single tests of 1, 10 and twice 60 readings; multi ones of 50 and twice 400.
        assert_eq!(trial["ledger"]["produced"], 131 + 850);
        assert_eq!(trial["ledger"]["stored"], 131 + 850);
        assert_eq!(trial["ledger"]["checksum"], trial["ledger"]["expected_checksum"]);
        assert_eq!(trial["answers"]["answered"], 131 + 17);
        assert_eq!(trial["answers"]["checked"], 131 + 17);
        assert_eq!(loads(trial).len(), 14);
        for load in loads(trial) {
            let class = load["labels"]["operation"].as_str().expect("an operation");
            let readings = &load["classes"][class]["readings"];
            assert_eq!(readings, &load["labels"]["size"], "{load}");
        }
    }
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    for words in [
        "Single write by clients",
        "Multi read by clients",
        "Speed-up over one client",
        "With and without an index",
        "flushes a second",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

/// A run with a planted fault; its trial is invalid for this reason.
fn caught(fault: &str, kind: &str) {
    let place = Place::new();
    let with = ["--set", "index=with", "--on", "sqlite:individual"];
    let output = small(&place, &[&with[..], &["--plant", fault]].concat());
    assert_eq!(output.status.code(), Some(1), "{fault}: {}", errors(&output));
    let trials = place.trials();
    let named = trials.iter().any(|trial| reasons(trial).iter().any(|reason| reason == kind));
    assert!(named, "{fault} was not named {kind}: {trials:?}");
}

#[test]
fn a_wrong_single_read_is_named() {
    caught("wrong-answer:point:40", "wrong_answer");
}

#[test]
fn a_wrong_multi_read_is_named() {
    caught("wrong-answer:range:2", "wrong_answer");
}

#[test]
fn a_read_that_does_not_find_its_reading_is_named() {
    caught("empty-answer:20", "wrong_answer");
}

#[test]
fn lost_doubled_and_altered_readings_are_named() {
    caught("drop:30", "lost_data");
    caught("duplicate:30", "duplicated_data");
    caught("corrupt:30", "altered_data");
}

/// A miss is seen even where its answer is none of those that are compared in full.
#[test]
fn a_miss_is_seen_where_few_answers_are_compared() {
    let place = Place::new();
    let rare = ["--set", "check_one_in=1000000", "--set", "index=with"];
    let planted = ["--plant", "empty-answer:20", "--on", "sqlite:individual"];
    let output = small(&place, &[rare, planted].concat());
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(reasons(&place.trials()[0]).contains(&"wrong_answer".to_owned()));
}

/// Reads after a write that its time cut are about what was written.
#[test]
fn a_cut_write_leaves_reads_that_find_their_readings() {
    let place = Place::new();
    let output = place.run(&[
        "run",
        "sensor-operations",
        "--set",
        "single=2000000",
        "--set",
        "multi=1000",
        "--set",
        "clients=2",
        "--set",
        "grown=0",
        "--set",
        "sweep=false",
        "--set",
        "index=with",
        "--set",
        "limit_seconds=0.4",
        "--on",
        "sqlite:individual",
        "--results",
        "results",
        "--tolerate-disturbance",
        "--full",
    ]);
    let trial = &place.trials()[0];
    let text = errors(&output);
    assert!(held_against(trial).is_empty(), "{text}");
    let loads = loads(trial);
    for load in &loads[..2] {
        assert!(load["cut"].as_str().is_some(), "{load}");
    }
    assert!(trial["answers"]["checked"].as_u64() > Some(10), "{text}");
    assert_eq!(trial["ledger"]["produced"], trial["ledger"]["stored"]);
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("cut: its time was over"), "{report}");
}

#[test]
fn wrong_numbers_get_one_clear_message() {
    for (setting, words) in [
        ("sensors=0", "sensors is 0"),
        ("multi=1500", "multiple of batch"),
        ("clients=1,x", "write commas between them, like 1,4,16"),
        ("index=perhaps", "perhaps"),
        ("sensor=3", "did you mean sensors?"),
    ] {
        let place = Place::new();
        let output = place.run(&["run", "sensor-operations", "--set", setting]);
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{setting}: {text}");
        assert!(text.contains(words), "{setting}: {text}");
        assert_eq!(text.matches("sensormark: ").count(), 1, "{text}");
        assert!(!place.results().exists(), "nothing was begun");
    }
}

#[test]
fn the_data_set_is_generated_in_shards() {
    let place = Place::new();
    let generate = |further: &[&str]| {
        let arguments = ["generate", "sensor-operations", "--format=line-protocol", "--scale=quick"];
        let output = place.run(&[&arguments[..], further].concat());
        assert!(output.status.success(), "{}", errors(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let whole = generate(&[]);
    assert_eq!(whole.lines().count(), 20_000);
    assert!(whole.starts_with("readings,sensor=0 value="), "{}", &whole[..80]);
    let parts = [generate(&["--shard", "0/2"]), generate(&["--shard", "1/2"])];
    let mut lines: Vec<&str> = parts.iter().flat_map(|part| part.lines()).collect();
    let mut all: Vec<&str> = whole.lines().collect();
    lines.sort_unstable();
    all.sort_unstable();
    assert_eq!(lines, all);
}
