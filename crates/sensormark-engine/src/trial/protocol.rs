//! What coordinator and trial process say to each other, over the line of [`crate::role`].
//!
//! The process reports [`Event::Ready`], then obeys commands. For each phase these are:
//!
//! - *prepare*, answered by a phase event [`CONNECTED`];
//! - *start*, answered by progress and a phase event [`FINISHED`], all connections open (*stop* may come before it);
//! - *report*, answered by a report.

use super::script::{CaseTrials, PhaseSpec};
use crate::connection::PlanMessage;
use crate::intake::Feed;
use crate::outcome::PhaseOutcome;
use crate::role::Event;
use serde::{Deserialize, Serialize};

/// All clients of the phase are connected.
pub const CONNECTED: &str = "connected";
/// All clients of the phase have ended.
pub const FINISHED: &str = "finished";

/// What a trial process gets first.
#[derive(Clone, Serialize, Deserialize)]
pub struct TrialConfiguration {
    /// The kind of workload.
    pub kind: String,
    /// Its parameters.
    pub parameters: serde_json::Value,
    /// The seed of data and operations.
    pub seed: u64,
    /// The layout's name in the workload's words.
    pub layout_name: String,
    /// How to reach the database.
    pub plan: PlanMessage,
    /// This process's number among the trial's.
    pub process: u32,
    /// What the case's trials depend on.
    pub case: CaseTrials,
    /// Which of them this is.
    pub trial: usize,
    /// The journal of what is stored. Only a process on another host gets it this way.
    pub stored: Option<String>,
}

/// What a trial process has to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Connect the clients of a phase.
    Prepare(Prepare),
    /// Have them work from an instant of CLOCK_MONOTONIC, in ns.
    Start {
        /// The instant.
        start_ns: u64,
    },
    /// Have them stop after their present operation: the server is gone.
    Stop,
    /// Close the connections, and report.
    Report,
    /// The trial is over.
    End,
}

/// Which phase, and what is known about what was written before.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Prepare {
    /// The step's number.
    pub step: usize,
    /// Operations of earlier loads that were not acknowledged.
    pub doubtful: Vec<DoubtfulLoad>,
    /// By load of this phase: what its questions keep below, where an earlier load was cut.
    pub watermarks: Vec<Option<u64>>,
    /// Where its readings come from, when its load is fed.
    pub feed: Option<Feed>,
    /// Whether the process opens the line of its fed load itself: it is on another host.
    pub own_line: bool,
}

impl Prepare {
    /// Why questions about what an earlier load has written cannot be asked, when it was cut too early.
    pub fn too_little(&self, phase: &PhaseSpec) -> Option<String> {
        let loads = phase.loads.iter().zip(&self.watermarks);
        loads
            .filter_map(|(load, watermark)| Some((load, (*watermark)?)))
            .find(|(load, watermark)| *watermark < load.operations.least_watermark())
            .map(|(_, watermark)| {
                format!(
                    "the load before it was cut after {watermark} operations, too early for these questions"
                )
            })
    }
}

/// Operations of one load that were not acknowledged as a whole.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DoubtfulLoad {
    /// The load's step.
    pub step: usize,
    /// Its place in the phase.
    pub load: usize,
    /// The operations' numbers.
    pub indices: Vec<u64>,
}

/// What a process reports of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What its clients have done.
    pub outcome: PhaseOutcome,
    /// Operations a second of the same clients over the null store; none where that says nothing.
    pub ceiling: Option<f64>,
    /// The journal of a line that the process opened itself.
    pub journal: Option<String>,
}

/// Whether a process says that its clients are connected.
pub fn is_connected(event: &Event) -> bool {
    matches!(event, Event::Phase(name) if name == CONNECTED)
}

/// Whether a process says that its clients have ended.
pub fn is_finished(event: &Event) -> bool {
    matches!(event, Event::Phase(name) if name == FINISHED)
}

/// Whether a process reports.
pub const fn is_report(event: &Event) -> bool {
    matches!(event, Event::Report(_))
}
