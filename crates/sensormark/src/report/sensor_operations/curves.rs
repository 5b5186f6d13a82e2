//! The study's curves as tables: over clients (its figures 9 to 12), over the number of operations (5 to 8), with and without an index (3 and 4);
//! and latencies.

use super::rates::{Rates, Test, clients, load, ratios};
use crate::measurement::latency::LatencySummary;
use crate::report::field::Arm;
use crate::report::number::{cell_text, fixed};
use crate::report::sections::cells::geometric_mean;
use crate::report::tables::{Cell, Section, Table};
use crate::workload::sensor_operations::Operation;

/// Why a cell is empty.
const MISSING: &str = "no valid trial, or none of its operations was finished";

/// The section; empty when nothing was measured.
pub fn section(rates: &Rates<'_>) -> Section {
    let mut section = Section::new("operations", "Operations a second");
    for operation in Operation::ALL {
        section.table(by_clients(rates, operation));
    }
    section.table(speed_up(rates));
    section.table(with_and_without(rates));
    section.table(latencies(rates));
    for operation in Operation::ALL {
        section.table(by_size(rates, operation));
    }
    section
}

/// What programs call the table or figure of an operation.
pub fn id(prefix: &str, operation: Operation) -> String {
    format!("{prefix}_{}", operation.name().replace(' ', "_"))
}

/// The name with its first letter large.
pub fn capital(operation: Operation) -> String {
    let name = operation.name();
    let (first, rest) = name.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

/// A table of rates with a column a test.
fn table(rates: &Rates<'_>, operation: Operation, mut empty: Table, tests: &[Test]) -> Table {
    for arm in rates.believed() {
        let mut row = vec![Cell::text(&arm.label)];
        row.extend(tests.iter().map(|test| {
            note_cut(rates, &mut empty, arm, operation, *test);
            geometric_mean(&rates.rate(arm, operation, *test), MISSING)
        }));
        empty.row(row);
    }
    empty
}

/// Says where a phase was cut, so that its rate is that of what was done until then.
fn note_cut(rates: &Rates<'_>, table: &mut Table, arm: &Arm, operation: Operation, test: Test) {
    let trials = rates.field.valid_of(arm);
    let mut cuts = trials.filter_map(|trial| load(trial, operation, test)?.cut.clone());
    if let Some(cut) = cuts.next() {
        table.note(format!("{}, {}: cut: {cut}.", arm.label, clients(test)));
    }
}

fn by_clients(rates: &Rates<'_>, operation: Operation) -> Table {
    let tests = rates.by_clients(operation);
    let names: Vec<String> = tests.iter().map(|test| clients(*test)).collect();
    let mut columns = vec![("implementation", "")];
    columns.extend(names.iter().map(|name| (name.as_str(), "1/s")));
    let size = tests.first().map_or(0, |test| test.size);
    let title = format!(
        "{} by clients, {} readings",
        capital(operation),
        cell_text(&Cell::Count(size))
    );
    let empty = Table::new(&id("clients", operation), &title, &columns);
    table(rates, operation, empty, &tests)
}

fn by_size(rates: &Rates<'_>, operation: Operation) -> Table {
    let tests = rates.by_size(operation);
    let names: Vec<String> = tests
        .iter()
        .map(|test| cell_text(&Cell::Count(test.size)))
        .collect();
    let mut columns = vec![("implementation", "")];
    columns.extend(names.iter().map(|name| (name.as_str(), "1/s")));
    let title = format!("{} by number of readings, 1 client", capital(operation));
    let empty = Table::new(&id("sizes", operation), &title, &columns);
    if tests.len() < 2 {
        return empty;
    }
    table(rates, operation, empty, &tests)
}

fn speed_up(rates: &Rates<'_>) -> Table {
    let several: Vec<Test> = (rates.by_clients(Operation::SingleWrite).into_iter())
        .filter(|test| test.clients > 1)
        .collect();
    let names: Vec<String> = several.iter().map(|test| clients(*test)).collect();
    let mut columns = vec![("implementation", ""), ("operation", "")];
    columns.extend(names.iter().map(|name| (name.as_str(), "×")));
    let mut table = Table::new("speed_up", "Speed-up over one client", &columns);
    table.keys = 2;
    for arm in rates.believed() {
        for operation in Operation::ALL {
            let Some(one) = rates.single_client(operation) else {
                continue;
            };
            let one = rates.rate(arm, operation, one);
            let mut row = vec![Cell::text(&arm.label), Cell::text(operation.name())];
            row.extend(several.iter().map(|test| {
                let mut tests = rates.by_clients(operation).into_iter();
                let same = tests.rfind(|own| own.clients == test.clients);
                let many = same.map_or_else(Vec::new, |same| rates.rate(arm, operation, same));
                geometric_mean(&ratios(&many, &one), MISSING)
            }));
            table.row(row);
        }
    }
    if several.is_empty() {
        table.rows.clear();
    }
    table
}

fn with_and_without(rates: &Rates<'_>) -> Table {
    let columns = [
        ("implementation", ""),
        ("operation", ""),
        ("clients", ""),
        ("with index", "1/s"),
        ("without", "1/s"),
        ("with / without", ""),
    ];
    let mut table = Table::new("index", "With and without an index", &columns);
    table.keys = 3;
    for (with, without) in rates.pairs() {
        for operation in Operation::ALL {
            let tests = [
                rates.single_client(operation),
                rates.multi_client(operation),
            ];
            for test in tests.into_iter().flatten() {
                let [one, other] = [with, without].map(|arm| rates.rate(arm, operation, test));
                table.row(vec![
                    Cell::text(&with.label),
                    Cell::text(operation.name()),
                    Cell::Count(test.clients),
                    geometric_mean(&one, MISSING),
                    geometric_mean(&other, MISSING),
                    geometric_mean(&ratios(&one, &other), MISSING),
                ]);
            }
        }
    }
    table.note("Without an index a read passes over all that is stored: the ratio grows with the number of readings.");
    table
}

type Percentile = fn(&LatencySummary) -> Option<f64>;

fn latencies(rates: &Rates<'_>) -> Table {
    let median: Percentile = |summary| Some(summary.p50_ns? as f64);
    let p99: Percentile = |summary| Some(summary.p99_ns? as f64);
    let greatest: Percentile = |summary| Some(summary.max_ns as f64);
    let columns = [
        ("implementation", ""),
        ("operation", ""),
        ("clients", ""),
        ("median", "ms"),
        ("p99", "ms"),
        ("max", "ms"),
    ];
    let mut table = Table::new("operation_latency", "Latency of an operation", &columns);
    table.keys = 3;
    for arm in rates.believed() {
        for operation in Operation::ALL {
            let tests = [
                rates.single_client(operation),
                rates.multi_client(operation),
            ];
            for test in tests.into_iter().flatten() {
                let cell = |percentile: Percentile| {
                    let of_trial = |trial: &_| {
                        let load = load(trial, operation, test)?;
                        let class = load.classes.values().next()?;
                        Some(percentile(&class.latency.summary)? / 1e6)
                    };
                    let values = rates.field.figures(arm, of_trial);
                    geometric_mean(&values, "fewer than 10 samples beyond it")
                };
                table.row(vec![
                    Cell::text(&arm.label),
                    Cell::text(operation.name()),
                    Cell::Count(test.clients),
                    cell(median),
                    cell(p99),
                    cell(greatest),
                ]);
            }
        }
    }
    let readings = |operation| {
        let test = rates.single_client(operation)?;
        rates.field.trials.iter().find_map(|trial| {
            let load = load(trial, operation, test)?;
            (load.planned > 0).then(|| test.size as f64 / load.planned as f64)
        })
    };
    if let Some(readings) = readings(Operation::MultiWrite) {
        table.note(format!(
            "Closed loop: service time. A multi operation is one statement of {} readings.",
            fixed(readings, 0)
        ));
    }
    table
}
