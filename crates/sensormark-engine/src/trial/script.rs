//! Trials of a case and their steps: what an implementation goes through.
//!
//! Plain descriptions, made by a workload alike in the coordinator and in the trial's processes.

use super::feed::Source;
use crate::answers::Checking;
use crate::lifecycle::Task;
use crate::operations::Operations;
use crate::phase::Pacing;
use crate::work_distribution::WorkDistribution;
use sensormark_result::measurement::record::Side;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What the trials of a case depend on besides the workload and its subject: the same in the coordinator and in the trial's processes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CaseTrials {
    /// Names of the reading strategies that are measured.
    pub strategies: Vec<String>,
    /// The journal of what is stored, where a trial before was fed.
    pub stored: Option<PathBuf>,
    /// Hosts that clients are spread over; 0 where nobody asked for that.
    pub load_hosts: u32,
}

/// One trial of a case. The trials of a case work on one database, one after the other; most cases have one.
#[derive(Clone)]
pub struct TrialSpec {
    /// What tells it from the case's other trials ("read-bulk"); none where there are no others.
    pub part: Option<String>,
    /// Which side is measured.
    pub side: Side,
    /// The reading strategy's name.
    pub strategy: Option<String>,
    /// The role of its processes.
    pub role: &'static str,
    /// What is gone through.
    pub steps: Vec<Step>,
    /// Whether it is about what a trial before it was fed with.
    pub needs_stored: bool,
}

impl TrialSpec {
    /// The only trial of a case.
    pub const fn only(steps: Vec<Step>) -> Self {
        Self { part: None, side: Side::Mixed, strategy: None, role: ROLE, steps, needs_stored: false }
    }
}

/// The role of a trial's processes, where a workload has no better name for it.
pub const ROLE: &str = "trial";

/// One step of a trial.
#[derive(Clone)]
pub enum Step {
    /// The database is dropped and made again, empty. What was stored is counted before.
    Reset,
    /// Clients work.
    Run(PhaseSpec),
    /// The database comes to rest, and its disk is measured. The name is the phase's.
    Settle(String),
    /// The database grows to so many readings, by the steps up to the next size. What is stored is proved after them. A size that the budget has no time for
    /// ends the trial.
    Size(u64),
}

impl Step {
    /// Whether it is the phase of this name.
    pub fn is_phase(&self, of: &str) -> bool {
        match self {
            Self::Run(phase) => phase.name == of,
            Self::Settle(name) => name == of,
            Self::Reset | Self::Size(_) => false,
        }
    }
}

/// A phase in which clients work.
#[derive(Clone, Default)]
pub struct PhaseSpec {
    /// Its name, unique in the trial ("load-16").
    pub name: String,
    /// What it stands for in the workload's tables ("clients": 16, "operation": "single write").
    pub labels: BTreeMap<String, Value>,
    /// Whether it only prepares what follows: its figures do not count.
    pub warm_up: bool,
    /// What is issued at the same time.
    pub loads: Vec<LoadSpec>,
    /// When it is cut.
    pub limit: Option<Duration>,
    /// Which part of it is measured, where the clock says that: clients begin before and go on after it.
    pub window: Option<Window>,
    /// Whether it goes on on the connections of the phase before it, with what those keep in memory.
    pub continues: bool,
    /// Processes that its clients are spread over, each load's evenly.
    pub processes: u32,
    /// Threads in each process; as many as there are cores, but no more than clients, where it is not said.
    pub workers: Option<usize>,
    /// Writing loads of earlier phases that must have issued all of their operations: else the phase is not measured.
    pub needs: Vec<About>,
    /// When its server is killed (SIGKILL), after its start. The trial ends with this phase: the server is started again on the same data,
    /// and what is stored is counted.
    pub kill_after: Option<Duration>,
    /// What is done to the database while its clients work: they work before it and after it. Without loads it is done alone.
    pub task: Option<Arc<Task>>,
}

/// The part of a phase that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How long clients work before it begins: a phase of its own in results, whose figures do not count.
    pub lead_in: Duration,
    /// How long it lasts.
    pub lasts: Duration,
}

/// The name of a phase's time before its window.
pub const LEAD_IN: &str = "warm-up";

/// What one group of clients issues in a phase.
#[derive(Clone)]
pub struct LoadSpec {
    /// Its name, unique in the phase.
    pub name: String,
    /// What is issued.
    pub operations: Arc<dyn Operations>,
    /// Whether operations write (or else ask): a load does one or the other.
    pub writes: bool,
    /// How many clients, over all processes.
    pub clients: u32,
    /// When.
    pub pacing: Pacing,
    /// How operations are shared out.
    pub distribution: WorkDistribution,
    /// Whether it ends when the loads that do not accompany others have ended.
    pub accompanies: bool,
    /// Which answers are compared in full.
    pub checking: Checking,
    /// The writing load whose readings are asked about. If it is in the same phase, questions keep below its watermark. If it is in an earlier one, they keep
    /// below what it had written when it was cut.
    pub about: Option<About>,
    /// What feeds it, of a load whose pacing is [`Pacing::Fed`].
    pub source: Option<Arc<dyn Source>>,
}

/// A writing load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its phase's name.
    pub phase: String,
    /// Its name.
    pub load: String,
}

impl PhaseSpec {
    /// A phase of these loads, in one process and without a limit.
    pub fn new(name: impl Into<String>, loads: Vec<LoadSpec>) -> Self {
        Self { name: name.into(), loads, processes: 1, ..Self::default() }
    }

    /// Whether nothing is written in it.
    pub fn only_reads(&self) -> bool {
        !self.loads.is_empty() && self.loads.iter().all(|load| !load.writes)
    }

    /// The same with one label more.
    #[must_use]
    pub fn label(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.labels.insert(name.to_owned(), value.into());
        self
    }
}

impl LoadSpec {
    /// A writing load in closed loop, its operations shared out by stride.
    pub fn writing(name: impl Into<String>, operations: Arc<dyn Operations>, clients: u32) -> Self {
        Self {
            name: name.into(),
            operations,
            writes: true,
            clients,
            pacing: Pacing::Closed,
            distribution: WorkDistribution::STRIDE,
            accompanies: false,
            checking: Checking::All,
            about: None,
            source: None,
        }
    }

    /// A writing load that is fed: one client writes what comes.
    pub fn fed(name: impl Into<String>, operations: Arc<dyn Operations>, source: Arc<dyn Source>) -> Self {
        Self { pacing: Pacing::Fed, source: Some(source), ..Self::writing(name, operations, 1) }
    }

    /// An asking load in closed loop, its operations shared out by stride.
    pub fn asking(
        name: impl Into<String>,
        operations: Arc<dyn Operations>,
        clients: u32,
        checking: Checking,
    ) -> Self {
        Self { writes: false, checking, ..Self::writing(name, operations, clients) }
    }
}

/// The phases among these steps.
pub fn phases(steps: &[Step]) -> impl Iterator<Item = &PhaseSpec> {
    steps.iter().filter_map(|step| match step {
        Step::Run(phase) => Some(phase),
        _ => None,
    })
}

/// The most clients that one of the phases has.
pub fn most_clients(steps: &[Step]) -> u32 {
    let clients = |phase: &PhaseSpec| phase.loads.iter().map(|load| load.clients).sum();
    phases(steps).map(clients).max().unwrap_or(1)
}

/// The load with these names, by its step and place.
pub fn find(steps: &[Step], about: &About) -> Option<(usize, usize)> {
    steps.iter().enumerate().find_map(|(number, step)| {
        let Step::Run(phase) = step else { return None };
        let load = phase.loads.iter().position(|load| load.name == about.load);
        load.filter(|_| phase.name == about.phase).map(|load| (number, load))
    })
}

/// Checks that the steps make sense: unique names, clients for every load, processes that can share.
///
/// # Errors
/// What does not, in words: a defect of the workload or a wrong parameter.
pub fn check(steps: &[Step]) -> Result<(), String> {
    let mut names = BTreeSet::new();
    let mut before: Option<&PhaseSpec> = None;
    for step in steps {
        if let Step::Run(phase) = step {
            let clients =
                |phase: &PhaseSpec| -> Vec<u32> { phase.loads.iter().map(|load| load.clients).collect() };
            if phase.continues && before.map(clients) != Some(clients(phase)) {
                let name = &phase.name;
                return Err(format!(
                    "phase {name}: it goes on on the connections of the one before it, which has other clients"
                ));
            }
            before = Some(phase);
        }
        let name = match step {
            Step::Reset | Step::Size(_) => continue,
            Step::Settle(name) => name,
            Step::Run(phase) => {
                check_phase(phase, steps)?;
                &phase.name
            }
        };
        if !names.insert(name) {
            return Err(format!("two phases are called {name}"));
        }
    }
    Ok(())
}

fn check_phase(phase: &PhaseSpec, steps: &[Step]) -> Result<(), String> {
    let complain = |text: &str| Err(format!("phase {}: {text}", phase.name));
    if phase.loads.is_empty() && phase.task.is_some() {
        return Ok(());
    }
    if phase.loads.is_empty() || phase.loads.iter().any(|load| load.clients == 0) {
        return complain("a load needs at least one client");
    }
    if phase.loads.iter().all(|load| load.accompanies) {
        return complain("every load accompanies another, so that it would never end");
    }
    let is_fed = |load: &LoadSpec| matches!(load.pacing, Pacing::Fed);
    if phase.loads.iter().any(is_fed) {
        let [load] = phase.loads.as_slice() else {
            return complain("a load that is fed has its phase for itself");
        };
        if load.clients != 1 || load.source.is_none() {
            return complain("a load that is fed has one client and a source");
        }
    }
    if phase.processes == 0 || phase.loads.iter().any(|load| load.clients < phase.processes) {
        return complain("there are more processes than clients");
    }
    for need in &phase.needs {
        if find(steps, need).is_none() {
            return complain(&format!("it needs {} of {}, which is not there", need.load, need.phase));
        }
    }
    let mixed = phase.loads.len() > 1;
    for load in &phase.loads {
        let counted = matches!(load.distribution, WorkDistribution::Counter { .. });
        if phase.processes > 1 && (counted || mixed) {
            return complain("several processes share one load, by stride");
        }
        if let Some(about) = &load.about
            && find(steps, about).is_none()
        {
            return Err(format!(
                "phase {}: load {} is about {} of {}, which is not there",
                phase.name, load.name, about.load, about.phase
            ));
        }
    }
    Ok(())
}
