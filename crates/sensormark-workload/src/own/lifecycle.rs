//! Tasks of a workload file's phases: what is done to the database beside its clients' work, and what that changes of the readings.

use super::parameters::PhasePart;
use minijinja::context;
use sensormark_engine::lifecycle::{CORRECT, Change, DELETE, Task};
use sensormark_store::Schema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

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
pub fn task(phase: &PhasePart, schema: &Schema) -> Option<Arc<Task>> {
    let TaskPart { task: name, table, field, times_ns } = phase.task.clone()?;
    let of = &schema.tables[table].fields[field].name;
    let told = context! {
        from => times_ns.start, until => times_ns.end, before => times_ns.end, field => of, value => CORRECTED
    };
    let change = match name.as_str() {
        DELETE => Some(Change::Gone(table, times_ns.end)),
        CORRECT => Some(Change::Corrected(table, times_ns, field, CORRECTED)),
        _ => None,
    };
    Some(Arc::new(Task {
        parts: vec![(name.clone(), told)],
        name,
        table,
        change,
        beside_ns: phase.duration_ns.unwrap_or(0),
        ..Task::default()
    }))
}
