//! A file that `init` wrote, on an embedded database and a server: a requirement that one of them meets.

use crate::support::{Place, said};
use serde_json::Value;

/// A row of PostgreSQL has a header of 24 bytes besides its values and index, and its log is on disk too; SQLite's rows take less than half.
pub fn a_written_file_is_answered_for_sqlite_and_postgresql() {
    let place = Place::new();
    let written = place.run(&[
        "init",
        "plant.toml",
        "--yes",
        "--sensors=10",
        "--every=1s",
        "--asks=live",
        "--on=sqlite,postgresql",
    ]);
    assert!(written.status.success(), "{}", said(&written));
    let output = place.run(&[
        "run",
        "plant.toml",
        "--tolerate-disturbance",
        "--set",
        "layouts=individual",
        "--set",
        "mixed.duration=2s",
        "--set",
        "limits=lost = 0,wrong answers = 0,disk per reading < 100",
    ]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "one misses a limit: {text}");
    for trial in place.trials() {
        let settings = trial["implementation"]["durability"].as_str();
        assert_eq!(settings, Some("durable"), "as the file says");
    }
    let folder = place.run_folder();
    let report = place.run(&["report", &folder.to_string_lossy(), "--format", "json"]);
    let json: Value = serde_json::from_slice(&report.stdout).expect("a report");
    let found = &json["summary"]["requirements"];
    let outcome = |label: &str| {
        let layouts = found["layouts"].as_array().expect("layouts");
        let one = layouts.iter().find(|one| one["label"] == label);
        one.unwrap_or_else(|| panic!("no {label}: {text}"))["outcome"].clone()
    };
    assert_eq!(outcome("SQLite individual, durable"), "meets", "{text}");
    let server = "PostgreSQL individual, durable";
    assert_eq!(outcome(server), "misses", "{text}");
    let flowing: Vec<&str> = text.split_whitespace().collect();
    let flowing = flowing.join(" ");
    for told in [
        "meet all 3 requirements. Of them SQLite individual",
        "PostgreSQL individual, durable misses disk per reading (",
    ] {
        assert!(flowing.contains(told), "{told}: {text}");
    }
}
