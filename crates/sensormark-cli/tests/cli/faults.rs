//! Every planted fault is caught and named by a verdict; without one, nothing is.

use crate::support::{Place, errors, held_against, reasons};
use serde_json::Value;

/// A short run on this target with this fault; some trial must be invalid for this reason.
fn caught(target: &str, fault: &str, further: &[&str], kind: &str) {
    let place = Place::new();
    let output = place.short(&[&["--on", target, "--plant", fault], further].concat());
    let trials = place.trials();
    let named = trials.iter().any(|trial| reasons(trial).iter().any(|reason| reason == kind));
    assert!(named, "{fault} on {target} was not named {kind}: {}\n{}", verdicts(&trials), errors(&output));
    assert_eq!(output.status.code(), Some(1), "{fault} on {target}: {}", errors(&output));
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

fn verdicts(trials: &[Value]) -> String {
    trials.iter().map(|trial| format!("{} {}; ", trial["name"], trial["verdict"])).collect()
}

#[test]
fn readings_that_were_dropped() {
    caught("sqlite:individual/bulk", "drop:500", &[], "lost_data");
}

#[test]
fn readings_that_were_written_twice() {
    caught("sqlite:individual/bulk", "duplicate:500", &[], "duplicated_data");
}

#[test]
fn values_that_were_changed() {
    caught("sqlite:bulk/bulk", "corrupt:700", &[], "altered_data");
}

#[test]
fn timestamps_that_were_rounded() {
    caught("sqlite:bulk/bulk", "round:1ms", &[], "altered_data");
}

#[test]
fn a_wrong_minimum() {
    caught("sqlite:individual/individual", "wrong-answer:minimum:1", &[], "wrong_answer");
}

#[test]
fn a_wrong_range() {
    caught("sqlite:individual/bulk", "wrong-answer:range:2", &[], "wrong_answer");
}

#[test]
fn an_empty_answer() {
    caught("sqlite:individual/individual", "empty-answer:2", &[], "wrong_answer");
}

#[test]
fn errors_in_operations() {
    caught("sqlite:individual/bulk", "error:50", &[], "errors");
}

#[test]
fn a_connection_that_is_cut() {
    caught("sqlite:bulk/bulk", "cut:2", &[], "errors");
}

#[test]
fn an_answer_that_comes_late() {
    caught("sqlite:bulk/bulk", "late:700:3", &["--timeout", "0.5"], "late_answers");
}

#[test]
fn an_operation_that_hangs() {
    caught("sqlite:bulk/bulk", "hang", &["--timeout", "0.5"], "hung");
}

#[test]
fn a_clean_store_stays_valid() {
    let place = Place::new();
    let output = place.short(&["--on", "sqlite:individual,sqlite:bulk"]);
    for trial in place.trials() {
        let against = held_against(&trial);
        assert!(against.is_empty(), "{} {}\n{}", trial["name"], trial["verdict"], errors(&output));
        if let Some(ledger) = trial["ledger"].as_object() {
            assert_eq!(ledger["stored"], ledger["acknowledged"]);
            assert_eq!((&ledger["lost"], &ledger["duplicated"]), (&Value::from(0), &Value::from(0)));
            assert_eq!(ledger["checksum"], ledger["expected_checksum"]);
        }
        if let Some(answers) = trial["answers"].as_object() {
            assert!(answers["checked"].as_u64() > Some(0) && answers["wrong"] == 0, "{answers:?}");
        }
    }
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}
