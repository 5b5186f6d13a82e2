//! Counts are exact, and operations are the same however many clients issue them.

use crate::fixture::{Questions, Writes, ledger, memory, null, run, run_load};
use sensormark_engine::answers::Checking;
use sensormark_engine::outcome::Cut;
use sensormark_engine::phase::{Load, Phase};
use sensormark_engine::watermark::Watermark;
use sensormark_engine::work_distribution::WorkDistribution;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn everything_is_written_once_by_any_number_of_clients() {
    let block = NonZeroU64::new(7).expect("not zero");
    let mut checksums = Vec::new();
    for clients in [1, 3, 16] {
        for distribution in [
            WorkDistribution::STRIDE,
            WorkDistribution::COUNTER,
            WorkDistribution::Stride { block },
            WorkDistribution::Counter { block },
        ] {
            let (target, writes) = (memory(None), Writes::new(500, 3));
            let load = Load { distribution, ..Load::new("load", Arc::clone(&writes) as _, clients) };
            let outcome = run_load(&target, load);
            assert_eq!((outcome.operations(), outcome.readings()), (500, 1_500));
            assert_eq!((outcome.failed(), outcome.late), (0, 0));
            assert_eq!(outcome.classes["write"].latency.summary.count, 500);
            let ledger = ledger(&target, writes, &outcome);
            assert_eq!((ledger.attempted, ledger.acknowledged, ledger.stored), (1_500, 1_500, 1_500));
            assert_eq!((ledger.lost, ledger.duplicated, ledger.altered), (0, 0, 0));
            assert_eq!(ledger.checksum, ledger.expected_checksum);
            checksums.push(ledger.checksum);
        }
    }
    checksums.dedup();
    assert_eq!(checksums.len(), 1, "operations depend on the seed alone");
}

#[test]
fn right_answers_pass_and_are_all_compared_or_one_in_twenty() {
    let (target, writes) = (memory(None), Writes::new(1_000, 1));
    let load = Load::new("load", Arc::clone(&writes) as _, 4);
    assert_eq!(run_load(&target, load).operations(), 1_000);
    for (checking, checked) in [(Checking::All, 400), (Checking::SAMPLED, 20)] {
        let load = Load { checking, ..Load::new("ask", Questions::new(400, &writes), 3) };
        let outcome = run_load(&target, load);
        let answers = outcome.answers;
        assert_eq!(
            (answers.answered, answers.checked, answers.wrong),
            (400, checked, 0),
            "{:?}",
            answers.first_wrong
        );
        assert_eq!(outcome.classes["point"].operations, 200);
        assert_eq!(outcome.classes["sum"].operations, 200);
    }
}

#[test]
fn questions_asked_while_others_write_keep_below_the_watermark() {
    let (target, writes) = (memory(None), Writes::new(3_000, 1));
    let watermark = Arc::new(Watermark::new(3, 3_000));
    let writing = Load {
        distribution: WorkDistribution::COUNTER,
        publishes: Some(Arc::clone(&watermark)),
        ..Load::new("write", Arc::clone(&writes) as _, 3)
    };
    let asking = Load {
        below: Some(Arc::clone(&watermark)),
        accompanies: true,
        ..Load::new("ask", Questions::new(u64::MAX / 2, &writes), 2)
    };
    let phase = Phase { loads: vec![writing, asking], ..Phase::default() };
    let outcome = run(&target, phase);
    assert_eq!(outcome.cut, None);
    assert_eq!(outcome.loads[0].operations(), 3_000);
    assert_eq!(watermark.value(), 3_000);
    let answers = &outcome.loads[1].answers;
    assert!(answers.checked > 0 && answers.checked == answers.answered);
    assert_eq!(answers.wrong, 0, "{:?}", answers.first_wrong);
}

#[test]
fn a_phase_that_is_cut_knows_what_it_has_written() {
    let (target, writes) = (memory(Some("late:2")), Writes::new(1_000_000, 2));
    for distribution in [WorkDistribution::STRIDE, WorkDistribution::COUNTER] {
        let load = Load { distribution, ..Load::new("load", Arc::clone(&writes) as _, 3) };
        let phase = Phase { loads: vec![load], limit: Some(Duration::from_millis(300)), ..Phase::default() };
        let outcome = run(&target, phase);
        assert_eq!(outcome.cut, Some(Cut::TimeLimit));
        let load = &outcome.loads[0];
        assert!((10..1_000).contains(&load.operations()), "{load:?}");
        assert_eq!(load.issued.count(), load.operations());
        assert_eq!(load.writes.acknowledged, 2 * load.operations());
        assert!(load.operations_per_second() > 0.0);
        if distribution == WorkDistribution::STRIDE {
            let ledger = ledger(&target, Arc::clone(&writes), load);
            assert_eq!(ledger.stored, 2 * load.operations());
            assert_eq!(ledger.checksum, ledger.expected_checksum);
        }
    }
}

#[test]
fn the_null_store_shows_the_engine_at_work_alone() {
    let outcome = run_load(&null(), Load::new("load", Writes::new(200_000, 1) as _, 8));
    assert_eq!(outcome.operations(), 200_000);
    let latency = &outcome.classes["write"].latency;
    assert_eq!(latency.summary.count, 200_000);
    assert!(latency.summary.p50_ns.expect("many") < 100_000);
}

#[test]
fn a_stop_ends_a_phase_soon() {
    let target = null();
    let stop = Arc::clone(&target.stop);
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let load = Load::new("load", Writes::new(u64::MAX / 8, 1) as _, 2);
    let phase = Phase { loads: vec![load], ..Phase::default() };
    let outcome = run(&target, phase);
    stopper.join().expect("the thread ends well");
    assert_eq!(outcome.cut, Some(Cut::Stopped));
    assert!(outcome.seconds() < 5.0);
}
