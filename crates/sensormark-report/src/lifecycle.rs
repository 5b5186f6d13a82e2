//! What the report says of tasks: how long each took, what it left and cost, what writers suffered, and what was found when the data were read back.

use crate::prelude::*;
use sensormark_result::measurement::latency::total;

/// The section; empty where no phase had a task.
pub fn section(field: &Field) -> Section {
    let mut section = Section::new("operations", "Operations");
    if field.trials.iter().all(|trial| trial.tasks.iter().all(is_of_life)) {
        return section;
    }
    section.paragraph("Each task was done by the database's own means while clients wrote, if any did. After it everything was read back and compared with what had to be there; a backup is proved by what was restored of it.");
    let mut table = Table::new(
        "operations",
        "Operations",
        "implementation; operation; time [s]; size [MB]; CPU [s]; writers' p99 before [ms]; during [ms]; after [ms]; proven; found",
    );
    let mut means = BTreeSet::new();
    for trial in &field.trials {
        for task in trial.tasks.iter().filter(|task| !is_of_life(task)) {
            table.row(row(trial, task));
            if !task.means.is_empty() {
                let title = &trial.implementation.title;
                means.insert(format!("{title}, {}: {}", task.task, task.means.join("; ")));
            }
        }
    }
    table.note("CPU: of the server (of this program, where the database is embedded) and of programs such as pg_dump, while the task was done. What writers cost it meanwhile is in it.");
    table.note("writers' p99: 99th percentile of the seconds before the task, during it and after it.");
    section.table(table);
    section.list(means.iter().map(|text| clean(text)).collect());
    section
}

/// The 99th percentile of these seconds together, in ms, as far as anything was done.
pub fn p99_ms<'a>(seconds: impl IntoIterator<Item = &'a SecondHistogram>) -> Known {
    let total = total(seconds).ok().filter(|total| !total.is_empty());
    total.map(|total| total.value_at_quantile(0.99) as f64 / 1e6)
}

/// Whether it is of a life's rounds, which have a section of their own.
pub fn is_of_life(task: &TaskRecord) -> bool {
    ["prepare", "round"].contains(&&*task.task)
}

fn row(trial: &TrialRecord, task: &TaskRecord) -> Vec<Cell> {
    let why = task.not_supported.as_ref().map(|why| format!("not supported: {why}")).unwrap_or_default();
    let figure = |value: Known, otherwise: &str| match &*why {
        "" => Cell::maybe(value, otherwise),
        why => Cell::missing(why),
    };
    let role = if trial.implementation.embedded { "coordinator" } else { "server" };
    let phase = trial.phases.iter().find(|phase| phase.name == task.phase);
    let used = phase.and_then(|phase| phase.totals.as_ref()?.roles.get(role));
    let mut cells = row![
        clean(&trial.implementation.label()),
        &*task.task,
        figure(Some(task.seconds), ""),
        figure(task.bytes.map(|bytes| bytes as f64 / 1e6), "it leaves nothing"),
        figure(used.map(|used| used.cpu_ns as f64 / 1e9), "it was not seen"),
    ];
    cells.extend(
        task.seconds(trial, |load| load.writes).map(|seconds| figure(p99_ms(seconds), "nobody wrote")),
    );
    cells.push(match task.found {
        Some(_) => Cell::yes(task.proven),
        None => figure(None, "by what is restored of it"),
    });
    cells.push(Cell::text(clean(task.found.as_deref().unwrap_or(&why))));
    cells
}
