//! The task of a phase in a workload file.

use super::error::FileError;
use super::form::{At, Phase};
use super::source::Source;
use super::tables::number;
use crate::own::lifecycle::TaskPart;
use crate::own::parameters::{FieldKind, PhasePart, TablePart};
use sensormark_engine::lifecycle::{BACKUP, CORRECT, DELETE, RESTART, RESTORE};

/// All tasks.
const TASKS: [&str; 6] = [BACKUP, RESTORE, RESTART, "add column", DELETE, CORRECT];

/// The task that a phase names.
pub fn task(
    source: &Source<'_>,
    phase: &At<Phase>,
    tables: &[TablePart],
) -> Result<Option<TaskPart>, FileError> {
    let Some(named) = &phase.task else {
        let stray = phase.older_than.as_ref().or(phase.span.as_ref());
        let message = "this is for a phase with task = \"delete\" or \"correct\"";
        return stray.map_or(Ok(None), |stray| Err(source.error(stray, message)));
    };
    let known = TASKS.map(str::to_owned);
    let task = known[number(source, "task", &known, Some(named), named)?].clone();
    let names: Vec<String> = tables.iter().map(|table| table.series.table.clone()).collect();
    let table = number(source, "table", &names, phase.table.as_ref(), phase)?;
    let changes = [DELETE, CORRECT].contains(&task.as_str());
    let times_ns = match &phase.older_than {
        None if changes => return Err(source.missing(phase, "older_than", "\"10d\"")),
        None => 0..0,
        Some(older_than) => {
            let span = phase.span.as_ref().map_or(3_600_000_000_000, |span| span.0);
            // Counted back from the end of the data that is loaded.
            let series = &tables[table].series;
            let end = series.start_ns.saturating_add(series.duration_ns).saturating_sub(older_than.0);
            let start = if task == CORRECT { end.saturating_sub(span) } else { series.start_ns };
            if start >= end || start < series.start_ns {
                let message = "no reading is so old: series.duration is not longer than older_than and span";
                return Err(source.error(older_than, message));
            }
            start..end
        }
    };
    let field = tables[table].fields.iter().position(|field| field.kind == FieldKind::Float);
    if task == CORRECT && field.is_none() {
        return Err(source.error(named, "a correction is of a field of type float, and the table has none"));
    }
    Ok(Some(TaskPart { task, table, field: field.unwrap_or(0), times_ns }))
}

/// Checks that a phase with a task, or after one, goes with it.
pub fn check(
    source: &Source<'_>,
    file_phase: &At<Phase>,
    part: &PhasePart,
    has_backup: bool,
) -> Result<(), FileError> {
    if !has_backup && part.task.as_ref().is_some_and(|task| task.task == RESTORE) {
        return Err(
            source.error(file_phase, "nothing is backed up yet: a phase before it needs task = \"backup\"")
        );
    }
    if !part.queries.is_empty() {
        let message = "queries are asked before the first phase with a task: what a task leaves is proved, and answers about it are not known";
        return Err(source.error(file_phase, message));
    }
    if part.task.is_some()
        && part.writers.iter().any(|writers| writers.rate.is_none() || writers.load_ns.is_some())
    {
        let message = "writers beside a task have a rate and a duration of the phase, which is how long they write before and after it: duration = \"5s\"";
        return Err(source.error(file_phase, message));
    }
    Ok(())
}
