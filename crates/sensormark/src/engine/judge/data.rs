//! What speaks against a trial's data: answers that are wrong, readings that are lost, duplicated or altered. No disturbance excuses any of it.

use crate::measurement::record::{LedgerRecord, TrialRecord};
use crate::measurement::verdict::{Reason, ReasonKind};
use sensormark_store::Durability;

/// What speaks against a trial with this ledger; nothing when every acknowledged reading is stored once and unaltered.
pub fn ledger(ledger: &LedgerRecord) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut push = |kind, count: u64, text: &str| {
        if count > 0 {
            reasons.push(Reason::new(kind, format!("{count} {text}")));
        }
    };
    push(
        ReasonKind::LostData,
        ledger.lost,
        "acknowledged readings are not stored",
    );
    push(
        ReasonKind::DuplicatedData,
        ledger.duplicated,
        "readings are stored more than once",
    );
    push(
        ReasonKind::AlteredData,
        ledger.altered,
        "stored readings differ from what was written",
    );
    reasons
}

/// The same of a database that was killed on request: in class durable alone it has to keep what it acknowledged. What another class lost is the
/// second value, which is reported.
pub fn ledger_of_killed(counts: &LedgerRecord, class: Durability) -> (Vec<Reason>, Vec<String>) {
    let is_borne =
        |reason: &Reason| class != Durability::Durable && reason.kind == ReasonKind::LostData;
    let (borne, reasons): (Vec<Reason>, Vec<Reason>) =
        ledger(counts).into_iter().partition(is_borne);
    let class = class.text();
    let told = |reason: Reason| format!("{}, which class {class} does not promise", reason.text);
    (reasons, borne.into_iter().map(told).collect())
}

/// That answers are wrong, if any is.
pub fn wrong_answers(record: &TrialRecord) -> Option<Reason> {
    let answers = record.answers.as_ref()?;
    let (wrong, checked) = (answers.wrong, answers.checked);
    let first = answers.first_wrong.as_deref().unwrap_or_default();
    (wrong > 0).then(|| {
        let text = format!("{wrong} of {checked} answers are wrong; {first}");
        Reason::new(ReasonKind::WrongAnswer, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_class_does_not_promise_is_told_and_not_held_against_it() {
        let counts = LedgerRecord {
            lost: 3,
            altered: 1,
            ..LedgerRecord::default()
        };
        let kinds = |class| {
            let (reasons, told) = ledger_of_killed(&counts, class);
            (reasons.len(), told.len())
        };
        assert_eq!(kinds(Durability::Durable), (2, 0));
        assert_eq!(kinds(Durability::Default), (1, 1));
        let (reasons, told) = ledger_of_killed(&counts, Durability::Relaxed);
        assert_eq!(reasons[0].kind, ReasonKind::AlteredData);
        assert!(told[0].contains("class relaxed does not promise"));
    }
}
