//! Sound runs: what is counted, kept and left behind.

use crate::place::{measure, sound};
use crate::workload::Parameters;
use sensormark_result::measurement::verdict::{ReasonKind, Verdict};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn a_sound_run_is_valid_and_all_its_counts_are_exact() {
    let outcome = sound(&Parameters::small());
    let record = outcome.record;
    assert_eq!(record.verdict, Verdict::Valid);
    assert_eq!(outcome.phases, ["load", "settle", "ask", "count"]);
    assert_eq!(outcome.left, 0);
    let ledger = record.ledger.expect("it wrote");
    assert_eq!((ledger.attempted, ledger.acknowledged, ledger.stored), (600, 600, 600));
    assert_eq!(ledger.checksum, ledger.expected_checksum);
    let answers = record.answers.expect("it asked");
    assert_eq!((answers.answered, answers.checked, answers.wrong), (100, 100, 0));
    let phases: Vec<_> = record.phases.iter().map(|phase| (phase.name.as_str(), phase.operations)).collect();
    assert_eq!(phases, [("load", 600), ("settle", 0), ("ask", 100)]);
    let trial = |phase: usize| {
        let totals = record.phases[phase].totals.as_ref().expect("two samples");
        totals.roles["trial"].clone()
    };
    assert!(trial(0).cpu_ns > 0 && trial(0).peak_resident_bytes > 0);
    let load = &record.loads[0];
    assert_eq!((load.phase.as_str(), load.writes), ("load", true));
    assert_eq!(load.labels["clients"], 2);
    assert_eq!(load.classes["write"].latency.summary.count, 600);
    let ask = &record.loads[1];
    assert_eq!((ask.operations(), ask.readings()), (100, 100));
    assert_eq!(ask.classes["point"].operations, 50);
    assert!(record.figures["loads_per_second"].value > Some(0.0));
    let disk = |name: &str| record.figures[name].value.expect("the folder is ours");
    assert!(disk("disk_after_bytes") > disk("disk_before_bytes"));
    assert!(disk("disk_settled_bytes/settle") > 0.0);
    assert!(!record.settings.is_empty());
}

#[test]
fn several_processes_write_every_operation_once() {
    let outcome = sound(&Parameters { clients: 5, processes: 2, rows: 3, ..Parameters::small() });
    let record = outcome.record;
    assert_eq!(record.verdict, Verdict::Valid);
    assert_eq!((record.loads[0].processes, record.loads[0].clients), (2, 5));
    assert_eq!(record.loads[0].operations(), 600);
    assert_eq!(record.ledger.expect("it wrote").stored, 1_800);
}

#[test]
fn questions_while_others_write_are_right() {
    let outcome = sound(&Parameters { writes: 3_000, rate: Some(200), ..Parameters::small() });
    let record = outcome.record;
    let kinds: Vec<_> = record.verdict.reasons().iter().map(|reason| reason.kind).collect();
    // Other tests beside this one may make the pacing late, which is not what is tried here.
    assert!(kinds.iter().all(|kind| *kind == ReasonKind::SourceLate), "{}", record.verdict);
    assert_eq!(outcome.phases, ["load", "settle", "ask", "count", "mixed", "count"]);
    let ask = &record.loads[3];
    assert_eq!((ask.phase.as_str(), ask.name.as_str()), ("mixed", "ask"));
    assert!(ask.open_loop && ask.operations() > 0);
    assert_eq!((ask.answers.wrong, ask.cut.as_deref()), (0, None));
    assert_eq!(ask.answers.checked, ask.operations());
    assert_eq!(record.ledger.expect("it wrote").stored, 6_000);
}

#[test]
fn entities_are_as_they_were_written() {
    let outcome = sound(&Parameters { entities: true, ..Parameters::small() });
    assert_eq!(outcome.record.verdict, Verdict::Valid);
    assert_eq!(outcome.record.ledger.expect("it wrote").stored, 600);
}

#[test]
fn a_load_that_is_cut_is_shown_with_its_rate_and_asked_about_as_far_as_it_came() {
    let parameters = Parameters { writes: 200_000, limit_ms: Some(300), ..Parameters::small() };
    let outcome = sound(&parameters);
    let record = outcome.record;
    assert_eq!(record.verdict, Verdict::Valid);
    let load = &record.loads[0];
    let cut = load.cut.as_deref().expect("all of them take longer");
    assert!(cut.starts_with("its time was over after "), "{cut}");
    assert!(load.operations() > 10 && load.operations() < 200_000);
    assert!(record.warnings.iter().any(|text| text.contains("cut: its time was over")));
    assert_eq!(record.answers.expect("it asked").wrong, 0);
    assert_eq!(record.ledger.expect("it wrote").stored, record.loads[0].operations());
}

#[test]
fn an_interrupted_run_ends_soon_and_says_so() {
    let interrupt = AtomicBool::new(false);
    let parameters = Parameters { writes: 50_000, ..Parameters::small() };
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
            interrupt.store(true, Ordering::Relaxed);
        });
        // Five milliseconds an operation: two minutes, if nobody interrupts.
        let outcome = measure(&parameters, Some("late:5"), &interrupt);
        let verdict = outcome.record.verdict;
        let kinds: Vec<_> = verdict.reasons().iter().map(|reason| reason.kind).collect();
        assert!(kinds.contains(&ReasonKind::Interrupted), "{verdict}");
        assert!(outcome.outcome.interrupted);
        assert_eq!(outcome.left, 0);
    });
    assert!(start.elapsed() < Duration::from_secs(60));
}
