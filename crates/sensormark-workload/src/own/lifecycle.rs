//! Tasks of a workload file's phases: what is done to the database beside its clients' work, and what that changes of the readings.

use super::parameters::{PhasePart, TablePart};
use sensormark_engine::lifecycle::{CORRECT, Change, DELETE, Means, Task};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Writers beside a task have something to write for so long.
pub const LONGEST_NS: u64 = 3_600_000_000_000;
/// The value that corrected readings get.
const CORRECTED: f64 = 0.5;

/// The task of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskPart {
    /// Its name.
    pub task: String,
    /// The table's number.
    pub table: usize,
    /// The field's number, of readings that are corrected.
    pub field: usize,
    /// The times of the readings that are deleted or corrected.
    pub times_ns: Range<i64>,
}

/// The task of a phase as the engine does it.
pub fn task(phase: &PhasePart) -> Option<Arc<dyn Task>> {
    let TaskPart { task, table, field, times_ns } = phase.task.clone()?;
    let change = match task.as_str() {
        DELETE => Some(Change::Gone(table, times_ns.end)),
        CORRECT => Some(Change::Corrected(table, times_ns, field, CORRECTED)),
        _ => None,
    };
    let beside = Duration::from_nanos(phase.duration_ns.unwrap_or(0));
    Some(Arc::new(Means { task, table, change, beside }))
}

/// The times of a table's readings that are older than this, counted back from the end of the data that is loaded; the latest of them, where a span is given.
pub fn older(table: &TablePart, older_than_ns: i64, span_ns: Option<i64>) -> Range<i64> {
    let end = table.series.start_ns.saturating_add(table.series.duration_ns).saturating_sub(older_than_ns);
    span_ns.map_or(table.series.start_ns, |span_ns| end.saturating_sub(span_ns))..end
}
