//! The implementations of one run, each against the one that leads its ranking. They took turns, so their figures are paired by repetition: what a repetition
//! does to all of them alike is taken out. No room is left for runs that vary, because there is one.

use super::{
    error::CompareError,
    figures::{Figure, figures, name},
    origin::origin,
    pairs::{Pair, decide},
    tables,
};
use crate::prelude::*;

/// The implementation that the others are held against.
pub struct Leader {
    label: String,
    /// Whether it leads a ranking; else it was measured first.
    is_ranked: bool,
}

/// Who leads, and every figure of the others that it has, too: the leader's is the first of a pair.
///
/// # Errors
/// No valid trial, or there is nobody else.
pub fn pairs(field: &Field) -> Result<(Leader, Vec<Pair>), CompareError> {
    let first = Ranking::new(field, &ReportOptions::default()).ranked.first().map(|one| one.read);
    let contestants = field.contestants();
    let leader = match first {
        Some(read) => contestants.get(read),
        None => field.believed(contestants).next(),
    };
    let leader = leader.ok_or(CompareError::NothingValid)?;
    let written = field.write_of(leader);
    let leads = |side: &str| {
        let arm = if side == "write" { written? } else { leader };
        Some(name(side, arm))
    };
    let sides: BTreeMap<String, Option<String>> =
        field.all().map(|(side, arm)| (name(side, arm), leads(side))).collect();
    let all = figures(field);
    let found = all.iter().filter_map(|second| {
        let leads = sides.get(&second.implementation)?.as_ref();
        let leads = leads.filter(|leads| **leads != second.implementation)?;
        pair(field, all.iter().find(|one| one.implementation == *leads && one.name == second.name)?, second)
    });
    let mut found = found.collect_vec();
    if found.is_empty() {
        return Err(CompareError::NobodyElse(leader.label.clone()));
    }
    decide(&mut found);
    let leader = Leader { label: leader.label.clone(), is_ranked: first.is_some() };
    Ok((leader, found))
}

/// None for what a server uses, where only one of both was started here: the other's share of the machine was measured in another way.
fn pair(field: &Field, first: &Figure, second: &Figure) -> Option<Pair> {
    let is_visited = |figure: &Figure| {
        let origin = origin(field, &figure.implementation);
        origin.is_some_and(|origin| !origin.managed)
    };
    if first.of_server && is_visited(first) != is_visited(second) {
        return None;
    }
    let figure = Figure {
        implementation: second.implementation.clone(),
        disturbed: first.disturbed || second.disturbed,
        ..first.clone()
    };
    Some(Pair::new(figure, second.values.clone(), tested(first, second)))
}

/// The second's ratio to the first, over the repetitions that both have.
fn tested(first: &Figure, second: &Figure) -> Option<RatioTest> {
    let of = |figure: &Figure| -> Vec<Known> {
        first.repetitions.iter().map(|one| figure.in_repetition(*one)).collect()
    };
    Some(compare(&of(second), &of(first)).ok()?.as_ratio_test())
}

/// What the comparison says.
pub fn document(field: &Field, leader: &Leader, pairs: &[Pair]) -> Document {
    let name = &leader.label;
    let title = format!("sensormark: {}, {}: the others against {name}", field.run.workload, field.run.name);
    let asked = format!("of both ({} asked for)", field.run.repetitions);
    let mut answer = tables::answer(pairs, "", &asked);
    let place = if leader.is_ranked { "leads the ranking" } else { "was measured first; nobody is ranked" };
    answer.paragraph(format!(
        "Each figure of another implementation (\"second\") is held against that of {name} (\"first\"), which {place}."
    ));
    let interval = "the ratio's interval is of a t-test on logarithms, paired by repetition, because the implementations took turns";
    tables::document_of(title, answer, &[("The run", field)], None, pairs, interval)
}
