//! What the parts of a run share: what it works with, what is measured, where a trial stands in it, and the events that its observer gets.
//!
//! Only descriptions: the order of trials is in [`super::run`], what happens inside one in [`super::trial`].

use super::benchmark_case::BenchmarkCase;
use super::connection::Registry;
use super::estimate::{CaseEstimate, Terms};
use super::placement::{LOAD, Placement};
use super::power::Power;
use super::repeats::DisturbedHost;
use super::run_plan::terms;
use super::server_probes::ServerProbes;
use super::study_protocol::Protocol;
use sensormark_result::measurement::folder::ResultsFolder;
use sensormark_result::measurement::record::{Cache, Implementation, SCHEMA_VERSION, Side, TrialRecord};
use sensormark_result::measurement::verdict::Verdict;
use sensormark_result::probe::{DisturbanceLimits, Limits};
use sensormark_server::Supervisor;
use sensormark_store::{ServerOptions, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a run works with.
#[derive(Clone)]
pub struct RunContext<'a> {
    /// The stores that the command knows.
    pub registry: &'a Registry,
    /// What starts and stops servers.
    pub supervisor: &'a Supervisor,
    /// Where results go.
    pub folder: &'a ResultsFolder,
    /// What all that belongs to the run may use of the machine.
    pub limits: Limits,
    /// Who watches.
    pub observer: &'a dyn Observer,
    /// Set by Ctrl-C.
    pub interrupt: &'a AtomicBool,
    /// Where roles are placed.
    pub placement: Placement,
    /// Probes beside servers that are given by URL.
    pub probes: ServerProbes,
    /// The run's name, which is the owner's mark in every database.
    pub owner: String,
    /// The seed of data and operations.
    pub seed: u64,
    /// The longest that an operation may take, in ms.
    pub timeout_ms: u64,
    /// How long a trial may take that grows from size to size.
    pub budget: Option<Duration>,
    /// What phases that only read find in memory.
    pub cache: Cache,
    /// Options of the servers that are started.
    pub server: ServerOptions,
    /// The folder on whose disk data goes, instead of the supervisor's own.
    pub data_folder: Option<PathBuf>,
    /// Where data is, when a power cut is tried.
    pub power: Option<&'a Power>,
    /// What disturbance makes a trial inconclusive.
    pub disturbance: DisturbanceLimits,
    /// Whether trials of a disturbed host count, and how often they are repeated.
    pub disturbed_host: DisturbedHost,
    /// The study's protocol, where the run follows it.
    pub protocol: Option<&'static Protocol>,
    /// The fault that is planted in the roles' stores, to see it caught.
    pub plant: Option<String>,
}

impl RunContext<'_> {
    /// What estimates of this run rest on.
    pub fn terms(&self) -> Terms {
        terms(self.cache, self.protocol, self.budget)
    }

    /// Whether the user broke the run off.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// Where a trial stands in its run.
#[derive(Debug, Clone, Copy)]
pub struct TrialPosition {
    /// The repetition, from 0.
    pub repetition: u32,
    /// The case's place in this repetition, from 0.
    pub turn: u32,
    /// Above 0 in a repeat.
    pub attempt: u32,
}

impl TrialPosition {
    /// The first of all.
    pub const FIRST: Self = Self { repetition: 0, turn: 0, attempt: 0 };

    /// The record of a trial that begins now, with nothing measured in it.
    pub fn record(self, name: String, implementation: Implementation, side: Side) -> TrialRecord {
        TrialRecord {
            schema_version: SCHEMA_VERSION,
            name,
            implementation,
            side,
            repetition: self.repetition,
            turn: self.turn,
            attempt: self.attempt,
            started: jiff::Timestamp::now().to_string(),
            server: None,
            settings: Vec::new(),
            log_bound: None,
            write_sizes: Vec::new(),
            statements: None,
            phases: Vec::new(),
            ledger: None,
            answers: None,
            latencies: BTreeMap::new(),
            errors: BTreeMap::new(),
            loads: Vec::new(),
            tasks: Vec::new(),
            figures: BTreeMap::new(),
            limits: Vec::new(),
            verdict: Verdict::Valid,
            disturbances: Vec::new(),
            warnings: Vec::new(),
            clocks: Vec::new(),
            client_probes: Vec::new(),
        }
    }
}

/// What a workload gives a run.
pub trait CaseRunner {
    /// The trials that a case has, and how long they take.
    fn estimate(&self, case: &BenchmarkCase, terms: &Terms) -> CaseEstimate;

    /// Names of the roles whose processes a case has, as people place them on hosts.
    fn roles(&self, case: &BenchmarkCase) -> BTreeSet<String> {
        let _ = case;
        BTreeSet::from([LOAD.to_owned()])
    }

    /// Whether something is measured that only reads, so that it can begin cold.
    fn only_reads(&self, case: &BenchmarkCase) -> bool {
        let _ = case;
        false
    }

    /// Measures a case and hands over each trial's record as soon as it is finished. Failures become invalid records. `earlier` are the records of the case's
    /// earlier attempts in this repetition, the first one first.
    fn run_case(
        &self,
        context: &RunContext<'_>,
        case: &BenchmarkCase,
        turn: TrialPosition,
        earlier: &[TrialRecord],
        finished: &mut dyn FnMut(TrialRecord),
    );
}

/// Something that happened in a run, which its observer gets.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "event", content = "data")]
pub enum RunEvent {
    /// The run begins.
    Started {
        /// Trials in all, repetitions included.
        trials: usize,
        /// How long they will take, in seconds, the repeats that are to be expected included.
        seconds: f64,
        /// How long they will take at most on a machine that others use, in seconds.
        most_seconds: f64,
    },
    /// How long the run still takes, by what its trials took so far.
    TimeLeft {
        /// What begins now, in seconds.
        now: f64,
        /// All after it, in seconds.
        after: f64,
    },
    /// Trials are repeated, beyond those that were planned.
    Again {
        /// How many.
        trials: usize,
        /// How long they will take, in seconds.
        seconds: f64,
    },
    /// A server is being started or a folder made.
    Opening {
        /// The database.
        title: String,
    },
    /// A trial begins.
    TrialStarted {
        /// What is measured: implementation and side.
        label: String,
        /// How long it will take, in seconds.
        seconds: f64,
    },
    /// A phase of a trial begins.
    Phase {
        /// Its name.
        name: String,
    },
    /// A trial is so far.
    Progress(super::role::Progress),
    /// A trial ended.
    TrialFinished {
        /// What was measured.
        label: String,
        /// Whether its figures may be believed.
        verdict: Verdict,
        /// How the host was disturbed meanwhile, tolerated or not.
        disturbances: Vec<String>,
    },
    /// Something that a person should know.
    Note(String),
}

/// Who watches a run.
pub trait Observer: Sync {
    /// Something happened.
    fn event(&self, event: RunEvent);
}

/// A trial in words: implementation and side.
pub fn trial_label(record: &TrialRecord) -> String {
    let what = &record.implementation;
    let doing = match (record.side, what.strategy.as_deref()) {
        (Side::Read, Some(strategy)) => format!("read {strategy}"),
        (Side::Read, None) => "read".to_owned(),
        (Side::Write, _) => "write".to_owned(),
        (Side::Mixed, _) => "write and read".to_owned(),
    };
    format!("{} {}: {doing}", what.title, what.layout_name)
}

/// What is said at once when a server has stopped; the trial's verdict tells it with the log's last lines.
pub fn stopped(crash: &StoreError) -> RunEvent {
    let text = crash.to_string();
    RunEvent::Note(text.lines().next().unwrap_or_default().to_owned())
}
