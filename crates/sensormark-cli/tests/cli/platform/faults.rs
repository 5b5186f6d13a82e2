//! Faults that are planted in the store are caught, in every kind of question, and named.

use super::support::measure;
use crate::support::{Place, reasons, said};

fn caught(settings: &[&str], fault: &str, on: &str, kind: &str) {
    let place = Place::new();
    let output = measure(&place, settings, &["--on", on, "--plant", fault]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{settings:?} {fault}: {text}");
    let kinds = reasons(&place.trials()[0]);
    assert!(kinds.iter().any(|one| one == kind), "{settings:?} {fault}: {kinds:?}: {text}");
}

/// One wrong answer, the last of twelve, of each query alone.
fn wrong_answer(query: &str, kind: &str) {
    let settings = ["days=2", "spans=1", "messages=0", "layouts=summary", &format!("queries={query}")];
    let fault = format!("wrong-answer:{kind}:12");
    caught(&settings, &fault, "sqlite:summary", "wrong_answer");
    caught(&settings, "empty-answer:12", "sqlite:summary", "wrong_answer");
}

#[test]
fn a_wrong_range_of_raw_values() {
    wrong_answer("raw", "range");
}

#[test]
fn a_wrong_mean_of_an_hour() {
    wrong_answer("hourly", "aggregate");
}

#[test]
fn a_wrong_mean_of_a_day() {
    wrong_answer("daily", "aggregate");
}

#[test]
fn a_wrong_mean_of_a_day_from_sums() {
    wrong_answer("daily-sums", "aggregate");
}

#[test]
fn a_wrong_mean_by_day_and_night() {
    wrong_answer("day-night", "aggregate");
    wrong_answer("day-night-sums", "aggregate");
}

#[test]
fn a_wrong_mean_of_all() {
    wrong_answer("total", "aggregate");
    wrong_answer("total-sums", "aggregate");
}

#[test]
fn a_wrong_chart() {
    wrong_answer("chart", "aggregate");
}

#[test]
fn wrong_statistics() {
    wrong_answer("statistics", "aggregate");
}

#[test]
fn lost_doubled_and_altered_readings() {
    let few = ["days=1", "spans=1", "queries=raw"];
    caught(&few, "drop:5000", "sqlite:flat", "lost_data");
    caught(&few, "duplicate:5000", "sqlite:flat", "duplicated_data");
    caught(&few, "corrupt:5000", "sqlite:flat", "altered_data");
    caught(&few, "round:1s", "sqlite:flat", "lost_data");
    // Of messages alone: none of them comes to the load.
    caught(&["days=1", "spans=1", "queries=raw", "messages=600"], "drop:1000", "sqlite:summary", "lost_data");
}
