//! The study's results, drawn again: ingest, ingest over rows stored, a bill's time over devices, and resources.

use super::counterparts::{Counterparts, GRIDDB, MARIADB};
use super::drawings::lines;
use super::figures::{believed, cpu_percent, ingest_rate, load_average, mean_ms, memory_mb};
use crate::measurement::record::TrialRecord;
use crate::published::{Load, Phase, Side};
use crate::report::redrawn::{self, Figure};
use crate::report::sections::cells::{geometric_mean, mean};
use crate::report::tables::{Cell, Section};
use crate::workload::billing::{EXTRACT, INGEST};

const NOT_MEASURED: &str = "not measured";
/// Points of a line; of longer ones every n-th is taken.
const MOST_POINTS: usize = 200;

/// The section.
pub fn section(counterparts: &Counterparts<'_>) -> Section {
    let mut figures = vec![
        ingest(counterparts),
        stored(counterparts),
        extract(counterparts),
    ];
    for (operation, phase) in [(INGEST, Phase::Ingest), (EXTRACT, Phase::Extract)] {
        figures.extend(RESOURCES.map(|one| resources(counterparts, operation, phase, one)));
    }
    redrawn::section(figures)
}

fn ingest(counterparts: &Counterparts<'_>) -> Figure {
    let field = counterparts.field;
    let printed = counterparts.study.ingest.iter().map(|row| {
        let name = row.store.as_str();
        (name, counterparts.of(name), row.operations_per_second)
    });
    let here = |arm: &_| {
        let rates = field.figures(arm, ingest_rate);
        geometric_mean(&rates, NOT_MEASURED)
    };
    Figure::bars("ingest", "Ingest", ("operations", "1/s")).beside(believed(field), here, printed)
}

fn stored(counterparts: &Counterparts<'_>) -> Figure {
    let (x, y) = (("rows stored", ""), ("operations", "1/s"));
    let mut figure = Figure::lines("ingest_rate", "Ingest rate over rows stored", x, y).even();
    for (name, points) in lines(counterparts.field) {
        let step = points.len().div_ceil(MOST_POINTS).max(1);
        for (rows, rate) in points.into_iter().step_by(step) {
            figure.here(&name, Cell::number(rows), Cell::number(rate));
        }
    }
    figure.note("A point a second, of the first valid trial; the study shows none.")
}

fn extract(counterparts: &Counterparts<'_>) -> Figure {
    let (x, y) = (("devices", ""), ("a bill", "ms"));
    let mut figure = Figure::lines("extract", "Mean time of a bill over devices", x, y);
    let field = counterparts.field;
    for arm in believed(field) {
        for &count in &counterparts.counts {
            let times = field.figures(arm, |trial| mean_ms(trial, EXTRACT, count));
            let time = geometric_mean(&times, NOT_MEASURED);
            figure.here(&arm.label, Cell::Count(count), time);
        }
    }
    for row in &counterparts.study.extract {
        for (name, time) in [(GRIDDB, row.griddb_ms), (MARIADB, row.mariadb_ms)] {
            figure.published(name, "", Cell::Count(row.devices.into()), time);
        }
    }
    figure
}

/// A resource: identifier, name, unit, ours by operation and role, and the study's.
type Resource = (
    &'static str,
    &'static str,
    &'static str,
    fn(&TrialRecord, &str, &str) -> Option<f64>,
    fn(&Load) -> f64,
);

const RESOURCES: [Resource; 3] = [
    (
        "load",
        "load average",
        "",
        |trial, operation, _| load_average(trial, operation),
        |load| load.load_average,
    ),
    ("cpu", "CPU", "% of all cores", cpu_percent, |load| {
        load.cpu_percent
    }),
    ("memory", "memory", "MB", memory_mb, |load| load.memory_mb),
];

fn resources(
    counterparts: &Counterparts<'_>,
    operation: &str,
    phase: Phase,
    (id, name, unit, here, published): Resource,
) -> Figure {
    let field = counterparts.field;
    let id = format!("{operation}_{id}");
    let mut figure = Figure::groups(
        &id,
        &format!("During {operation}: {name}"),
        "side",
        (name, unit),
    );
    let sides = [
        (Side::Server, "server", "server"),
        (Side::Client, "client", "trial"),
    ];
    for arm in believed(field) {
        for (_, side, role) in sides {
            let values = field.figures(arm, |trial| here(trial, operation, role));
            figure.here(&arm.label, Cell::text(side), mean(&values, NOT_MEASURED));
        }
    }
    for row in counterparts
        .study
        .resources
        .iter()
        .filter(|row| row.phase == phase)
    {
        let side = sides.iter().find(|(side, ..)| *side == row.side);
        let side = side.map_or("", |(_, name, _)| name);
        for (title, load) in [(GRIDDB, row.griddb), (MARIADB, row.mariadb)] {
            let label = counterparts
                .of(title)
                .map_or(title, |arm| arm.label.as_str());
            figure.published(label, "", Cell::text(side), published(&load));
        }
    }
    figure
}
