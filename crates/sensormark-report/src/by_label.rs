//! Curves over a number that a workload's phases are labelled with, such as how many series a table has: load rate, disk, memory, and questions.

use crate::{
    costs::memory_mb,
    prelude::*,
    sections::sizes::LATENCIES,
    studies::{HERE, figure, point, study},
};

/// A figure of a load, where it has one.
type Of<'a> = &'a dyn Fn(&TrialRecord, &LoadRecord) -> Known;

/// The section of a workload that follows no study; empty where no label has several numbers.
pub fn section(field: &Field) -> Section {
    let mut section = Section::new("by_label", "Curves");
    if study(&field.run.workload).is_some() {
        return section;
    }
    let loads = || field.trials.iter().flat_map(|trial| &trial.loads);
    let labels = loads().flat_map(|load| load.labels.keys());
    let labels: BTreeSet<&str> =
        labels.map(String::as_str).filter(|label| ![names::STORED, names::SCORED].contains(label)).collect();
    let asked = loads().filter(|load| !load.writes && !load.warm_up);
    let asked: BTreeSet<&str> = asked.map(|load| &*load.name).collect();
    for label in labels {
        let curve = |id: &str, title: &str, y: (&str, &str), of: Of<'_>| {
            let title = format!("{title}, by {label}");
            let id = format!("{label}_{id}");
            let mut table = figure(&id, &title, (Shape::Lines, true), Some((label, "")), y);
            fill(&mut table, field, label, of);
            table
        };
        let mut curves = vec![
            curve("load", "Loading", ("load rate", "readings/s"), &load_rate),
            curve("disk", "Disk", ("a reading", "B"), &disk_a_reading),
            curve("memory", "Memory of both sides after the load", ("memory", "MB"), &memory),
        ];
        for name in &asked {
            let drawn = LATENCIES.map(|(word, of)| {
                let of =
                    |_: &TrialRecord, load: &LoadRecord| latency_ms(load, of).filter(|_| load.name == *name);
                curve(name, &format!("{name}, {word}"), (word, "ms"), &of)
            });
            let all = drawn[2].rows.len();
            curves.extend(drawn.into_iter().find(|table| table.rows.len() == all));
        }
        let is_curve = |table: &Table| table.rows.windows(2).any(|rows| rows[0][0] == rows[1][0]);
        section.tables(curves.into_iter().filter(is_curve));
    }
    if !section.blocks.is_empty() {
        section.paragraph("A curve ends where the layout has no figure: its trial's verdict says why. Disk is what a phase added, over the readings that it added; databases that make files ahead add nothing at times.");
        section.blocks.rotate_right(1);
    }
    section
}

/// Each layout's points, by the numbers of the label.
fn fill(table: &mut Table, field: &Field, label: &str, of: Of<'_>) {
    for arm in field.mixed.iter().chain(&field.writes) {
        let at = |load: &LoadRecord| load.labels.get(label)?.as_u64();
        let numbers = field.valid_of(arm).flat_map(|trial| &trial.loads).filter_map(at);
        for number in numbers.collect::<BTreeSet<u64>>() {
            let own = |load: &&LoadRecord| !load.warm_up && at(load) == Some(number);
            let value = |trial: &TrialRecord| trial.loads.iter().filter(own).find_map(|load| of(trial, load));
            let values: Vec<f64> = field.valid_of(arm).filter_map(value).collect();
            if let Ok(mean) = summarize_logarithms(&values) {
                let mean = Cell::number(mean.geometric_mean);
                point(table, &arm.label, HERE, Some(Cell::Count(number)), mean);
            }
        }
    }
}

fn load_rate(_: &TrialRecord, load: &LoadRecord) -> Known {
    load.readings_per_second().filter(|rate| load.writes && !load.open_loop && *rate > 0.0)
}

fn latency_ms(load: &LoadRecord, of: fn(&LatencySummary) -> Known) -> Known {
    let summary = &load.classes.values().next_back()?.latency.summary;
    Some(of(summary)? / 1e6).filter(|ms| !load.writes && *ms > 0.0)
}

fn memory(trial: &TrialRecord, load: &LoadRecord) -> Known {
    memory_mb(trial, criteria::phase(trial, &load.phase)?).filter(|_| load.writes)
}

/// What the database has at rest after this load more than after the load before it, over the readings that are more.
fn disk_a_reading(trial: &TrialRecord, load: &LoadRecord) -> Known {
    let figure = |name: &str, phase: &str| format!("{name}/{phase}");
    let at_rest = |phase: &str| {
        let readings = trial.figures.get(&figure(names::READINGS_AT_REST, phase))?.value?;
        let [all, logs] = [names::DISK_SETTLED, names::DISK_SETTLED_LOGS].map(|name| figure(name, phase));
        Some((readings, disk::data_bytes(trial, &all, &logs)?))
    };
    let own = trial.phases.iter().position(|phase| phase.name == format!("settled-{}", load.phase))?;
    let before = trial.phases[..own].iter().rev().find_map(|phase| at_rest(&phase.name));
    let empty = || Some((0.0, disk::data_bytes(trial, names::DISK_BEFORE, names::DISK_BEFORE_LOGS)?));
    let ((from, small), (to, large)) = (before.or_else(empty)?, at_rest(&trial.phases[own].name)?);
    Some((large - small) / (to - from)).filter(|bytes| load.writes && bytes.is_finite() && *bytes > 0.0)
}
