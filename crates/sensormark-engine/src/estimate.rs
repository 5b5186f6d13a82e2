//! How long a case takes, and how much disk, before anything of it is measured.
//!
//! Windows, schedules, limits and budgets say it themselves. A load without any of them takes as long as the database does: for that there is a rule of thumb,
//! the same for all databases. A run corrects the sum by what its turns take ([`super::time_left`]), and the sizes of a trial follow what its first ones took
//! ([`super::trial::growth`]). No figure of a result depends on it.

use super::benchmark_case::BenchmarkCase;
use super::phase::Pacing;
use super::trial::Workload;
use super::trial::script::{CaseTrials, LoadSpec, PhaseSpec, Step, TrialSpec};
use super::trial::support::{Support, support};
use sensormark_data::units::{ns_to_seconds, round_u64};
use sensormark_result::measurement::record::Side;
use sensormark_store::Schema;

/// A server's start and stop, in seconds.
const SERVER_SECONDS: f64 = 2.0;
/// The same of a server on a Java virtual machine, which is warmed up too.
const JAVA_SECONDS: f64 = 15.0;
/// To start a server again, in seconds.
const RESTART_SECONDS: f64 = 1.0;
/// What a trial takes besides its phases, and a phase besides its work, in seconds.
const TRIAL_SECONDS: f64 = 0.5;
const PHASE_SECONDS: f64 = 0.1;
/// The rule of thumb: a statement of one client, and each reading that it writes or looks at, in seconds.
const STATEMENT_SECONDS: f64 = 0.000_1;
const READING_SECONDS: f64 = 0.000_004;
/// To compare a stored reading with what was written, in seconds.
const PROOF_SECONDS: f64 = 0.000_001;
/// So many clients at most are served at once.
const SERVED: u32 = 2;
/// What a stored reading occupies at most beside its values, and what a value does, in bytes. Each is doubled, because databases write files anew.
const READING_BYTES: f64 = 200.0;
const VALUE_BYTES: f64 = 16.0;
/// Of a server without readings at most, in bytes.
const EMPTY_BYTES: f64 = 1e8;

/// What the length of a trial depends on besides the case.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms {
    /// Whether a server is started again before it is asked.
    pub restarts: bool,
    /// How long a trial may take that grows from size to size, in seconds.
    pub budget_seconds: Option<f64>,
}

/// How long a trial takes.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialEstimate {
    /// What is measured, in words: implementation and side.
    pub label: String,
    /// Which side is measured.
    pub side: Side,
    /// The reading strategy's name.
    pub strategy: Option<String>,
    /// How long it takes, about, in seconds.
    pub seconds: f64,
}

/// How long a case takes, and how much disk.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CaseEstimate {
    /// Its server's start and stop, in seconds.
    pub server_seconds: f64,
    /// Its trials, in the order in which a workload gives them.
    pub trials: Vec<TrialEstimate>,
    /// What the database occupies at most, in bytes.
    pub disk_bytes: u64,
}

impl CaseEstimate {
    /// The whole case, in seconds.
    pub fn seconds(&self) -> f64 {
        let trials: f64 = self.trials.iter().map(|trial| trial.seconds).sum();
        self.server_seconds + trials
    }
}

/// How long the trials of a case take, one after another on one database; `label` says what a trial is in words.
pub fn case(
    case: &BenchmarkCase,
    workload: &dyn Workload,
    trials: &CaseTrials,
    terms: Terms,
    label: impl Fn(&TrialSpec) -> String,
) -> CaseEstimate {
    let (schema, store) = (workload.schema(), case.choice.store.as_ref());
    let is_started = !store.description().embedded && case.choice.url.is_none();
    let server_seconds = if store.runs_on_java() { JAVA_SECONDS } else { SERVER_SECONDS };
    let terms = Terms { restarts: terms.restarts && is_started, ..terms };
    let mut gone_through = GoneThrough { case, schema: &schema, terms, stored: 0.0, most: 0.0 };
    let trials = workload.trials(trials).into_iter().map(|trial| TrialEstimate {
        label: label(&trial),
        side: trial.side,
        strategy: trial.strategy.clone(),
        seconds: gone_through.trial(&trial),
    });
    let trials = trials.collect();
    let fields: usize = schema.tables.iter().map(|table| table.fields.len()).max().unwrap_or(0);
    let reading_bytes = READING_BYTES + VALUE_BYTES * fields as f64;
    let (server_seconds, empty_bytes) = if is_started { (server_seconds, EMPTY_BYTES) } else { (0.0, 0.0) };
    let disk_bytes = round_u64(empty_bytes + gone_through.most * reading_bytes);
    CaseEstimate { server_seconds, trials, disk_bytes }
}

/// A case whose trials are gone through in thought.
struct GoneThrough<'a> {
    case: &'a BenchmarkCase,
    schema: &'a Schema,
    terms: Terms,
    /// Readings that are stored by now, and at most.
    stored: f64,
    most: f64,
}

impl GoneThrough<'_> {
    /// A trial, in seconds. What it writes is there for the next one. After the first size none is begun that there is no time for.
    fn trial(&mut self, trial: &TrialSpec) -> f64 {
        let budget = self.terms.budget_seconds.unwrap_or(f64::INFINITY);
        let (before, mut seconds, mut is_after_first) = (self.stored, TRIAL_SECONDS, false);
        for steps in trial.steps.chunk_by(|_, next| !matches!(next, Step::Size(_))) {
            let stored = self.stored;
            let lasts: f64 = steps.iter().map(|step| self.step(step)).sum();
            let proof = PROOF_SECONDS * (self.stored - before).max(0.0);
            if is_after_first && seconds + lasts + proof > budget {
                self.stored = stored;
                break;
            }
            seconds += lasts + proof;
            is_after_first = matches!(steps[0], Step::Size(_));
        }
        self.most = self.most.max(self.stored);
        seconds
    }

    fn step(&mut self, step: &Step) -> f64 {
        match step {
            Step::Reset => {
                self.most = self.most.max(self.stored);
                self.stored = 0.0;
                0.0
            }
            Step::Settle(_) | Step::Size(_) => 0.0,
            Step::Run(phase) => self.phase(phase),
        }
    }

    fn phase(&mut self, phase: &PhaseSpec) -> f64 {
        let (store, layout) = (self.case.choice.store.as_ref(), &self.case.layout);
        let is_missing =
            |load: &LoadSpec| matches!(support(store, layout, self.schema, load), Support::Not(_));
        if phase.loads.iter().any(is_missing) {
            return 0.0;
        }
        let body = body(phase);
        for load in phase.loads.iter().filter(|load| load.writes) {
            let own = load_seconds(load);
            let done = if own > body { body / own } else { 1.0 };
            self.stored += done * load.operations.len() as f64 * load.operations.extent().readings;
        }
        let is_restarted = phase.kill_after.is_some() || self.terms.restarts && phase.only_reads();
        PHASE_SECONDS + body + if is_restarted { RESTART_SECONDS } else { 0.0 }
    }
}

/// How long clients work, in seconds.
fn body(phase: &PhaseSpec) -> f64 {
    if let Some(task) = phase.task.as_ref().filter(|task| !task.is_round) {
        return 2.0 * task.beside_ns as f64 / 1e9;
    }
    let said = phase.window.map(|window| window.lead_in + window.lasts).or(phase.kill_after);
    if let Some(said) = said {
        return said.as_secs_f64();
    }
    let own = phase.loads.iter().filter(|load| !load.accompanies);
    let longest = own.map(load_seconds).fold(0.0, f64::max);
    phase.limit.map_or(longest, |limit| longest.min(limit.as_secs_f64()))
}

/// How long a load takes that nobody cuts, in seconds.
fn load_seconds(load: &LoadSpec) -> f64 {
    let (operations, extent) = (load.operations.len(), load.operations.extent());
    match &load.pacing {
        Pacing::Fed => 0.0,
        Pacing::Open(schedule) => {
            let last = schedule.offset_ns(operations.saturating_sub(1));
            last.map_or(f64::INFINITY, ns_to_seconds)
        }
        Pacing::Closed => {
            let one = STATEMENT_SECONDS * extent.statements + READING_SECONDS * extent.readings;
            operations as f64 * one / f64::from(load.clients.clamp(1, SERVED))
        }
    }
}
