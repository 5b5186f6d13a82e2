//! Curves over a number that a workload's phases are labelled with, such as how many series a table has: load rate, disk, memory, and questions.

use crate::{
    costs::memory_mb,
    prelude::*,
    sections::sizes::{LATENCIES, add, load_rate, together},
    studies::{figure, study},
};
use sensormark_result::statistics::projection::Point;

/// A figure of a load, where it has one.
type Of<'a> = &'a dyn Fn(&TrialRecord, &LoadRecord) -> Known;

/// The section of a workload that follows no study; empty where no label has several numbers.
pub fn section(field: &Field) -> Section {
    let mut section = Section::new("by_label", "Curves");
    if study(&field.run.workload).is_some() {
        return section;
    }
    let loads = || field.trials.iter().flat_map(|trial| &trial.loads);
    let labels: BTreeSet<&str> = loads()
        .flat_map(|load| load.labels.keys())
        .map(String::as_str)
        .filter(|label| ![names::STORED, names::SCORED].contains(label))
        .collect();
    let asked: BTreeSet<&str> =
        loads().filter(|load| !load.writes && !load.warm_up).map(|load| &*load.name).collect();
    for label in labels {
        let curve = |id: &str, title: &str, y: (&str, &str), of: Of<'_>| {
            let mut table = figure(
                &format!("{label}_{id}"),
                &format!("{title}, by {label}"),
                (Shape::Lines, true),
                Some((label, "")),
                y,
            );
            fill(&mut table, field, label, of);
            table
        };
        let mut curves = vec![
            curve("load", "Loading", ("load rate", "readings/s"), &|_, load| load_rate(load)),
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

/// Each layout's points, by the numbers of the label: of a trial the first load with a figure.
fn fill(table: &mut Table, field: &Field, label: &str, of: Of<'_>) {
    for arm in field.writers() {
        let points = |trial: &TrialRecord| {
            let own = trial.loads.iter().filter(|load| !load.warm_up);
            let point = |load: &LoadRecord| {
                let readings = load.labels.get(label)?.as_u64()? as f64;
                Some(Point { readings, value: of(trial, load)?, noise: 0.0 })
            };
            own.filter_map(point).unique_by(|point| point.readings.to_bits()).collect()
        };
        add(table, arm, &together(field.valid_of(arm).map(points)), 1.0, None);
    }
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
    let ((from, small), (to, large)) = (
        before
            .or_else(|| Some((0.0, disk::data_bytes(trial, names::DISK_BEFORE, names::DISK_BEFORE_LOGS)?)))?,
        at_rest(&trial.phases[own].name)?,
    );
    Some((large - small) / (to - from)).filter(|bytes| load.writes && bytes.is_finite() && *bytes > 0.0)
}
