//! Each planted fault makes the trial invalid, and the verdict names the right reason.

use crate::place::{Outcome, measure};
use crate::workload::Parameters;
use sensormark_result::measurement::verdict::ReasonKind;
use std::sync::atomic::AtomicBool;

fn planted(fault: &str) -> Outcome {
    let outcome = measure(&Parameters::small(), Some(fault), &AtomicBool::new(false));
    let verdict = &outcome.record.verdict;
    assert!(!verdict.is_valid(), "{fault}: {verdict}");
    assert_eq!((outcome.outcome.valid, outcome.outcome.not_valid), (0, 1));
    outcome
}

fn names(fault: &str, kind: ReasonKind) -> String {
    let outcome = planted(fault);
    let reasons = outcome.record.verdict.reasons();
    let reason = reasons.iter().find(|reason| reason.kind == kind);
    let verdict = &outcome.record.verdict;
    reason.unwrap_or_else(|| panic!("{fault}: {verdict}")).text.clone()
}

#[test]
fn faults_of_what_is_stored() {
    let text = names("drop:100", ReasonKind::LostData);
    assert_eq!(text, "6 acknowledged readings are not stored");
    assert!(names("duplicate:100", ReasonKind::DuplicatedData).starts_with('6'));
    assert!(names("corrupt:100", ReasonKind::AlteredData).starts_with('6'));
    names("round:1ms", ReasonKind::AlteredData);
}

#[test]
fn faults_of_answers() {
    for (fault, words) in
        [("wrong-aggregate:10", "Sum"), ("wrong-answer:point:10", "Point"), ("empty-answer:20", "expected 1")]
    {
        let text = names(fault, ReasonKind::WrongAnswer);
        assert!(text.contains(" of 100 answers are wrong; question "), "{text}");
        assert!(text.contains(words) && text.contains(", got "), "{text}");
    }
}

#[test]
fn faults_of_time_and_connection() {
    assert!(names("error:20", ReasonKind::Errors).contains("operations failed; the first: "));
    assert!(names("cut:20", ReasonKind::Errors).contains("unavailable"));
    assert!(names("late:1100:250", ReasonKind::LateAnswers).contains("time limit of 1000 ms"));
}

#[test]
fn a_session_that_never_comes_back() {
    // A driver that blocks cannot be given up from outside: the coordinator notices that nothing moves.
    let text = names("hang:3600000:200", ReasonKind::Hung);
    assert!(text.contains("said nothing for"), "{text}");
}
