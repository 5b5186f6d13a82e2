//! The study's figures, drawn again: reads with and without an index (its 3 and 4), operations over their number (5 to 8) and over clients
//! (9 to 12), and its tables IV and V, by environment, as bars.

use super::curves::{capital, id};
use super::published::of_study;
use super::rates::{Rates, Test, clients};
use crate::published::{Environment, SensorOperations};
use crate::report::field::Arm;
use crate::report::redrawn::{self, Figure};
use crate::report::sections::cells::geometric_mean;
use crate::report::tables::{Cell, Section};
use crate::workload::sensor_operations::Operation;

const NOT_MEASURED: &str = "not measured";
const OPERATIONS: (&str, &str) = ("operations", "1/s");

/// The section.
pub fn section(rates: &Rates<'_>, study: &SensorOperations) -> Section {
    let all = Operation::ALL;
    let mut figures: Vec<Figure> = all.map(|one| over_clients(rates, study, one)).into();
    figures.extend(all.map(|one| environments(rates, study, one)));
    figures.extend(all.map(|one| over_size(rates, one)));
    figures.extend(indexes(rates));
    redrawn::section(figures)
}

fn place(environment: Environment) -> &'static str {
    match environment {
        Environment::Physical => "physical",
        Environment::Virtual => "virtual",
    }
}

fn rate(rates: &Rates<'_>, arm: &Arm, operation: Operation, test: Test) -> Cell {
    geometric_mean(&rates.rate(arm, operation, test), NOT_MEASURED)
}

fn over_clients(rates: &Rates<'_>, study: &SensorOperations, operation: Operation) -> Figure {
    let title = format!("{} over clients", capital(operation));
    let name = id("over_clients", operation);
    let mut figure = Figure::lines(&name, &title, ("clients", ""), OPERATIONS);
    for arm in rates.believed() {
        for test in rates.by_clients(operation) {
            let rate = rate(rates, arm, operation, test);
            figure.here(&arm.label, Cell::Count(test.clients), rate);
        }
    }
    for row in &study.operations_per_second {
        let rate = of_study(row, operation).single_client;
        figure.published(&row.store, place(row.environment), Cell::Count(1), rate);
    }
    figure.note("Published: one client alone. The study's curves are not in its text, and its tables do not say how many \"multi client\" is.")
}

/// Bars of one client and of several: here, and the study's in both environments.
fn environments(rates: &Rates<'_>, study: &SensorOperations, operation: Operation) -> Figure {
    let title = format!(
        "{}: one client and several, by environment",
        capital(operation)
    );
    let name = id("environments", operation);
    let mut figure = Figure::groups(&name, &title, "clients", OPERATIONS);
    let tests = [
        rates.single_client(operation),
        rates.multi_client(operation),
    ];
    let several = ["one client", "several"];
    let mut titles: Vec<&str> = rates
        .believed()
        .map(|arm| arm.implementation.title.as_str())
        .collect();
    titles.sort_unstable();
    titles.dedup();
    for title in titles {
        let arm = rates.counterpart(title, operation);
        for (test, words) in tests.iter().zip(several) {
            if let (Some(arm), Some(test)) = (arm, test) {
                figure.here(title, Cell::text(words), rate(rates, arm, operation, *test));
            }
        }
    }
    for row in &study.operations_per_second {
        let printed = of_study(row, operation);
        let printed = [printed.single_client, printed.multi_client];
        for (rate, words) in printed.into_iter().zip(several) {
            figure.published(&row.store, place(row.environment), Cell::text(words), rate);
        }
    }
    match tests[1] {
        Some(most) => figure.note(&format!(
            "several: here {}; the study does not say how many.",
            clients(most)
        )),
        None => figure,
    }
}

fn over_size(rates: &Rates<'_>, operation: Operation) -> Figure {
    let title = format!(
        "{} over the number of readings, one client",
        capital(operation)
    );
    let name = id("over_size", operation);
    let mut figure = Figure::lines(&name, &title, ("readings", ""), OPERATIONS);
    let tests = rates.by_size(operation);
    for arm in rates.believed() {
        for &test in tests.iter().filter(|_| tests.len() > 1) {
            let rate = rate(rates, arm, operation, test);
            figure.here(&arm.label, Cell::Count(test.size), rate);
        }
    }
    figure.note("The study's curves are not in its text.")
}

/// Single reads with and without an index, for each database that was measured both ways.
fn indexes(rates: &Rates<'_>) -> Vec<Figure> {
    let operation = Operation::SingleRead;
    let mut figures = Vec::new();
    for (place, (with, without)) in rates.pairs().into_iter().enumerate() {
        let title = format!("Use of indexes: {} and without, single reads", with.label);
        let axis = ("readings", "");
        let mut figure = Figure::lines(&format!("index_{place}"), &title, axis, OPERATIONS);
        for arm in [with, without] {
            for test in rates.by_size(operation) {
                figure.here(
                    &arm.label,
                    Cell::Count(test.size),
                    rate(rates, arm, operation, test),
                );
            }
        }
        figures.push(figure.note("The study's curves are not in its text."));
    }
    figures
}
