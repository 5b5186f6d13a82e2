//! Reads that begin cold: the record and the report say so, the disk is really read, and what cannot be cold is refused.

use crate::support::{Place, errors, held_against, said};
use serde_json::Value;

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");

/// What a role fetched from the disk in a phase of a trial that nothing speaks against, in bytes.
fn fetched(trial: &Value, phase: &str, role: &str) -> u64 {
    assert_eq!(held_against(trial), [""; 0], "{}", trial["verdict"]);
    let phases = trial["phases"].as_array().expect("phases");
    let mut phases = phases.iter().filter(|one| one["name"] == phase);
    let found = phases.next().expect("the phase is there");
    let read = &found["totals"]["roles"][role]["storage_read_bytes"];
    read.as_u64().expect("the kernel tells what was read")
}

/// Whether a warning says that a cold phase was hardly cold.
fn is_warned_of(trial: &Value) -> bool {
    trial["warnings"].to_string().contains("it began cold, and")
}

/// Measures a workload whose queries have a phase for themselves, and gives its run's folder and trials.
fn own(place: &Place, on: &str, cache: &str) -> (String, Vec<Value>) {
    let settings = ["repetitions=1", "series.count=80", "layouts=individual"];
    let cache = format!("--cache={cache}");
    let output = place.measure(OWN, &settings, &["--on", on, &cache]);
    let flat = said(&output);
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_cold = cache.ends_with("cold");
    for words in ["individual, cold", "cold: before each phase that only reads"] {
        assert_eq!(flat.contains(words), is_cold, "{words:?}: {flat}");
    }
    let run = place.run_folder().to_string_lossy().into_owned();
    (run, place.trials())
}

/// Queries that begin cold fetch from the disk what hot ones find in memory.
fn begin_cold(store: &str, role: &str) {
    let (hot, cold) = (Place::new(), Place::new());
    let ((hot_run, before), (cold_run, after)) = (own(&hot, store, "hot"), own(&cold, store, "cold"));
    assert!(!before.is_empty() && before.len() == after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before["name"], after["name"]);
        assert_eq!(before["implementation"]["cache"], "hot");
        assert_eq!(after["implementation"]["cache"], "cold");
        let few = fetched(before, "mixed", role);
        let many = fetched(after, "mixed", role);
        // 24,000 readings are half a megabyte at least, whatever the layout.
        assert!(many > 500_000, "{}: {many} bytes cold", after["name"]);
        assert!(few < many / 10, "{}: {few} bytes hot, {many} cold", after["name"]);
        assert!(!is_warned_of(after), "{}", after["warnings"]);
    }

    // The figures of both are held against each other, and the output says so.
    let compared = hot.run(&["compare", &hot_run, &cold_run]);
    let text = said(&compared);
    assert_eq!(compared.status.code(), Some(0), "{text}");
    let words = "cache: hot in the first, cold in the second";
    assert!(text.contains(words), "{text}");
}

#[test]
fn queries_of_an_embedded_database_begin_cold() {
    begin_cold("sqlite", "trial");
}

#[allow(dead_code, reason = "tests/servers runs it, where the server is")]
pub fn queries_of_a_server_begin_cold() {
    begin_cold("postgresql", "server");
}

#[test]
fn every_way_of_reading_the_machine_tool_begins_cold() {
    let place = Place::new();
    let output = place.short(&["--on=sqlite:individual", "--cache=cold"]);
    let trials = place.trials();
    assert!(trials.len() > 2, "{}", errors(&output));
    for trial in &trials {
        if trial["side"] == "write" {
            assert_eq!(trial["implementation"]["cache"], "hot");
            continue;
        }
        assert_eq!(trial["implementation"]["cache"], "cold");
        let bytes = fetched(trial, "measured", "reader");
        assert!(bytes > 0 && !is_warned_of(trial), "{}", trial["name"]);
        assert_eq!(trial["answers"]["answered"], 3, "no warm-up reads");
    }
}

#[test]
fn what_cannot_begin_cold_is_refused() {
    let place = Place::new();
    let output = place.run(&["run", "durability", "--cache=cold"]);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("nothing in this workload only reads"), "{text}");
    assert!(!place.results().exists(), "nothing was begun");
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() {
        let output = place.run(&["run", "machine-tool", "--cache=cold", "--data=/dev/shm"]);
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("/dev/shm is on tmpfs"), "{text}");
    }
}
