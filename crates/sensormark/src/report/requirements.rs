//! The user's own question: which layouts meet everything that has to hold, with what headroom, on how much disk, which of them costs least; and what the
//! others miss.
//!
//! A busy machine makes figures worse and never better. So a requirement that was met on one is met, and one that was missed is open. It is open too where
//! too little was measured, and where some repetitions met it and others did not.

mod answer;
mod words;

use super::clean::clean;
use super::criteria::figure;
use super::field::{Arm, Field};
use super::ranking::{Ranked, Ranking};
use super::sections::projection::own_rate;
use crate::measurement::record::{LimitRecord, TrialRecord};
use crate::measurement::verdict::ReasonKind;
use crate::workload::own::find_limit::{HIGHEST_RATE, HIGHEST_RATE_LIMIT, is_of_needed_rate};
use crate::workload::own::limit::DISK_FOR;
pub use answer::{LayoutAnswer, Outcome, Requirements};

impl Requirements {
    /// What the limits of a run come to; none where nothing was asked to hold.
    pub fn of(field: &Field, ranking: &Ranking) -> Option<Self> {
        // A trial that was broken off has some of its limits only.
        let is_whole = |trial: &&TrialRecord| {
            let reasons = trial.verdict.reasons();
            reasons
                .iter()
                .all(|reason| reason.kind != ReasonKind::Interrupted)
        };
        let has_own = |trial: &&TrialRecord| own_limits(trial).next().is_some() && is_whole(trial);
        let count = field
            .trials
            .iter()
            .filter(has_own)
            .map(|trial| own_limits(trial).count())
            .min()?;
        let mut labels: Vec<&str> = Vec::new();
        for (_, arm) in field.all() {
            if !labels.contains(&arm.label.as_str()) {
                labels.push(&arm.label);
            }
        }
        let rate = own_rate(field);
        let layouts: Vec<LayoutAnswer> = labels
            .into_iter()
            .map(|label| answer(field, label))
            .collect();
        let (cheapest, cheapest_server) = cheapest(field, ranking, &layouts);
        let kept = field.trials.iter().find_map(disk_limit);
        Some(Self {
            count,
            readings_per_second: rate,
            keep: kept.map(|limit| clean(words::time_of(limit))),
            layouts,
            cheapest,
            cheapest_server,
        })
    }

    /// The answer in words, one sentence an item.
    pub fn sentences(&self) -> Vec<String> {
        words::sentences(self)
    }
}

/// The file's limits as they were held; not the line of the highest rate, and not what the needed rate misses besides.
fn own_limits(trial: &TrialRecord) -> impl Iterator<Item = &LimitRecord> {
    let limits = trial.limits.iter();
    limits.filter(|limit| limit.text != HIGHEST_RATE_LIMIT && !is_of_needed_rate(limit))
}

fn disk_limit(trial: &TrialRecord) -> Option<&LimitRecord> {
    let mut limits = trial.limits.iter();
    limits.find(|limit| limit.text.trim_start().starts_with(DISK_FOR))
}

/// The highest rate that held over that of the sensors: the least of all valid trials.
pub(super) fn headroom(field: &Field, arm: &Arm) -> Option<f64> {
    let rate = own_rate(field)?;
    let found = field.valid_of(arm);
    let found: Option<Vec<f64>> = found
        .map(|trial| Some(figure(trial, HIGHEST_RATE)? / rate))
        .collect();
    found?.into_iter().reduce(f64::min)
}

/// The disk for the time that the data is kept, in bytes: the most of all valid trials.
pub(super) fn disk_kept(field: &Field, arm: &Arm) -> Option<f64> {
    let limits = field.valid_of(arm).filter_map(disk_limit);
    limits.filter_map(|limit| limit.measured).reduce(f64::max)
}

fn answer(field: &Field, label: &str) -> LayoutAnswer {
    let arms: Vec<&Arm> = field
        .all()
        .map(|(_, arm)| arm)
        .filter(|arm| arm.label == label)
        .collect();
    let trials: Vec<&TrialRecord> = arms
        .iter()
        .flat_map(|arm| field.trials_of(arm).flatten())
        .collect();
    let (mut missed, mut open) = (Vec::new(), Vec::new());
    trials
        .iter()
        .for_each(|trial| speaks_against(trial, &mut missed, &mut open));
    held(&trials, &mut missed, &mut open);
    let of_arms = |of: fn(&Field, &Arm) -> Option<f64>| arms.iter().find_map(|arm| of(field, arm));
    let (outcome, reasons) = match (missed.is_empty(), open.is_empty()) {
        (false, _) => (Outcome::Misses, missed),
        (true, false) => (Outcome::Undecided, open),
        (true, true) => (Outcome::Meets, open),
    };
    LayoutAnswer {
        label: label.to_owned(),
        outcome,
        reasons: reasons.iter().map(|reason| clean(reason)).collect(),
        headroom: of_arms(headroom),
        disk_bytes: of_arms(disk_kept),
        is_rough: trials.iter().any(|trial| trial.is_disturbed()),
        is_told_below: trials.iter().any(|trial| !trial.verdict.is_valid()),
    }
}

/// What a verdict says against a layout, or leaves open.
fn speaks_against(trial: &TrialRecord, missed: &mut Vec<String>, open: &mut Vec<String>) {
    for reason in trial.verdict.reasons() {
        let is_its_fault = match reason.kind {
            ReasonKind::WrongAnswer
            | ReasonKind::LostData
            | ReasonKind::DuplicatedData
            | ReasonKind::AlteredData
            | ReasonKind::Errors
            | ReasonKind::Hung
            | ReasonKind::ServerCrashed => true,
            ReasonKind::LateAnswers => !trial.is_disturbed(),
            _ => false,
        };
        let text = format!("{} ({})", reason.kind.text(), reason.text);
        if is_its_fault {
            missed.push(format!("fails: {text}"));
        } else {
            open.push(text);
        }
    }
}

/// Holds each limit against all repetitions.
fn held(trials: &[&TrialRecord], missed: &mut Vec<String>, open: &mut Vec<String>) {
    let valid: Vec<&&TrialRecord> = trials
        .iter()
        .filter(|trial| trial.verdict.is_valid())
        .collect();
    let mut texts: Vec<&str> = Vec::new();
    for limit in valid.iter().flat_map(|trial| &trial.limits) {
        if !limit.met && !texts.contains(&limit.text.as_str()) {
            texts.push(&limit.text);
        }
    }
    // That no rate held says less than what was missed at the lowest.
    if texts.len() > 1 {
        texts.retain(|text| *text != HIGHEST_RATE_LIMIT);
    }
    for text in texts {
        let of_it = |trial: &&&TrialRecord| -> Option<(bool, LimitRecord)> {
            let limit = trial.limits.iter().find(|limit| limit.text == text)?;
            let is_open = limit.is_undecided || (trial.is_disturbed() && words::is_moved(limit));
            Some((is_open, limit.clone()))
        };
        let all: Vec<(bool, LimitRecord)> = valid.iter().filter_map(of_it).collect();
        let against: Vec<&(bool, LimitRecord)> =
            all.iter().filter(|(_, limit)| !limit.met).collect();
        let Some((_, first)) = against.first() else {
            continue;
        };
        let reason = words::missed(first);
        if against.len() < all.len() {
            open.push(format!(
                "{reason} in {} of {} repetitions",
                against.len(),
                all.len()
            ));
        } else if against.iter().all(|(is_open, _)| *is_open) {
            open.push(if first.is_undecided {
                reason
            } else {
                format!("{reason} while other programs used the machine")
            });
        } else {
            missed.push(reason);
        }
    }
}

/// Who costs least of those that meet all, and of the servers among them where that is another.
fn cheapest(
    field: &Field,
    ranking: &Ranking,
    layouts: &[LayoutAnswer],
) -> (Vec<String>, Option<String>) {
    let meets = |one: &&Ranked| {
        let mut found = layouts.iter().filter(|answer| answer.label == one.label());
        found.any(|answer| answer.outcome == Outcome::Meets)
    };
    let is_embedded = |one: &Ranked| field.contestants()[one.read].implementation.embedded;
    let able: Vec<&Ranked> = ranking.ranked.iter().filter(meets).collect();
    let Some(first) = able.first() else {
        return (Vec::new(), None);
    };
    let alike = able.iter().filter(|one| one.rank == first.rank);
    let names: Vec<String> = alike.clone().map(|one| one.label().to_owned()).collect();
    let all_embedded = alike.clone().all(|one| is_embedded(one));
    let server = able.iter().find(|one| !is_embedded(one));
    let server = server.filter(|_| all_embedded);
    (names, server.map(|one| one.label().to_owned()))
}
