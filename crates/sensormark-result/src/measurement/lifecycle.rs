//! What a database went through besides its clients' work: tasks, each with its time, its size, its effect on writers and a check of the data after it.

use super::latency::SecondHistogram;
use super::record::{LoadRecord, TrialRecord};
use serde::{Deserialize, Serialize};

/// One task of a phase. The totals of the phase are its cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskRecord {
    /// The phase, by its name in [`TrialRecord::phases`].
    pub phase: String,
    /// The task's name in a workload file.
    pub task: String,
    /// When it began, in seconds since the phase did.
    pub began: f64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Bytes that it left: the backup's size.
    pub bytes: Option<u64>,
    /// CPU time of programs that it ran, in seconds.
    #[serde(default)]
    pub program_seconds: f64,
    /// What was done: statements and programs, without secrets.
    pub means: Vec<String>,
    /// Its parts in order ("rollup", "retention"), and how long each took, in seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<(String, f64)>,
    /// Why it was not done.
    pub not_supported: Option<String>,
    /// What was found when the data were read back after it; none where nothing was.
    pub found: Option<String>,
    /// Whether that was all that has to be there, and no more.
    pub proven: bool,
}

impl TaskRecord {
    /// Latencies of these loads of its phase before the task, during it and after it, one histogram a second.
    pub fn seconds<'a>(
        &self,
        record: &'a TrialRecord,
        is_wanted: impl Fn(&LoadRecord) -> bool + Copy,
    ) -> [Vec<&'a SecondHistogram>; 3] {
        let loads = record.loads.iter().filter(|load| is_wanted(load) && load.phase == self.phase);
        let classes = loads.flat_map(|load| load.classes.values());
        let mut parts: [Vec<_>; 3] = Default::default();
        for one in classes.flat_map(|class| &class.latency.seconds) {
            let second = one.second as f64;
            let is_after = second >= self.began + self.seconds;
            // A second in which any of the task was done belongs to the task.
            parts[if second + 1.0 <= self.began { 0 } else { 1 + usize::from(is_after) }].push(one);
        }
        parts
    }
}
