//! Trials for tests of what is judged.

use crate::context::TrialPosition;
use crate::trial::account::add_loads;
use crate::trial::script::ROLE;
use sensormark_result::measurement::record::{
    AnswersRecord, Cache, Implementation, LoadRecord, PhaseRecord, Side, TrialRecord,
};
use sensormark_result::probe::{Disturbance, DisturbanceLimits, HostTotals, PhaseTotals, RoleTotals};
use sensormark_store::{Durability, Layout};
use std::collections::BTreeMap;

/// A load of a thousand answers of one client in a second.
pub fn load() -> LoadRecord {
    let latency = || sensormark_result::measurement::record::LatencyRecord {
        open_loop: false,
        summary: sensormark_result::measurement::LatencySummary::empty(),
        seconds: Vec::new(),
    };
    let class = sensormark_result::measurement::record::ClassRecord {
        operations: 1_000,
        readings: 1_000,
        failed: 0,
        latency: latency(),
        service: None,
    };
    LoadRecord {
        phase: "ask".into(),
        name: "ask".into(),
        labels: BTreeMap::new(),
        warm_up: false,
        writes: false,
        clients: 1,
        processes: 1,
        open_loop: false,
        planned: 1_000,
        seconds: 1.0,
        shared: None,
        classes: [("ask".to_owned(), class)].into(),
        errors: BTreeMap::new(),
        first_error: None,
        late: 0,
        not_started: 0,
        statements: 0,
        reconnects: 0,
        datagram_bytes: 0,
        answers: AnswersRecord::default(),
        pacing_p99_ns: None,
        ceiling: None,
        cut: None,
        not_supported: None,
        client_side: None,
    }
}

/// A phase of a second in which this role used so much of a core.
pub fn phase(role: &str, cpu_percent: f64) -> PhaseRecord {
    let used = RoleTotals {
        cpu_percent_of_core: cpu_percent,
        cpu_ns: sensormark_data::units::round_u64(cpu_percent * 1e7),
        ..RoleTotals::default()
    };
    PhaseRecord {
        name: "ask".into(),
        seconds: 1.0,
        totals: Some(PhaseTotals {
            server_host: None,
            client_hosts: Vec::new(),
            span_ns: 1_000_000_000,
            roles: [(role.to_owned(), used)].into(),
            host: HostTotals::default(),
            disturbance: Disturbance {
                span_ns: 1_000_000_000,
                steal_share: 0.0,
                swap_bytes_per_second: 0.0,
                other_share: 0.0,
                reasons: Vec::new(),
            },
        }),
        operations: 1_000,
    }
}

/// A phase of this length with this share of the processors' time taken by others.
pub fn with_others(span_ns: u64, other_share: f64) -> PhaseRecord {
    let limits = DisturbanceLimits::default();
    let mut phase = phase(ROLE, 1.0);
    if let Some(totals) = &mut phase.totals {
        totals.span_ns = span_ns;
        let mut found = totals.disturbance.clone();
        (found.span_ns, found.other_share) = (span_ns, other_share);
        totals.disturbance = Disturbance::together(&[&found], &limits).expect("one");
    }
    phase
}

/// An attempt with two phases of a second each: how much of the processors others took in each, and its operations.
pub fn attempt(number: u32, phases: [(&str, f64, u64); 2]) -> TrialRecord {
    let turn = TrialPosition { repetition: 0, turn: 0, attempt: number };
    let implementation = Implementation {
        store: "sqlite".into(),
        server: None,
        title: "SQLite".into(),
        layout_name: "individual".into(),
        layout: Layout::row_per_reading(),
        strategy: None,
        durability: Durability::Default,
        cache: Cache::Hot,
        embedded: true,
    };
    let mut record = turn.record(format!("a{number}"), implementation, Side::Mixed);
    for (name, others, operations) in phases {
        let mut phase = with_others(1_000_000_000, others);
        phase.name = name.to_owned();
        phase.operations = operations;
        record.phases.push(phase);
        let mut load = load();
        load.phase = name.to_owned();
        load.planned = operations;
        load.answers.answered = operations;
        add_loads(&mut record, vec![load]);
    }
    record
}
