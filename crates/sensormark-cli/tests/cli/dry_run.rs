//! `--dry-run` says what would be done and does nothing; estimates are true; the scale `firm` is listed.

use crate::support::{Place, errors, read_folder, said};
use serde_json::Value;

/// The plan that these arguments have, as JSON.
fn plan(place: &Place, arguments: &[&str]) -> Value {
    let output = place.run(&[arguments, &["--dry-run=json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_plan_shows_trials_time_disk_and_servers_and_leaves_nothing() {
    let place = Place::new();
    let run = ["run", "machine-tool", "--set", "repetitions=2"];
    let output = place.run(&[&run[..], &["--on", "sqlite:individual", "--dry-run"]].concat());
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(read_folder(place.path()).is_empty(), "no folder is made");
    for words in [
        "machine-tool · quick · 8 trials · about ",
        "     1  SQLite individual: write ",
        "     8  SQLite individual: read bulk-1 ",
        "  time ",
        "  disk        at most ",
        "  servers     none is started",
        "Leave out --dry-run to measure.",
    ] {
        assert!(text.contains(words), "{words:?} is not in:\n{text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_plan_is_there_for_programs_too() {
    let place = Place::new();
    let plan = plan(
        &place,
        &["run", "devops", "--on", "sqlite", "--set", "repetitions=3"],
    );
    let trials = plan["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 6, "two layouts, three times: {plan}");
    assert_eq!(trials[0]["layout"], "individual");
    assert_eq!(
        trials[2]["layout"], "individual-clustered",
        "they take turns"
    );
    assert_eq!(trials[5]["repetition"], 3);
    let sum: f64 = trials
        .iter()
        .filter_map(|one| one["seconds"].as_f64())
        .sum();
    let all = plan["seconds"].as_f64().expect("a time");
    assert!(sum > 0.0 && all > sum && all < 1.1 * sum + 2.0, "{plan}");
    assert!(
        plan["most_seconds"].as_f64().expect("a time") > all,
        "{plan}"
    );
    let bytes = |name: &str| plan["disk"][name].as_u64().expect("bytes");
    assert!(
        bytes("most_bytes") > 1_000_000 && bytes("free_bytes") > 0,
        "{plan}"
    );
}

#[test]
fn a_replay_has_a_plan() {
    let place = Place::new();
    let rows: String = (0..50)
        .map(|second| format!("{second},{}\n", second * 2))
        .collect();
    std::fs::write(place.path().join("r.csv"), format!("time,value\n{rows}")).expect("ours");
    let plan = plan(&place, &["replay", "r.csv", "--scale", "firm"]);
    assert_eq!(plan["repetitions"], 5);
    assert_eq!(read_folder(place.path()).len(), 1, "the recording alone");
}

#[test]
fn what_a_run_refuses_its_plan_refuses_in_the_same_words() {
    let cases: [&[&str]; 6] = [
        &["run", "machine-tol"],
        &["run", "machine-tool", "--on", "sqlite:bulky"],
        &["run", "machine-tool", "--set", "raeds=3"],
        &["run", "machine-tool", "--memory-limit", "2GB"],
        &["run", "machine-tool", "--weights", "not-there.toml"],
        &["run", "machine-tool", "--data", "not/there"],
    ];
    for arguments in cases {
        let place = Place::new();
        let (real, planned) = (
            place.run(arguments),
            place.run(&[arguments, &["--dry-run"]].concat()),
        );
        assert_eq!(
            real.status.code(),
            Some(2),
            "{arguments:?}: {}",
            errors(&real)
        );
        assert_eq!(planned.status.code(), Some(2), "{arguments:?}");
        assert_eq!(errors(&real), errors(&planned), "{arguments:?}");
    }
}

/// The announced length of a run, and what it took from its first event to its last trial, in seconds.
pub fn announced_and_took(place: &Place, on: &str) -> (f64, f64) {
    let began = std::time::Instant::now();
    let output = place.run(&[
        "run",
        "machine-tool",
        "--on",
        on,
        "--set=warmup_seconds=0.5",
        "--set=measured_seconds=3.5",
        "--set=reads=9",
        "--tolerate-disturbance",
        "--progress=json",
    ]);
    let took = began.elapsed().as_secs_f64();
    let text = errors(&output);
    let mut events = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let started = events
        .find(|event| event["event"] == "started")
        .expect("it is announced");
    assert!(text.contains("\"time_left\""), "it is corrected: {text}");
    (started["data"]["seconds"].as_f64().expect("a time"), took)
}

/// Fails where the announcement was not true.
pub fn assert_true(on: &str) {
    let (announced, took) = announced_and_took(&Place::new(), on);
    let ratio = announced / took;
    assert!(
        (1.0 / 1.5..1.5).contains(&ratio),
        "{on}: {announced} s announced, {took} s taken"
    );
}

#[test]
fn the_announced_time_is_true() {
    assert_true("sqlite:individual");
}

#[test]
fn the_scale_that_decides_is_listed_with_its_numbers() {
    let place = Place::new();
    for workload in [
        "machine-tool",
        "devops",
        "sensor-operations",
        "iot-platform",
        "billing",
        "durability",
    ] {
        let text = said(&place.run(&["list", workload, "--scale", "firm"]));
        assert!(text.contains(&format!("{workload}, scale firm")), "{text}");
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with("repetitions "));
        let count = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u32>().ok());
        assert!(
            count.is_some_and(|count| count >= 3),
            "{workload}: {line:?}"
        );
    }
}
