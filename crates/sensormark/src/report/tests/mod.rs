//! Tests of the report on records with known numbers: what is printed, who is ranked, and that nothing hostile gets out.

mod fixture;

use super::*;
use crate::measurement::verdict::ReasonKind;
use fixture::*;

fn report(trials: Vec<TrialRecord>) -> Report {
    Report::new(run(), trials, &ReportOptions::default()).unwrap()
}

#[test]
fn an_invalid_trial_is_never_ranked_and_says_why() {
    let mut trials: Vec<TrialRecord> = Vec::new();
    trials.extend(pair("MariaDB", "individual", 0, COSTLY, COSTLY));
    let [write, read] = pair("MariaDB", "bulk", 0, CHEAP, CHEAP);
    trials.extend([
        write,
        invalid(read, ReasonKind::WrongAnswer, "3 of 36 answers are wrong"),
    ]);
    let report = report(trials);
    let ranked: Vec<&str> = report
        .ranking()
        .ranked
        .iter()
        .map(|one| one.label())
        .collect();
    assert_eq!(ranked, ["MariaDB individual"]);
    assert_eq!(report.ranking().unranked.len(), 1);
    let text = report.text(80);
    assert!(
        text.contains("3 of 4 trials valid; 1 invalid, 0 inconclusive"),
        "{text}"
    );
    assert!(
        text.contains("3 of 36 answers are wrong")
            && text.contains("read trial invalid: wrong answer"),
        "{text}"
    );
}
