//! Names do what they say, lengths of time and sizes have units, and `generate` has one grammar. What is wrong gets one message, in the user's words.

use crate::refused::refused_at_once;
use crate::support::{Place, errors, numbers, read_folder, said};
use serde_json::Value;
use std::fs;

/// A file of the user's own whose store nobody has.
const FILE: &str = concat!(
    r#"name = "cold store"
stores = ["somewhere"]
[series]
count = 3
interval = "10s"
duration = "1h"
"#,
    numbers!(),
    r#"[mixed]
duration = "2s"
[[queries]]
name = "board"
kind = "window mean"
span = "10m"
window = "1m"
"#
);

#[test]
fn layouts_and_stores_that_there_are_not() {
    let place = Place::new();
    let machine_tool = |on: &str, words: &[&str]| {
        refused_at_once(&place, &["run", "machine-tool", "--on", on], words);
    };
    machine_tool(
        "sqlite:bulk-",
        &["no layout of SQLite \"bulk-\"", "bulk-blob", "bulk-* is every layout whose name begins so"],
    );
    machine_tool("sqlite:blk*", &["layout of SQLite that begins with \"blk\"", "there are: individual,"]);
    machine_tool("all:bluk", &["no layout \"bluk\"", "did you mean bulk?"]);
    machine_tool("sqlte", &["no store \"sqlte\"", "did you mean sqlite?"]);
    refused_at_once(&place, &["list", "sqlte"], &["no workload or store \"sqlte\"", "did you mean sqlite?"]);
    assert!(read_folder(&place.results()).is_empty(), "nothing was begun");
}

#[test]
fn values_with_the_wrong_kind_of_unit() {
    let place = Place::new();
    for (workload, setting, words) in [
        (
            "machine-tool",
            "measured_seconds=1GB",
            "measured_seconds must be a length of time like 90s, 15m or 6h, or a number of seconds",
        ),
        ("machine-tool", "reads=10s", "reads must be a whole number without a unit, and \"10s\" is not"),
        ("devops", "short_minutes=90s", "short_minutes is in whole minutes, and 90s is 1.5"),
        ("iot-platform", "spans=1d,90", "90 days are more than there is data of"),
    ] {
        let told = format!("--set {setting}: ");
        let told = if setting.starts_with("spans") { "" } else { &told };
        refused_at_once(&place, &["run", workload, "--set", setting], &[told, words]);
    }
    fs::write(place.path().join("own.toml"), FILE.replace("somewhere", "sqlite")).expect("a file");
    for (setting, words) in [
        (
            "mixed.duration=30",
            "--set mixed.duration=30: duration is a length of time and has a unit, like \"10s\"; 30 has none",
        ),
        ("series.interval=5MB", "--set series.interval=5MB: interval: \"5MB\" is no length of time"),
    ] {
        refused_at_once(&place, &["run", "own.toml", "--set", setting], &[words]);
    }
    assert!(read_folder(&place.results()).is_empty(), "nothing was begun");
}

#[test]
fn an_error_in_a_file_names_the_query_and_both_values() {
    let place = Place::new();
    let text = FILE.replace("somewhere", "sqlite");
    for (line, by, words) in [
        (
            "span = \"10m\"",
            "span = \"2h\"",
            "own.toml:23: queries.board: span is \"2h\", longer than the data: series.duration is 1h",
        ),
        (
            "kind = \"window mean\"",
            "kind = \"range\"",
            "own.toml:24: queries.board: window is \"1m\" and kind is \"range\"",
        ),
    ] {
        fs::write(place.path().join("own.toml"), text.replace(line, by)).expect("a file");
        refused_at_once(&place, &["run", "own.toml"], &[words]);
    }
}

#[test]
fn what_cannot_be_generated() {
    let place = Place::new();
    fs::write(place.path().join("own.toml"), FILE).expect("a file");
    for (arguments, words) in [
        (
            vec!["devops", "--start", "2026-01-01T00:00:00Z"],
            "--start: the data of devops always begins at 2016-01-01T00:00:00Z",
        ),
        (vec!["devops", "--for", "15s"], "--for 15s: the data of devops comes in steps of 10s"),
        (
            vec!["own.toml", "--for", "15s"],
            "own.toml: --for 15s: the data of this file comes in steps of 10s",
        ),
        (vec!["machine-tool", "--start", "1960-01-01T00:00:00Z"], "times lie in the years 1970 to 2261"),
        (vec!["machine-tool", "--start", "tomorrow"], "write it like 2026-01-01T00:00:00Z"),
        (vec!["billing", "--for", "12q"], "500ms, 10s, 1h30m"),
        (vec!["billing", "--for", "5000d"], "there are 87648 hours of data"),
        (vec!["durability"], "the data of durability cannot be generated"),
        (vec!["own.toml", "--scale", "standard"], "--scale is for workloads by name"),
    ] {
        let output = place.run(&[&["generate"], &arguments[..]].concat());
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
    }
}

/// The lines that are generated.
fn generated(place: &Place, arguments: &[&str]) -> Vec<String> {
    let output = place.run(&[&["generate"], arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", errors(&output));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_workload_is_generated_by_one_grammar_and_asks_for_nothing_else() {
    let place = Place::new();
    fs::write(place.path().join("own.toml"), FILE).expect("a file");
    for (arguments, lines) in [
        (vec!["machine-tool", "--for", "2s"], 2_000),
        (vec!["machine-tool", "--seconds", "2"], 2_000),
        (vec!["machine-tool", "--for=2s", "--set=samples_per_second=500"], 1_000),
        // measured for 4 s after one, and a fifth of a second beyond
        (vec!["machine-tool"], 5_200),
        (vec!["devops", "--for", "1m", "--set", "hosts=2"], 6 * 2 * 9),
        (vec!["sensor-operations", "--for", "5m", "--set", "sensors=7"], 70),
        (vec!["sensor-operations", "--set", "multi=1500", "--set", "batch=500", "--set", "single=1"], 1_500),
        // what the data grow by later is not generated
        (vec!["billing", "--for", "2d", "--set", "devices=3", "--set", "clients=3"], 3 * 48),
        // nor are days asked about
        (vec!["own.toml"], 3 * 360),
        (vec!["own.toml", "--for", "5m"], 3 * 30),
    ] {
        assert_eq!(generated(&place, &arguments).len(), lines, "{arguments:?}");
    }
    let one = generated(&place, &["iot-platform", "--set", "days=1"]);
    assert_eq!(one, generated(&place, &["iot-platform", "--for", "24h"]));
    let first = |arguments: &[&str]| -> Value {
        serde_json::from_str(&generated(&place, arguments)[0]).expect("JSON")
    };
    const START_NS: i64 = 1_767_312_000_000_000_000;
    for workload in ["machine-tool", "sensor-operations", "own.toml"] {
        let usual = first(&[workload, "--for", "1m"]);
        let later = first(&[workload, "--for", "1m", "--start", "2026-01-02T00:00:00Z"]);
        assert_eq!(later["time_ns"], START_NS, "{workload}");
        assert_ne!(usual["time_ns"], later["time_ns"], "{workload}");
        assert_eq!(usual["fields"], later["fields"], "{workload}");
    }
}

#[test]
fn what_is_named_twice_is_there_once() {
    let place = Place::new();
    let layouts = |on: &str| -> Vec<String> {
        let output = place.run(&["explain", "machine-tool", "--on", on, "--format=json"]);
        assert!(output.status.success(), "{on}: {}", errors(&output));
        let shown: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
        let name = |one: &Value| one["layout"].as_str().expect("a name").to_owned();
        shown.iter().map(name).collect()
    };
    assert_eq!(layouts("sqlite:bulk"), ["bulk"]);
    let bulk = ["bulk", "bulk-blob", "bulk-jsonb", "bulk-no-index"];
    assert_eq!(layouts("sqlite:bulk*"), bulk);
    assert_eq!(layouts("sqlite:bulk,sqlite:bulk*,sqlite:bulk-blob"), bulk);
    assert_eq!(layouts("sqlite:bulk,sqlit:bulk,sqlite:bulk"), ["bulk"]);
    assert_eq!(
        layouts("sqlite,sqlite:bulk"),
        ["individual", "individual-clustered", "individual-in-seconds", "bulk"]
    );
}

#[test]
fn a_files_name_is_the_title_of_its_run() {
    let place = Place::new();
    fs::write(place.path().join("own.toml"), FILE).expect("a file");
    let planned = ["run", "own.toml", "--set", "stores=sqlite:individual", "--dry-run"];
    let plan = said(&place.run(&planned));
    assert!(plan.starts_with("cold store · own.toml · "), "{plan}");
    let set = ["mixed.duration=300ms", "stores=sqlite:individual"];
    let text = said(&place.measure("own.toml", &set, &[]));
    assert!(text.contains("sensormark: cold store, scale own.toml"), "{text}");
    let run = place.run_folder();
    let report = said(&place.run(&["report", &run.to_string_lossy()]));
    assert!(report.contains("cold store · own.toml · sqlite"), "{report}");
    assert_eq!(place.record()["workload"], "own", "files keep the kind");
}

#[test]
fn a_stores_layouts_are_listed() {
    let place = Place::new();
    for name in ["sqlite", "sqlit"] {
        let text = said(&place.run(&["list", name]));
        for words in [
            "sqlite       SQLite (embedded)",
            "Layouts in machine-tool\n  sqlite:individual\n",
            "  sqlite:bulk-blob (only when named)\n",
            "Layouts in iot-platform\n  sqlite:flat\n",
            "--on sqlite:LAYOUT* every layout whose name begins so",
        ] {
            assert!(text.contains(words), "{name}: {words:?} is not in: {text}");
        }
        assert!(!text.contains("postgresql:"), "{text}");
    }
}

/// In a program that was built without a store, that is what is said of it, by its whole name.
#[test]
fn stores_have_the_names_that_people_use() {
    let place = Place::new();
    for (called, name) in [
        ("pg", "postgresql"),
        ("postgres", "postgresql"),
        ("maria", "mariadb"),
        ("mongo", "mongodb"),
        ("influx", "influxdb"),
    ] {
        let text = said(&place.run(&["list", called]));
        assert!(text.contains(name) && !text.contains("there is no"), "{called}: {text}");
    }
}
