//! The result format: what a run and its trials leave on disk. Raw figures and counts; everything derived is derived again
//! by `sensormark report`.
//!
//! [`SCHEMA_VERSION`] changes with every change that an older reader would misunderstand; `docs/reference/result-format.md` tells how.

use crate::measurement::clock::ClockRecord;
use crate::measurement::latency::{LatencySummary, SecondHistogram};
use crate::measurement::lifecycle::TaskRecord;
use crate::measurement::server::{ClientProbeRecord, ServerRecord};
use crate::measurement::shared_window::SharedWindow;
use crate::measurement::statements::StatementsRecord;
use crate::measurement::verdict::{DISTURBED_STATE, Verdict};
use crate::measurement::write_size::WriteSizeRecord;
use crate::probe::PhaseTotals;
use sensormark_data::units::Total;
use sensormark_store::{Durability, Layout, Setting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use crate::measurement::figure::Figure;

/// The version of the result format that this program writes.
pub const SCHEMA_VERSION: u32 = 3;

/// One run: everything that its trials have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// The run's name: when it started and a random part.
    pub name: String,
    /// sensormark's version and, where it is known, its commit.
    pub sensormark: String,
    /// When the run started, RFC 3339, UTC.
    pub started: String,
    /// When it ended; absent in a run that goes on or was broken off.
    pub finished: Option<String>,
    /// The command line, with URLs redacted.
    pub command_line: Vec<String>,
    /// The workload's name.
    pub workload: String,
    /// The scale's name.
    pub scale: String,
    /// The workload's parameters, every number behind the scale.
    pub parameters: serde_json::Value,
    /// The seed of data and operations.
    pub seed: u64,
    /// (0, 1). In results of earlier versions also (N, N), where N hosts each measured a part of the run and the parts were joined, or (a part's number, N).
    pub shard: (u32, u32),
    /// 0.
    pub clock_offset_ns: i64,
    /// Repetitions asked for.
    pub repetitions: u32,
    /// The machine.
    pub environment: serde_json::Value,
    /// Whether the run followed its study's protocol (`--as-study`), as far as that is done.
    #[serde(default)]
    pub as_study: bool,
    /// Implementations that were asked for and cannot be measured here, with the reason.
    pub not_measured: Vec<NotMeasured>,
    /// Whether the folder lists its trials with checksums (`SHA256SUMS`); runs of before that do not.
    #[serde(default)]
    pub checksums: bool,
    /// The names of all trials that the run measured, once it has finished. Empty before; absent in runs of earlier versions.
    #[serde(default)]
    pub trials: Vec<String>,
}

impl RunRecord {
    /// Whether it is one of several parts of a run of an earlier version, which was not joined with the others.
    pub const fn is_part(&self) -> bool {
        self.shard.0 < self.shard.1 && self.shard.1 > 1
    }

    /// What people call the workload: its name, or what a file of the user's own calls itself.
    pub fn title(&self) -> &str {
        title(&self.workload, &self.parameters)
    }
}

/// What people call a workload of these parameters: its name, or what a file of the user's own calls itself.
pub fn title<'a>(workload: &'a str, parameters: &'a serde_json::Value) -> &'a str {
    let own = parameters.get("name");
    let own = own.and_then(serde_json::Value::as_str).map(str::trim);
    own.filter(|name| !name.is_empty()).unwrap_or(workload)
}

/// An implementation that was asked for and could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotMeasured {
    /// The implementation.
    pub implementation: String,
    /// "not supported" or "not available", and why.
    pub reason: String,
}

/// What was measured: a store, a layout and a reading strategy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Implementation {
    /// The store's name.
    pub store: String,
    /// What tells its server from others of the same store in the run: the user's name for it, or a number. Absent where there are no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The database's title, with its server where there are several ("PostgreSQL #fast").
    pub title: String,
    /// The layout's name in the workload's words ("individual", "bulk-arrays").
    pub layout_name: String,
    /// The layout.
    pub layout: Layout,
    /// The reading strategy; absent in trials that only write.
    pub strategy: Option<String>,
    /// What an acknowledgement promises.
    pub durability: Durability,
    /// What phases that only read find in memory; hot in trials that only write.
    pub cache: Cache,
    /// Whether the database runs inside the client's process.
    pub embedded: bool,
}

impl Implementation {
    /// The name in tables: "PostgreSQL bulk-arrays". It also has the strategy if that differs from the layout's family, and the durability class if it is not
    /// the default. It says so if the database was read cold.
    pub fn label(&self) -> String {
        let mut label = format!("{} {}", self.title, self.layout_name);
        if let Some(strategy) = &self.strategy
            && !(self.layout_name == *strategy || self.layout_name.starts_with(&format!("{strategy}-")))
        {
            label.push_str(", read ");
            label.push_str(strategy);
        }
        // One run compares layouts of one class, or says who promises less.
        if !matches!(self.durability, Durability::Default | Durability::Durable) {
            label.push_str(", ");
            label.push_str(self.durability.text());
        }
        label + self.cache.mark()
    }
}

/// What a phase that only reads finds in memory when it begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// What the phases before it left there.
    #[default]
    Hot,
    /// What a database has that was just started, with none of its files in the page cache before that.
    Cold,
}

impl Cache {
    /// Its name.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Cold => "cold",
        }
    }

    /// What a label has at its end.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Hot => "",
            Self::Cold => ", cold",
        }
    }
}

/// Which side of the pipeline a trial measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Writing.
    Write,
    /// Reading.
    Read,
    /// Both at once.
    Mixed,
}

/// One trial: one implementation measured once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// The trial's name, unique in its run; its raw files begin with it.
    pub name: String,
    /// What was measured.
    pub implementation: Implementation,
    /// Which side.
    pub side: Side,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// Which turn of the run, from 0: trials of one repetition in the order in which they ran.
    pub turn: u32,
    /// Which attempt: above 0 when the host was disturbed and the trial was repeated.
    pub attempt: u32,
    /// When it started, RFC 3339, UTC.
    pub started: String,
    /// The server, absent for embedded databases.
    pub server: Option<ServerRecord>,
    /// Settings read back from the server or library.
    pub settings: Vec<Setting>,
    /// What bounds the logs, whose space is no price of a reading, in words; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bound: Option<String>,
    /// The size of write that the store advises for loads, by table; empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_sizes: Vec<WriteSizeRecord>,
    /// Schema and statements, taken after everything was measured; in the trials of a run's first repetition only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<StatementsRecord>,
    /// Phases in order.
    pub phases: Vec<PhaseRecord>,
    /// Counts of readings, if the trial writes.
    pub ledger: Option<LedgerRecord>,
    /// Checked answers, if the trial reads.
    pub answers: Option<AnswersRecord>,
    /// Latencies by operation: from when it was due in open loop (`open_loop`), else service times.
    pub latencies: BTreeMap<String, LatencyRecord>,
    /// Failed operations by kind.
    pub errors: BTreeMap<String, u64>,
    /// What the loads of its phases came to, in order; empty for workloads that are not made of phases of loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<LoadRecord>,
    /// What was done to the database besides its clients' work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskRecord>,
    /// Further figures, by name.
    pub figures: BTreeMap<String, Figure>,
    /// What the user said must hold, and whether it did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitRecord>,
    /// Whether the figures may be believed.
    pub verdict: Verdict,
    /// How the host was disturbed while something was measured, in words; whether or not that was tolerated. None on a quiet host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<String>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// By phase and host: clocks of roles on other hosts. Roles on this host share its clock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<ClockRecord>,
    /// The probes beside roles on other hosts, and what kinds of hosts those are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_probes: Vec<ClientProbeRecord>,
}

impl TrialRecord {
    /// Whether the trial counts although the host was disturbed: its rates and latencies are rough.
    pub fn is_rough(&self) -> bool {
        self.verdict.is_valid() && !self.disturbances.is_empty()
    }

    /// Whether a disturbed host is all that speaks against the trial, counted or not.
    pub fn is_disturbed(&self) -> bool {
        self.verdict.is_inconclusive() || self.is_rough()
    }

    /// The trial's state in a word or two.
    pub fn state(&self) -> &'static str {
        match self.verdict {
            Verdict::Valid if self.is_rough() => DISTURBED_STATE,
            ref verdict => verdict.word(),
        }
    }

    /// Whether this later attempt counts instead of an earlier one of the same trial. The first attempt that came to a conclusion on a quiet host counts,
    /// unless a later one shows data that was wrong or lost. Of attempts that were all disturbed the last one counts.
    pub fn counts_instead_of(&self, earlier: &Self) -> bool {
        let rough = earlier.is_rough() && !self.verdict.is_inconclusive();
        rough || self.verdict.counts_instead_of(&earlier.verdict)
    }
}

/// Something that the user said must hold, and whether it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitRecord {
    /// As the user wrote it.
    pub text: String,
    /// The figure; absent when there was none, which misses the limit.
    pub measured: Option<f64>,
    /// Its unit: "ns", "bytes", "1/s", "share", or nothing for a count.
    pub unit: String,
    /// The figure in words, or why there is none.
    pub words: String,
    /// Whether the limit was met.
    pub met: bool,
    /// Whether it is open that it would be: too little was measured, or the machine was busy. It is not met then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_undecided: bool,
    /// How many readings would decide it, where more than were measured are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_readings: Option<f64>,
}

/// What one load of a phase came to: the operations of one group of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// The phase, by its name in [`TrialRecord::phases`].
    pub phase: String,
    /// The load's name.
    pub name: String,
    /// What it stands for in the workload's tables ("clients": 16, "operation": "single write").
    pub labels: BTreeMap<String, serde_json::Value>,
    /// Whether it only prepares what follows: its figures do not count.
    pub warm_up: bool,
    /// Whether it writes, or else asks.
    pub writes: bool,
    /// Clients that issued it.
    pub clients: u32,
    /// Processes that they were spread over.
    pub processes: u32,
    /// Whether operations had instants at which they were due.
    pub open_loop: bool,
    /// Operations that there are.
    pub planned: u64,
    /// From the phase's start to the end of the load's last operation, in seconds.
    pub seconds: f64,
    /// The window that its hosts shared, where several made the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedWindow>,
    /// By class of operations.
    pub classes: BTreeMap<String, ClassRecord>,
    /// Failed operations by kind.
    pub errors: BTreeMap<String, u64>,
    /// The first failure.
    pub first_error: Option<String>,
    /// Operations that succeeded after the time limit of an operation.
    pub late: u64,
    /// Operations that were due and could not start before the phase was cut. A write that waited for its client alone is issued after that.
    pub not_started: u64,
    /// Statements or requests that carried what was written.
    pub statements: u64,
    /// Connections made again.
    pub reconnects: u64,
    /// Bytes on the wire in datagrams: payload, UDP and IP headers.
    pub datagram_bytes: u64,
    /// Checked answers.
    pub answers: AnswersRecord,
    /// In open loop: how long after it was due an operation was sent whose client was free, 99th percentile, in ns.
    pub pacing_p99_ns: Option<u64>,
    /// Operations a second of the same clients over the null store.
    pub ceiling: Option<f64>,
    /// Why it ended before all operations were issued.
    pub cut: Option<String>,
    /// Why it could not be measured.
    pub not_supported: Option<String>,
    /// What of it the database cannot do, so that the client does it.
    pub client_side: Option<String>,
}

/// What one class of operations of a load came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassRecord {
    /// Operations that succeeded.
    pub operations: u64,
    /// Readings that they wrote, or readings, groups and series that they found.
    pub readings: u64,
    /// Operations that failed.
    pub failed: u64,
    /// From due to finished in open loop, else from sent to finished.
    pub latency: LatencyRecord,
    /// From sent to finished, in open loop.
    pub service: Option<LatencyRecord>,
}

impl LoadRecord {
    /// Operations that succeeded.
    pub fn operations(&self) -> u64 {
        self.classes.values().map(|class| class.operations).total()
    }

    /// Readings that were written, or readings, groups and series that were found.
    pub fn readings(&self) -> u64 {
        self.classes.values().map(|class| class.readings).total()
    }

    /// Operations that failed.
    pub fn failed(&self) -> u64 {
        self.errors.values().total()
    }

    /// Operations that were due and could not start, where they had to: what only prepares need not keep up.
    pub fn fell_behind(&self) -> u64 {
        if self.warm_up { 0 } else { self.not_started }
    }

    /// Why it ended early, where it was to come to its end: what only prepares has a time.
    pub fn cut_short(&self) -> Option<&str> {
        self.cut.as_deref().filter(|_| !self.warm_up)
    }

    /// Whether it was to write all that there is and was cut, so that less is stored than its size says.
    pub fn is_cut_load(&self) -> bool {
        self.writes && !self.open_loop && self.cut_short().is_some()
    }

    /// How many operations could not start, in words.
    pub fn not_started_words(&self) -> String {
        match self.not_started {
            1 => "1 operation was due and could not start".to_owned(),
            several => format!("{several} operations were due and could not start"),
        }
    }
}

/// Latencies of one kind of operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyRecord {
    /// Whether latency counts from when the operation was due (else it is service time).
    pub open_loop: bool,
    /// The distribution.
    pub summary: LatencySummary,
    /// Raw histograms, one a second.
    pub seconds: Vec<SecondHistogram>,
}

/// One phase of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// "warm-up", "measured", "settle"…
    pub name: String,
    /// How long it lasted, in seconds.
    pub seconds: f64,
    /// What each role ("server", "writer", "reader", "source", "coordinator") and the host used in it; absent when fewer than two
    /// samples fell into it.
    pub totals: Option<PhaseTotals>,
    /// Operations that succeeded in it.
    pub operations: u64,
}

/// Exact counts of readings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRecord {
    /// Readings that the source or the workload produced.
    pub produced: u64,
    /// Lost before the writer took them, because it could not keep up.
    pub lost_at_queue: u64,
    /// Readings that the writer tried to write.
    pub attempted: u64,
    /// Readings that the database acknowledged.
    pub acknowledged: u64,
    /// Timed out, cut off or never acknowledged by design: perhaps stored.
    pub in_doubt: u64,
    /// Refused: certainly not stored.
    pub refused: u64,
    /// Readings found in the database, history apart.
    pub stored: u64,
    /// Readings of history, loaded before the others and proved with them, and in none of the other counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub history: u64,
    /// Stored more than once (extra copies).
    pub duplicated: u64,
    /// Sent again with the series and time of another, whose place they took: stored once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replaced: u64,
    /// Acknowledged and not stored.
    pub lost: u64,
    /// In doubt and not stored (datagrams that were dropped, say).
    pub in_doubt_not_stored: u64,
    /// Stored with another value, or never written.
    pub altered: u64,
    /// Stored, and too old to be kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overdue: u64,
    /// One order-free checksum of everything stored.
    pub checksum: String,
    /// The same of everything that should be.
    pub expected_checksum: String,
}

impl LedgerRecord {
    /// Adds what another part of a trial, or another trial, counted.
    pub fn add(&mut self, more: &Self) {
        for (count, more) in [
            (&mut self.produced, more.produced),
            (&mut self.lost_at_queue, more.lost_at_queue),
            (&mut self.attempted, more.attempted),
            (&mut self.acknowledged, more.acknowledged),
            (&mut self.in_doubt, more.in_doubt),
            (&mut self.refused, more.refused),
            (&mut self.stored, more.stored),
            (&mut self.duplicated, more.duplicated),
            (&mut self.replaced, more.replaced),
            (&mut self.lost, more.lost),
            (&mut self.in_doubt_not_stored, more.in_doubt_not_stored),
            (&mut self.altered, more.altered),
            (&mut self.overdue, more.overdue),
        ] {
            *count = count.saturating_add(more);
        }
        self.checksum = sum(&self.checksum, &more.checksum);
        self.expected_checksum = sum(&self.expected_checksum, &more.expected_checksum);
    }
}

/// Order-free checksums of two parts are added, as those of two series are.
fn sum(one: &str, other: &str) -> String {
    let value = |text: &str| u64::from_str_radix(text, 16).unwrap_or(0);
    format!("{:016x}", value(one).wrapping_add(value(other)))
}

const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Checked answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswersRecord {
    /// Answers that came.
    pub answered: u64,
    /// Answers compared with the generator's.
    pub checked: u64,
    /// Answers that differ.
    pub wrong: u64,
    /// The first that differs: question, expected and got.
    pub first_wrong: Option<String>,
}

impl AnswersRecord {
    /// Adds other counts; the first wrong answer stays the first.
    pub fn add(&mut self, other: Self) {
        self.answered += other.answered;
        self.checked += other.checked;
        self.wrong += other.wrong;
        self.first_wrong = self.first_wrong.take().or(other.first_wrong);
    }
}
