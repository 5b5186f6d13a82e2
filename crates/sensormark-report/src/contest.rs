//! Who competes, and by which yardstick: values of each repetition, taken from valid trials; and who cannot compete, with the reason.
//!
//! It gives no scores and no ranks: see [`super::ranking`].

use super::costs::{self, Comparable};
use super::criteria;
use super::field::{Arm, Field};
use super::keeping_up;
use super::options::ReportOptions;
use sensormark_result::measurement::record::{RunRecord, Side, TrialRecord};
use sensormark_result::score::{self, Criterion, Weights};
use std::collections::BTreeMap;

/// The sides that are scored, by the names of their weights.
const SIDES: [(Side, &str); 2] = [(Side::Write, "write"), (Side::Read, "read")];

/// Values by criterion, in its unit.
pub(super) type Values = BTreeMap<String, f64>;

/// A contestant's values by repetition, side by side.
pub(super) struct Contestant {
    /// Its place in [`Field::contestants`].
    pub(super) read: usize,
    /// Its name in tables.
    pub(super) label: String,
    /// Whether client and server are one process.
    pub(super) embedded: bool,
    /// By repetition and side; none where a trial is missing or not valid.
    pub(super) blocks: Vec<Option<Vec<Values>>>,
}

/// How values are taken from trials and weighed: costs a second of a steady rate, or costs of an operation.
pub(super) struct Yardstick<'a> {
    /// What phases everybody has, where trials go through phases.
    pub(super) comparable: Option<Comparable>,
    /// The sides that are scored, and the names of their weights.
    pub(super) sides: Vec<(Side, &'static str)>,
    /// What is weighed.
    pub(super) criteria: Vec<Criterion>,
    /// How much it counts.
    pub(super) weights: Weights,
    /// What the user asked for.
    pub(super) options: &'a ReportOptions,
}

impl<'a> Yardstick<'a> {
    /// The yardstick for a field.
    pub(super) fn of(field: &Field, options: &'a ReportOptions) -> Self {
        let comparable = field.has_phases().then(|| Comparable::of(field));
        let own = comparable.as_ref().map(Comparable::sides);
        let is_scored = |side: &Side| own.as_ref().is_none_or(|own| own.contains(side));
        let (criteria, weights) = match comparable {
            Some(_) => (score::cost_criteria(), Weights::cost()),
            None => (score::study_criteria(), Weights::study()),
        };
        let mut weights = options.weights.clone().unwrap_or(weights);
        for (comparable, (side, name)) in comparable.iter().flat_map(|one| SIDES.map(|side| (one, side))) {
            weights.leave_out(name, comparable.undivided(side));
        }
        Self {
            sides: SIDES.into_iter().filter(|(side, name)| is_scored(side) && weights.weighs(name)).collect(),
            comparable,
            criteria,
            weights,
            options,
        }
    }

    /// A trial's values of one side.
    fn values(&self, trial: &TrialRecord, side: Side, run: &RunRecord) -> Values {
        match &self.comparable {
            Some(comparable) => costs::costs(trial, side, comparable),
            None => criteria::values(trial, run),
        }
    }
}

/// Everybody with at least one repetition of two valid trials; and the others, with the reason.
pub(super) fn contestants(
    field: &Field,
    yardstick: &Yardstick<'_>,
) -> (Vec<Contestant>, Vec<(String, String)>) {
    let (mut contestants, mut unranked) = (Vec::new(), Vec::new());
    for (place, read) in field.contestants().iter().enumerate() {
        let Some(write) = field.write_of(read) else {
            unranked.push((read.label.clone(), "there is no write trial of what it reads".to_owned()));
            continue;
        };
        if let Some(reason) = data_fault(field, write).or_else(|| data_fault(field, read)) {
            unranked.push((read.label.clone(), reason));
            continue;
        }
        let in_block = |block: usize| -> Option<Vec<Values>> {
            let of_side = |(side, _): &(Side, &str)| {
                let arm = if *side == Side::Write { write } else { read };
                let trial = &field.trials[arm.places[block]?];
                let is_valid = trial.verdict.is_valid();
                is_valid.then(|| yardstick.values(trial, *side, &field.run))
            };
            if yardstick.sides.is_empty() {
                return None;
            }
            yardstick.sides.iter().map(of_side).collect()
        };
        let mut blocks: Vec<Option<Vec<Values>>> = (0..field.blocks.len()).map(in_block).collect();
        keep_complete(&mut blocks);
        if blocks.iter().all(Option::is_none) {
            unranked.push((read.label.clone(), no_valid_pair(field, write, read)));
            continue;
        }
        contestants.push(Contestant {
            read: place,
            label: read.label.clone(),
            embedded: read.implementation.embedded,
            blocks,
        });
    }
    set_apart(field, &mut contestants, &mut unranked);
    for write in field.writes.iter().filter(|write| field.reads_of(write).next().is_none()) {
        let reason =
            first_fault(field, write).unwrap_or_else(|| "there is no read trial of what it wrote".to_owned());
        unranked.push((write.label.clone(), reason));
    }
    (contestants, unranked)
}

/// Moves who did not keep up to those that are not ranked, unless nobody kept up. What it did not do cost it nothing, so by its score it would stand above
/// who did everything.
fn set_apart(field: &Field, contestants: &mut Vec<Contestant>, unranked: &mut Vec<(String, String)>) {
    let undone = |one: &Contestant| keeping_up::undone(field, &field.contestants()[one.read]);
    if contestants.iter().all(|one| !undone(one).is_empty()) {
        return;
    }
    contestants.retain(|one| {
        let undone = undone(one);
        if !undone.is_empty() {
            unranked.push((one.label.clone(), format!("did not keep up: {}", undone.join(", "))));
        }
        undone.is_empty()
    });
}

/// Why the arm's data cannot be trusted, if that was seen in any attempt. One valid repetition
/// does not make up for a wrong answer in another.
fn data_fault(field: &Field, arm: &Arm) -> Option<String> {
    let faulty = |trial: &&TrialRecord| trial.verdict.has_data_fault();
    let all: Vec<&TrialRecord> = field.attempts_of(arm).collect();
    let found = all.iter().filter(|trial| faulty(trial)).count();
    let first = all.iter().find(|trial| faulty(trial))?;
    let kind = first.verdict.reasons().iter().find(|reason| reason.kind.is_data_fault())?.kind;
    let side = match first.side {
        Side::Write => "write ",
        Side::Read => "read ",
        Side::Mixed => "",
    };
    Some(format!("{} in {found} of {} {side}trials", kind.text(), all.len()))
}

/// Drops repetitions in which fewer criteria were measured than in others, so that all means are over the same ones.
fn keep_complete(blocks: &mut [Option<Vec<Values>>]) {
    let count = |values: &Vec<Values>| values.iter().map(BTreeMap::len).sum::<usize>();
    let most = blocks.iter().flatten().map(count).max().unwrap_or(0);
    for block in blocks {
        if block.as_ref().is_some_and(|values| count(values) < most) {
            *block = None;
        }
    }
}

fn no_valid_pair(field: &Field, write: &Arm, read: &Arm) -> String {
    let sides = [("write trial ", write), ("read trial ", read)];
    let told = |(side, arm)| Some(format!("{side}{}", first_fault(field, arm)?));
    let faults: Vec<String> = if field.has_phases() {
        first_fault(field, read).into_iter().collect()
    } else {
        sides.into_iter().filter_map(told).collect()
    };
    if faults.is_empty() { "no repetition has both its trials".to_owned() } else { faults.join("; ") }
}

/// The first verdict of the arm that is not valid, in short.
fn first_fault(field: &Field, arm: &Arm) -> Option<String> {
    let trial = field.trials_of(arm).flatten().find(|trial| !trial.verdict.is_valid())?;
    let word = trial.verdict.word();
    let mut kinds: Vec<&str> = Vec::new();
    for reason in trial.verdict.reasons() {
        if !kinds.contains(&reason.kind.text()) {
            kinds.push(reason.kind.text());
        }
    }
    Some(format!("{word}: {}", kinds.join(", ")))
}
