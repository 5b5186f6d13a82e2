//! The claims of the sensor-operations study, judged by what was measured here.

use super::rates::{Rates, Test, ratios};
use crate::published::SensorOperations;
use crate::report::claims::{Claim, is_less, mean, shown, table};
use crate::report::field::Arm;
use crate::report::number::{cell_text, significant};
use crate::report::tables::{Cell, Section};
use crate::workload::sensor_operations::Operation;

/// Databases that the study ran with and without an index.
const WITH_AND_WITHOUT: [&str; 2] = ["MongoDB", "PostgreSQL"];
/// An order of magnitude.
const MAGNITUDE: f64 = 10.0;
/// The study says what an index does to reads "especially for large data structures", of up to 1,000,000 readings: with fewer than this it is not refuted.
const LARGE: u64 = 100_000;
/// Writes differ "hardly" where one rate is no more than this many times the other.
const HARDLY: f64 = 1.25;

/// The section.
pub fn section(rates: &Rates<'_>, study: &SensorOperations) -> Section {
    let mut section = Section::new("claims", "The study's claims");
    let titles = titles(study);
    if titles
        .iter()
        .all(|title| rates.counterpart(title, Operation::SingleWrite).is_none())
    {
        section.paragraph(
            "No database of the study has a valid trial here, so none of its claims can be judged.",
        );
        return section;
    }
    let claims = [
        index_changes_reads(rates),
        index_hardly_changes_writes(rates),
        best(
            rates,
            &titles,
            "MongoDB is the best at single writes",
            "MongoDB",
            Operation::SingleWrite,
        ),
        best(
            rates,
            &titles,
            "PostgreSQL is the best at multi reads",
            "PostgreSQL",
            Operation::MultiRead,
        ),
        best(
            rates,
            &titles,
            "Cassandra is the best at multi writes",
            "Cassandra",
            Operation::MultiWrite,
        ),
        gains_steadily(rates),
        does_not_gain(rates),
        virtual_costs(rates),
    ];
    section.table(table(rates.field, &claims));
    section
}

/// The study's databases.
fn titles(study: &SensorOperations) -> Vec<&str> {
    let mut titles: Vec<&str> = study
        .operations_per_second
        .iter()
        .map(|row| row.store.as_str())
        .collect();
    titles.dedup();
    titles
}

/// The figures times a factor.
fn times(values: &[Option<f64>], factor: f64) -> Vec<Option<f64>> {
    values
        .iter()
        .map(|value| Some((*value)? * factor))
        .collect()
}

/// A ratio for a sentence: "× 12.3".
fn factor(of: &[Option<f64>], to: &[Option<f64>]) -> String {
    mean(&ratios(of, to)).map_or_else(
        || "–".to_owned(),
        |ratio| format!("× {}", significant(ratio, 3)),
    )
}

fn index_changes_reads(rates: &Rates<'_>) -> Claim {
    let mut claim =
        Claim::new("an index changes reads by orders of magnitude (here: tenfold or more)");
    let operations = [Operation::SingleRead, Operation::MultiRead];
    with_and_without(rates, &mut claim, operations, |with, without, size| {
        // Ten times as fast, it would still be slower than with an index.
        let holds = is_less(&times(without, MAGNITUDE), with);
        holds.filter(|holds| *holds || size >= LARGE)
    });
    claim
}

fn index_hardly_changes_writes(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new("an index hardly changes writes (here: by a quarter or less)");
    let operations = [Operation::SingleWrite, Operation::MultiWrite];
    with_and_without(rates, &mut claim, operations, |with, without, _| {
        is_less(without, &times(with, HARDLY))
    });
    claim
}

/// Judges rates with an index and without one, of a test of so many readings.
type Judge = fn(&[Option<f64>], &[Option<f64>], u64) -> Option<bool>;

/// One client's rates of these operations with and without an index, of the study's databases; of others as an aside.
fn with_and_without(
    rates: &Rates<'_>,
    claim: &mut Claim,
    operations: [Operation; 2],
    holds: Judge,
) {
    let pairs = rates.pairs();
    for title in WITH_AND_WITHOUT {
        let is_own = |pair: &(&Arm, &Arm)| pair.0.implementation.title == title;
        if !pairs.iter().any(is_own) {
            claim.missing(&format!("{title} with and without an index"));
        }
    }
    let mut others = Vec::new();
    for (with, without) in pairs {
        for operation in operations {
            let Some(test) = rates.single_client(operation) else {
                continue;
            };
            let [one, other] = [with, without].map(|arm| rates.rate(arm, operation, test));
            let title = &with.implementation.title;
            let ratio = factor(&one, &other);
            let words = format!(
                "{title} {} {ratio} of {} readings",
                operation.name(),
                cell_text(&Cell::Count(test.size))
            );
            if !WITH_AND_WITHOUT.contains(&title.as_str()) {
                others.push(words);
                continue;
            }
            let held = holds(&one, &other, test.size);
            let few = held.is_none() && test.size < LARGE && !operation.writes();
            let why = if few { ", too few to refute it" } else { "" };
            claim.part(held, format!("{words}{why}"));
        }
    }
    if !others.is_empty() {
        claim.aside(format!("not in the study: {}", others.join(", ")));
    }
}

/// Whether a database has the highest rate of an operation among the study's, with one client and with most.
fn best(
    rates: &Rates<'_>,
    titles: &[&str],
    text: &'static str,
    title: &str,
    operation: Operation,
) -> Claim {
    let mut claim = Claim::new(text);
    let own = rates.counterpart(title, operation);
    if own.is_none() {
        claim.missing(title);
    }
    for other in titles.iter().filter(|other| **other != title) {
        let (Some(own), Some(theirs)) = (own, rates.counterpart(other, operation)) else {
            if rates.counterpart(other, operation).is_none() {
                claim.missing(other);
            }
            continue;
        };
        let tests = [
            rates.single_client(operation),
            rates.multi_client(operation),
        ];
        for test in tests.into_iter().flatten() {
            let [mine, theirs] = [own, theirs].map(|arm| rates.rate(arm, operation, test));
            claim.part(
                is_less(&theirs, &mine),
                format!(
                    "{} against {} a second of {other} with {}",
                    shown(&mine),
                    shown(&theirs),
                    super::rates::clients(test)
                ),
            );
        }
    }
    claim
}

fn gains_steadily(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new("PostgreSQL gains steadily as clients are added");
    for operation in Operation::ALL {
        let tests = rates.by_clients(operation);
        let Some(arm) = rates.counterpart("PostgreSQL", operation) else {
            claim.missing("PostgreSQL");
            return claim;
        };
        if tests.len() < 2 {
            claim.missing("several clients");
            return claim;
        }
        let of = |test: &Test| rates.rate(arm, operation, *test);
        let steps = tests
            .windows(2)
            .map(|pair| is_less(&of(&pair[0]), &of(&pair[1])));
        let rates_shown: Vec<String> = tests
            .iter()
            .map(|test| format!("{} with {}", shown(&of(test)), test.clients))
            .collect();
        claim.part(
            all(steps),
            format!("{}: {}", operation.name(), rates_shown.join(", ")),
        );
    }
    claim
}

/// Whether all hold: refuted by one, undecided where one is.
fn all(steps: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let order = |step: &Option<bool>| match step {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    };
    steps
        .min_by(|one, other| order(one).cmp(&order(other)))
        .unwrap_or(None)
}

fn does_not_gain(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new("MongoDB's writes do not gain as clients are added");
    for operation in [Operation::SingleWrite, Operation::MultiWrite] {
        let Some(arm) = rates.counterpart("MongoDB", operation) else {
            claim.missing("MongoDB");
            return claim;
        };
        let (Some(one), Some(most)) = (
            rates.single_client(operation),
            rates.multi_client(operation),
        ) else {
            claim.missing("several clients");
            return claim;
        };
        let [few, many] = [one, most].map(|test| rates.rate(arm, operation, test));
        claim.part(
            is_less(&few, &many).map(|gains| !gains),
            format!(
                "{}: {} with 1, {} with {}",
                operation.name(),
                shown(&few),
                shown(&many),
                most.clients
            ),
        );
    }
    claim
}

fn virtual_costs(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new(
        "a virtual machine costs up to 16× on reads (Cassandra, single) and sometimes gains",
    );
    let environment = crate::report::sections::surroundings::inventory(rates.field);
    let (here, other) = match environment.is_some_and(|environment| environment.is_virtual()) {
        true => ("virtual", "a physical machine"),
        false => ("physical", "a virtual machine"),
    };
    claim.missing(&format!("the other environment, {other}"));
    claim.aside(format!("this one is {here}"));
    claim
}
