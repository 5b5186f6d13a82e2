//! These recordings once led sensormark to a wrong verdict about a database. Now every answer is right, or the report says what the database cannot take.

use crate::ordinary_user::{all_hold, flat};
use crate::support::Place;
use std::path::PathBuf;

/// Replays one of the recordings that people reported.
fn replay(place: &Place, name: &str, on: &str, further: &[&str]) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sensormark-data/tests/recordings");
    std::fs::copy(folder.join(name), place.path().join(name)).expect("a copy");
    let common =
        ["--results", "results", "--tolerate-disturbance", "--set", "questions=5", "--set=grown=0", "--full"];
    flat(&place.run(&[&["replay", name, "--on", on], &common[..], further].concat()))
}

/// Columns that PostgreSQL keeps for itself; tags of which two are one number.
pub fn names_and_tags_on_postgresql() {
    let on = "postgresql:individual/individual,postgresql:bulk/bulk";
    for (name, further, words) in [
        ("D3-reserved-names.csv", &[][..], "xmin is called named_xmin in every database"),
        ("R56-plus-one-tags.csv", &["--tags", "sensor"], "4 readings of"),
    ] {
        let place = Place::new();
        let text = replay(&place, name, on, further);
        all_hold(&place, 2, &text);
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
}

/// A reading at the end of time is a bad row for all, and the others are asked about within each database's own bounds.
fn bounds(on: &str) {
    let place = Place::new();
    let refused = replay(&place, "D7-bounds.csv", on, &["--dry-run"]);
    assert!(refused.contains("is outside of the years 1678 to 2261"), "{refused}");
    let text = replay(&place, "D7-bounds.csv", on, &["--skip-bad-rows"]);
    all_hold(&place, 1, &text);
    for trial in place.trials() {
        assert_eq!(trial["ledger"]["stored"].as_u64(), Some(4), "{text}");
    }
}

pub fn bounds_on_influxdb() {
    bounds("influxdb:individual");
}

pub fn bounds_on_mongodb() {
    bounds("mongodb:*");
}

/// The report says that a text which fits into no datagram was refused. It does not say that data were altered.
pub fn a_text_that_fits_no_datagram() {
    let place = Place::new();
    let rows =
        format!("time,v,note\n2020-01-01,1,short\n2020-01-02,2,{}\n2020-01-03,3,end\n", "x".repeat(70_000));
    std::fs::write(place.path().join("long.csv"), rows).expect("a file");
    let common =
        ["--results", "results", "--tolerate-disturbance", "--set", "questions=5", "--set=grown=0", "--full"];
    let on = ["--durability=default", "--on", "influxdb:individual-udp"];
    let text = flat(&place.run(&[&["replay", "long.csv"], &common[..], &on].concat()));
    assert!(text.contains("too large"), "{text}");
    assert!(!text.contains("altered data"), "{text}");
}
