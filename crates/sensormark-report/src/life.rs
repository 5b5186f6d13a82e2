//! What the report says of a life's rounds: what writes and questions suffered before, during and after their tasks, over the year, and how long the tasks took.

use crate::{
    lifecycle::{is_of_life, p99_ms},
    prelude::*,
    studies::{HERE, figure, point},
};

fn ms(value: Known) -> Cell {
    Cell::maybe(value, "nothing was done")
}

/// The rounds' tasks of a trial, in order.
fn rounds(trial: &TrialRecord) -> impl Iterator<Item = &TaskRecord> {
    trial.tasks.iter().filter(|task| is_of_life(task))
}

/// The section; empty where there was no round.
pub fn section(field: &Field) -> Section {
    let mut section = Section::new("life", "A life's rounds");
    if field.trials.iter().all(|trial| rounds(trial).next().is_none()) {
        return section;
    }
    section.paragraph("In each round rollups were renewed and old readings went, while clients wrote and asked. At the end everything was read back: what is kept is there, and no more. Every window of every rollup was compared with the readings, late ones included.");
    section.table(suffered(field));
    section.table(tasks(field));
    operations(field).into_iter().for_each(|name| section.table(curve(field, &name)));
    let means = field.trials.iter().flat_map(|trial| {
        // What one round did stands for all.
        rounds(trial)
            .last()
            .into_iter()
            .flat_map(|task| &task.means)
            .map(|text| format!("{}: {text}", trial.implementation.title))
    });
    section.list(means.sorted().dedup().map(|text| clean(&text)).collect());
    section
}

/// The names of what was written and asked beside rounds.
fn operations(field: &Field) -> Vec<String> {
    let loads = field.trials.iter().flat_map(|trial| {
        trial.loads.iter().filter(move |load| rounds(trial).any(|task| task.phase == load.phase))
    });
    each_once(loads.map(|load| load.name.clone()))
}

fn suffered(field: &Field) -> Table {
    let mut table = Table::new(
        "life",
        "What writes and questions suffered, all rounds together",
        "implementation; operation | p99 before [ms]; p99 during [ms]; p99 after [ms]; longest [ms]",
    );
    for arm in &field.mixed {
        for name in operations(field) {
            let mut parts: [Vec<&SecondHistogram>; 3] = Default::default();
            for trial in field.valid_of(arm) {
                for task in rounds(trial) {
                    let found = task.seconds(trial, |load: &LoadRecord| load.name == name);
                    parts.iter_mut().zip(found).for_each(|(all, more)| all.extend(more));
                }
            }
            let longest = field
                .valid_of(arm)
                .flat_map(|trial| &trial.loads)
                .filter(|load| load.name == name)
                .flat_map(|load| load.classes.values())
                .map(|class| class.latency.summary.max_ns);
            let mut row = row![&arm.label, clean(&name)];
            row.extend(parts.map(|seconds| ms(p99_ms(seconds))));
            row.push(ms(longest.max().map(|ns| ns as f64 / 1e6)));
            table.row(row);
        }
    }
    table.note("A second in which any of the tasks was done is during them. A round that is over in a second or two has nothing before them.");
    table
}

fn tasks(field: &Field) -> Table {
    let mut table = Table::new(
        "life_tasks",
        "How long the tasks of a round took",
        "implementation; task | times; median [s]; longest [s]; all [s]",
    );
    for arm in &field.mixed {
        let mut took: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (kind, seconds) in field.valid_of(arm).flat_map(rounds).flat_map(|task| &task.parts) {
            took.entry(kind).or_default().push(*seconds);
        }
        for (kind, mut seconds) in took {
            seconds.sort_by(f64::total_cmp);
            let figures = [seconds[seconds.len() / 2], seconds[seconds.len() - 1], seconds.iter().sum()];
            let mut row = row![&arm.label, clean(kind), seconds.len() as u64];
            row.extend(figures.map(Cell::number));
            table.row(row);
        }
    }
    table
}

/// The 99th percentile of an operation, round by round.
fn curve(field: &Field, name: &str) -> Table {
    let id = format!("life_{}", name.replace([' ', '-'], "_"));
    let title = format!("{}: p99 over the year", clean(name));
    let mut table = figure(&id, &title, (Shape::Lines, true), Some(("round", "")), ("p99", "ms"));
    for arm in &field.mixed {
        for (load, round) in field
            .valid_of(arm)
            .take(1)
            .flat_map(|trial| &trial.loads)
            .filter(|load| load.name == name)
            .zip(1..)
        {
            let all = load.classes.values().flat_map(|class| &class.latency.seconds);
            point(&mut table, &arm.label, HERE, Some(Cell::Count(round)), ms(p99_ms(all)));
        }
    }
    table
}
