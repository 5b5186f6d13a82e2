//! Operations of a database's life from end to end, and a backup that lost a reading.

use crate::life::MEANS;
use crate::support::{Place, held_against, said};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

const SETTINGS: [&str; 3] = ["sensors=10", "beside=1", "rate=500"];
/// Four days of ten sensors that report every ten minutes.
const LOADED: u64 = 4 * 144 * 10;

/// Readings that were found after a task.
fn found(task: &Value) -> u64 {
    let words = task["found"].as_str().unwrap_or_default();
    let digits: String = words.split(' ').next().unwrap_or_default().replace(',', "");
    digits.parse().unwrap_or_else(|_| panic!("{task}"))
}

/// Goes through the workload, and checks what each operation says of itself. What the database does not do is named.
pub fn each_operation_is_timed_and_its_data_are_proven(store: &str, not_done: &[&str]) {
    let place = Place::new();
    let output = place.measure("maintenance", &SETTINGS, &["--on", &format!("{store}:individual")]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let trial = &place.trials()[0];
    assert!(held_against(trial).is_empty(), "{text}");
    let tasks = trial["tasks"].as_array().expect("tasks");
    let names: Vec<&str> = tasks.iter().filter_map(|task| task["task"].as_str()).collect();
    assert_eq!(names, ["restart", "backup", "restore", "add column", "delete", "correct"]);
    for task in tasks {
        let is_done = !not_done.iter().any(|name| task["task"] == *name);
        assert_eq!(task["not_supported"].is_null(), is_done, "{task}");
        assert_eq!(task["proven"], is_done && task["task"] != "backup", "{task}");
        assert!(!is_done || task["seconds"].as_f64() > Some(0.0), "{task}");
    }
    let writers = trial["loads"].as_array().expect("loads").iter().filter(|load| load["name"] == "writers");
    let shortest = writers.map(|load| load["seconds"].as_f64().unwrap_or_default()).reduce(f64::min);
    assert!(shortest > Some(1.5), "writers work before each operation and after it: {shortest:?} s");
    assert!(tasks[1]["bytes"].as_u64() > Some(10_000), "{}", tasks[1]);
    assert!(tasks[1]["began"].as_f64() >= Some(1.0), "writers began before it: {}", tasks[1]);
    let [copied, whole] = [2, 3].map(|place| found(&tasks[place]));
    assert!(copied >= LOADED && whole > copied, "{copied}, {whole}");
    if !not_done.contains(&"delete") {
        let half = found(&tasks[4]);
        assert!(half < whole && half >= LOADED / 2, "{whole}, {half}");
    }
    assert!(text.contains("Operations") && text.contains("as they must be"), "{text}");
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

#[test]
fn sqlite_goes_through_all_but_the_restart() {
    each_operation_is_timed_and_its_data_are_proven("sqlite", &["restart"]);
}

/// A copy that shows a moment after it is brought back, as InfluxDB's do: it was lost, or its database unreachable.
#[test]
fn a_copy_that_shows_a_moment_later_is_not_lost() {
    let place = Place::new();
    let file = place.path().join("means.toml");
    let now = r#"$ cp "$folder/copy.db" "$data/$restored.sqlite""#;
    let later = r#"$ (sleep 0.3; cp "$folder/copy.db" "$data/$restored.sqlite") > /dev/null 2>&1 &"#;
    assert!(MEANS.contains(now));
    std::fs::write(&file, MEANS.replace(now, later)).expect("ours");
    let mut command =
        place.command(&["run", "maintenance", "--on", "sqlite:individual", "--results", "results"]);
    command.arg("--tolerate-disturbance");
    command.args(SETTINGS.iter().flat_map(|setting| ["--set", setting]));
    let output = command.env("SENSORMARK_LIFECYCLE", &file).output().expect("the program starts");
    let trial = &place.trials()[0];
    assert_eq!(trial["tasks"][2]["proven"], true, "{}", said(&output));
    assert!(held_against(trial).is_empty(), "{trial}");
    // Nothing in it is of this trial alone, so that repetitions have the same.
    let means = trial["tasks"][1]["means"].to_string();
    assert!(means.contains("VACUUM INTO '$folder/copy.db'"), "{means}");
}

/// The program that copies the file back loses one reading of it. What it uses is the database's.
#[test]
fn a_backup_that_lost_a_reading_is_not_proven_and_its_programs_are_not_somebody_elses() {
    let place = Place::new();
    let program = place.path().join("cp");
    let lossy = "#!/bin/sh\nPATH=/usr/bin:/bin\ncp \"$1\" \"$2\"\npython3 -c \"import sqlite3,sys\nit = sqlite3.connect(sys.argv[1])\nit.execute('DELETE FROM readings WHERE rowid = 17')\nit.commit()\" \"$2\"\n";
    std::fs::write(&program, lossy).expect("ours");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("ours");
    let path = format!("{}:{}", place.path().display(), std::env::var("PATH").unwrap_or_default());
    let mut command =
        place.command(&["run", "maintenance", "--on", "sqlite:individual", "--results", "results"]);
    command.args([
        "--tolerate-disturbance",
        "--set",
        "sensors=10",
        "--set",
        "beside=0.2",
        "--set",
        "rate=100",
    ]);
    let output = command.env("PATH", path).output().expect("the program starts");
    let trial = &place.trials()[0];
    let restored = &trial["tasks"][2];
    assert_eq!(restored["proven"], false, "{}", said(&output));
    assert!(
        restored["found"].as_str().unwrap_or_default().contains("1 acknowledged readings are not stored"),
        "{restored}"
    );
    let mut phases = trial["phases"].as_array().into_iter().flatten();
    let phase = phases.find(|phase| phase["name"] == "restore").expect("a phase");
    let used_ns = phase["totals"]["roles"]["coordinator"]["cpu_ns"].as_f64().unwrap_or_default();
    let programs = restored["program_seconds"].as_f64().unwrap_or_default();
    assert!(programs > 0.0 && used_ns >= programs * 1e9 - 1.0, "{restored}\n{phase}");
    assert_eq!(trial["tasks"][3]["proven"], true, "the database itself has it");
    assert!(!held_against(trial).is_empty(), "{trial}");
}
