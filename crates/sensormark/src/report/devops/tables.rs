//! The study's tables and figures, with ours in them: ingest by workers, disk, the questions, clients, and growth.

use super::facts::{Facts, Values, bytes_a_value, data, disk, mean_ns, seconds, values};
use crate::report::field::Arm;
use crate::report::sections::cells::{geometric_mean, mean};
use crate::report::tables::{Cell, Digits, Number, Section, Spread, Table};
use crate::workload::devops::questions::Kind;
use sensormark_store::WriteMethod;

const NOT_MEASURED: &str = "not measured";
const FEW: &str = "fewer than 10 samples beyond it";

/// The section.
pub fn section(facts: &Facts<'_>) -> Section {
    let mut section = Section::new(
        "devops",
        "Loading, disk and questions, as the study has them",
    );
    section.table(ingest(facts));
    section.table(disks(facts));
    section.table(questions(facts));
    section.table(clients(facts));
    section.table(growth(facts));
    section
}

/// A table with a column for each of some numbers, in the same unit.
fn by_number(id: &str, title: &str, numbers: &[u32], noun: &str, unit: &str) -> Table {
    let named: Vec<String> = numbers
        .iter()
        .map(|number| format!("{number} {noun}{}", if *number == 1 { "" } else { "s" }))
        .collect();
    let mut columns = vec![("implementation", "")];
    columns.extend(named.iter().map(|name| (name.as_str(), unit)));
    Table::new(id, title, &columns)
}

fn ingest(facts: &Facts<'_>) -> Table {
    let workers = &facts.parameters.workers;
    let title = format!(
        "Ingest: {} hosts, {} h, each number of workers into an empty database",
        facts.parameters.hosts, facts.parameters.hours
    );
    let mut table = by_number("devops_ingest", &title, workers, "worker", "values/s");
    for arm in facts.arms() {
        let mut row = vec![Cell::text(&arm.label)];
        let rate = |workers: &u32| geometric_mean(&facts.ingest(arm, *workers), NOT_MEASURED);
        row.extend(workers.iter().map(rate));
        table.row(row);
        if facts.was_cut(arm) {
            let label = &arm.label;
            table.note(format!(
                "{label}: cut at its time limit; the rate is what it reached."
            ));
        }
        if arm.implementation.layout.write == WriteMethod::Datagram {
            table.note(format!(
                "{}: sent as datagrams, which nobody acknowledges: the rate of sending. What was stored is under \"Readings and answers\".",
                arm.label
            ));
        }
    }
    table
}

fn megabytes(values: Values) -> Values {
    values.into_iter().map(|value| Some(value? / 1e6)).collect()
}

/// Whether so little was stored that disk says little.
fn is_small(values: &Values) -> bool {
    values.iter().flatten().any(|values| *values < 1e7)
}

fn disks(facts: &Facts<'_>) -> Table {
    let columns = [
        ("implementation", ""),
        ("values", "million"),
        ("settling", "s"),
        ("disk", "MB"),
        ("without logs", "MB"),
        ("a value", "bytes"),
    ];
    let title = format!("Disk after {} workers' load and settling", facts.workers());
    let mut table = Table::new("devops_disk", &title, &columns);
    for arm in facts.arms() {
        let of = |get: fn(&_, &str) -> Option<f64>| facts.settled(arm, None, get);
        table.row(vec![
            Cell::text(&arm.label),
            mean(&megabytes(of(values)), NOT_MEASURED),
            mean(&of(seconds), "not settled"),
            mean(&megabytes(of(disk)), NOT_MEASURED),
            mean(&megabytes(of(data)), NOT_MEASURED),
            mean(&of(bytes_a_value), NOT_MEASURED),
        ]);
    }
    if facts
        .arms()
        .any(|arm| is_small(&facts.settled(arm, None, values)))
    {
        table.note("Under 10 million values: space that a database allocates ahead may weigh more than the data; the scales standard and study tell.");
    }
    table.note("Growth of the data folder since the empty database; bytes a value are without logs, which a database keeps at some size and uses again.");
    table
}

fn questions(facts: &Facts<'_>) -> Table {
    let (first, most) = facts.clients();
    let names = [first, most].map(|clients| {
        let plural = if clients == 1 { "" } else { "s" };
        format!("{clients} client{plural}")
    });
    let mut columns = vec![
        ("question", ""),
        ("implementation", ""),
        ("mean", "ms"),
        ("median", "ms"),
        ("p99", "ms"),
        (names[0].as_str(), "1/s"),
    ];
    if most != first {
        columns.push((names[1].as_str(), "1/s"));
    }
    let title = format!("Questions: times with {}, and questions a second", names[0]);
    let mut table = Table::new("devops_questions", &title, &columns);
    table.keys = 2;
    for kind in Kind::ALL {
        for arm in facts.arms() {
            table.row(question_row(facts, kind, arm, &mut Vec::new()));
        }
    }
    for kind in Kind::ALL {
        table.note(format!(
            "{}: {}.",
            kind.name(),
            kind.words(&facts.parameters)
        ));
    }
    table
}

fn question_row(facts: &Facts<'_>, kind: Kind, arm: &Arm, row: &mut Vec<Cell>) -> Vec<Cell> {
    let (first, most) = facts.clients();
    let missing = facts.not_asked(arm, kind, first);
    let missing = missing.map_or_else(
        || NOT_MEASURED.to_owned(),
        |reason| format!("not supported: {reason}"),
    );
    let latency = |get| facts.latency(arm, kind, first, get);
    row.push(Cell::text(kind.name()));
    row.push(Cell::text(&arm.label));
    row.push(geometric_mean(&latency(mean_ns), &missing));
    row.push(geometric_mean(
        &latency(|class| Some(class.latency.summary.p50_ns? as f64)),
        FEW,
    ));
    row.push(geometric_mean(
        &latency(|class| Some(class.latency.summary.p99_ns? as f64)),
        FEW,
    ));
    row.push(geometric_mean(&facts.asked(arm, kind, first), &missing));
    if most != first {
        row.push(geometric_mean(&facts.asked(arm, kind, most), &missing));
    }
    std::mem::take(row)
}

fn clients(facts: &Facts<'_>) -> Table {
    let clients = &facts.parameters.clients;
    let title = format!(
        "Questions a second over clients: {}",
        Kind::MaximumShort.words(&facts.parameters)
    );
    let mut table = by_number("devops_clients", &title, clients, "client", "1/s");
    if clients.len() < 2 {
        return table;
    }
    for arm in facts.arms() {
        let mut row = vec![Cell::text(&arm.label)];
        let rate = |clients: &u32| {
            geometric_mean(
                &facts.asked(arm, Kind::MaximumShort, *clients),
                NOT_MEASURED,
            )
        };
        row.extend(clients.iter().map(rate));
        table.row(row);
    }
    table
}

/// A number of the user's own, as it was written.
const fn exact(value: f64) -> Cell {
    Cell::Number(Number {
        value,
        spread: Spread::None,
        digits: Digits::Exact,
    })
}

fn growth(facts: &Facts<'_>) -> Table {
    let columns = [
        ("implementation", ""),
        ("data", "h"),
        ("ingest", "values/s"),
        ("disk without logs", "MB"),
        ("a value", "bytes"),
        ("study's question", "ms"),
    ];
    let mut table = Table::new(
        "devops_growth",
        "Growth with the span of the data",
        &columns,
    );
    table.keys = 2;
    if facts.parameters.more_hours.is_empty() {
        return table;
    }
    for arm in facts.arms() {
        let settled = |hours| {
            let of = |get: fn(&_, &str) -> Option<f64>| facts.settled(arm, hours, get);
            [
                mean(&megabytes(of(data)), NOT_MEASURED),
                mean(&of(bytes_a_value), NOT_MEASURED),
            ]
        };
        let mut row = |hours: f64, rate: &Values, settled: [Cell; 2], asked: &Values| {
            let mut cells = vec![
                Cell::text(&arm.label),
                exact(hours),
                geometric_mean(rate, NOT_MEASURED),
            ];
            cells.extend(settled);
            cells.push(geometric_mean(asked, NOT_MEASURED));
            table.row(cells);
        };
        let (first, _) = facts.clients();
        let base = facts.latency(arm, Kind::MaximumShort, first, mean_ns);
        let loaded = facts.ingest(arm, facts.workers());
        row(facts.parameters.hours, &loaded, settled(None), &base);
        for &hours in &facts.parameters.more_hours {
            let rate = facts.growth(arm, hours);
            row(
                hours,
                &rate,
                settled(Some(hours)),
                &facts.asked_after(arm, hours),
            );
        }
    }
    table.note(format!(
        "Ingest of what was added since the line before, by {} workers; the study's question is about that part, by 1 client.",
        facts.workers()
    ));
    table
}
