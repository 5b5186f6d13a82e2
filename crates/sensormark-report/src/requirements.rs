//! The user's own question: which layouts meet everything that has to hold, with what headroom, on how much disk, which of them costs least; and what the
//! others miss.
//!
//! A busy machine makes figures worse and never better. So a requirement that was met on one is met, and one that was missed is open. It is open too where
//! too little was measured, and where some repetitions met it and others did not. The disk of more readings than were measured is open whatever else holds.

mod answer;
mod words;

use crate::prelude::*;
pub use answer::{LayoutAnswer, Outcome, Requirements, Standing};
use sensormark_result::measurement::verdict::{Against, ReasonKind};
use sensormark_workload::own::{
    find_limit::{MOST_USERS_LIMIT, is_found, is_of_needed},
    questionnaire::BUDGETS,
};

impl Requirements {
    /// What the limits of a run come to; none where nothing was asked to hold. Nobody is the cheapest yet.
    pub(super) fn of(field: &Field) -> Option<Self> {
        // A trial that was broken off has some of its limits only.
        let is_whole = |trial: &&TrialRecord| {
            trial.verdict.reasons().iter().all(|reason| reason.kind != ReasonKind::Interrupted)
        };
        let count = field
            .trials
            .iter()
            .filter(|trial| own_limits(trial).next().is_some() && is_whole(trial))
            .map(|trial| own_limits(trial).count())
            .min()?;
        let layouts = each_once(field.all().map(|(_, arm)| arm.label.as_str()))
            .into_iter()
            .map(|label| answer(field, label));
        let kept = field.trials.iter().find_map(disk_limit);
        Some(Self {
            count,
            readings_per_second: own_rate(&field.run),
            keep: kept.map(|limit| clean(words::time_of(limit))),
            layouts: layouts.collect(),
            cheapest: vec![],
            cheapest_server: None,
        })
    }

    /// The answer in words, one sentence an item.
    pub fn sentences(&self) -> Vec<String> {
        words::sentences(self)
    }
}

/// The file's limits as they were held; not the line of the highest rate, and not what the needed rate misses besides.
fn own_limits(trial: &TrialRecord) -> impl Iterator<Item = &LimitRecord> {
    trial.limits.iter().filter(|limit| !is_found(&limit.text) && !is_of_needed(&limit.text))
}

fn disk_limit(trial: &TrialRecord) -> Option<&LimitRecord> {
    let mut limits = trial.limits.iter();
    limits.find(|limit| limit.text.trim_start().starts_with(DISK_FOR))
}

/// The highest rate that held over that of the sensors: the least of all valid trials.
pub(super) fn headroom(field: &Field, arm: &Arm) -> Known {
    let rate = own_rate(&field.run)?;
    let found: Option<Vec<f64>> =
        field.valid_of(arm).map(|trial| Some(figure(trial, HIGHEST_RATE)? / rate)).collect();
    found?.into_iter().reduce(f64::min)
}

/// The disk for the time that the data is kept, in bytes: the most of all valid trials.
pub(super) fn disk_kept(field: &Field, arm: &Arm) -> Known {
    field.valid_of(arm).filter_map(disk_limit).filter_map(|limit| limit.measured).reduce(f64::max)
}

fn answer(field: &Field, label: &str) -> LayoutAnswer {
    let arms = field.all().map(|(_, arm)| arm).filter(|arm| arm.label == label).collect_vec();
    let trials = arms.iter().flat_map(|arm| field.trials_of(arm)).collect_vec();
    let mut found = Found::default();
    trials.iter().for_each(|trial| speaks_against(trial, &mut found));
    held(&trials, field.trials.len(), &mut found);
    let of_arms = |of: fn(&Field, &Arm) -> Known| arms.iter().find_map(|arm| of(field, arm));
    let meets_decided = found.missed.is_empty() && found.open.is_empty();
    let (outcome, reasons) = match (found.missed.is_empty(), found.foretold.is_empty()) {
        (false, _) => (Outcome::Misses, found.missed),
        (true, true) if meets_decided => (Outcome::Meets, vec![]),
        _ => (Outcome::Undecided, [found.open, found.foretold].concat()),
    };
    // Of several repetitions the least; one in which nobody could watch is less than all.
    let users = trials
        .iter()
        .flat_map(|trial| &trial.limits)
        .filter(|limit| limit.text == MOST_USERS_LIMIT)
        .min_by(|one, other| one.measured.unwrap_or(0.0).total_cmp(&other.measured.unwrap_or(0.0)));
    LayoutAnswer {
        label: label.to_owned(),
        outcome,
        users: users.map(|limit| clean(&limit.words)),
        meets_decided,
        reasons: reasons.iter().map(|reason| clean(reason)).collect(),
        headroom: of_arms(headroom),
        disk_bytes: of_arms(disk_kept),
        is_rough: trials.iter().any(|trial| trial.is_disturbed()),
        is_told_below: trials.iter().any(|trial| !trial.verdict.is_valid()),
    }
}

/// What was found of a layout, in words.
#[derive(Default)]
struct Found {
    missed: Vec<String>,
    open: Vec<String>,
    /// What no trial of this size can decide.
    foretold: Vec<String>,
}

/// What a verdict says against a layout, or leaves open.
fn speaks_against(trial: &TrialRecord, found: &mut Found) {
    for reason in trial.verdict.reasons() {
        let is_its_fault = match reason.kind.against() {
            // Time-outs alone are errors too, and the host may be their cause.
            Against::Data | Against::Database => !trial.verdict.is_inconclusive(),
            Against::DatabaseOrHost => !trial.is_disturbed(),
            Against::Others => false,
        };
        let text = format!("{} ({})", reason.kind.text(), reason.text);
        if is_its_fault {
            found.missed.push(format!("fails: {text}"));
        } else {
            found.open.push(text);
        }
    }
}

/// Which budget of a run of so many trials would tell what so many readings decide, by the time that this trial took.
fn budget(trials: usize, trial: &TrialRecord, readings: f64) -> String {
    let took: f64 = trial.phases.iter().map(|phase| phase.seconds).sum();
    let measured = trial.readings_at_rest().unwrap_or(1).max(1) as f64;
    let seconds = took * readings / measured * trials as f64;
    match BUDGETS.iter().find(|(_, most)| seconds <= *most) {
        Some((budget, _)) => format!("; --budget {budget} would tell"),
        None => "; it takes more than --budget 8h".to_owned(),
    }
}

/// Holds each limit against all repetitions, of a run of so many trials.
fn held(trials: &[&TrialRecord], in_all: usize, found: &mut Found) {
    let valid = trials.iter().filter(|trial| trial.verdict.is_valid()).collect_vec();
    let mut unmet: Vec<&LimitRecord> = vec![];
    for limit in valid.iter().flat_map(|trial| &trial.limits) {
        if !limit.met && unmet.iter().all(|known| known.text != limit.text) {
            unmet.push(limit);
        }
    }
    // That no rate held says less than what was missed at the lowest.
    if unmet.iter().filter(|limit| !is_left_open(limit)).count() > 1 {
        unmet.retain(|limit| !is_found(&limit.text));
    }
    for LimitRecord { text, .. } in unmet {
        let all = valid
            .iter()
            .filter_map(|trial| {
                let limit = trial.limits.iter().find(|limit| limit.text == *text)?;
                let is_open = limit.is_undecided || (trial.is_disturbed() && words::is_moved(limit));
                Some((is_open, limit))
            })
            .collect_vec();
        let against = all.iter().filter(|(_, limit)| !limit.met).collect_vec();
        let Some((_, first)) = against.first() else {
            continue;
        };
        let reason = words::missed(first);
        if is_left_open(first) {
            let readings = first.needs_readings.filter(|_| sizes::disk(valid[0]).len() > 2);
            let would_tell = readings.map_or_else(String::new, |readings| budget(in_all, valid[0], readings));
            found.foretold.push(reason + &would_tell);
        } else if against.len() < all.len() {
            found.open.push(format!("{reason} in {} of {} repetitions", against.len(), all.len()));
        } else if against.iter().all(|(is_open, _)| *is_open) {
            found.open.push(if first.is_undecided {
                reason
            } else {
                format!("{reason} while other programs used the machine")
            });
        } else {
            found.missed.push(reason);
        }
    }
}
