//! The study's own tables with our figures, for every implementation: ingest, extract, use of resources; and the ingest rate over rows stored.

use super::figures::{
    believed, cpu_percent, device_counts, growth_percent, ingest_rate, load_average, mean_ms,
    memory_mb, rate,
};
use super::rate::{by_parts, curve};
use crate::measurement::record::TrialRecord;
use crate::report::field::{Arm, Field};
use crate::report::number::fixed;
use crate::report::sections::cells::{geometric_mean, mean};
use crate::report::tables::{Cell, Section, Table};
use crate::workload::billing::{EXTRACT, INGEST};

/// Parts of the rows that the ingest rate is shown for.
const PARTS: usize = 5;
/// Why there is nothing for a number of devices.
const NOT_REACHED: &str = "not measured: see the warnings";

/// The section.
pub fn section(field: &Field) -> Section {
    let counts = device_counts(field);
    let mut section = Section::new("billing", "Billing: the study's tables, our figures");
    section.table(ingest(field, &counts));
    section.table(rates(field));
    section.table(extract(field, &counts));
    section.table(resources(field));
    section
}

fn devices_column(count: u64) -> String {
    format!("{} devices", fixed(count as f64, 0))
}

fn with_counts(id: &str, title: &str, unit: &str, counts: &[u64], rest: &[(&str, &str)]) -> Table {
    let names: Vec<String> = counts.iter().map(|&count| devices_column(count)).collect();
    let mut columns = vec![("implementation", "")];
    columns.extend(names.iter().map(|name| (name.as_str(), unit)));
    columns.extend(rest);
    Table::new(id, title, &columns)
}

fn ingest(field: &Field, counts: &[u64]) -> Table {
    let title = "Ingest: operations a second (more is better)";
    let rest = [("overall", "1/s"), ("rows stored", "")];
    let mut table = with_counts("billing_ingest", title, "1/s", counts, &rest);
    for arm in believed(field) {
        let mut row = vec![Cell::text(&arm.label)];
        row.extend(counts.iter().map(|&count| {
            let values = field.figures(arm, |trial| rate(trial, INGEST, Some(count)));
            geometric_mean(&values, NOT_REACHED)
        }));
        let all = field.figures(arm, ingest_rate);
        row.push(geometric_mean(&all, NOT_REACHED));
        let stored = field.valid_of(arm).next().and_then(stored);
        row.push(Cell::count(stored, "not counted"));
        table.row(row);
    }
    table.note("An operation updates a meter (or adds it) and inserts its reading. Under a number of devices: while devices were added up to it. Overall: of the load by itself (`ingest_devices`), where there is one.");
    note_cuts(field, &mut table);
    table
}

fn stored(trial: &TrialRecord) -> Option<u64> {
    trial.ledger.as_ref().map(|ledger| ledger.stored)
}

/// Says whose ingest was cut: its bills are then of fewer readings.
fn note_cuts(field: &Field, table: &mut Table) {
    for arm in believed(field) {
        let loads = field.valid_of(arm).flat_map(|trial| &trial.loads);
        let cut = loads
            .filter(|load| load.writes)
            .find_map(|load| load.cut.clone());
        if let Some(cut) = cut {
            table.note(format!("{}: ingest was cut: {cut}.", arm.label));
        }
    }
}

fn rates(field: &Field) -> Table {
    let title = "Ingest rate over rows stored";
    let names: Vec<String> = (1..=PARTS)
        .map(|part| format!("to {} %", part * 100 / PARTS))
        .collect();
    let mut columns = vec![("implementation", "")];
    columns.extend(names.iter().map(|name| (name.as_str(), "1/s")));
    columns.push(("last / first", ""));
    let mut table = Table::new("billing_rate", title, &columns);
    for arm in believed(field) {
        let trials: Vec<Vec<Option<f64>>> = field
            .trials_of(arm)
            .map(|trial| {
                let valid = trial.filter(|trial| trial.verdict.is_valid());
                valid.map_or_else(|| vec![None; PARTS], |trial| by_parts(&curve(trial), PARTS))
            })
            .collect();
        if trials.iter().flatten().all(Option::is_none) {
            continue;
        }
        let missing = "too short: loaded in a few seconds";
        let of_part =
            |part: usize| -> Vec<Option<f64>> { trials.iter().map(|parts| parts[part]).collect() };
        let mut row = vec![Cell::text(&arm.label)];
        row.extend((0..PARTS).map(|part| geometric_mean(&of_part(part), missing)));
        let ratios: Vec<Option<f64>> = trials
            .iter()
            .map(|parts| Some(parts[PARTS - 1]? / parts[0]?))
            .collect();
        row.push(geometric_mean(&ratios, missing));
        table.row(row);
    }
    table.note("Those that took long enough. Rows a second in each fifth of the rows that were stored, in the order of storing; figures/ingest_rate.svg shows every second.");
    table
}

fn extract(field: &Field, counts: &[u64]) -> Table {
    let title = "Extract: ms a bill, the sum of one month of one device (fewer is better)";
    let rest: &[(&str, &str)] = if counts.len() > 1 {
        &[("growth", "%")]
    } else {
        &[]
    };
    let mut table = with_counts("billing_extract", title, "ms", counts, rest);
    for arm in believed(field) {
        let mut row = vec![Cell::text(&arm.label)];
        row.extend(counts.iter().map(|&count| {
            let values = field.figures(arm, |trial| mean_ms(trial, EXTRACT, count));
            geometric_mean(&values, NOT_REACHED)
        }));
        if counts.len() > 1 {
            let values = field.figures(arm, |trial| {
                growth_percent(trial, (INGEST, EXTRACT), counts)
            });
            row.push(mean(&values, "something was cut"));
        }
        table.row(row);
    }
    table.note("Mean of all bills, asked for by all clients at once in closed loop: what a bill waits for others is in it. growth: from the fewest devices to the most.");
    note_cuts(field, &mut table);
    table
}

fn resources(field: &Field) -> Table {
    let columns = [
        ("implementation", ""),
        ("phase", ""),
        ("load average", ""),
        ("server CPU", "%"),
        ("server memory", "MB"),
        ("client CPU", "%"),
        ("client memory", "MB"),
    ];
    let title = "Use of resources, server and client";
    let mut table = Table::new("billing_resources", title, &columns);
    table.keys = 2;
    for arm in believed(field) {
        for operation in [INGEST, EXTRACT] {
            table.row(resources_row(field, arm, operation));
        }
    }
    table.note("load average: of one minute, as the kernel has it, of the whole machine: where server and clients share one, it is that of both, and of phases under a minute it tells mostly of what was before. CPU is in percent of all cores. memory: resident at the end of a phase.");
    table
}

fn resources_row(field: &Field, arm: &Arm, operation: &str) -> Vec<Cell> {
    let of = |figure: &dyn Fn(&TrialRecord) -> Option<f64>, missing: &str| {
        mean(&field.figures(arm, figure), missing)
    };
    let missing = if arm.implementation.embedded {
        "embedded: one process, shown as the client's"
    } else {
        "too short"
    };
    vec![
        Cell::text(&arm.label),
        Cell::text(operation),
        of(&|trial| load_average(trial, operation), "too short"),
        of(&|trial| cpu_percent(trial, operation, "server"), missing),
        of(&|trial| memory_mb(trial, operation, "server"), missing),
        of(&|trial| cpu_percent(trial, operation, "trial"), "too short"),
        of(&|trial| memory_mb(trial, operation, "trial"), "too short"),
    ]
}
