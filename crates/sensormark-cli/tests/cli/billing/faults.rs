//! What is planted in the database is caught and named: lost, doubled and altered readings, wrong and missing bills, meters left behind.

use super::support::measure;
use crate::support::{Place, held_against, said};

fn caught(fault: &str, kind: &str) -> String {
    let place = Place::new();
    let output = measure(&place, &["--on", "sqlite:reading", "--plant", fault]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{fault}: {text}");
    let kinds = held_against(&place.trials()[0]);
    assert!(kinds.iter().any(|one| one == kind), "{fault}: {kinds:?}: {text}");
    text
}

#[test]
fn readings_that_are_lost_doubled_or_altered() {
    caught("drop:17", "lost_data");
    caught("duplicate:17", "duplicated_data");
    caught("corrupt:17", "altered_data");
}

#[test]
fn a_bill_that_is_wrong_or_missing() {
    caught("wrong-answer:aggregate:5", "wrong_answer");
    caught("wrong-aggregate:5", "wrong_answer");
    caught("empty-answer:5", "wrong_answer");
}

/// The last reading of each meter is the 30th: the meter then says that it was read before.
#[test]
fn a_meter_that_was_not_updated() {
    let text = caught("drop:30", "altered_data");
    assert!(text.contains("entities are not as they were written"), "{text}");
    assert!(text.contains("expected the last reading at"), "{text}");
}
