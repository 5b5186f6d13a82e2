//! Each planted fault is seen: in the ledger, in the answers, in the counts of errors, or as lateness.

use crate::fixture::{Questions, Writes, ledger, memory, run, run_load};
use sensormark_engine::judge::data;
use sensormark_engine::outcome::{Cut, LoadOutcome};
use sensormark_engine::phase::{Load, Phase};
use sensormark_result::measurement::record::LedgerRecord;
use sensormark_result::measurement::verdict::ReasonKind;
use std::sync::Arc;

/// Writes 1,000 single readings with two clients and a planted fault.
fn load(fault: &str) -> (LoadOutcome, LedgerRecord) {
    let (target, writes) = (memory(Some(fault)), Writes::new(1_000, 1));
    let load = Load::new("load", Arc::clone(&writes) as _, 2);
    let outcome = run_load(&target, load);
    let ledger = ledger(&target, writes, &outcome);
    (outcome, ledger)
}

/// Asks 100 questions of right data with a planted fault.
fn ask(fault: &str) -> LoadOutcome {
    let (target, writes) = (memory(None), Writes::new(1_000, 1));
    let written = run_load(&target, Load::new("load", Arc::clone(&writes) as _, 2));
    assert_eq!(written.operations(), 1_000);
    let faulty = sensormark_conformance::faulty::FaultyStore::new(
        Arc::clone(&target.store),
        fault.parse().expect("a fault"),
    );
    let target = sensormark_engine::phase::Target { store: Arc::new(faulty), ..target };
    run_load(&target, Load::new("ask", Questions::new(100, &writes) as _, 2))
}

fn kinds(ledger: &LedgerRecord) -> Vec<ReasonKind> {
    data::ledger(ledger).iter().map(|reason| reason.kind).collect()
}

#[test]
fn lost_duplicated_and_altered_readings_are_in_the_ledger() {
    let (outcome, ledger) = load("drop:100");
    assert_eq!(outcome.operations(), 1_000);
    assert_eq!((ledger.acknowledged, ledger.stored, ledger.lost), (1_000, 990, 10));
    assert_eq!(kinds(&ledger), [ReasonKind::LostData]);
    let (_, ledger) = load("duplicate:100");
    assert_eq!((ledger.stored, ledger.duplicated), (1_010, 10));
    assert_eq!(kinds(&ledger), [ReasonKind::DuplicatedData]);
    let (_, ledger) = load("corrupt:100");
    assert_eq!((ledger.stored, ledger.altered), (1_000, 10));
    assert_eq!(kinds(&ledger), [ReasonKind::AlteredData]);
    let (_, ledger) = load("round:1ms");
    assert!(kinds(&ledger).contains(&ReasonKind::AlteredData));
}

#[test]
fn wrong_answers_are_described() {
    for (fault, class) in [("wrong-aggregate:10", "sum"), ("wrong-answer:point:10", "point")] {
        let answers = ask(fault).answers;
        // By stride, one client has all points and the other all sums: 50 answers, every tenth of them wrong.
        assert_eq!((answers.checked, answers.wrong), (100, 5), "{fault}");
        let first = answers.first_wrong.expect("a wrong answer is described");
        let parts = [class, "TimeRange", "expected ", ", got "];
        assert!(parts.iter().all(|part| first.contains(part)), "{first}");
    }
    let answers = ask("empty-answer:25").answers;
    assert_eq!((answers.checked, answers.wrong), (100, 4));
}

#[test]
fn errors_are_neither_in_throughput_nor_in_latency() {
    let (outcome, ledger) = load("error:10");
    assert_eq!((outcome.operations(), outcome.failed()), (900, 100));
    assert_eq!(outcome.errors["rejected"], 100);
    assert_eq!(outcome.classes["write"].latency.summary.count, 900);
    assert_eq!(outcome.classes["write"].failed, 100);
    assert_eq!((ledger.attempted, ledger.acknowledged, ledger.refused), (1_000, 900, 100));
    assert_eq!((ledger.stored, kinds(&ledger).len()), (900, 0));
    assert!(outcome.first_error.expect("described").contains("planted"));
}

#[test]
fn cut_connections_are_made_again_and_what_they_carried_is_in_doubt() {
    let (outcome, ledger) = load("cut:100");
    assert_eq!(outcome.errors["unavailable"], 10);
    // The last operation of each client is cut, and nobody needs its connection again.
    assert_eq!(outcome.reconnects, 8);
    assert_eq!((ledger.acknowledged, ledger.in_doubt, ledger.stored), (990, 10, 1_000));
    assert_eq!((kinds(&ledger).len(), ledger.in_doubt_not_stored), (0, 0));
}

#[test]
fn late_answers_are_counted_and_hung_operations_given_up() {
    let outcome = ask("late:300:25");
    assert_eq!((outcome.operations(), outcome.late), (100, 4));
    assert!(outcome.longest_ns >= 300_000_000);
    let outcome = ask("hang:3600000:25");
    assert_eq!(outcome.errors["timeout"], 4);
    assert_eq!((outcome.operations(), outcome.failed()), (96, 4));
    assert!((350_000_000..2_000_000_000).contains(&outcome.longest_ns));
}

#[test]
fn a_database_that_fails_at_everything_ends_the_phase() {
    let target = memory(Some("error"));
    let load = Load::new("load", Writes::new(u64::MAX / 8, 1) as _, 2);
    let phase = Phase { loads: vec![load], ..Phase::default() };
    let outcome = run(&target, phase);
    assert_eq!(outcome.cut, Some(Cut::Hopeless));
    assert_eq!(outcome.loads[0].operations(), 0);
}
