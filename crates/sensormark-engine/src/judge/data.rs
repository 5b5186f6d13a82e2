//! What speaks against a trial's data: answers that are wrong, readings that are lost, duplicated or altered. No disturbance excuses any of it.

use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{LedgerRecord, TrialRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind, Verdict};
use sensormark_store::Durability;

/// What speaks against a trial with this ledger; nothing when every acknowledged reading is stored once and unaltered.
pub fn ledger(ledger: &LedgerRecord) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut push = |kind, count: u64, text: &str| {
        if count > 0 {
            reasons.push(Reason::new(kind, format!("{count} {text}")));
        }
    };
    push(ReasonKind::LostData, ledger.lost, "acknowledged readings are not stored");
    push(ReasonKind::DuplicatedData, ledger.duplicated, "readings are stored more than once");
    push(ReasonKind::AlteredData, ledger.altered, "stored readings differ from what was written");
    push(ReasonKind::AlteredData, ledger.overdue, "stored readings are older than readings are kept");
    reasons
}

/// The same of a database that was killed on request. Class durable has to keep what it acknowledged. What another class lost is the second value, which is
/// reported.
pub fn ledger_of_killed(counts: &LedgerRecord, class: Durability) -> (Vec<Reason>, Vec<String>) {
    let holds = class == Durability::Durable;
    let words = if holds { "promises to keep" } else { "does not promise" };
    let mut found = ledger(counts);
    for lost in &mut found {
        if lost.kind == ReasonKind::LostData {
            lost.text = format!("{}, which class {} {words}", lost.text, class.text());
        }
    }
    let is_borne = |reason: &Reason| !holds && reason.kind == ReasonKind::LostData;
    let (borne, reasons): (Vec<Reason>, Vec<Reason>) = found.into_iter().partition(is_borne);
    (reasons, borne.into_iter().map(|one| one.text).collect())
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

/// A record that was read, with a verdict that its own counts allow. A file may say valid where the ledger or the answers speak against the trial: the trial
/// is invalid then.
pub fn as_its_counts_say(mut record: TrialRecord) -> TrialRecord {
    if !record.verdict.is_valid() {
        return record;
    }
    let mut reasons = match &record.ledger {
        Some(counts) if record.figures.contains_key(names::KILLED_AFTER) => {
            ledger_of_killed(counts, record.implementation.durability).0
        }
        Some(counts) => ledger(counts),
        None => Vec::new(),
    };
    reasons.extend(wrong_answers(&record));
    if reasons.is_empty() {
        return record;
    }
    for reason in &mut reasons {
        reason.text.push_str("; its file says valid, which contradicts this");
    }
    record.verdict = Verdict::Invalid(reasons);
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::trials as fixture;
    use sensormark_result::measurement::record::AnswersRecord;
    use sensormark_result::measurement::record::Figure;
    use sensormark_store::Durability;

    #[test]
    fn what_a_class_does_not_promise_is_told_and_not_held_against_it() {
        let counts = LedgerRecord { lost: 3, altered: 1, ..LedgerRecord::default() };
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

    #[test]
    fn a_record_that_is_read_is_held_to_its_class() {
        let mut record = fixture::attempt(0, [("load", 0.0, 1), ("ask", 0.0, 1)]);
        record.verdict = Verdict::Valid;
        record.ledger = Some(LedgerRecord { lost: 5, ..LedgerRecord::default() });
        let after = Figure::new(1.0, "s");
        record.figures.insert(names::KILLED_AFTER.to_owned(), after);
        let mut of = |class| {
            record.implementation.durability = class;
            as_its_counts_say(record.clone()).verdict.is_valid()
        };
        assert!(of(Durability::Default) && of(Durability::Relaxed));
        assert!(!of(Durability::Durable));
    }

    #[test]
    fn a_verdict_that_its_own_counts_contradict_is_not_believed() {
        let mut record = fixture::attempt(0, [("load", 0.0, 1), ("ask", 0.0, 1)]);
        record.verdict = Verdict::Valid;
        assert!(as_its_counts_say(record.clone()).verdict.is_valid());
        record.ledger = Some(LedgerRecord { lost: 5, ..LedgerRecord::default() });
        let judged = as_its_counts_say(record.clone()).verdict;
        assert_eq!(judged.reasons()[0].kind, ReasonKind::LostData);
        assert!(judged.reasons()[0].text.contains("its file says valid"));
        record.ledger = None;
        record.answers = Some(AnswersRecord { checked: 9, wrong: 5, ..AnswersRecord::default() });
        let judged = as_its_counts_say(record).verdict;
        assert_eq!(judged.reasons()[0].kind, ReasonKind::WrongAnswer);
    }
}
