//! Steps of a trial: what an implementation goes through.
//!
//! Plain descriptions, made by a workload alike in the coordinator and in the trial's processes.

use crate::engine::answers::Checking;
use crate::engine::operations::Operations;
use crate::engine::phase::Pacing;
use crate::engine::sharing::Sharing;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// One step of a trial.
#[derive(Clone)]
pub enum Step {
    /// The database is dropped and made again, empty. What was stored is counted before.
    Reset,
    /// Clients work.
    Run(PhaseSpec),
    /// The database comes to rest, and its disk is measured. The name is the phase's.
    Settle(String),
}

/// A phase in which clients work.
#[derive(Clone)]
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
    /// Processes that its clients are spread over, each load's evenly.
    pub processes: u32,
    /// Threads in each process; as many as there are cores, but no more than clients, where it is not said.
    pub workers: Option<usize>,
    /// Writing loads of earlier phases that must have issued all of their operations: else the phase is not measured.
    pub needs: Vec<About>,
    /// When its server is killed (SIGKILL), after its start. The trial ends with this phase: the server is started again on the same data,
    /// and what is stored is counted.
    pub kill_after: Option<Duration>,
}

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
    pub sharing: Sharing,
    /// Whether it ends when the loads that do not accompany others have ended.
    pub accompanies: bool,
    /// Which answers are compared in full.
    pub checking: Checking,
    /// The writing load whose readings are asked about: in the same phase, where questions keep below its watermark, or in an earlier one,
    /// where they keep below what it had written when it was cut.
    pub about: Option<About>,
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
        Self {
            name: name.into(),
            labels: BTreeMap::new(),
            warm_up: false,
            loads,
            limit: None,
            processes: 1,
            workers: None,
            needs: Vec::new(),
            kill_after: None,
        }
    }

    /// Whether nothing is written in it.
    pub fn only_reads(&self) -> bool {
        self.loads.iter().all(|load| !load.writes)
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
            sharing: Sharing::STRIDE,
            accompanies: false,
            checking: Checking::All,
            about: None,
        }
    }

    /// An asking load in closed loop, its operations shared out by stride.
    pub fn asking(
        name: impl Into<String>,
        operations: Arc<dyn Operations>,
        clients: u32,
        checking: Checking,
    ) -> Self {
        Self {
            writes: false,
            checking,
            ..Self::writing(name, operations, clients)
        }
    }
}

/// The load with these names, by its step and place.
pub fn find(steps: &[Step], about: &About) -> Option<(usize, usize)> {
    steps.iter().enumerate().find_map(|(number, step)| {
        let Step::Run(phase) = step else { return None };
        let load = phase.loads.iter().position(|load| load.name == about.load);
        load.filter(|_| phase.name == about.phase)
            .map(|load| (number, load))
    })
}

/// Checks that the steps make sense: unique names, clients for every load, processes that can share.
///
/// # Errors
/// What does not, in words: a defect of the workload or a wrong parameter.
pub fn check(steps: &[Step]) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for step in steps {
        let name = match step {
            Step::Reset => continue,
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
    if phase.loads.is_empty() || phase.loads.iter().any(|load| load.clients == 0) {
        return complain("a load needs at least one client");
    }
    if phase.loads.iter().all(|load| load.accompanies) {
        return complain("every load accompanies another, so that it would never end");
    }
    if phase.processes == 0
        || phase
            .loads
            .iter()
            .any(|load| load.clients < phase.processes)
    {
        return complain("there are more processes than clients");
    }
    for need in &phase.needs {
        if find(steps, need).is_none() {
            return complain(&format!(
                "it needs {} of {}, which is not there",
                need.load, need.phase
            ));
        }
    }
    let mixed = phase.loads.len() > 1;
    for load in &phase.loads {
        let counted = matches!(load.sharing, Sharing::Counter { .. });
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
