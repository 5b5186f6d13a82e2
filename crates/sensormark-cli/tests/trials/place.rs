//! A place in which one cell is run.

use crate::registry;
use crate::workload::{Parameters, Sensors};
use sensormark_engine::context::{Observer, RunContext, RunEvent};
use sensormark_engine::placement::Placement;
use sensormark_engine::repeats::DisturbedHost;
use sensormark_engine::run::{RunOutcome, run};
use sensormark_engine::selection::parse;
use sensormark_engine::server_probes::ServerProbes;
use sensormark_engine::trial::case::TrialRunner;
use sensormark_engine::trial::cases::cases;
use sensormark_result::measurement::ResultsFolder;
use sensormark_result::measurement::record::{Cache, TrialRecord};
use sensormark_result::probe::{DisturbanceLimits, Limits};
use sensormark_server::Supervisor;
use sensormark_store::{Durability, ServerOptions};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Remembers the phases that were announced.
#[derive(Default)]
pub struct Phases(Mutex<Vec<String>>);

impl Observer for Phases {
    fn event(&self, event: RunEvent) {
        if let RunEvent::Phase { name } = event {
            self.0.lock().expect("no test panics while it listens").push(name);
        }
    }
}

/// What a run of one cell came to.
pub struct Outcome {
    pub record: TrialRecord,
    pub outcome: RunOutcome,
    pub phases: Vec<String>,
    /// Folders left behind.
    pub left: usize,
}

/// Runs the workload on SQLite, with a planted fault if one is named.
pub fn measure(parameters: &Parameters, fault: Option<&str>, interrupt: &AtomicBool) -> Outcome {
    let first = std::env::args().nth(1);
    assert_ne!(first.as_deref(), Some("role"), "only one test acts as a role");
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = ResultsFolder::create(scratch.path(), "run").expect("a results folder");
    let home = scratch.path().join("state");
    let supervisor = Supervisor::new(Some(home.clone())).expect("a state folder");
    let (registry, phases) = (registry(), Phases::default());
    let context = RunContext {
        registry: &registry,
        supervisor: &supervisor,
        folder: &folder,
        limits: Limits::of_this_process(),
        observer: &phases,
        interrupt,
        placement: Placement::local(&std::env::current_exe().expect("this program")),
        probes: ServerProbes::none(),
        owner: "trials".to_owned(),
        seed: 7,
        budget: None,
        cache: Cache::Hot,
        timeout_ms: 1_000,
        server: ServerOptions::default(),
        data_folder: None,
        power: None,
        disturbance: DisturbanceLimits::default(),
        // Tests run beside each other.
        disturbed_host: DisturbedHost::Tolerated,
        protocol: None,
        plant: fault.map(str::to_owned),
    };
    let parameters = serde_json::to_value(parameters).expect("numbers");
    let choices = parse("sqlite:rows", &registry).expect("a store");
    let made = cases(&Sensors, &parameters, &choices, Durability::Default);
    let (mut cases, _) = made.expect("a layout");
    cases.truncate(1);
    let runner = TrialRunner { factory: Arc::new(Sensors), parameters };
    let outcome = run(&context, &runner, &cases, 1).expect("records are written");
    let mut trials = folder.trials().expect("a trial");
    assert_eq!(trials.len(), 1);
    Outcome {
        record: trials.remove(0),
        outcome,
        phases: phases.0.into_inner().expect("no test panics"),
        left: std::fs::read_dir(&home).map_or(0, |entries| {
            let name = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            entries.flatten().filter(|entry| name(entry).contains("sqlite")).count()
        }),
    }
}

/// The same, without a fault and to its end.
pub fn sound(parameters: &Parameters) -> Outcome {
    measure(parameters, None, &AtomicBool::new(false))
}
