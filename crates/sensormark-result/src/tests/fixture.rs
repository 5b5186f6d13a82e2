//! Records with known numbers, which tests of the report share.

use crate::measurement::latency::LatencySummary;
use crate::measurement::names;
use crate::measurement::record::{
    AnswersRecord, Cache, ClassRecord, Figure, Implementation, LatencyRecord, LedgerRecord, LoadRecord,
    PhaseRecord, RunRecord, SCHEMA_VERSION, Side, TrialRecord,
};
use crate::measurement::server::ServerRecord;
use crate::measurement::verdict::{Reason, ReasonKind, Verdict};
use crate::probe::{Disturbance, HostTotals, PhaseTotals, RoleTotals};
use sensormark_store::{Durability, Layout, Setting};
use std::collections::BTreeMap;

/// What one trial used, in the units of the tables.
#[derive(Debug, Clone, Copy)]
pub struct Used {
    /// Percent of a core.
    pub server_cpu: f64,
    /// kB of 1,024 bytes.
    pub server_memory: u64,
    /// kB/s, all of it written.
    pub server_io: u64,
    /// Percent of a core.
    pub client_cpu: f64,
    /// kB of 1,024 bytes.
    pub client_memory: u64,
    /// kbit/s, half each way.
    pub network: u64,
    /// MB.
    pub disk: u64,
}

/// Ten seconds were measured.
pub const SECONDS: u64 = 10;

pub fn run() -> RunRecord {
    RunRecord {
        schema_version: SCHEMA_VERSION,
        name: "20261121-043459-abc".to_owned(),
        sensormark: "0.1.0".to_owned(),
        started: "2026-11-21T04:34:59Z".to_owned(),
        finished: Some("2026-11-21T04:44:59Z".to_owned()),
        command_line: ["run", "machine-tool", "--on", "sqlite,postgresql=postgresql://…"]
            .map(str::to_owned)
            .to_vec(),
        workload: "machine-tool".to_owned(),
        scale: "standard".to_owned(),
        parameters: serde_json::json!({
            "warmup_seconds": 2.0, "measured_seconds": 10.0, "reads": 30, "reads_per_second": 3.0,
            "samples_per_second": 1000, "margin_seconds": 1.5, "repetitions": 1
        }),
        seed: 1,
        shard: (0, 1),
        clock_offset_ns: 0,
        repetitions: 1,
        environment: serde_json::Value::Null,
        as_study: false,
        not_measured: Vec::new(),
        checksums: false,
        trials: Vec::new(),
    }
}

pub fn implementation(title: &str, layout: &str, strategy: Option<&str>) -> Implementation {
    Implementation {
        store: title.to_lowercase(),
        server: None,
        title: title.to_owned(),
        layout_name: layout.to_owned(),
        layout: Layout::row_per_reading(),
        strategy: strategy.map(str::to_owned),
        durability: Durability::Default,
        cache: Cache::Hot,
        embedded: title == "SQLite",
    }
}

fn role(cpu: f64, memory_kb: u64) -> RoleTotals {
    RoleTotals {
        cpu_ns: (0..SECONDS).fold(0, |sum, _| sum + sensormark_data::units::round_u64(cpu * 1e7)),
        cpu_percent_of_core: cpu,
        end_resident_bytes: memory_kb * 1024,
        peak_resident_bytes: memory_kb * 1024,
        storage_read_bytes: Some(0),
        storage_written_bytes: Some(0),
        ..RoleTotals::default()
    }
}

pub fn totals(side: Side, used: Used, embedded: bool) -> PhaseTotals {
    let mut server = role(used.server_cpu, used.server_memory);
    let mut client = role(used.client_cpu, used.client_memory);
    let written = used.server_io * 1_000 * SECONDS;
    if embedded {
        client.storage_written_bytes = Some(written);
    } else {
        server.storage_written_bytes = Some(written);
        client.sent_wire_bytes = Some(used.network * 125 * SECONDS / 2);
        client.received_wire_bytes = Some(used.network * 125 * SECONDS / 2);
    }
    let name = if side == Side::Write { "writer" } else { "reader" };
    let mut roles = BTreeMap::from([(name.to_owned(), client), ("coordinator".to_owned(), role(2.0, 9_000))]);
    if side == Side::Write {
        roles.insert("source".to_owned(), role(1.0, 800));
    }
    if !embedded {
        roles.insert("server".to_owned(), server);
    }
    let span_ns = SECONDS * 1_000_000_000;
    PhaseTotals {
        server_host: None,
        client_hosts: Vec::new(),
        span_ns,
        roles,
        host: HostTotals::default(),
        disturbance: Disturbance {
            span_ns,
            steal_share: 0.0,
            swap_bytes_per_second: 0.0,
            other_share: 0.01,
            reasons: Vec::new(),
        },
    }
}

/// A valid trial; a read where the implementation has a strategy.
pub fn trial(implementation: Implementation, repetition: u32, used: Used) -> TrialRecord {
    let side = if implementation.strategy.is_some() { Side::Read } else { Side::Write };
    let totals = totals(side, used, implementation.embedded);
    let name = format!(
        "{}-{}-{side:?}-{:?}-r{repetition}",
        implementation.store, implementation.layout_name, implementation.strategy
    );
    let server = (!implementation.embedded).then(|| ServerRecord {
        version: "17.2".to_owned(),
        origin: "Debian package".to_owned(),
        managed: true,
        start_seconds: Some(1.25),
        warm_up_seconds: None,
        memory_budget_bytes: Some(1 << 30),
        memory_limit: None,
        probe: None,
        notes: Vec::new(),
    });
    let mut record = TrialRecord {
        schema_version: SCHEMA_VERSION,
        name,
        implementation,
        side,
        repetition,
        turn: 0,
        attempt: 0,
        started: "2026-11-21T04:35:00Z".to_owned(),
        server,
        statements: None,
        settings: vec![Setting { name: "fsync".to_owned(), value: "on".to_owned() }],
        log_bound: Some("max_wal_size = 1GB".to_owned()),
        write_sizes: Vec::new(),
        phases: vec![phase("warm-up", 2.0, None, 0), phase("measured", 10.0, Some(totals.clone()), 10_000)],
        ledger: None,
        answers: None,
        latencies: BTreeMap::new(),
        errors: BTreeMap::new(),
        loads: Vec::new(),
        tasks: Vec::new(),
        figures: BTreeMap::new(),
        limits: Vec::new(),
        verdict: Verdict::Valid,
        disturbances: Vec::new(),
        warnings: Vec::new(),
        clocks: Vec::new(),
        client_probes: Vec::new(),
    };
    match side {
        Side::Write => fill_write(&mut record, used, totals),
        Side::Read | Side::Mixed => fill_read(&mut record),
    }
    record
}

pub fn phase(name: &str, seconds: f64, totals: Option<PhaseTotals>, operations: u64) -> PhaseRecord {
    PhaseRecord { name: name.to_owned(), seconds, totals, operations }
}

fn fill_write(record: &mut TrialRecord, used: Used, totals: PhaseTotals) {
    record.phases.push(phase("settle", 0.5, Some(totals), 0));
    record.ledger = Some(LedgerRecord {
        produced: 12_200,
        lost_at_queue: 200,
        attempted: 12_000,
        acknowledged: 12_000,
        stored: 12_000,
        checksum: "aa".to_owned(),
        expected_checksum: "aa".to_owned(),
        ..LedgerRecord::default()
    });
    let bytes = |megabytes: u64| Figure::new(megabytes as f64 * 1e6, "bytes");
    for (name, figure) in [
        (names::DISK_BEFORE, bytes(40)),
        (names::DISK_BEFORE_LOGS, bytes(16)),
        (names::DISK_AFTER, bytes(45 + used.disk)),
        (names::DISK_AFTER_LOGS, bytes(16)),
        (names::DISK_SETTLED, bytes(40 + used.disk)),
        (names::DISK_SETTLED_LOGS, bytes(16)),
        (names::DATAGRAM_BYTES, Figure::new(0.0, "bytes")),
        (names::JOURNAL_PERCENT, Figure::new(0.2, "% of one core")),
        (names::PACING_P99, Figure::new(120_000.0, "ns")),
        (names::PACING_MAX, Figure::new(900_000.0, "ns")),
        (names::REAL_TIME_SOURCE, Figure::new(1.0, "1 is yes")),
    ] {
        record.figures.insert(name.to_owned(), figure);
    }
    record.latencies.insert(names::WRITE.to_owned(), latency(false, 10_000, 250_000));
    record.latencies.insert(names::SENSOR_DELAY.to_owned(), latency(true, 10_000, 400_000));
}

fn fill_read(record: &mut TrialRecord) {
    record.answers = Some(AnswersRecord { answered: 36, checked: 36, wrong: 0, first_wrong: None });
    for (name, value) in [
        (names::READS_PER_SECOND, 3.0),
        (names::READS_PER_SECOND_ASKED, 3.0),
        (names::KEEPS_UP, 1.0),
        (names::QUERIES, 216.0),
    ] {
        record.figures.insert(name.to_owned(), Figure::new(value, ""));
    }
    record.latencies.insert(names::CYCLE_READ.to_owned(), latency(true, 30, 5_000_000));
    record.latencies.insert(names::CYCLE_READ_SERVICE.to_owned(), latency(false, 30, 4_000_000));
}

/// A distribution around a mean; percentiles as far as so many operations carry them.
pub fn latency(open_loop: bool, count: u64, mean_ns: u64) -> LatencyRecord {
    let percentile = |needed: u64, value: u64| (count >= needed).then_some(value);
    LatencyRecord {
        open_loop,
        summary: LatencySummary {
            count,
            mean_ns: mean_ns as f64,
            p50_ns: percentile(20, mean_ns * 9 / 10),
            p90_ns: percentile(100, mean_ns * 2),
            p95_ns: percentile(200, mean_ns * 3),
            p99_ns: percentile(1_000, mean_ns * 5),
            p999_ns: percentile(10_000, mean_ns * 8),
            min_ns: mean_ns / 2,
            max_ns: mean_ns * 10,
        },
        seconds: Vec::new(),
    }
}

/// The trial, called invalid.
pub fn invalid(mut trial: TrialRecord, kind: ReasonKind, text: &str) -> TrialRecord {
    trial.verdict = Verdict::Invalid(vec![Reason::new(kind, text)]);
    trial
}

/// What two implementations used, write and read.
pub const COSTLY: Used = Used {
    server_cpu: 8.0,
    server_memory: 200_000,
    server_io: 400,
    client_cpu: 10.0,
    client_memory: 4_000,
    network: 800,
    disk: 80,
};
/// Half of everything, but twice the network.
pub const CHEAP: Used = Used {
    server_cpu: 4.0,
    server_memory: 100_000,
    server_io: 200,
    client_cpu: 5.0,
    client_memory: 2_000,
    network: 1_600,
    disk: 40,
};

/// Both sides of an implementation in one repetition.
pub fn pair(title: &str, layout: &str, repetition: u32, write: Used, read: Used) -> [TrialRecord; 2] {
    [
        trial(implementation(title, layout, None), repetition, write),
        trial(implementation(title, layout, Some(layout)), repetition, read),
    ]
}

/// The same trials measured three times, to the last bit: enough for claims to be decided.
pub fn thrice(trials: Vec<TrialRecord>) -> Vec<TrialRecord> {
    let again = |repetition: u32| {
        let trials = trials.clone().into_iter();
        trials.map(move |trial| TrialRecord { repetition, ..trial })
    };
    (0..3).flat_map(again).collect()
}

/// A load of one class, in closed loop.
pub fn load(phase: &str, writes: bool, seconds: f64, operations: u64, readings: u64) -> LoadRecord {
    let class = ClassRecord {
        operations,
        readings,
        failed: 0,
        latency: latency(false, operations, 1_000_000),
        service: None,
    };
    LoadRecord {
        phase: phase.to_owned(),
        name: phase.to_owned(),
        labels: BTreeMap::new(),
        warm_up: false,
        writes,
        clients: 1,
        processes: 1,
        open_loop: false,
        planned: operations,
        seconds,
        shared: None,
        classes: BTreeMap::from([(phase.to_owned(), class)]),
        errors: BTreeMap::new(),
        first_error: None,
        late: 0,
        not_started: 0,
        statements: operations,
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

/// A trial of these loads, whose every phase used the same.
pub fn of_phases(title: &str, loads: Vec<LoadRecord>) -> TrialRecord {
    let mut record = trial(implementation(title, "individual", None), 0, COSTLY);
    record.side = Side::Mixed;
    record.latencies.clear();
    record.ledger.as_mut().unwrap().lost_at_queue = 0;
    let mut used = totals(Side::Write, COSTLY, false);
    let client = used.roles.remove("writer").unwrap();
    used.roles.insert("trial".to_owned(), client);
    record.phases.clear();
    for load in &loads {
        if record.phases.iter().all(|known| known.name != load.phase) {
            let own = phase(&load.phase, load.seconds, Some(used.clone()), 0);
            record.phases.push(own);
        }
    }
    record.loads = loads;
    record
}

/// 100,000 readings in 10 s: 100 ms a thousand; and 200 questions in 4 s.
pub fn usual(title: &str, batches: u64) -> TrialRecord {
    of_phases(title, vec![load("load", true, 10.0, batches, 100_000), load("point", false, 4.0, 200, 200)])
}

/// A trial of phases that went through these sizes: each is loaded, takes 6 MB and 100 bytes a reading on disk, and is asked the questions of [`usual`].
pub fn sized(title: &str, sizes: &[u32]) -> TrialRecord {
    let mut record = usual(title, 10);
    let (loads, phases) = (record.loads.clone(), record.phases.clone());
    record.loads.clear();
    record.phases.clear();
    for (number, readings) in sizes.iter().enumerate() {
        let name = |phase: &str| format!("{phase}-{number}");
        for load in &loads {
            let mut load = load.clone();
            load.phase = name(&load.phase);
            load.labels.insert(names::STORED.to_owned(), (*readings).into());
            record.loads.push(load);
        }
        for one in &phases {
            record.phases.push(PhaseRecord { name: name(&one.name), ..one.clone() });
        }
        record.phases.push(phase(&name("settled"), 0.1, None, 0));
        let disk = 6e6 + 100.0 * f64::from(*readings);
        for (figure, value) in [
            (names::READINGS_AT_REST, f64::from(*readings)),
            (names::DISK_SETTLED, disk),
            (names::DISK_SETTLED_LOGS, 0.0),
        ] {
            let value = Figure::new(value, "bytes");
            record.figures.insert(format!("{figure}/{}", name("settled")), value.clone());
            record.figures.insert(figure.to_owned(), value);
        }
    }
    let stored = sizes.last().copied().unwrap_or(0).into();
    record.ledger.as_mut().expect("a ledger").stored = stored;
    record
}
