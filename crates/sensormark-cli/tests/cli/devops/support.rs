//! What the tests of devops share: small numbers, and reading what it left.

use crate::support::Place;
use serde_json::Value;
use std::process::Output;

/// Small numbers: a second or two with everything in it.
const SMALL: [&str; 13] = [
    "hosts=4",
    "hours=0.25",
    "more_hours=0.5",
    "workers=1,2",
    "clients=1,2",
    "queries=12",
    "batch=60",
    "short_minutes=5",
    "long_minutes=11",
    "mean_minutes=12",
    "mean_step_minutes=4",
    "several_hosts=3",
    "query_seconds=0",
];

/// Readings that all loads of a trial with these numbers write: two of a quarter of an hour, and another quarter.
pub const READINGS: u64 = 3 * 90 * 4 * 9;

/// The questions, as phases have them.
pub const QUESTIONS: [&str; 6] =
    ["max-1-host", "max-1-host-long", "max-several-hosts", "mean-all-hosts", "last-reading", "busy-hosts"];

/// Measures with the small numbers.
pub fn measure(place: &Place, further: &[&str]) -> Output {
    place.measure("devops", &SMALL, further)
}

/// The loads of a trial that ask one of the questions.
pub fn asked<'a>(trial: &'a Value, question: &str) -> Vec<&'a Value> {
    let loads = trial["loads"].as_array().expect("loads");
    loads.iter().filter(|load| load["labels"]["operation"] == question).collect()
}
