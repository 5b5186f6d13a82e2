//! What the study compares, drawn again: ingest over workers, disk, its question, questions over clients, and growth.

use super::facts::{Facts, bytes_a_value, mean_ns};
use crate::published::DevOpsResult;
use crate::report::field::Arm;
use crate::report::redrawn::{self, Figure};
use crate::report::sections::cells::{geometric_mean, mean};
use crate::report::tables::{Cell, Section};
use crate::workload::devops::questions::Kind;

const NOT_MEASURED: &str = "not measured";

/// The section.
pub fn section(facts: &Facts<'_>) -> Section {
    let study = crate::published::devops();
    redrawn::section(vec![
        ingest(facts, &study.result, study.load_workers),
        disk(facts, &study.result),
        question(facts, &study.result),
        questions(facts),
        clients(facts, &study.result),
    ])
}

fn at(number: u32) -> Cell {
    Cell::Count(number.into())
}

fn ingest(facts: &Facts<'_>, results: &[DevOpsResult], workers: u32) -> Figure {
    let (x, y) = (("workers", ""), ("ingest", "values/s"));
    let mut figure = Figure::lines("ingest", "Ingest over workers", x, y);
    for arm in facts.arms() {
        for &workers in &facts.parameters.workers {
            let rate = geometric_mean(&facts.ingest(arm, workers), NOT_MEASURED);
            figure.here(&arm.label, at(workers), rate);
        }
    }
    for row in results {
        figure.published(&row.store, "", at(workers), row.ingest_values_per_second);
    }
    figure
}

/// The study's figures, each beside what stands for its database.
fn printed<'a>(
    facts: &Facts<'a>,
    results: &'a [DevOpsResult],
    get: fn(&DevOpsResult) -> f64,
) -> impl Iterator<Item = (&'a str, Option<&'a Arm>, f64)> {
    let of_row = move |row: &'a DevOpsResult| {
        let name = row.store.as_str();
        (name, facts.counterpart(name), get(row))
    };
    results.iter().map(of_row).collect::<Vec<_>>().into_iter()
}

fn disk(facts: &Facts<'_>, results: &[DevOpsResult]) -> Figure {
    let figure = Figure::bars(
        "disk",
        "Disk for a value, at rest",
        ("disk", "bytes a value"),
    );
    let here = |arm: &Arm| mean(&facts.settled(arm, None, bytes_a_value), NOT_MEASURED);
    figure.beside(
        facts.arms(),
        here,
        printed(facts, results, |row| row.disk_bytes_per_value),
    )
}

fn question(facts: &Facts<'_>, results: &[DevOpsResult]) -> Figure {
    let kind = Kind::MaximumShort;
    let first = facts.clients().0;
    let figure = Figure::bars(
        "question",
        "The study's question: mean time",
        ("mean", "ms"),
    );
    let here = |arm: &Arm| geometric_mean(&facts.latency(arm, kind, first, mean_ns), NOT_MEASURED);
    figure
        .beside(
            facts.arms(),
            here,
            printed(facts, results, |row| row.query_mean_ms),
        )
        .note(&format!("{}.", kind.words(&facts.parameters)))
}

fn questions(facts: &Facts<'_>) -> Figure {
    let first = facts.clients().0;
    let mut figure = Figure::groups(
        "questions",
        "All questions: mean time",
        "question",
        ("mean", "ms"),
    );
    for kind in Kind::ALL {
        for arm in facts.arms() {
            let time = geometric_mean(&facts.latency(arm, kind, first, mean_ns), NOT_MEASURED);
            figure.here(&arm.label, Cell::text(kind.name()), time);
        }
    }
    figure.note("The study asked the one question alone.")
}

fn clients(facts: &Facts<'_>, results: &[DevOpsResult]) -> Figure {
    let (x, y) = (("clients", ""), ("questions", "1/s"));
    let mut figure = Figure::lines("clients", "The study's question over clients", x, y);
    for arm in facts.arms() {
        for &clients in &facts.parameters.clients {
            let rate = facts.asked(arm, Kind::MaximumShort, clients);
            figure.here(&arm.label, at(clients), geometric_mean(&rate, NOT_MEASURED));
        }
    }
    for row in results {
        figure.published(&row.store, "", at(1), row.query_per_second);
    }
    figure.note("The study's rate is that of one client: it is one by its mean time.")
}
