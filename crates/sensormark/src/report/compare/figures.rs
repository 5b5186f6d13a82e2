//! The figures of one run that can be held against another's: of each implementation, one value for each valid repetition.

use crate::measurement::record::{LatencyRecord, LoadRecord, TrialRecord};
use crate::report::criteria;
use crate::report::field::{Arm, Field};
use crate::score::{self, Criterion};
use crate::statistics::Better;
use std::collections::BTreeMap;

/// A figure of one implementation over its valid repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Implementation and side ("MariaDB bulk (write)").
    pub implementation: String,
    /// What it is ("server CPU", "load: median").
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Which way it is good.
    pub better: Better,
    /// One value a valid repetition.
    pub values: Vec<f64>,
}

impl Figure {
    /// Whether the other is the same figure of the same implementation.
    pub fn is_same(&self, other: &Self) -> bool {
        self.implementation == other.implementation && self.name == other.name
    }
}

/// An implementation's name on one side. Whether it was read hot or cold is among what differs between the runs.
pub fn name(side: &str, arm: &Arm) -> String {
    let label = arm.label.replacen(arm.implementation.cache.mark(), "", 1);
    if side == "both" {
        label
    } else {
        format!("{label} ({side})")
    }
}

/// One trial's figures: name, unit, which way is good, value.
type Taken = Vec<(String, String, Better, f64)>;

/// All figures of a run's valid trials, by implementation.
pub fn figures(field: &Field) -> Vec<Figure> {
    let criteria = score::study_criteria();
    field
        .all()
        .flat_map(|(side, arm)| of_arm(field, side, arm, &criteria))
        .collect()
}

fn of_arm(field: &Field, side: &str, arm: &Arm, criteria: &[Criterion]) -> Vec<Figure> {
    let mut order: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, Figure> = BTreeMap::new();
    for trial in field.valid_of(arm) {
        let mut taken = if field.is_phased() {
            of_loads(trial)
        } else {
            of_criteria(field, trial, criteria)
        };
        taken.extend(of_latencies(trial));
        for (figure, unit, better, value) in taken {
            if !found.contains_key(&figure) {
                order.push(figure.clone());
            }
            let entry = found.entry(figure.clone()).or_insert_with(|| Figure {
                implementation: name(side, arm),
                name: figure,
                unit,
                better,
                values: Vec::new(),
            });
            entry.values.push(value);
        }
    }
    order
        .into_iter()
        .filter_map(|figure| found.remove(&figure))
        .collect()
}

/// The score's criteria of a trial of a steady rate.
fn of_criteria(field: &Field, trial: &TrialRecord, criteria: &[Criterion]) -> Taken {
    let values = criteria::values(trial, &field.run);
    let taken = criteria.iter().filter_map(|criterion| {
        let value = *values.get(&criterion.id)?;
        let unit = criterion.unit.clone();
        Some((criterion.name.clone(), unit, criterion.better, value))
    });
    taken.collect()
}

fn of_latencies(trial: &TrialRecord) -> Taken {
    let mut taken = Taken::new();
    for (operation, record) in &trial.latencies {
        latency(&mut taken, &operation.replace('_', " "), record);
    }
    taken
}

/// What each load of a trial of phases came to, and what its phase used.
fn of_loads(trial: &TrialRecord) -> Taken {
    let mut taken = Taken::new();
    for load in trial.loads.iter().filter(|load| !load.warm_up) {
        let title = title(load);
        if !load.open_loop
            && let Some(rate) = load.operations_per_second()
        {
            taken.push((
                format!("{title}: operations"),
                "1/s".to_owned(),
                Better::Higher,
                rate,
            ));
        }
        for (class, record) in &load.classes {
            let words = if *class == load.name || *class == load.phase {
                title.clone()
            } else {
                format!("{title}, {class}")
            };
            latency(&mut taken, &words, &record.latency);
        }
    }
    for phase in &trial.phases {
        let Some(totals) = phase.totals.as_ref().filter(|_| phase.operations > 0) else {
            continue;
        };
        let ours = |role: &&String| matches!(role.as_str(), "server" | "trial");
        let cpu_ns: u64 = totals
            .roles
            .iter()
            .filter(|(role, _)| ours(role))
            .map(|(_, role)| role.cpu_ns)
            .sum();
        let each_us = cpu_ns as f64 / 1e3 / phase.operations as f64;
        let words = format!("{}: CPU of both sides an operation", phase.name);
        taken.push((words, "µs".to_owned(), Better::Lower, each_us));
    }
    if let Some(bytes) = criteria::disk(trial) {
        taken.push((
            "disk".to_owned(),
            "MB".to_owned(),
            Better::Lower,
            bytes / 1e6,
        ));
    }
    taken
}

fn title(load: &LoadRecord) -> String {
    if load.name == load.phase {
        load.phase.clone()
    } else {
        format!("{} {}", load.phase, load.name)
    }
}

fn latency(taken: &mut Taken, words: &str, record: &LatencyRecord) {
    let summary = &record.summary;
    if summary.count == 0 {
        return;
    }
    let figures = [
        ("mean", Some(summary.mean_ns)),
        ("median", summary.p50_ns.map(|ns| ns as f64)),
        ("p99", summary.p99_ns.map(|ns| ns as f64)),
    ];
    for (figure, value_ns) in figures {
        if let Some(value_ns) = value_ns {
            let name = format!("{words}: {figure}");
            taken.push((name, "ms".to_owned(), Better::Lower, value_ns / 1e6));
        }
    }
}
