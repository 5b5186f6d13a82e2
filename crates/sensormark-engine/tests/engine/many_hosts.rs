//! Reports of several processes, as roles send them, joined: throughput counts over the window in which all of them were at work.

use crate::fixture::{Writes, null, run};
use sensormark_engine::many_hosts::{Aligned, join};
use sensormark_engine::outcome::PhaseOutcome;
use sensormark_engine::pacing::Schedule;
use sensormark_engine::phase::{Load, Pacing, Phase};
use sensormark_engine::work_distribution::ClientRange;
use std::num::NonZeroU64;
use std::time::Duration;

/// Operations a second of one process that keeps its rate.
const RATE: u64 = 200;

/// What a process reports that has one of two clients, keeps its rate and is stopped after so long. It went through a role's line.
fn report(client: u32, seconds: f64) -> PhaseOutcome {
    let load = Load {
        clients: ClientRange { first: client, count: 1, of: 2 },
        // The rate of both: each client has every second operation.
        pacing: Pacing::Open(Schedule::per_second(NonZeroU64::new(2 * RATE).expect("not zero"))),
        ..Load::new("write", Writes::new(1_000_000, 3), 2)
    };
    let phase =
        Phase { loads: vec![load], limit: Some(Duration::from_secs_f64(seconds)), ..Phase::default() };
    let told = serde_json::to_string(&run(&null(), phase)).expect("a report");
    serde_json::from_str(&told).expect("a report")
}

fn joined(parts: Vec<Aligned>, hosts: u32) -> PhaseOutcome {
    join(parts, hosts).expect("of one phase").expect("several")
}

fn is_near(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 0.05
}

#[test]
fn throughput_counts_while_all_hosts_are_at_work() {
    let (short, long) = (report(0, 1.6), report(1, 3.0));
    let all = (short.loads[0].operations() + long.loads[0].operations()) as f64;
    let whole_rate = all / long.loads[0].seconds;
    assert!(is_near(whole_rate, 4.6 / 3.0 * RATE as f64), "{whole_rate}");
    let parts = vec![Aligned::here(short.clone()), Aligned::here(long.clone())];
    let load = joined(parts.clone(), 2).loads.remove(0);
    let window = load.shared.expect("two hosts");
    assert_eq!(window.hosts, 2);
    assert!((window.seconds - short.loads[0].seconds).abs() < 1e-9);
    assert!(is_near(load.operations_per_second(), 2.0 * RATE as f64));
    assert!(is_near(load.readings_per_second(), 6.0 * RATE as f64));
    assert_eq!(load.operations() as f64, all, "all of them are counted");
    assert_eq!(load.seconds, long.loads[0].seconds);
    // Processes of one host are as they always were.
    let load = joined(parts, 1).loads.remove(0);
    assert!(load.shared.is_none());
    assert!((load.operations_per_second() - whole_rate).abs() < 1e-9);
}

#[test]
fn hosts_that_hardly_met_count_over_all_of_the_time() {
    let (one, other) = (report(0, 1.3), report(1, 1.3));
    // The other one began a second later, so that 0.3 s are left.
    let mut other = Aligned::here(other);
    other.delay = 1.0;
    other.outcome.loads[0].seconds += 1.0;
    let parts = vec![Aligned::here(one.clone()), other];
    let outcome = joined(parts, 2);
    let load = &outcome.loads[0];
    let window = load.shared.expect("two hosts");
    assert!(window.seconds < 0.4 && !window.is_counted(), "{window:?}");
    let all = load.operations() as f64;
    assert!((load.operations_per_second() - all / load.seconds).abs() < 1e-9);
    assert!(load.seconds > one.loads[0].seconds + 0.9);
}
