//! A run: every cell of a workload, repetition by repetition, the cells taking turns so that drift hits all alike.
//!
//! What happens inside a cell (a store with a layout: its server, its writing, its reading) is the workload's affair; this
//! module orders cells, repeats what was measured on a disturbed host, keeps the records, and stops in good order.

use crate::engine::calm::Patience;
use crate::engine::connection::Registry;
use crate::engine::judge::client::confined;
use crate::engine::site::{Site, block_on, existing_endpoint};
use crate::measurement::folder::{FolderError, ResultsFolder};
use crate::measurement::record::{
    Cache, Implementation, NotMeasured, SCHEMA_VERSION, Side, TrialRecord,
};
use crate::measurement::verdict::{ReasonKind, Verdict};
use crate::probe::{DisturbanceLimits, Limits};
use crate::workload::as_study::Protocol;
use crate::workload::selection::Choice;
use sensormark_server::Supervisor;
use sensormark_store::{Durability, ErrorKind, Layout, ServerOptions, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most repeats of a trial whose host was disturbed.
pub const FURTHER_ATTEMPTS: u32 = 2;

/// What a run works with.
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
    /// The program that roles are started with.
    pub program: PathBuf,
    /// The run's name, which is the owner's mark in every database.
    pub owner: String,
    /// The seed of data and operations.
    pub seed: u64,
    /// The longest that an operation may take, in ms.
    pub timeout_ms: u64,
    /// What phases that only read find in memory.
    pub cache: Cache,
    /// Options of the servers that are started.
    pub server: ServerOptions,
    /// The folder on whose disk data goes, instead of the supervisor's own.
    pub data_folder: Option<PathBuf>,
    /// What disturbance makes a trial inconclusive.
    pub disturbance: DisturbanceLimits,
    /// Whether trials of a disturbed host count, instead of being measured again.
    pub tolerate_disturbance: bool,
    /// The study's protocol, where the run follows it.
    pub protocol: Option<&'static Protocol>,
    /// The fault that is planted in the roles' stores, to see it caught.
    pub plant: Option<String>,
}

impl RunContext<'_> {
    /// Whether the user broke the run off.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// One store with one layout, and what is measured on it.
#[derive(Clone)]
pub struct Cell {
    /// The store, and its URL if it is there already.
    pub choice: Choice,
    /// The layout's name in the workload's words.
    pub layout_name: String,
    /// The layout.
    pub layout: Layout,
    /// What an acknowledgement promises.
    pub durability: Durability,
    /// Names of what is measured on it besides writing: reading strategies.
    pub strategies: Vec<String>,
}

/// The cells without those that are named twice: what is measured on any of them is measured once.
pub fn distinct(cells: Vec<Cell>) -> Vec<Cell> {
    let mut distinct: Vec<Cell> = Vec::new();
    for cell in cells {
        let same = distinct.iter_mut().find(|one| {
            one.choice.file_name() == cell.choice.file_name()
                && one.layout_name == cell.layout_name
                && one.durability == cell.durability
        });
        match same {
            None => distinct.push(cell),
            Some(one) => {
                let is_new = |name: &String| !one.strategies.contains(name);
                let more: Vec<String> = cell.strategies.into_iter().filter(is_new).collect();
                one.strategies.extend(more);
            }
        }
    }
    distinct
}

/// Where a trial stands in its run.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// The repetition, from 0.
    pub repetition: u32,
    /// The cell's place in this repetition, from 0.
    pub turn: u32,
    /// Above 0 in a repeat.
    pub attempt: u32,
}

impl Turn {
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
            write_sizes: Vec::new(),
            statements: None,
            phases: Vec::new(),
            ledger: None,
            answers: None,
            latencies: BTreeMap::new(),
            errors: BTreeMap::new(),
            loads: Vec::new(),
            figures: BTreeMap::new(),
            limits: Vec::new(),
            verdict: Verdict::Valid,
            disturbances: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// What a workload gives a run.
pub trait CellRunner {
    /// How many trials a cell has.
    fn trials(&self, cell: &Cell) -> usize;

    /// How long a cell takes, in seconds, without its server's start.
    fn seconds(&self, cell: &Cell) -> f64;

    /// What [`Self::seconds`] supposes, in a line; nothing where a cell says itself how long it takes.
    fn supposes(&self, cell: &Cell) -> Option<String> {
        let _ = cell;
        None
    }

    /// Whether something is measured that only reads, so that it can begin cold.
    fn only_reads(&self, cell: &Cell) -> bool {
        let _ = cell;
        false
    }

    /// Measures a cell and hands over each trial's record as soon as it is finished; failures become invalid records. `earlier` are the records
    /// of its earlier attempts in this repetition, the first one first.
    fn run_cell(
        &self,
        context: &RunContext<'_>,
        cell: &Cell,
        turn: Turn,
        earlier: &[TrialRecord],
        finished: &mut dyn FnMut(TrialRecord),
    );
}

/// Something that happened in a run, for who watches.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "event", content = "data")]
pub enum RunEvent {
    /// The run begins.
    Started {
        /// Trials in all, repetitions included.
        trials: usize,
        /// How long they will take, in seconds.
        seconds: f64,
    },
    /// Trials are measured again, beyond those that were planned.
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
    Progress(crate::engine::role::Progress),
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

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunOutcome {
    /// Trials with a valid verdict.
    pub valid: usize,
    /// Trials with another verdict.
    pub not_valid: usize,
    /// Limits of the user's that were missed.
    pub limits_missed: usize,
    /// Whether a store could not be reached or started.
    pub unreachable: bool,
    /// Whether the user broke the run off.
    pub interrupted: bool,
}

/// Asks every existing server for its version and looks for every program, before anything is measured.
///
/// # Errors
/// The first that cannot be reached; one that is not installed is an error too unless `optional` (asked for by `all`), when it is
/// left out with its reason.
pub fn preflight(
    supervisor: &Supervisor,
    choices: Vec<Choice>,
    optional: bool,
) -> Result<(Vec<Choice>, Vec<NotMeasured>), StoreError> {
    let (mut here, mut missing) = (Vec::new(), Vec::new());
    for choice in choices {
        let checked = match existing_endpoint(supervisor, &choice) {
            Ok(Some(endpoint)) => block_on(choice.store.version(&endpoint)).map(|_| ()),
            Ok(None) => choice.store.installation().map(|_| ()),
            Err(error) => Err(error),
        };
        match checked {
            Ok(()) => here.push(choice),
            Err(error) if optional && error.kind() == ErrorKind::NotInstalled => {
                missing.push(NotMeasured {
                    implementation: choice.title(),
                    reason: format!("not available: {}", error.context()),
                });
            }
            Err(error) => return Err(error),
        }
    }
    Ok((here, missing))
}

/// Estimates from this length on are explained, in seconds.
const LONG_SECONDS: f64 = 600.0;

/// Measures all cells, `repetitions` times, and keeps every record.
///
/// # Errors
/// When a record cannot be written; what was written stays.
pub fn run(
    context: &RunContext<'_>,
    runner: &dyn CellRunner,
    cells: &[Cell],
    repetitions: u32,
) -> Result<RunOutcome, FolderError> {
    let once: f64 = cells.iter().map(|cell| runner.seconds(cell)).sum();
    let trials: usize = cells.iter().map(|cell| runner.trials(cell)).sum();
    context.observer.event(RunEvent::Started {
        trials: trials * repetitions as usize,
        seconds: once * f64::from(repetitions),
    });
    if once * f64::from(repetitions) >= LONG_SECONDS {
        let supposed: BTreeSet<String> = cells
            .iter()
            .filter_map(|cell| runner.supposes(cell))
            .collect();
        for line in supposed {
            context.observer.event(RunEvent::Note(line));
        }
    }
    let is_server = |cell: &Cell| !cell.choice.store.description().embedded;
    if let Some(why) = confined(context.limits).filter(|_| cells.iter().any(is_server)) {
        let note = format!("no trial of a server can be valid here: {why}");
        context.observer.event(RunEvent::Note(note));
    }
    let mut outcome = RunOutcome::default();
    let patience = Patience::default();
    for repetition in 0..repetitions {
        for turn in 0..cells.len() {
            if context.is_interrupted() {
                break;
            }
            let cell = &cells[(turn + repetition as usize) % cells.len()];
            let turn = Turn {
                repetition,
                turn: u32::try_from(turn).unwrap_or(u32::MAX),
                attempt: 0,
            };
            for record in measure(context, runner, cell, turn, &patience)? {
                if record.verdict.is_valid() {
                    outcome.valid += 1;
                } else {
                    outcome.not_valid += 1;
                }
                let missed = record.limits.iter().filter(|limit| !limit.met);
                outcome.limits_missed += missed.count();
                let reasons = record.verdict.reasons();
                outcome.unreachable |= reasons
                    .iter()
                    .any(|reason| reason.kind == ReasonKind::Unreachable);
            }
        }
    }
    outcome.interrupted = context.is_interrupted();
    Ok(outcome)
}

/// Measures one cell; what was measured of it on a disturbed host is repeated. Which attempt counts is
/// [`Verdict::counts_instead_of`]'s affair; all are kept.
fn measure(
    context: &RunContext<'_>,
    runner: &dyn CellRunner,
    cell: &Cell,
    mut turn: Turn,
    patience: &Patience,
) -> Result<Vec<TrialRecord>, FolderError> {
    let mut cell = cell.clone();
    let (mut counted, mut attempts): (Vec<TrialRecord>, Vec<TrialRecord>) = Default::default();
    loop {
        let (mut written, mut measured) = (Ok(()), Vec::new());
        runner.run_cell(context, &cell, turn, &attempts, &mut |record| {
            if written.is_ok() {
                written = context.folder.write_trial(&record);
            }
            context.observer.event(RunEvent::TrialFinished {
                label: trial_label(&record),
                verdict: record.verdict.clone(),
                disturbances: record.disturbances.clone(),
            });
            measured.push(record.clone());
            let label = trial_label(&record);
            match counted.iter_mut().find(|one| trial_label(one) == label) {
                None => counted.push(record),
                Some(one) if record.verdict.counts_instead_of(&one.verdict) => *one = record,
                Some(_) => {}
            }
        });
        written?;
        attempts.extend(measured);
        let disturbed = |record: &&TrialRecord| record.verdict.is_inconclusive();
        let again: Vec<&TrialRecord> = counted.iter().filter(disturbed).collect();
        let is_last = turn.attempt == FURTHER_ATTEMPTS || context.tolerate_disturbance;
        if again.is_empty() || is_last || context.is_interrupted() {
            return Ok(counted);
        }
        cell.strategies.retain(|name| {
            let mut strategies = again.iter().map(|one| &one.implementation.strategy);
            strategies.any(|strategy| strategy.as_ref() == Some(name))
        });
        turn.attempt += 1;
        announce_again(context, runner, &cell, turn);
        patience.wait(context);
    }
}

fn announce_again(context: &RunContext<'_>, runner: &dyn CellRunner, cell: &Cell, turn: Turn) {
    context.observer.event(RunEvent::Again {
        trials: runner.trials(cell),
        seconds: runner.seconds(cell),
    });
    context.observer.event(RunEvent::Note(format!(
        "the host was disturbed; {} {} is measured again (attempt {} of {})",
        cell.choice.title(),
        cell.layout_name,
        turn.attempt + 1,
        FURTHER_ATTEMPTS + 1
    )));
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

/// Opens the site of a cell.
///
/// # Errors
/// When the server cannot be started or reached.
pub fn open_site(context: &RunContext<'_>, cell: &Cell) -> Result<Site, StoreError> {
    context.observer.event(RunEvent::Opening {
        title: cell.choice.title(),
    });
    let options = ServerOptions {
        durability: cell.durability,
        ..context.server.clone()
    };
    Site::open(
        context.supervisor,
        &cell.choice,
        &options,
        context.data_folder.as_deref(),
    )
}
