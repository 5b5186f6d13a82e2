//! Faults that are planted in the store are caught while it is written and asked about at once, and named.

use super::support::{SMALL, measure, with};
use crate::support::{reasons, said};

fn caught(fault: &str, kind: &str) {
    let place = with(SMALL);
    let output = measure(&place, &["--plant", fault, "--set", "mixed.duration=700ms"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{fault}: {text}");
    let kinds = reasons(&place.trials()[0]);
    assert!(kinds.iter().any(|one| one == kind), "{fault}: {kinds:?}: {text}");
}

#[test]
fn lost_doubled_and_altered_readings() {
    caught("drop:500", "lost_data");
    caught("corrupt:500", "altered_data");
    caught("duplicate:500", "duplicated_data");
}

#[test]
fn wrong_and_empty_answers() {
    caught("wrong-aggregate:10", "wrong_answer");
    caught("wrong-answer:point:10", "wrong_answer");
    caught("empty-answer:20", "wrong_answer");
}
