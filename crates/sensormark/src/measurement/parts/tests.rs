//! Parts of two ranks become one run, in which both hosts count.

use super::*;
use crate::report::tests::fixture::{self, Used};
use tempfile::TempDir;

const USED: Used = Used {
    server_cpu: 10.0,
    server_memory: 1_024,
    server_io: 10,
    client_cpu: 20.0,
    client_memory: 2_048,
    network: 80,
    disk: 5,
};

fn whole() -> TrialRecord {
    let implementation = fixture::implementation("postgresql", "bulk", None);
    fixture::trial(implementation, 0, USED)
}

/// Writes the part of a rank of two, and gives its folder.
fn part(scratch: &TempDir, rank: u32, trial: Option<&TrialRecord>) -> PathBuf {
    let folder = ResultsFolder::create(scratch.path(), &format!("rank-{rank}-of-2"));
    let folder = folder.expect("a folder");
    let run = RunRecord { shard: (rank, 2), checksums: trial.is_some(), ..fixture::run() };
    folder.write_run(&run).expect("written");
    if let Some(trial) = trial {
        folder.write_trial(trial).expect("written");
    }
    folder.path().to_path_buf()
}

fn merged(second: Option<&TrialRecord>) -> TrialRecord {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let parts = [part(&scratch, 1, second), part(&scratch, 0, Some(&whole()))];
    let refused = ResultsFolder::open(&parts[0]).and_then(|folder| folder.run());
    let text = refused.expect_err("a part is no run").to_string();
    assert!(text.contains("the part of rank 1 of 2"), "{text}");
    let merged = merge(&parts, &scratch.path().join("results")).expect("parts of one run");
    assert_eq!(merged.run().expect("a run").shard, (2, 2));
    let text = merge(&parts, &scratch.path().join("results"));
    let text = text.expect_err("it is there").to_string();
    assert!(text.contains("were merged before"), "{text}");
    merged.trials().expect("its trials").remove(0)
}

#[test]
fn a_disturbed_host_counts_for_all_and_clients_are_added_up() {
    let mut second = whole();
    second.ledger = None;
    let reasons = vec![Reason::new(ReasonKind::HostDisturbed, "measured: steal")];
    second.verdict = Verdict::Inconclusive(reasons);
    second.disturbances = vec!["measured: steal".to_owned()];
    let trial = merged(Some(&second));
    assert_eq!(trial.disturbances, ["rank 1: measured: steal"]);
    let Verdict::Inconclusive(reasons) = &trial.verdict else {
        panic!("{}", trial.verdict);
    };
    assert_eq!(reasons[0].text, "rank 1: measured: steal");
    assert_eq!(trial.ledger, whole().ledger, "rank 0 counts for all");
    let cpu = |trial: &TrialRecord| {
        let totals = trial.phases[1].totals.as_ref().expect("totals");
        totals.roles["writer"].cpu_percent_of_core
    };
    assert!((cpu(&trial) - 2.0 * cpu(&whole())).abs() < 1e-9);
    assert_eq!(merged(Some(&whole())).verdict, Verdict::Valid);
}

#[test]
fn a_trial_that_one_rank_did_not_come_to_is_invalid() {
    let text = merged(None).verdict.to_string();
    assert!(text.starts_with("invalid") && text.contains("rank 1 has no record of this trial"), "{text}");
}

#[test]
fn the_worse_of_two_verdicts_counts_with_all_reasons() {
    let reason = |text: &str| vec![Reason::new(ReasonKind::ClientBound, text)];
    let (invalid, disturbed) = (Verdict::Invalid(reason("a")), Verdict::Inconclusive(reason("b")));
    let together = both(&disturbed, invalid.clone());
    assert!(matches!(&together, Verdict::Invalid(reasons) if reasons.len() == 2));
    assert_eq!(both(&invalid, invalid.clone()), invalid, "said once");
    assert_eq!(both(&Verdict::Valid, Verdict::Valid), Verdict::Valid);
}
