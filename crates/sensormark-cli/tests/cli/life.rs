//! A life's rounds from end to end, and means that take too much, too little, or miss what comes late.

use crate::support::{Place, held_against, said};
use serde_json::Value;
use std::process::Output;

/// 16 weeks of ten sensors in eight rounds; readings are kept for four of them.
const SETTINGS: [&str; 9] = [
    "sensors=10",
    "interval_minutes=720",
    "days=112",
    "round_days=14",
    "keep_days=56",
    "late=0.05",
    "stale=0.02",
    "batch=20",
    "rate=1000",
];
pub const MEANS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../stores/lifecycle.toml"));

/// A whole life of a store: its trial, and what was said.
pub fn a_whole_life(store: &str) {
    let place = Place::new();
    let output = place.measure("year", &SETTINGS, &["--on", &format!("{store}:individual")]);
    let (trial, text) = (&place.trials()[0], said(&output));
    assert!(held_against(trial).is_empty(), "{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
    let stored = trial["ledger"]["stored"].as_u64().expect("a count");
    // What came when its time was no longer kept is gone, and so is one half of the year.
    assert!((1_050..1_120).contains(&stored), "{}", trial["ledger"]);
    let times = |kind: &str| {
        let parts = trial["tasks"].as_array().into_iter().flatten().flat_map(|task| task["parts"].as_array());
        parts.flatten().filter(|part| part[0] == kind).count()
    };
    assert_eq!((times("rollup"), times("retention")), (8, 4), "{trial}");
    let loads = trial["loads"].as_array().expect("loads");
    let checked = loads.iter().find(|load| load["phase"] == "rollups").expect("rollups are checked");
    assert_eq!(checked["answers"]["checked"], 80, "{checked}");
    assert!(text.contains("A life's rounds") && text.contains("p99 over the year"), "{text}");
}

#[test]
fn sqlite_lives_a_year_in_seconds() {
    a_whole_life("sqlite");
}

/// A life whose last round is half as long as the others, so that what is old at its end ends within what is dropped as a whole.
/// MariaDB was asked to drop once more what was dropped, and PostgreSQL kept what was old of the next part.
pub fn a_life_that_ends_within_a_round(store: &str) {
    let place = Place::new();
    let settings = SETTINGS.map(|setting| if setting == "days=112" { "days=105" } else { setting });
    let output = place.measure("year", &settings, &["--on", &format!("{store}:individual")]);
    let (trial, text) = (&place.trials()[0], said(&output));
    assert!(held_against(trial).is_empty(), "{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
    // What is kept is as much as in a whole life.
    let stored = trial["ledger"]["stored"].as_u64().expect("a count");
    assert!((1_050..1_120).contains(&stored), "{}", trial["ledger"]);
}

#[test]
fn a_life_of_sqlite_may_end_within_a_round() {
    a_life_that_ends_within_a_round("sqlite");
}

/// A life with compression, of a table whose one tag is its key: its trial, and what was said.
pub fn a_life_with_compression(store: &str) -> (Value, String) {
    let place = Place::new();
    let text = r#"
        [series]
        count = 5
        interval = "1d"
        duration = "112d"
        [[tags]]
        name = "sensor"
        [[fields]]
        name = "temperature"
        shape = "walk"
        min = 0
        max = 40
        period = "7d"
        [retention]
        keep = "56d"
        every = "14d"
        [[rollups]]
        every = "7d"
        [compression]
        after = "14d"
        [writers]
        batch = 20
    "#;
    std::fs::write(place.path().join("one.toml"), text).expect("ours");
    let output = place.measure("one.toml", &[], &["--on", &format!("{store}:individual")]);
    let (trial, text) = (place.trials().swap_remove(0), said(&output));
    assert!(held_against(&trial).is_empty(), "{text}");
    assert_eq!(trial["ledger"]["stored"], 5 * 56, "{text}");
    (trial, text)
}

#[test]
fn a_table_whose_one_tag_is_its_key_lives_too() {
    let (trial, text) = a_life_with_compression("sqlite");
    let means = trial["tasks"].to_string();
    assert!(means.contains("SQLite compresses nothing."), "{means}");
    assert!(!text.contains("Operations"), "rounds have a section of their own: {text}");
}

/// A trial of SQLite by means in which one text stands for another, with this many readings a second.
fn by_other_means(rate: u32, text: &str, other: &str) -> (Value, Output) {
    assert!(MEANS.contains(text), "{text}");
    let place = Place::new();
    let file = place.path().join("lifecycle.toml");
    std::fs::write(&file, MEANS.replace(text, other)).expect("ours");
    let mut arguments = vec!["run", "year", "--on", "sqlite:individual", "--results", "results"];
    arguments.push("--tolerate-disturbance");
    let rate = format!("rate={rate}");
    let settings = SETTINGS[..8].iter().copied().chain([&*rate]);
    arguments.extend(settings.flat_map(|setting| ["--set", setting]));
    let output = place.command(&arguments).env("SENSORMARK_LIFECYCLE", &file).output().expect("it starts");
    (place.trials().swap_remove(0), output)
}

#[test]
fn retention_that_takes_too_much_or_too_little_is_found() {
    let old = "DELETE FROM {{ table }} WHERE {{ time }} < {{ before }}";
    for (by, count) in [("+ 86400000000000", "lost"), ("- 86400000000000", "overdue")] {
        let (trial, output) =
            by_other_means(1000, old, &old.replace("before }}", &format!("before {by} }}}}")));
        let days = trial["ledger"][count].as_u64().unwrap_or(0);
        assert!((15..=20).contains(&days), "{count}: {}\n{}", trial["ledger"], said(&output));
        assert!(!held_against(&trial).is_empty(), "{trial}");
    }
}

#[test]
fn a_rollup_that_misses_what_comes_late_is_found() {
    // It sums up the latest round alone: so slow that it does that before the next round's writes are in.
    let (trial, output) = by_other_means(
        200,
        "WHERE {{ time }} >= {{ from }} AND",
        "WHERE {{ time }} >= {{ until - 14 * window }} AND",
    );
    assert!(trial["answers"]["wrong"].as_u64() > Some(0), "{}", said(&output));
    assert!(held_against(&trial).contains(&"wrong_answer".to_owned()), "{trial}");
}

/// It was "not supported", and a trial's only result.
#[test]
fn means_that_cannot_be_read_are_wrong_input_before_anything_is_measured() {
    let place = Place::new();
    let said_of = |file: &str| {
        let mut command =
            place.command(&["run", "year", "--on", "sqlite:individual", "--results", "results"]);
        let output = command.env("SENSORMARK_LIFECYCLE", file).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(!place.path().join("results").exists(), "nothing was measured");
        said(&output)
    };
    let text = said_of("nowhere.toml");
    assert!(
        text.contains("nowhere.toml: No such file") && text.contains("unset SENSORMARK_LIFECYCLE"),
        "{text}"
    );
    std::fs::write(place.path().join("own.toml"), "[sqlite.retention]\nlink = \"\"\nstep = []\n")
        .expect("ours");
    let text = said_of("own.toml");
    assert!(
        text.contains("own.toml: ") && text.contains("line 3") && text.contains("unknown field `step`"),
        "{text}"
    );
}
