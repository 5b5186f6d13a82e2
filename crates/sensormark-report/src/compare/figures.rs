//! The figures of one run that can be held against another's: of each implementation, one value for each valid repetition.

use crate::{costs, prelude::*};
use sensormark_result::score::STUDY_CRITERIA;

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
    /// Whether it is of what the server uses, so that it can only be had and compared where servers are of one origin.
    pub of_server: bool,
    /// Whether the host was disturbed in one of the repetitions, which was tolerated.
    pub disturbed: bool,
    /// One value a valid repetition.
    pub values: Vec<f64>,
    /// The repetition of each value.
    pub repetitions: Vec<u32>,
}

impl Figure {
    /// Its value in a repetition; none where that is not valid.
    pub fn in_repetition(&self, repetition: u32) -> Known {
        let place = self.repetitions.iter().position(|one| *one == repetition)?;
        self.values.get(place).copied()
    }

    /// Whether the other is the same figure of the same implementation.
    pub fn is_same(&self, other: &Self) -> bool {
        self.implementation == other.implementation && self.name == other.name
    }
}

/// An implementation's name on one side. Whether it was read hot or cold is among what differs between the runs.
pub fn name(side: &str, arm: &Arm) -> String {
    let label = arm.label.replacen(arm.implementation.cache.mark(), "", 1);
    if side == "both" { label } else { format!("{label} ({side})") }
}

/// A figure of one trial of which less is better, and which is not of the server.
fn taken(name: String, unit: &str, value: f64) -> Figure {
    Figure {
        implementation: String::new(),
        name,
        unit: unit.to_owned(),
        better: Better::Lower,
        of_server: false,
        disturbed: false,
        values: vec![value],
        repetitions: vec![],
    }
}

/// The study's criteria that are of what the server uses.
const OF_SERVER: [&str; 4] = ["server_cpu", "server_memory", "server_io", "disk"];

/// All figures of a run's valid trials, by implementation.
pub fn figures(field: &Field) -> Vec<Figure> {
    field.all().flat_map(|(side, arm)| of_arm(field, side, arm)).collect()
}

fn of_arm(field: &Field, side: &str, arm: &Arm) -> Vec<Figure> {
    let mut found: Vec<Figure> = vec![];
    for trial in field.valid_of(arm) {
        let mut taken = if field.has_phases() { of_loads(trial) } else { of_criteria(field, trial) };
        for (operation, record) in &trial.latencies {
            taken.extend(latency(&operation.replace('_', " "), record));
        }
        for figure in taken {
            let place = found.iter().position(|one| one.name == figure.name).unwrap_or(found.len());
            if place == found.len() {
                found.push(Figure { implementation: name(side, arm), values: vec![], ..figure.clone() });
            }
            let own = &mut found[place];
            own.disturbed |= trial.is_rough();
            own.values.extend(figure.values);
            own.repetitions.push(trial.repetition);
        }
    }
    found
}

/// The study's criteria of a trial of a steady rate.
fn of_criteria(field: &Field, trial: &TrialRecord) -> Vec<Figure> {
    let values = criteria::values(trial, &field.run);
    STUDY_CRITERIA
        .iter()
        .filter_map(|criterion| {
            let value = *values.get(criterion.id)?;
            let of_server = OF_SERVER.contains(&criterion.id);
            Some(Figure { of_server, ..taken(criterion.name.to_owned(), criterion.unit, value) })
        })
        .collect()
}

/// What each load of a trial of phases came to, and what its phase used.
fn of_loads(trial: &TrialRecord) -> Vec<Figure> {
    let mut all = vec![];
    for load in trial.loads.iter().filter(|load| !load.warm_up) {
        let title = title(load);
        if !load.open_loop
            && let Some(value) = load.operations_per_second()
        {
            let operations = taken(format!("{title}: operations"), "1/s", value);
            all.push(Figure { better: Better::Higher, ..operations });
        }
        for (class, record) in &load.classes {
            let words = if *class == load.name || *class == load.phase {
                title.clone()
            } else {
                format!("{title}, {class}")
            };
            all.extend(latency(&words, &record.latency));
        }
    }
    all.extend(trial.phases.iter().filter_map(|phase| of_both_sides(trial, phase)));
    let disk = disk::growth_bytes(trial).map(|bytes| taken("disk".to_owned(), "MB", bytes / 1e6));
    all.extend(disk.map(|disk| Figure { of_server: true, ..disk }));
    all
}

/// CPU of both sides in a phase: for an operation, or all of it where several loads ran at a given rate at once, because that is not divided. There is none
/// unless both sides were measured.
fn of_both_sides(trial: &TrialRecord, phase: &PhaseRecord) -> Option<Figure> {
    let roles = &phase.totals.as_ref().filter(|_| phase.operations > 0)?.roles;
    if !trial.implementation.embedded && !roles.contains_key("server") {
        return None;
    }
    let cpu_ns: u64 =
        ["server", "trial"].into_iter().filter_map(|side| roles.get(side)).map(|role| role.cpu_ns).total();
    let (per, unit, value) = match costs::of_phase(trial, &phase.name).count() {
        0 | 1 => (" an operation", "µs", cpu_ns as f64 / 1e3 / phase.operations as f64),
        _ if costs::of_phase(trial, &phase.name).any(|load| !load.open_loop) => return None,
        _ => ("", "% of one core", cpu_ns as f64 / 1e7 / phase.seconds),
    };
    let cpu = taken(format!("{}: CPU of both sides{per}", phase.name), unit, value);
    Some(Figure { of_server: true, ..cpu })
}

fn title(load: &LoadRecord) -> String {
    if load.name == load.phase { load.phase.clone() } else { format!("{} {}", load.phase, load.name) }
}

fn latency(words: &str, record: &LatencyRecord) -> Vec<Figure> {
    let summary = &record.summary;
    [
        ("mean", Some(summary.mean_ns)),
        ("median", summary.p50_ns.map(|ns| ns as f64)),
        ("p99", summary.p99_ns.map(|ns| ns as f64)),
    ]
    .into_iter()
    .filter(|_| summary.count > 0)
    .filter_map(|(figure, ns)| Some(taken(format!("{words}: {figure}"), "ms", ns? / 1e6)))
    .collect()
}
