//! The claims of the sensor-operations study, judged by what was measured here.

use super::published::of_study;
use super::rates::{Rates, Test, clients};
use crate::published::{Clients, Environment, SensorOperations};
use crate::report::claims::{
    Claim, Sample, Values, is_less, is_level, mean, ratios, shown, table, times,
};
use crate::report::field::Arm;
use crate::report::number::{cell_text, significant};
use crate::report::sections::surroundings::inventory;
use crate::report::tables::{Cell, Section};
use crate::workload::sensor_operations::Operation;

/// Databases that the study ran with and without an index.
const WITH_AND_WITHOUT: [&str; 2] = ["MongoDB", "PostgreSQL"];
/// An order of magnitude.
const MAGNITUDE: f64 = 10.0;
/// The study says what an index does to reads "especially for large data structures", of up to 1,000,000 readings: with fewer than this it is not refuted.
const LARGE: u64 = 100_000;
/// Writes differ "hardly" where one rate is no more than this many times the other, and more clients gain nothing where it is no more than that either.
const HARDLY: f64 = 1.25;
/// What differs by less than this part stays the same.
const LEVEL: f64 = 0.2;
/// Clients with which the study's Cassandra was the fastest.
const PEAK: u64 = 12;

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
        best(rates, study, Operation::SingleWrite),
        best(rates, study, Operation::MultiRead),
        best(rates, study, Operation::MultiWrite),
        gains_steadily(rates),
        does_not_gain(
            rates,
            "MongoDB's writes do not gain as clients are added",
            "MongoDB",
            &[Operation::SingleWrite, Operation::MultiWrite],
        ),
        does_not_gain(
            rates,
            "Cassandra's multi writes do not gain as clients are added",
            "Cassandra",
            &[Operation::MultiWrite],
        ),
        peaks(rates),
        stays_level(rates),
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

/// A ratio for a sentence: "× 12.3".
fn factor(of: &[Option<f64>], to: &[Option<f64>]) -> String {
    mean(&ratios(of, to)).map_or_else(
        || "–".to_owned(),
        |ratio| format!("× {}", significant(ratio, 3)),
    )
}

fn index_changes_reads(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new(
        "an index changes reads by orders of magnitude (here: tenfold or more)",
        format!("{MAGNITUDE} times or more; with under {LARGE} readings less is undecided"),
    );
    let operations = [Operation::SingleRead, Operation::MultiRead];
    with_and_without(rates, &mut claim, operations, |with, without, size| {
        // Ten times as fast, it would still be slower than with an index.
        let holds = is_less(&times(without, MAGNITUDE), with);
        holds.filter(|holds| *holds || size >= LARGE)
    });
    claim
}

fn index_hardly_changes_writes(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new(
        "an index hardly changes writes (here: by a quarter or less)",
        format!("without an index {HARDLY} times as fast or less"),
    );
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
                "{} to {} {} {ratio} of {} readings",
                with.label,
                without.label,
                operation.name(),
                cell_text(&Cell::Count(test.size))
            );
            if !WITH_AND_WITHOUT.contains(&title.as_str()) {
                others.push(words);
                continue;
            }
            claim.about(with);
            claim.about(without);
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

/// The study's column that is like this machine; the physical one where the run recorded no inventory.
fn environment(rates: &Rates<'_>) -> Environment {
    match inventory(rates.field) {
        Some(environment) if environment.is_virtual() => Environment::Virtual,
        _ => Environment::Physical,
    }
}

/// The study's database with the highest rate of an operation in one column.
fn leader(
    study: &SensorOperations,
    environment: Environment,
    operation: Operation,
    rate: fn(Clients) -> f64,
) -> Option<&str> {
    let rows = study.operations_per_second.iter();
    let column = rows.filter(|row| row.environment == environment);
    let best = column.max_by(|one, other| {
        rate(of_study(one, operation)).total_cmp(&rate(of_study(other, operation)))
    });
    best.map(|row| row.store.as_str())
}

/// Whether the database that is the best at an operation in the study, on a machine like this one, has the highest rate among the study's here too: with one client and
/// with most.
fn best(rates: &Rates<'_>, study: &SensorOperations, operation: Operation) -> Claim {
    let environment = environment(rates);
    let of =
        |rate: fn(Clients) -> f64| leader(study, environment, operation, rate).unwrap_or_default();
    let (one, several) = (
        of(|rates| rates.single_client),
        of(|rates| rates.multi_client),
    );
    let column = match environment {
        Environment::Physical => "physical",
        Environment::Virtual => "virtual",
    };
    let who = if one == several {
        format!("{one} is the best at {}s", operation.name())
    } else {
        format!(
            "{one} is the best at {}s by one client, {several} by several",
            operation.name()
        )
    };
    let mut claim = Claim::new(
        format!("{who} (the study's {column} column)"),
        "a higher rate than each other of the study's",
    );
    let tests = [
        (one, rates.single_client(operation)),
        (several, rates.multi_client(operation)),
    ];
    for (title, test) in tests {
        beats(rates, &mut claim, (study, title), operation, test);
    }
    claim
}

/// Adds whether a database is faster than the study's others in a test.
fn beats(
    rates: &Rates<'_>,
    claim: &mut Claim,
    (study, title): (&SensorOperations, &str),
    operation: Operation,
    test: Option<Test>,
) {
    for title in titles(study) {
        if rates.counterpart(title, operation).is_none() {
            claim.missing(title);
        }
    }
    let (Some(test), Some(own)) = (test, rates.counterpart(title, operation)) else {
        return;
    };
    let sample = |arm| Sample::new(arm, rates.rate(arm, operation, test));
    let unit = format!("a second by {}", clients(test));
    for other in titles(study).into_iter().filter(|other| *other != title) {
        if let Some(other) = rates.counterpart(other, operation) {
            claim.over(&sample(own), 1.0, &sample(other), &unit);
        }
    }
}

fn gains_steadily(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new(
        "PostgreSQL gains steadily as clients are added",
        "more at each step, in all operations",
    );
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
        claim.about(arm);
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
            format!(
                "{}, {}: {}",
                arm.label,
                operation.name(),
                rates_shown.join(", ")
            ),
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

/// Rates of a database's operation by one client and by most; nothing where they are missing, which is noted.
fn few_and_many(
    rates: &Rates<'_>,
    claim: &mut Claim,
    title: &str,
    operation: Operation,
) -> Option<(Values, Values, String)> {
    let Some(arm) = rates.counterpart(title, operation) else {
        claim.missing(title);
        return None;
    };
    let (Some(one), Some(most)) = (
        rates.single_client(operation),
        rates.multi_client(operation),
    ) else {
        claim.missing("several clients");
        return None;
    };
    claim.about(arm);
    let [few, many] = [one, most].map(|test| rates.rate(arm, operation, test));
    let text = format!(
        "{}, {}: {} with 1, {} with {}",
        arm.label,
        operation.name(),
        shown(&few),
        shown(&many),
        most.clients
    );
    Some((few, many, text))
}

fn does_not_gain(rates: &Rates<'_>, text: &str, title: &str, operations: &[Operation]) -> Claim {
    let mut claim = Claim::new(text, format!("by most clients {HARDLY} times or less"));
    for operation in operations {
        if let Some((few, many, text)) = few_and_many(rates, &mut claim, title, *operation) {
            claim.part(is_less(&many, &times(&few, HARDLY)), text);
        }
    }
    claim
}

fn stays_level(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new(
        "MongoDB's multi reads stay the same as clients are added",
        format!("{} to {} times", 1.0 - LEVEL, 1.0 / (1.0 - LEVEL)),
    );
    if let Some((few, many, text)) =
        few_and_many(rates, &mut claim, "MongoDB", Operation::MultiRead)
    {
        claim.part(is_level(&many, &few, LEVEL), text);
    }
    claim
}

fn peaks(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new(
        "Cassandra's single operations peak at 12 clients",
        "by 12 clients more than by one and by most",
    );
    for operation in [Operation::SingleWrite, Operation::SingleRead] {
        let tests = rates.by_clients(operation);
        let peak = tests.iter().find(|test| test.clients == PEAK);
        let (Some(first), Some(peak), Some(last)) = (tests.first(), peak, tests.last()) else {
            claim.missing("12 clients (--set clients=1,12,16)");
            return claim;
        };
        if first.clients >= PEAK || last.clients <= PEAK {
            claim.missing("fewer clients than 12, and more (--set clients=1,12,16)");
            return claim;
        }
        let Some(arm) = rates.counterpart("Cassandra", operation) else {
            claim.missing("Cassandra");
            return claim;
        };
        claim.about(arm);
        let [one, peak, most] = [first, peak, last].map(|test| rates.rate(arm, operation, *test));
        claim.part(
            all([is_less(&one, &peak), is_less(&most, &peak)].into_iter()),
            format!(
                "{}, {}: {} with {}, {} with {PEAK}, {} with {}",
                arm.label,
                operation.name(),
                shown(&one),
                first.clients,
                shown(&peak),
                shown(&most),
                last.clients
            ),
        );
    }
    claim
}

fn virtual_costs(rates: &Rates<'_>) -> Claim {
    let mut claim = Claim::new(
        "a virtual machine costs up to 16× on reads (Cassandra, single) and sometimes gains",
        "see `sensormark compare PHYSICAL VIRTUAL`, which judges it by a run on each",
    );
    let environment = inventory(rates.field);
    let (here, other) = match environment.is_some_and(|environment| environment.is_virtual()) {
        true => ("virtual", "a physical machine"),
        false => ("physical", "a virtual machine"),
    };
    claim.missing(&format!("the other environment, {other}"));
    claim.aside(format!("this one is {here}"));
    claim
}
