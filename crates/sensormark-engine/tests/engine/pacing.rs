//! Open loop: nothing that was due is left out of the latency, and the rate is kept.

use crate::fixture::{Writes, memory, null, run, run_load};
use sensormark_engine::outcome::{Cut, LoadOutcome};
use sensormark_engine::pacing::Schedule;
use sensormark_engine::phase::{Load, Pacing, Phase};
use sensormark_engine::work_distribution::WorkDistribution;
use sensormark_store::Plan;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

fn rate(per_second: u64) -> Pacing {
    Pacing::Open(Schedule::per_second(NonZeroU64::new(per_second).expect("not zero")))
}

fn p99(outcome: &LoadOutcome) -> u64 {
    outcome.classes["write"].latency.summary.p99_ns.expect("enough operations")
}

/// One client whose store hangs once. It hangs 1 s of 20 s, before operation 10,000 of 20,000.
fn hang_once(pacing: Pacing) -> LoadOutcome {
    let mut target = memory(Some("hang:1000:10000"));
    // A time limit within which the operation comes back.
    let patient = Plan { timeout_ms: 10_000, ..(*target.plan).clone() };
    target.plan = Arc::new(patient);
    let load = Load { pacing, ..Load::new("load", Writes::new(20_000, 1) as _, 1) };
    run_load(&target, load)
}

/// Omission: 1,000 operations fall due while the store hangs, and the last but 800 of them wait longer than 800 ms: 200 of 20,000, one in a hundred.
#[test]
fn a_store_that_hangs_shows_in_open_loop_and_hides_in_closed_loop() {
    let open = hang_once(rate(1_000));
    let class = &open.classes["write"];
    let service = class.service.as_ref().expect("open loop").summary.clone();
    println!("due to finished {:?}, service {service:?}", class.latency.summary);
    assert!((750_000_000..900_000_000).contains(&p99(&open)), "{}", p99(&open));
    assert!((1_000_000_000..1_500_000_000).contains(&class.latency.summary.max_ns));
    assert!(service.p99_ns.expect("enough operations") < 50_000_000);
    let closed = hang_once(Pacing::Closed);
    assert!(p99(&closed) < 50_000_000, "{}", p99(&closed));
    assert!(closed.classes["write"].service.is_none(), "it is all service time");
    assert_eq!((open.open_loop, closed.open_loop), (true, false));
    assert_eq!((open.operations(), closed.operations()), (20_000, 20_000));
    assert_eq!((open.late, open.failed(), open.not_started), (0, 0, 0));
}

#[test]
fn the_rate_is_kept_and_nothing_is_skipped() {
    for distribution in [
        WorkDistribution::STRIDE,
        WorkDistribution::COUNTER,
        WorkDistribution::Stride { block: NonZeroU64::new(30).expect("not zero") },
    ] {
        let load =
            Load { pacing: rate(2_000), distribution, ..Load::new("load", Writes::new(1_000, 1) as _, 4) };
        let outcome = run_load(&null(), load);
        assert_eq!(outcome.operations(), 1_000);
        assert_eq!(outcome.not_started, 0);
        let seconds = outcome.seconds;
        assert!((0.49..2.0).contains(&seconds), "{distribution:?}: {seconds}");
        let pacing = outcome.pacing.expect("open loop");
        assert!(pacing.p50_ns.expect("enough operations") < 20_000_000);
    }
}

/// The last operation fills its turn too: one alone is no rate of its own.
#[test]
fn a_rate_in_open_loop_is_that_of_the_schedule_however_few_operations_there_are() {
    for (operations, distribution) in [(1, WorkDistribution::STRIDE), (3, WorkDistribution::COUNTER)] {
        let load =
            Load { pacing: rate(10), distribution, ..Load::new("load", Writes::new(operations, 20) as _, 1) };
        let outcome = run_load(&null(), load);
        assert_eq!(outcome.operations(), operations);
        let found = outcome.readings_per_second();
        assert!(
            (150.0..=200.1).contains(&found),
            "{operations} writes of 20 readings, ten a second: {found}"
        );
    }
}

#[test]
fn operations_that_could_not_start_are_late_and_not_absent() {
    // One client, 20 ms an operation, 1,000 due a second: in half a second 25 are done and some 475 could not start.
    for distribution in [WorkDistribution::STRIDE, WorkDistribution::COUNTER] {
        let target = memory(Some("late:20"));
        let load =
            Load { pacing: rate(1_000), distribution, ..Load::new("load", Writes::new(100_000, 1) as _, 1) };
        let phase = Phase { loads: vec![load], limit: Some(Duration::from_millis(500)), ..Phase::default() };
        let outcome = run(&target, phase);
        assert_eq!(outcome.cut, Some(Cut::TimeLimit));
        let load = &outcome.loads[0];
        let all = load.operations() + load.not_started;
        assert!((499..=503).contains(&all), "{distribution:?}: {all}");
        assert!(load.operations() < 30);
        let latency = &load.classes["write"].latency.summary;
        assert_eq!(latency.count, all);
        assert!(latency.p50_ns.expect("enough operations") > 200_000_000);
    }
}

/// SQLite stopped at 960,000 readings, because one of 120 writes had not started when its phase ended, and the next size needed all of them.
#[test]
fn a_write_that_waited_for_its_client_alone_is_issued_after_the_end() {
    // Due at 0, 100, …, 400 ms. At 150 ms each, the last one starts at 600 ms. At 250 ms each, the third one starts at 500 ms, and two are left.
    for (ms, operations, not_started) in [("late:150", 5, 0), ("late:250", 3, 2)] {
        let load = Load { pacing: rate(10), ..Load::new("load", Writes::new(5, 1) as _, 1) };
        let phase = Phase { loads: vec![load], limit: Some(Duration::from_millis(500)), ..Phase::default() };
        let outcome = run(&memory(Some(ms)), phase);
        let load = &outcome.loads[0];
        assert_eq!((load.operations(), load.not_started), (operations, not_started), "{ms}");
        assert_eq!(outcome.cut, (not_started > 0).then_some(Cut::TimeLimit), "{ms}");
    }
}

#[test]
fn several_processes_share_one_schedule() {
    use sensormark_engine::work_distribution::ClientRange;
    let part = |first, count| {
        let load = Load {
            pacing: rate(1_000),
            clients: ClientRange { first, count, of: 5 },
            ..Load::new("load", Writes::new(400, 2) as _, 1)
        };
        run(&null(), Phase { loads: vec![load], ..Phase::default() })
    };
    let mut all = part(0, 2);
    all.merge(part(2, 3)).expect("histograms can be read");
    let load = &all.loads[0];
    assert_eq!((load.operations(), load.readings()), (400, 800));
    assert_eq!(load.issued.iter().count(), 400);
    assert_eq!(load.classes["write"].latency.summary.count, 400);
}
