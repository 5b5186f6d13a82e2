//! The study's tables of both sides: what server and client used, the network between them, and the disk.

use super::network;
use crate::prelude::*;

/// Criterion and column, in the order of the study's tables.
const COLUMNS: [(&str, &str); 7] = [
    ("server_cpu", "server CPU [%]"),
    ("server_memory", "server memory [kB]"),
    ("server_io", "server I/O [kB/s]"),
    ("client_cpu", "client CPU [%]"),
    ("client_memory", "client memory [kB]"),
    ("network", "network [kbit/s]"),
    ("disk", "disk [MB]"),
];

/// The section.
pub fn section(field: &Field) -> Section {
    let tables = [
        table(field, &field.writes, "write", "Writing: server, client and infrastructure"),
        table(field, &field.reads, "read", "Reading: server, client and infrastructure"),
        // Trials of phases have it in a section of their own.
        if field.has_phases() { Table::default() } else { network::table(field) },
        settling(field),
        harness(field),
    ];
    Section::of("resources", "What it costs", tables)
}

fn table(field: &Field, arms: &[Arm], side: &str, title: &str) -> Table {
    let shown = COLUMNS.iter().filter(|(id, _)| *id != "disk" || side == "write");
    let columns = shown.clone().map(|(_, name)| *name).join("; ");
    let cells = |arm| shown.clone().map(|(id, _)| cell(field, arm, id)).collect();
    let mut table =
        Table::of_arms(&format!("resources_{side}"), title, &columns, field.believed(arms), cells).noted("Over the measured phase of valid trials. CPU is in percent of one core. Memory is taken just before the end, in kB of 1,024 bytes. Of a server it is the proportional set size of its processes, which has each page once. Of a client it is what is resident. Other kB, MB and kbit are decimal. I/O is what the kernel counts for the processes: bytes fetched from storage, and pages dirtied (at most what the device wrote). Network is the client's wire bytes, both ways, with headers.");
    if side == "write" {
        table.note("disk: growth of the data folder from before writing until after settling, warm-up included, logs apart.");
    }
    if arms.iter().any(|arm| arm.implementation.embedded) {
        table.note("An embedded database runs inside its client: one process, shown as the client's; its I/O is in the server's column, and there is no network.");
    }
    table
}

fn cell(field: &Field, arm: &Arm, id: &str) -> Cell {
    let embedded = arm.implementation.embedded && matches!(id, "server_cpu" | "server_memory");
    let missing = if embedded { EMBEDDED } else { NOT_MEASURED };
    mean(&field.figures(arm, |trial| criteria::values(trial, &field.run).get(id).copied()), missing)
}

/// Seconds, CPU and I/O of a phase that settles.
pub fn settled(field: &Field, arm: &Arm, phase: &str) -> [Cell; 3] {
    // Embedded, it is the coordinator's own connection that settles.
    let role = if arm.implementation.embedded { "coordinator" } else { "server" };
    let used = |figure: fn(&RoleTotals) -> Known| {
        field.mean(arm, |trial| figure(criteria::phase(trial, phase)?.totals.as_ref()?.roles.get(role)?))
    };
    [
        mean(&field.figures(arm, |trial| Some(criteria::phase(trial, phase)?.seconds)), "not settled"),
        used(|role| Some(role.cpu_ns as f64 / 1e9)),
        used(|role| Some(role.storage_bytes()? as f64 / 1e6)),
    ]
}

/// What settling cost, and the disk around it.
fn settling(field: &Field) -> Table {
    let cells = |arm: &Arm| {
        let data = |all: &str, logs: &str| {
            mean(&field.figures(arm, |trial| Some(disk::data_bytes(trial, all, logs)? / 1e6)), NO_DISK)
        };
        let disk = [
            data(names::DISK_BEFORE, names::DISK_BEFORE_LOGS),
            data(names::DISK_AFTER, names::DISK_AFTER_LOGS),
            data(names::DISK_SETTLED, names::DISK_SETTLED_LOGS),
        ];
        [&settled(field, arm, "settle")[..], &disk, &logs_apart(field, arm)].concat()
    };
    Table::of_arms(
        "settling",
        "Settling: bringing the database to rest after writing",
        "time [s]; CPU [s]; I/O [MB]; data before [MB]; after writing [MB]; settled [MB]; logs apart [MB]; bound of the logs",
        field.believed(&field.writes),
        cells,
    )
    .noted(LOGS_APART)
}

/// What the measurement itself used, apart from the client.
fn harness(field: &Field) -> Table {
    let cells = |arm: &Arm| {
        let cpu = |role| field.mean(arm, |trial| Some(criteria::role(trial, role)?.cpu_percent_of_core));
        let own = |name: &str, scale: f64| {
            mean(&field.figures(arm, |trial| Some(figure(trial, name)? * scale)), "too few samples")
        };
        row![
            cpu("source"),
            cpu("coordinator"),
            own(names::JOURNAL_PERCENT, 1.0),
            own(names::PACING_P99, 1e-3),
            own(names::PACING_MAX, 1e-3),
        ]
    };
    let mut table = Table::of_arms(
        "harness",
        "The load's own processes, not part of any figure above",
        "source CPU [%]; coordinator CPU [%]; journal [%]; pacing error p99 [µs]; pacing error max [µs]",
        field.believed(&field.writes),
        cells,
    )
    .noted("CPU is in percent of one core. The journal is part of the client's CPU; the source and the coordinator are processes of their own.");
    let without = field
        .writes
        .iter()
        .flat_map(|arm| field.valid_of(arm))
        .filter(|trial| figure(trial, names::REAL_TIME_SOURCE) == Some(0.0))
        .count();
    if without > 0 {
        table.note(format!(
            "{} without real-time scheduling of the source: it was not allowed.",
            counted(without, "trial")
        ));
    }
    table
}
