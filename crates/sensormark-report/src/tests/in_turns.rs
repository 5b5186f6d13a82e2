//! Implementations of one run against each other: they took turns, so what a repetition did to all of them is no difference between them.

use super::compare::{field, repetitions, verdict};
use crate::compare::{CompareError, Comparison};
use crate::json;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_result::tests::fixture::{CHEAP, COSTLY, Used, implementation};

/// A machine that is twice and four times as slow in later repetitions, and a mean of so many percent of PostgreSQL's.
fn on_a_restless_machine(title: &str, used: Used, percent: u64) -> Vec<TrialRecord> {
    let mut trials = repetitions(used);
    for (trial, (slow, noise)) in trials.iter_mut().zip([(1, 10_002), (2, 9_999), (4, 9_999)]) {
        trial.implementation = implementation(title, "individual", None);
        for record in trial.latencies.values_mut() {
            let noise = if percent == 100 { 10_000 } else { noise };
            record.summary.mean_ns = (10 * slow * percent * noise) as f64;
        }
    }
    trials
}

#[test]
fn what_a_repetition_does_to_all_hides_no_change() {
    let (one, other) =
        (on_a_restless_machine("PostgreSQL", CHEAP, 100), on_a_restless_machine("MariaDB", COSTLY, 105));
    let run = field(one.iter().cloned().chain(other.clone()).collect());
    let compared = Comparison::in_turns(&run).expect("two implementations");
    assert_eq!(verdict(&compared, "write: mean").as_deref(), Some("worse"));
    let document = json::value(compared.document()).to_string();
    for text in [
        "the others against PostgreSQL individual",
        "paired by repetition",
        "The run: undisturbed in 6 valid trials",
    ] {
        assert!(document.contains(text), "{text}: {document}");
    }
    // The same values in two runs, where the machine's own speed is in the way.
    let mut as_one = other;
    for trial in &mut as_one {
        trial.implementation = implementation("PostgreSQL", "individual", None);
    }
    let apart = Comparison::new(&field(one), &field(as_one), 0.0).expect("runs of one workload");
    let found = verdict(&apart, "write: mean");
    assert_eq!(found.as_deref(), Some("no change found"));
}

#[test]
fn a_run_of_one_implementation_has_nobody_to_compare() {
    let alone = Comparison::in_turns(&field(repetitions(CHEAP)));
    let Err(CompareError::NobodyElse(name)) = alone else {
        panic!("{alone:?}");
    };
    assert_eq!(name, "PostgreSQL individual");
    let none = Comparison::in_turns(&field(Vec::new()));
    assert_eq!(none.err(), Some(CompareError::NothingValid));
}
