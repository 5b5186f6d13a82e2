//! The claims of the sensor-operations study, judged by what was measured here.

use super::rates::{Rates, Test, ratios};
use crate::published::SensorOperations;
use crate::report::claims::{Claim, is_less, mean, shown, table};
use crate::report::number::significant;
use crate::report::tables::Section;
use crate::workload::sensor_operations::Operation;

/// Databases that the study ran with and without an index.
const WITH_AND_WITHOUT: [&str; 2] = ["MongoDB", "PostgreSQL"];
/// An order of magnitude.
const MAGNITUDE: f64 = 10.0;
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
    with_and_without(
        rates,
        &mut claim,
        [Operation::SingleRead, Operation::MultiRead],
        |with, without| {
            // Without, ten times as fast would still be slower than with.
            is_less(&times(without, MAGNITUDE), with)
        },
    );
    claim
}

fn index_hardly_changes_writes(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new("an index hardly changes writes (here: by a quarter or less)");
    with_and_without(
        rates,
        &mut claim,
        [Operation::SingleWrite, Operation::MultiWrite],
        |with, without| is_less(without, &times(with, HARDLY)),
    );
    claim
}

type Judge = fn(&[Option<f64>], &[Option<f64>]) -> Option<bool>;

/// One client's rates of these operations with and without an index, of the study's databases; of others as an aside.
fn with_and_without(
    rates: &Rates<'_>,
    claim: &mut Claim,
    operations: [Operation; 2],
    holds: Judge,
) {
    let pairs = rates.pairs();
    for title in WITH_AND_WITHOUT {
        if !pairs
            .iter()
            .any(|(with, _)| with.implementation.title == title)
        {
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
            let words = format!(
                "{title} {}s {} with it",
                operation.name(),
                factor(&one, &other)
            );
            if WITH_AND_WITHOUT.contains(&title.as_str()) {
                claim.part(holds(&one, &other), words);
            } else {
                others.push(words);
            }
        }
    }
    let size = rates
        .single_client(operations[0])
        .map_or(0, |test| test.size);
    others.insert(0, format!("of {size} readings by one client"));
    claim.aside(others.join("; "));
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
            claim.missing("more than one number of clients");
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
            claim.missing("more than one number of clients");
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
    claim.missing(other);
    claim.aside(format!(
        "this one is {here}; it takes a run on each to judge"
    ));
    claim
}
