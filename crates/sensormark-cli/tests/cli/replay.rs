//! Replays from end to end: recordings as they come out of loggers, every row stored, every answer checked, faults named.

use crate::support::{Place, errors, held_against, reasons, said};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

fn recording(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data");
    root.join(name).to_string_lossy().into_owned()
}

/// Without copies of the recording.
const AS_IT_IS: [&str; 2] = ["--set", "grown=0"];

/// Replays one of the repository's recordings.
fn replay(place: &Place, name: &str, further: &[&str]) -> std::process::Output {
    let file = recording(name);
    let common = ["--results", "results", "--tolerate-disturbance", "--full"];
    let arguments = [&["replay", &file], &AS_IT_IS[..], &common, further].concat();
    place.run(&arguments)
}

fn ledger(trial: &Value, count: &str) -> u64 {
    trial["ledger"][count].as_u64().expect("a count")
}

#[test]
fn every_row_is_stored_every_answer_right_and_everybody_ranked() {
    let place = Place::new();
    let output = replay(&place, "boiler.csv", &["--on", "sqlite", "--set", "questions=20"]);
    let text = errors(&output);
    assert!(output.status.success(), "{text}");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!report.contains("Nothing can be ranked"), "{report}");
    assert!(report.contains("SQLite bulk"), "{report}");
    for trial in place.trials() {
        let against = held_against(&trial);
        assert!(against.is_empty(), "{} {against:?}", trial["name"]);
        assert_eq!(ledger(&trial, "produced"), ledger(&trial, "stored"));
        assert_eq!(ledger(&trial, "lost") + ledger(&trial, "altered"), 0);
        assert_eq!(trial["ledger"]["checksum"], trial["ledger"]["expected_checksum"]);
        let answers = &trial["answers"];
        assert_eq!(answers["checked"], answers["answered"]);
        assert!(answers["checked"].as_u64() >= Some(100), "{answers}");
    }
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

/// A recording of 429 readings tells little: it grows by copies, about which every answer is right, too.
#[test]
fn a_short_recording_grows_by_copies() {
    let place = Place::new();
    let file = recording("boiler.csv");
    let numbers = ["--set", "questions=20", "--set", "grown=5000", "--set", "grown_seconds=0.1"];
    let further = ["--on", "sqlite", "--results", "results", "--tolerate-disturbance"];
    let output = place.run(&[&["replay", &file], &numbers[..], &further].concat());
    assert!(output.status.success(), "{}", errors(&output));
    let report = said(&output);
    assert!(report.contains("measured at 6,864 readings"), "{report}");
    for trial in place.trials() {
        let against = held_against(&trial);
        assert!(against.is_empty(), "{} {against:?}", trial["name"]);
        assert_eq!(ledger(&trial, "stored"), 16 * 429);
        let loads = trial["loads"].as_array().expect("loads");
        let sizes: Vec<u64> = loads
            .iter()
            .filter(|load| load["name"] == "load")
            .filter_map(|load| load["labels"]["stored"].as_u64())
            .collect();
        assert_eq!(sizes, [429, 16 * 429]);
        let is_told =
            |note: &Value| note.as_str().is_some_and(|note| note.contains("told apart by the tag copy"));
        assert!(trial["warnings"].as_array().is_some_and(|notes| notes.iter().any(is_told)), "{trial}");
        assert!(trial["answers"]["checked"].as_u64() > Some(100), "{}", trial["answers"]);
    }
}

/// A replay with a planted fault; its trial is invalid for this reason.
fn caught(fault: &str, kind: &str) {
    let place = Place::new();
    let on = ["--on", "sqlite:individual", "--skip-bad-rows", "--plant", fault];
    let output = replay(&place, "greenhouse.csv", &on);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let trials = place.trials();
    let named = trials.iter().any(|trial| reasons(trial).iter().any(|reason| reason == kind));
    assert!(named, "{fault} was not named {kind}: {trials:?}");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let flat = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("Nothing can be ranked"), "{report}");
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
        "--set=grown=0",
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
    let rows: Vec<String> =
        (0..30).map(|row| format!("2020-01-01T00:{row:02}:00Z,{row},{}\n", row + 1)).collect();
    let text = format!("time,xmin,temp\n{}", rows.concat());
    std::fs::write(place.path().join("sqlite_log.csv"), text).expect("a file");
    let arguments = ["replay", "sqlite_log.csv", "--on", "sqlite"];
    let options = ["--results", "results", "--tolerate-disturbance", "--set", "questions=20"];
    let output = place.run(&[&arguments[..], &options, &AS_IT_IS].concat());
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

/// A recording of 30 readings, as text.
fn readings() -> String {
    let rows = (10..40).map(|second| format!("2026-01-01T00:00:{second}Z,{second}.5\n"));
    format!("time,level\n{}", rows.collect::<String>())
}

/// Replays what comes out of standard input or a pipe, and never waits longer than a minute.
fn replay_stream(place: &Place, name: &str, further: &[&str], input: Stdio) -> Output {
    let common = ["--on", "sqlite:individual", "--set", "questions=5"];
    let results = ["--results", "results", "--tolerate-disturbance"];
    let arguments = [&["replay", name], &common[..], &AS_IT_IS, &results, further].concat();
    let mut command = place.command(&arguments);
    command.stdin(input);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    if let Some(mut pipe) = child.stdin.take() {
        // A reader that refused the stream is gone.
        pipe.write_all(readings().as_bytes()).ok();
    }
    let latest = Instant::now() + Duration::from_mins(1);
    while child.try_wait().expect("it is ours").is_none() {
        if Instant::now() > latest {
            child.kill().expect("it is ours");
            panic!("replay {name} hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.wait_with_output().expect("it has ended")
}

fn all_stored(place: &Place, output: &Output) {
    assert!(output.status.success(), "{}", errors(output));
    let text = errors(output);
    assert!(text.contains("stdin: 30 rows, 30 readings"), "{text}");
    let trials = place.trials();
    assert!(!trials.is_empty());
    for trial in trials {
        assert_eq!(ledger(&trial, "stored"), 30);
        assert_eq!(held_against(&trial), Vec::<String>::new());
    }
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

#[test]
fn a_recording_comes_through_standard_input() {
    for name in ["-", "/dev/stdin"] {
        let place = Place::new();
        all_stored(&place, &replay_stream(&place, name, &[], Stdio::piped()));
    }
    let place = Place::new();
    let path = place.path().join("r.csv");
    std::fs::write(&path, readings()).expect("a file");
    let file = File::open(&path).expect("it is there");
    all_stored(&place, &replay_stream(&place, "/dev/stdin", &[], file.into()));
    let planned = replay_stream(&place, "-", &["--dry-run"], Stdio::piped());
    assert!(planned.status.success(), "{}", errors(&planned));
}

#[test]
fn a_recording_comes_through_a_pipe() {
    let place = Place::new();
    let path = place.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    let (pipe, text) = (path.clone(), readings());
    let writer = std::thread::spawn(move || std::fs::write(pipe, text));
    all_stored(&place, &replay_stream(&place, "pipe.csv", &[], Stdio::null()));
    writer.join().expect("no panic").expect("it was read");
}

#[test]
fn what_has_no_end_or_says_nothing_is_refused() {
    let place = Place::new();
    let refused = replay_stream(&place, "/dev/zero", &[], Stdio::null());
    assert_eq!(refused.status.code(), Some(2));
    let text = errors(&refused);
    assert!(text.contains("/dev/zero is a terminal or a device"), "{text}");
    let empty = replay_stream(&place, "-", &[], Stdio::null());
    assert_eq!(empty.status.code(), Some(2));
    assert!(errors(&empty).contains("- holds no readings"), "{}", errors(&empty));
}

#[test]
fn a_text_for_no_value_may_begin_with_a_dash() {
    let place = Place::new();
    let rows = "time,a,b\n2026-01-01,-999,1\n2026-01-02,2,--\n2026-01-03,--,-999.0\n2026-01-04,4,4\n";
    std::fs::write(place.path().join("r.csv"), rows).expect("a file");
    for absent in [&["--absent", "-999,--"][..], &["--absent=-999", "--absent", "--"]] {
        let arguments = [&["replay", "r.csv"], absent, &["--dry-run"]].concat();
        let text = errors(&place.run(&arguments));
        assert!(text.contains("3 readings of 1 series, 1 rows left out"), "{text}");
        assert!(text.contains("a: field a, 64-bit integer, absent in 1 readings"), "{text}");
        assert!(text.contains("b: field b, 64-bit integer, absent in 1 readings"), "{text}");
    }
    let swallowed = place.run(&["replay", "r.csv", "--absent", "--dry-run"]);
    assert_eq!(swallowed.status.code(), Some(2));
    assert!(errors(&swallowed).contains("a value is missing before it"), "{}", errors(&swallowed));
}

/// The words of a command as a shell takes them.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in command.split('\'').enumerate() {
        match place % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// The data sets that most tutorials use, in their exact form, each measured by the command that inspect prints.
#[test]
fn what_inspect_prints_measures_what_tutorials_use() {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sensormark-data/tests/recordings/tutorials");
    for (name, readings) in [
        ("household_power_consumption.txt", 397),
        ("AirQualityUCI.csv", 120),
        ("intel_lab_data.txt", 231),
        ("PRSA_data_2010.1.1-2014.12.31.csv", 120),
        ("history.csv", 148),
    ] {
        let place = Place::new();
        std::fs::copy(folder.join(name), place.path().join(name)).expect("a copy");
        let found = place.run(&["inspect", name]);
        let text = String::from_utf8_lossy(&found.stdout).into_owned();
        assert!(found.status.success(), "{text}{}", errors(&found));
        let command = text.lines().last().expect("a command").trim();
        let typed = words(command.strip_prefix("sensormark ").expect("a command of ours"));
        let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
        let common = ["--results", "results", "--tolerate-disturbance", "--set", "questions=5"];
        let output = place.run(&[&typed[..], &AS_IT_IS, &common].concat());
        assert!(output.status.success(), "{command}: {}", errors(&output));
        for trial in place.trials() {
            assert_eq!(ledger(&trial, "stored"), readings, "{command}");
            assert_eq!(held_against(&trial), Vec::<String>::new(), "{command}");
        }
    }
}

#[test]
fn inspect_says_what_there_is_to_choose() {
    let place = Place::new();
    let rows = "time,level\n03/04/2020 10:00,1.5\n05/04/2020 10:00,2\n";
    std::fs::write(place.path().join("r.csv"), rows).expect("a file");
    let output = place.run(&["inspect", "r.csv"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    for choice in ["replay r.csv --time-format day-month-year", "replay r.csv --time-format month-day-year"] {
        assert!(text.contains(choice), "{text}");
    }
}

/// SECOM has 590 columns.
#[test]
fn a_wide_recording_is_measured() {
    let place = Place::new();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sensormark-data/tests/recordings");
    std::fs::copy(folder.join("R18-wide.csv"), place.path().join("secom.csv")).expect("a copy");
    let common = ["--on", "sqlite", "--results", "results", "--tolerate-disturbance", "--set", "questions=5"];
    let output = place.run(&[&["replay", "secom.csv"], &AS_IT_IS, &common[..]].concat());
    assert!(output.status.success(), "{}", errors(&output));
    let trials = place.trials();
    assert!(!trials.is_empty());
    for trial in trials {
        assert_eq!(ledger(&trial, "stored"), 5);
        assert_eq!(held_against(&trial), Vec::<String>::new());
    }
}

/// Tags 1 and +1, 0 and -0 are other texts: each keeps its readings.
#[test]
fn tags_that_are_the_same_number_are_told_apart() {
    let place = Place::new();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sensormark-data/tests/recordings");
    std::fs::copy(folder.join("R56-plus-one-tags.csv"), place.path().join("tags.csv")).expect("a copy");
    let common = ["--on", "sqlite", "--results", "results", "--tolerate-disturbance", "--set", "questions=5"];
    let output =
        place.run(&[&["replay", "tags.csv", "--tags", "sensor"][..], &AS_IT_IS, &common[..]].concat());
    assert!(output.status.success(), "{}", errors(&output));
    let trials = place.trials();
    assert!(!trials.is_empty());
    for trial in trials {
        assert_eq!(ledger(&trial, "stored"), 4);
        assert_eq!(held_against(&trial), Vec::<String>::new());
    }
}

/// SQLite keeps times before 1970; a database that is not known to is left out with the reason.
#[test]
fn readings_before_1970_are_measured_where_they_are_kept() {
    let place = Place::new();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sensormark-data/tests/recordings");
    std::fs::copy(folder.join("R15-before-1970.csv"), place.path().join("flow.csv")).expect("a copy");
    let common = ["--results", "results", "--tolerate-disturbance", "--set", "questions=20"];
    let output =
        place.run(&[&["replay", "flow.csv", "--on", "sqlite:*"][..], &AS_IT_IS, &common[..]].concat());
    assert!(output.status.success(), "{}", errors(&output));
    let trials = place.trials();
    assert!(!trials.is_empty());
    for trial in trials {
        assert_eq!(ledger(&trial, "stored"), 60);
        assert_eq!(held_against(&trial), Vec::<String>::new());
    }
    let refused = place.run(&["replay", "flow.csv", "--on", "postgresql", "--dry-run"]);
    assert!(said(&refused).contains("before 1970") || refused.status.code() == Some(3), "{}", said(&refused));
}
