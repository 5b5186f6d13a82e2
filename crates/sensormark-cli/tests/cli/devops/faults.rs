//! Faults that are planted in the store are caught, and named: readings that are lost, doubled or altered, and a wrong answer to each question.

use super::support::{QUESTIONS, asked, measure};
use crate::support::{Place, held_against, said};
use serde_json::Value;

fn faulty(fault: &str) -> (Value, String) {
    let place = Place::new();
    let output = measure(&place, &["--on", "sqlite:individual", "--plant", fault]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{fault}: {text}");
    (place.trials().remove(0), text)
}

fn caught(fault: &str, kind: &str) {
    let (trial, text) = faulty(fault);
    let kinds = held_against(&trial);
    assert!(kinds.iter().any(|one| one == kind), "{fault}: {kinds:?}: {text}");
}

#[test]
fn lost_readings() {
    caught("drop:700", "lost_data");
}

#[test]
fn altered_readings() {
    caught("corrupt:700", "altered_data");
}

#[test]
fn doubled_readings() {
    caught("duplicate:700", "duplicated_data");
}

/// Every third answer to each of these questions is wrong, and each of them is seen at it.
fn wrong(kind: &str, questions: &[&str]) {
    let (trial, text) = faulty(&format!("wrong-answer:{kind}:3"));
    assert!(held_against(&trial).iter().any(|one| one == "wrong_answer"), "{text}");
    for question in QUESTIONS {
        for load in asked(&trial, question) {
            let wrong = load["answers"]["wrong"].as_u64();
            let is_meant = questions.contains(&question);
            assert_eq!(wrong > Some(0), is_meant, "{question}: {}", load["answers"]);
        }
    }
}

#[test]
fn a_wrong_maximum_or_mean() {
    wrong("aggregate", &["max-1-host", "max-1-host-long", "max-several-hosts", "mean-all-hosts"]);
}

#[test]
fn a_wrong_last_reading() {
    wrong("last-reading", &["last-reading"]);
}

#[test]
fn a_wrong_set_of_busy_hosts() {
    // A threshold that some host is over in most windows: answers that hold nothing are not altered.
    let place = Place::new();
    let fault = ["--plant", "wrong-answer:series-matching:2", "--set", "threshold=40"];
    let output = measure(&place, &[&["--on", "sqlite:individual"], &fault[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let trial = &place.trials()[0];
    for question in QUESTIONS {
        for load in asked(trial, question) {
            let wrong = load["answers"]["wrong"].as_u64();
            assert_eq!(wrong > Some(0), question == "busy-hosts", "{load}");
        }
    }
}

#[test]
fn empty_answers() {
    caught("empty-answer:5", "wrong_answer");
}
