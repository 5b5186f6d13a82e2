//! What a study's file cannot say: a few words, tables, drawings and judges, by their names.

use super::{
    ingest_rate,
    scope::{IMPLEMENTATION, Scope, place},
    select::Loads,
};
use crate::{
    claims::{mean, shown},
    prelude::*,
    sections::surroundings::inventory,
};
use sensormark_workload::devops::{Parameters, questions::QuestionKind};

/// Bytes of a raw sample of the machine tool: five channels of two bytes, and its time of twelve.
const RAW_BYTES: f64 = 22.0;

/// What a name in braces means here: `cut LOADS`, `why LOADS` (there is no figure) and `is CONDITION` of the row's implementation, `if CONDITION`, and words
/// of single workloads.
pub fn word(scope: &Scope<'_>, name: &str) -> Option<String> {
    let (function, rest) = name.split_once(' ').unwrap_or((name, ""));
    let arm = || scope.subject(IMPLEMENTATION);
    match function {
        "cut" => Loads::parse(rest).cut(scope.results, arm()?),
        "why" => Some(Loads::parse(rest).why_missing(scope.results, arm()?)),
        "is" => place(arm()?, rest).map(|_| String::new()),
        "if" => scope.holds(rest).then(String::new),
        "id" => Some(rest.to_lowercase().replace('/', "").replace(' ', "_")),
        "as-study" => scope.results.field.run.as_study.then(String::new),
        "measured" => Some(measured(scope)),
        "raw-rate" => {
            let samples = criteria::samples_per_second(&scope.results.field.run).unwrap_or(1_000.0);
            Some((samples * RAW_BYTES / 1e3).to_string())
        }
        "shown" => Some(shown(&scope.values(rest, arm()))),
        "total" => Some(scope.values(rest, arm()).iter().flatten().sum::<f64>().to_string()),
        "count" => mean(&scope.values(rest, arm())).map(|value| fixed(value, 0)),
        "capital" => rest.split_at_checked(1).map(|(first, rest)| first.to_uppercase() + rest),
        // Physical too where the run recorded no inventory of it.
        "machine" => {
            let is_virtual = inventory(scope.results.field).is_some_and(|own| own.is_virtual());
            Some(if is_virtual { "virtual" } else { "physical" }.to_owned())
        }
        "surroundings" => Some(surroundings(scope)),
        "value" => mean(&scope.values(rest, arm())).map(|value| significant(value, 3)),
        "all-cut" => all(scope, rest, |arm, one, loads| {
            Some(format!("{} ({one})", arm.label)).filter(|_| loads.cut(scope.results, arm).is_some())
        }),
        "in-client" => all(scope, rest, |arm, _, loads| {
            let mut trials = scope.results.field.valid_of(arm);
            let is_own = trials.any(|trial| loads.finished(trial).any(|load| load.client_side.is_some()));
            is_own.then(|| arm.label.clone())
        }),
        "best" => scope.subject(name).map(|arm| arm.label.clone()),
        "question" => question(scope, rest),
        _ => None,
    }
}

/// For how long we measured.
fn measured(scope: &Scope<'_>) -> String {
    let mut measured = scope.results.field.trials.iter().filter_map(criteria::measured);
    measured.next().map_or_else(String::new, |phase| format!(", we for {} s", fixed(phase.seconds, 0)))
}

/// What kind of machine this is.
fn surroundings(scope: &Scope<'_>) -> String {
    match inventory(scope.results.field) {
        None => "unknown: the run recorded no inventory of its machine".to_owned(),
        Some(environment) => match &environment.hypervisor {
            Some(name) => format!("a virtual machine ({name}), client and server on one"),
            None => "a physical machine, as far as it shows, client and server on one".to_owned(),
        },
    }
}

/// What is said of implementations and loads (`LOADS, LOADS`), in one phrase; none where nothing is.
fn all(scope: &Scope<'_>, of: &str, say: impl Fn(&Arm, &str, Loads) -> Option<String>) -> Option<String> {
    let arms = scope.arms();
    let told = arms.flat_map(|arm| {
        of.split(", ").filter_map(|one| say(arm, one, Loads::parse(one))).collect::<Vec<_>>()
    });
    let mut told: Vec<String> = told.collect();
    told.dedup();
    (!told.is_empty()).then(|| listed(&told))
}

/// A question of the workload devops in words.
fn question(scope: &Scope<'_>, name: &str) -> Option<String> {
    let parameters: Parameters = serde_json::from_value(scope.results.field.run.parameters.clone()).ok()?;
    let kind = QuestionKind::ALL.into_iter().find(|kind| kind.name() == name)?;
    Some(kind.words(&parameters))
}

/// The cell of a column that is no figure over repetitions; none of others.
pub fn cell(scope: &Scope<'_>, definition: &str) -> Option<Cell> {
    let (range, figure) = definition.strip_prefix("exponent ")?.split_once(' ')?;
    Some(exponent(scope, range, figure))
}

/// How a figure grows with a range: the exponent e of figure ~ range^e between the least and the most of which it is known.
fn exponent(scope: &Scope<'_>, range: &str, figure: &str) -> Cell {
    let known = scope.range(range).into_iter().filter_map(|at| {
        let scope = scope.with(range, at.clone());
        let values = scope.values(&scope.quantity(figure).expression, scope.subject(IMPLEMENTATION));
        Some((at.as_f64()?, mean(&values)?))
    });
    match known.collect::<Vec<_>>()[..] {
        [first, .., last] if first.1 > 0.0 => {
            let value = (last.1 / first.1).ln() / (last.0 / first.0).ln();
            Cell::Number(Number { value, spread: Spread::None, digits: Digits::Decimals(2) })
        }
        _ => Cell::missing("one span alone"),
    }
}

/// The drawing of a function; none where it names none.
pub fn drawing(scope: &Scope<'_>, function: &str) -> Option<Table> {
    (function == "ingest_rate").then(|| ingest_rate::drawn(scope.results.field))
}
