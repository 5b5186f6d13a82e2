//! Which attempt of a trial counts, and what an invalid or disturbed one means for the ranking.

use super::*;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_result::measurement::verdict::{Reason, ReasonKind, Verdict};

#[test]
fn an_invalid_trial_is_never_ranked_and_says_why() {
    let mut trials = two();
    trials[3] = invalid(trials[3].clone(), ReasonKind::WrongAnswer, "3 of 36 answers are wrong");
    let report = report(trials);
    assert_eq!(order(&report), ["MariaDB individual"]);
    let text = report.text(160);
    assert!(text.contains("3 of 4 trials valid, 0 disturbed and not counted, 1 invalid."), "{text}");
    assert!(text.contains("3 of 36 answers are wrong"), "{text}");
    assert_eq!(cell(&report, "not_ranked", "MariaDB bulk", "reason"), "wrong answer in 1 of 1 read trials");
    assert!(!text.contains("MariaDB bulk wins"));
}

/// Four valid repetitions do not make up for a reading lost in the fifth, nor does measuring again.
#[test]
fn data_that_was_lost_once_keeps_an_implementation_out() {
    let mut trials: Vec<TrialRecord> =
        (0..5).flat_map(|repetition| pair("MariaDB", "bulk", repetition, CHEAP, CHEAP)).collect();
    trials.extend((0..5).flat_map(|repetition| pair("MariaDB", "individual", repetition, COSTLY, COSTLY)));
    let lost = invalid(trials[4].clone(), ReasonKind::LostData, "1 reading");
    let mut with_lost = trials.clone();
    with_lost[4] = lost.clone();
    assert_eq!(order(&report(with_lost)), ["MariaDB individual"]);
    let mut measured_again = trials.clone();
    for trial in measured_again.iter_mut().filter(|trial| trial.repetition == 2) {
        trial.attempt = 1;
    }
    measured_again.push(lost);
    let found = report(measured_again);
    assert_eq!(order(&found), ["MariaDB individual"]);
    assert!(found.json().contains("so sensormark repeated trials"));
    // An operation that was merely slow leaves the other repetitions.
    trials[4] = invalid(trials[4].clone(), ReasonKind::SourceLate, "p99 3 ms");
    let found = report(trials);
    assert_eq!(order(&found).len(), 2);
    assert_eq!(cell(&found, "ranking_servers", "MariaDB bulk", "repetitions"), "4");
}

#[test]
fn of_several_attempts_the_first_that_came_to_a_conclusion_counts() {
    let mut trials = two();
    let disturbed = |trial: &TrialRecord, attempt| {
        let reason = Reason::new(ReasonKind::HostDisturbed, "steal 20 %");
        let verdict = Verdict::Inconclusive(vec![reason]);
        TrialRecord { attempt, verdict, ..trial.clone() }
    };
    // The read came to a conclusion in its second attempt, the write had in its first.
    trials.extend([disturbed(&trials[1], 0), disturbed(&trials[0], 1)]);
    trials[1].attempt = 1;
    let report = report(trials);
    let field = report.field();
    assert_eq!((field.trials.len(), field.superseded.len()), (4, 2));
    assert_eq!(order(&report).len(), 2);
    let text = report.text(400);
    assert!(text.contains("All 4 trials are valid."), "{text}");
    assert!(text.contains("so 2 further attempts do not."), "{text}");
}

/// An attempt that counts although the machine was busy gives way to a later one on a quiet machine.
#[test]
fn a_quiet_attempt_counts_instead_of_a_rough_one() {
    let mut trials = two();
    let mut rough = trials[1].clone();
    rough.disturbances.push("measured: steal 20 %".to_owned());
    trials[1].attempt = 1;
    let quiet = trials[1].clone();
    trials.push(rough.clone());
    let found = report(trials.clone());
    assert!(found.field().trials.iter().all(|trial| !trial.is_rough()));
    assert!(!rough.counts_instead_of(&quiet) && quiet.counts_instead_of(&rough));
    // One without a conclusion is no improvement, and of rough ones the last counts: its disturbed phases are taken from the earlier.
    let reasons = vec![Reason::new(ReasonKind::HostDisturbed, "steal")];
    let mut none = rough.clone();
    none.verdict = Verdict::Inconclusive(reasons);
    assert!(!none.counts_instead_of(&rough) && rough.counts_instead_of(&rough.clone()));
}

#[test]
fn a_disturbed_trial_that_counts_never_reads_as_valid() {
    let mut trials = two();
    trials[1].disturbances.push("measured: steal 20 %".to_owned());
    let report = report(trials);
    assert_eq!(order(&report).len(), 2, "it counts");
    let text = report.text(400);
    let words =
        "3 of 4 trials valid, 1 disturbed and counted as rough, 0 disturbed and not counted, 0 invalid.";
    assert!(text.contains(words), "{text}");
    assert!(text.contains("measured: steal 20 %"), "{text}");
}
