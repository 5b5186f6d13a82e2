//! How long a case takes, and how much disk, before anything of it is measured: the steps of its trials, at the rates of databases of its kind.
//!
//! Operations and readings are counted exactly. Rates are [`Typical`] ones of another machine, so a run corrects the result by what its trials
//! take ([`super::time_left`]). Nothing here starts or measures anything, and no figure of a result depends on it.

use super::benchmark_case::BenchmarkCase;
use super::phase::Pacing;
use super::study_protocol::Protocol;
use super::trial::Workload;
use super::trial::script::{CaseTrials, LoadSpec, PhaseSpec, Step, TrialSpec};
use super::trial::support::{Support, support};
use super::typical::Typical;
use sensormark_data::units::{ns_to_seconds, round_u64};
use sensormark_result::measurement::record::{Cache, Side};
use sensormark_store::{Index, Schema, Shape};

/// What a phase takes besides its work, in seconds: its common start after 50 ms, and the report. The kept result sensor-operations of PostgreSQL has 37
/// phases, and takes 3 s more than its operations, one start and 18 new databases.
const PHASE_SECONDS: f64 = 0.08;
/// The same for each client, which connects, in seconds.
const CLIENT_SECONDS: f64 = 0.001;
/// What a trial takes besides its phases, in seconds: 0.06 of SQLite, 0.15 of PostgreSQL (machine-tool at `quick`, 2026-11-23).
const TRIAL_SECONDS: f64 = 0.1;
/// What each process of a trial takes to start, in seconds.
const PROCESS_SECONDS: f64 = 0.05;
/// What a trial takes longer when a source feeds it, in seconds: the source's start, and readings beyond the measured phase (0.4 s of SQLite).
const FED_SECONDS: f64 = 0.35;
/// What warming up a server takes, in seconds (Cassandra and QuestDB at `quick`).
const WARM_UP_SECONDS: f64 = 8.0;
/// What a kill takes besides the restart, in seconds: clients give up, and what is stored is compared. It took 4 s of SQLite in an unoptimised build
/// beside other programs (durability at `firm`, 2026-11-23).
const KILLED_SECONDS: f64 = 2.0;
/// All that is stored is read back and counted. A value takes this share of the time in which it is written with many others: MongoDB's 3.9 million readings of
/// the kept result devops took about 35 s.
const READ_BACK_SHARE: f64 = 0.4;
/// So many clients at most are faster than one where the work of a processor counts, not waiting. On two processors 16 clients loaded 1.0 to 1.6 times as
/// fast as one, and 8 asked 1.7 times as fast (the kept results devops and sensor-operations).
const BUSY_CLIENTS: f64 = 1.7;
/// A reading that a question without an index passes over costs this share of one that it looks at: 0.03 µs of 0.8 in PostgreSQL, by the kept result
/// sensor-operations.
const PASSED_OVER: f64 = 0.05;
/// A reading inside a record of many costs this share of one that is a record of its own. In MongoDB it is 1.6 µs of 8 (the kept results iot-platform and
/// devops).
const PACKED: f64 = 0.2;
/// So many readings at least share a record where the layout does not say how many.
const READINGS_A_RECORD: f64 = 100.0;
/// Disk at most. Databases keep old and new files side by side while they bring them into order. Cassandra's documentation advises to leave as much room
/// free as the data take (<https://cassandra.apache.org/doc/4.1/cassandra/operating/compaction/index.html>).
const DISK_TIMES: f64 = 2.0;

/// What the length of a trial depends on besides the case.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// What phases that only read find in memory.
    pub cache: Cache,
    /// Whether a server is started again before each reading trial.
    pub restarts_before_reading: bool,
    /// How large a server's log may get, in bytes.
    pub log_bytes: u64,
    /// How long a trial may take that grows from size to size, in seconds.
    pub budget_seconds: Option<f64>,
}

impl Terms {
    /// Of a run with this cache, which follows this study if any, whose servers have logs of at most so many bytes.
    pub fn new(cache: Cache, protocol: Option<&Protocol>, log_bytes: u64) -> Self {
        let restarts = protocol.is_some_and(|study| study.restart_before_reading);
        Self {
            cache,
            restarts_before_reading: restarts && cache == Cache::Hot,
            log_bytes,
            budget_seconds: None,
        }
    }
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
    /// Until the database is there, its server's start included, in seconds.
    pub open_seconds: f64,
    /// Its trials, in the order in which a workload gives them.
    pub trials: Vec<TrialEstimate>,
    /// Until it is gone again, in seconds.
    pub close_seconds: f64,
    /// What the database occupies at most, in bytes.
    pub disk_bytes: u64,
}

impl CaseEstimate {
    /// The whole case, in seconds.
    pub fn seconds(&self) -> f64 {
        let trials: f64 = self.trials.iter().map(|trial| trial.seconds).sum();
        self.open_seconds + trials + self.close_seconds
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
    let schema = workload.schema();
    let mut estimator = Estimator::new(case, &schema, terms);
    let trials = workload.trials(trials).into_iter().map(|trial| TrialEstimate {
        label: label(&trial),
        side: trial.side,
        strategy: trial.strategy.clone(),
        seconds: estimator.trial(&trial),
    });
    CaseEstimate {
        trials: trials.collect(),
        open_seconds: estimator.open_seconds(),
        close_seconds: estimator.close_seconds(),
        disk_bytes: estimator.disk_bytes(),
    }
}

/// A case whose trials are gone through in thought.
pub struct Estimator<'a> {
    case: &'a BenchmarkCase,
    schema: &'a Schema,
    terms: Terms,
    /// What its operations take, as a rule.
    pub typical: Typical,
    /// Whether sensormark starts and stops the database's server.
    pub is_managed: bool,
    /// Readings that are stored by now, and at most.
    stored: f64,
    most_stored: f64,
    /// Readings that were written in all.
    written: f64,
}

impl<'a> Estimator<'a> {
    /// A case before its first trial.
    pub fn new(case: &'a BenchmarkCase, schema: &'a Schema, terms: Terms) -> Self {
        Self {
            case,
            schema,
            terms,
            typical: Typical::of(case.choice.store.as_ref()),
            is_managed: !case.choice.store.description().embedded && case.choice.url.is_none(),
            stored: 0.0,
            most_stored: 0.0,
            written: 0.0,
        }
    }

    /// Until its server is there, in seconds.
    pub fn start_seconds(&self) -> f64 {
        if self.is_managed { self.typical.start_seconds } else { 0.0 }
    }

    fn restart_seconds(&self) -> f64 {
        if self.is_managed { self.typical.stop_seconds + self.typical.restart_seconds } else { 0.0 }
    }

    /// Until the database is there, in seconds.
    pub fn open_seconds(&self) -> f64 {
        let is_warmed = self.case.choice.store.runs_on_java();
        let warm_up = if is_warmed { WARM_UP_SECONDS } else { 0.0 };
        self.start_seconds() + warm_up + self.typical.reset_seconds
    }

    /// Until it is gone, in seconds.
    fn close_seconds(&self) -> f64 {
        let stop = if self.is_managed { self.typical.stop_seconds } else { 0.0 };
        self.typical.reset_seconds + stop
    }

    /// A trial, in seconds. What it writes is there for the next one.
    pub fn trial(&mut self, trial: &TrialSpec) -> f64 {
        let phases = || {
            trial.steps.iter().filter_map(|step| match step {
                Step::Run(phase) => Some(phase),
                _ => None,
            })
        };
        let is_fed = |load: &LoadSpec| matches!(load.pacing, Pacing::Fed);
        let fed = phases().any(|phase| phase.loads.iter().any(is_fed));
        let processes = phases().map(|phase| phase.processes).max().unwrap_or(1);
        let mut seconds = TRIAL_SECONDS + PROCESS_SECONDS * f64::from(processes);
        if fed {
            seconds += FED_SECONDS;
        }
        if trial.side == Side::Read && self.terms.restarts_before_reading {
            seconds += self.restart_seconds();
        }
        let before = self.written;
        for step in &trial.steps {
            seconds += self.step(step);
        }
        if self.written > before {
            seconds += self.read_back();
        }
        let grows = trial.steps.iter().any(|step| matches!(step, Step::Size(_)));
        match self.terms.budget_seconds.filter(|most| grows && *most < seconds) {
            None => seconds,
            Some(most) => {
                // Sizes that there is no time for are not stored.
                self.most_stored *= most / seconds;
                self.written *= most / seconds;
                most
            }
        }
    }

    /// To count what is stored, in seconds.
    fn read_back(&self) -> f64 {
        self.stored * self.values() * READ_BACK_SHARE * self.typical.value_us / 1e6
    }

    fn step(&mut self, step: &Step) -> f64 {
        match step {
            Step::Reset => {
                let seconds = self.read_back() + self.typical.reset_seconds;
                self.stored = 0.0;
                seconds
            }
            Step::Settle(_) => self.typical.settle_seconds,
            Step::Size(_) => 0.0,
            Step::Run(phase) => self.phase(phase),
        }
    }

    fn phase(&mut self, phase: &PhaseSpec) -> f64 {
        let (store, layout) = (self.case.choice.store.as_ref(), &self.case.layout);
        let is_missing =
            |load: &LoadSpec| matches!(support(store, layout, self.schema, load), Support::Not(_));
        let cold = self.terms.cache == Cache::Cold && phase.only_reads();
        if (cold && phase.warm_up) || phase.loads.iter().any(is_missing) {
            return 0.0;
        }
        let body = self.body(phase);
        self.store(phase, body);
        let clients: u32 = phase.loads.iter().map(|load| load.clients).sum();
        let mut seconds = PHASE_SECONDS + CLIENT_SECONDS * f64::from(clients) + body;
        if cold {
            seconds += self.restart_seconds();
        }
        if phase.kill_after.is_some() {
            seconds += KILLED_SECONDS + self.restart_seconds();
        }
        seconds
    }

    /// How long clients work.
    fn body(&self, phase: &PhaseSpec) -> f64 {
        if let Some(task) = phase.task.as_ref().filter(|task| !task.is_round) {
            return 2.0 * task.beside_ns as f64 / 1e9;
        }
        if let Some(window) = phase.window {
            return (window.lead_in + window.lasts).as_secs_f64();
        }
        if let Some(kill) = phase.kill_after {
            return kill.as_secs_f64();
        }
        let own = phase.loads.iter().filter(|load| !load.accompanies);
        let longest = own.map(|load| self.load(load)).fold(0.0, f64::max);
        let limit = phase.limit.map_or(f64::INFINITY, |it| it.as_secs_f64());
        longest.min(limit)
    }

    /// How long a load takes that nobody cuts.
    fn load(&self, load: &LoadSpec) -> f64 {
        let operations = load.operations.len();
        match &load.pacing {
            Pacing::Fed => 0.0,
            Pacing::Open(schedule) => {
                let last = schedule.offset_ns(operations.saturating_sub(1));
                last.map_or(f64::INFINITY, ns_to_seconds)
            }
            Pacing::Closed => operations as f64 * self.operation(load),
        }
    }

    /// What an operation adds to the length of a load, in seconds.
    fn operation(&self, load: &LoadSpec) -> f64 {
        let (typical, extent) = (&self.typical, load.operations.extent());
        let further = (extent.readings - 1.0).max(0.0);
        let (one, work) = if load.writes {
            (typical.write_us, further * self.values() * typical.value_us)
        } else {
            (typical.question_us, self.looked_at(further) * typical.scan_us)
        };
        let served = f64::from(load.clients).min(typical.clients_served).max(1.0);
        let us = extent.statements * one / served + work / served.min(BUSY_CLIENTS);
        us / 1e6
    }

    /// What a question about so many readings has to look at, counted in readings that are records of their own.
    fn looked_at(&self, readings: f64) -> f64 {
        let (share, of_a_record) = match self.case.layout.shape {
            Shape::Bucketed { limit, .. } => (PACKED, f64::from(limit.max(1))),
            Shape::RecordPerSpan { .. } | Shape::GrowingArray => (PACKED, READINGS_A_RECORD),
            _ => (1.0, 1.0),
        };
        let passed_over = match self.case.layout.index {
            Index::None => self.stored * PASSED_OVER / of_a_record,
            _ => 0.0,
        };
        readings * share + passed_over
    }

    /// Values of a reading, its time and series among them: the mean of the tables. Of fields that may be absent, half are there.
    fn values(&self) -> f64 {
        let tables = &self.schema.tables;
        let fields = tables.iter().flat_map(|table| &table.fields);
        let there: f64 = fields.map(|field| if field.nullable { 0.5 } else { 1.0 }).sum();
        2.0 + there / tables.len().max(1) as f64
    }

    /// Takes note of what a phase of this length writes.
    fn store(&mut self, phase: &PhaseSpec, body: f64) {
        for load in phase.loads.iter().filter(|load| load.writes) {
            let all = load.operations.len() as f64;
            let own = self.load(load);
            let done = if own > body { all * body / own } else { all };
            let readings = done * load.operations.extent().readings;
            self.stored += readings;
            self.written += readings;
        }
        self.most_stored = self.most_stored.max(self.stored);
    }

    /// What the database occupies at most, by what was stored so far, in bytes.
    fn disk_bytes(&self) -> u64 {
        let tables = &self.schema.tables;
        let sent: usize = tables
            .iter()
            .map(|table| {
                let size = self.case.choice.store.write_size(&self.case.layout, table);
                size.reading_bytes
            })
            .sum();
        let sent = sent as f64 / tables.len().max(1) as f64;
        let rows = match self.case.layout.shape {
            Shape::RowPerField => self.values(),
            _ => 1.0,
        };
        let reading = sent + rows * self.typical.reading_bytes as f64;
        let log = (self.written * reading).min(self.terms.log_bytes as f64);
        let data = self.most_stored * reading * DISK_TIMES;
        self.typical.empty_bytes + round_u64(data + log)
    }
}
