//! Replays from end to end: recordings as they come out of loggers, every row stored, every answer checked, faults named.

use crate::support::{Place, errors, held_against, reasons, said};
use serde_json::Value;
use std::path::PathBuf;

fn recording(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data");
    root.join(name).to_string_lossy().into_owned()
}

/// Replays one of the repository's recordings.
fn replay(place: &Place, name: &str, further: &[&str]) -> std::process::Output {
    let file = recording(name);
    let common = ["--results", "results", "--tolerate-disturbance", "--full"];
    let arguments = [&["replay", &file], &common[..], further].concat();
    place.run(&arguments)
}

fn ledger(trial: &Value, count: &str) -> u64 {
    trial["ledger"][count].as_u64().expect("a count")
}

#[test]
fn every_row_is_stored_every_answer_right_and_everybody_ranked() {
    let place = Place::new();
    let output = replay(
        &place,
        "boiler.csv",
        &["--on", "sqlite", "--set", "questions=20"],
    );
    let text = errors(&output);
    assert!(output.status.success(), "{text}");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!report.contains("nothing can be ranked"), "{report}");
    assert!(report.contains("SQLite bulk"), "{report}");
    for trial in place.trials() {
        let against = held_against(&trial);
        assert!(against.is_empty(), "{} {against:?}", trial["name"]);
        assert_eq!(ledger(&trial, "produced"), ledger(&trial, "stored"));
        assert_eq!(ledger(&trial, "lost") + ledger(&trial, "altered"), 0);
        assert_eq!(
            trial["ledger"]["checksum"],
            trial["ledger"]["expected_checksum"]
        );
        let answers = &trial["answers"];
        assert_eq!(answers["checked"], answers["answered"]);
        assert!(answers["checked"].as_u64() >= Some(100), "{answers}");
    }
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

/// A replay with a planted fault; its trial is invalid for this reason.
fn caught(fault: &str, kind: &str) {
    let place = Place::new();
    let on = [
        "--on",
        "sqlite:individual",
        "--skip-bad-rows",
        "--plant",
        fault,
    ];
    let output = replay(&place, "greenhouse.csv", &on);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let trials = place.trials();
    let named = trials
        .iter()
        .any(|trial| reasons(trial).iter().any(|reason| reason == kind));
    assert!(named, "{fault} was not named {kind}: {trials:?}");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("nothing can be ranked"), "{report}");
}

#[test]
fn dropped_rows_are_named() {
    caught("drop:50", "lost_data");
}

#[test]
fn a_wrong_mean_is_named() {
    caught("wrong-answer:aggregate:3", "wrong_answer");
}

#[test]
fn rows_that_cannot_be_read_are_named_by_line_before_anything_is_begun() {
    let place = Place::new();
    let file = place.path().join("bad.csv");
    let rows = "time,level\n2024-01-01 00:00:00,1.5\n2024-01-01 00:01:00,1.6\n2024-13-01 00:02:00,1.7\n2024-01-01 00:03:00,1.8\n";
    std::fs::write(&file, rows).expect("a file");
    let refused = place.run(&["replay", "bad.csv", "--results", "results"]);
    let text = errors(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("line 4"), "{text}");
    assert!(!place.results().exists(), "nothing was begun");
    let skipped = place.run(&[
        "replay",
        "bad.csv",
        "--skip-bad-rows",
        "--results",
        "results",
        "--tolerate-disturbance",
    ]);
    assert!(skipped.status.success(), "{}", errors(&skipped));
    for trial in place.trials() {
        assert_eq!(ledger(&trial, "stored"), 3);
    }
}

/// A name that a database keeps for itself is another one in all of them, and that is said.
#[test]
fn a_name_that_a_database_keeps_is_changed_and_told() {
    let place = Place::new();
    let rows: Vec<String> = (0..30)
        .map(|row| format!("2020-01-01T00:{row:02}:00Z,{row},{}\n", row + 1))
        .collect();
    let text = format!("time,xmin,temp\n{}", rows.concat());
    std::fs::write(place.path().join("sqlite_log.csv"), text).expect("a file");
    let arguments = ["replay", "sqlite_log.csv", "--on", "sqlite"];
    let options = [
        "--results",
        "results",
        "--tolerate-disturbance",
        "--set",
        "questions=20",
    ];
    let output = place.run(&[&arguments[..], &options].concat());
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    for words in [
        "xmin is called named_xmin in every database, because PostgreSQL keeps that name",
        "sqlite_log is called named_sqlite_log in every database, because SQLite keeps that name",
    ] {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
    for trial in place.trials() {
        let against = held_against(&trial);
        assert!(against.is_empty(), "{} {against:?}", trial["name"]);
        assert_eq!(ledger(&trial, "stored"), 30);
    }
}
