//! The source process: every millisecond one sample, onto the queue, without waiting.
//!
//! Source: study 000, section II, the *data source*. The source stands for a sensor: it never waits for the writer, and
//! what finds no room on the queue is lost, counted and listed. Ticks are never skipped; a late one is issued late
//! (`engine::pacing`).
//!
//! It is the body of a process, as a function: arguments, output and signals are its caller's. It stamps no times: the
//! writer does.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::queue::{CAPACITY_BYTES, Queue};
use sensormark_data::machine_tool::{MachineTool, SAMPLE_PERIOD_NS};
use sensormark_engine::pacing::{Pacer, PacingSummary, Schedule, monotonic_ns, thread_cpu_ns};
use sensormark_engine::scheduling::{SchedulingGrant, SchedulingRequest};

/// How often the end marker is tried, in nanoseconds.
const END_RETRY_NS: NonZeroU64 = NonZeroU64::new(1_000_000).expect("not zero");

/// What a source does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceConfig {
    /// The data set's seed.
    pub seed: u64,
    /// Samples to send: 0 to before this number. The sequence number is the sample's index.
    pub samples: u64,
    /// From one sample to the next, in nanoseconds; the workload's is 1,000,000.
    #[serde(default = "default_period_ns")]
    pub period_ns: NonZeroU64,
    /// When sample 0 is due, in nanoseconds of CLOCK_MONOTONIC; none for at once.
    #[serde(default)]
    pub start_ns: Option<u64>,
    /// What is asked of the kernel for the sending thread.
    #[serde(default)]
    pub scheduling: SchedulingRequest,
    /// How long the end marker is tried on a full queue, in nanoseconds.
    #[serde(default = "default_end_patience_ns")]
    pub end_patience_ns: u64,
}

const fn default_period_ns() -> NonZeroU64 {
    NonZeroU64::new(SAMPLE_PERIOD_NS).expect("the sample's period is not zero")
}

const fn default_end_patience_ns() -> u64 {
    30_000_000_000
}

impl SourceConfig {
    /// So many samples of a seed, one a millisecond, starting at once, the end marker tried for 30 s.
    #[must_use]
    pub fn new(seed: u64, samples: u64) -> Self {
        Self {
            seed,
            samples,
            period_ns: default_period_ns(),
            start_ns: None,
            scheduling: SchedulingRequest::default(),
            end_patience_ns: default_end_patience_ns(),
        }
    }
}

/// Samples lost one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossRun {
    /// Sequence number of the first one lost.
    pub first: u64,
    /// How many were lost in a row.
    pub length: u64,
}

/// Why a source ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceEnd {
    /// All samples were attempted.
    Complete,
    /// The stop flag was set.
    Stopped,
    /// Nobody has the queue open any more to take what it sends.
    QueueRemoved,
}

/// What a source did. Samples are counted exactly: attempted = sent + lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceReport {
    /// Why it ended.
    pub end: SourceEnd,
    /// Samples attempted: sequence numbers 0 to before this.
    pub attempted: u64,
    /// Samples that found room on the queue.
    pub sent: u64,
    /// Samples that did not.
    pub lost: u64,
    /// How many runs of each length samples were lost in.
    pub lost_run_lengths: BTreeMap<u64, u64>,
    /// The runs themselves, in order.
    pub lost_runs: Vec<LossRun>,
    /// Did the end marker find room in time?
    pub end_marker_sent: bool,
    /// How late samples were issued.
    pub pacing: PacingSummary,
    /// What the kernel granted.
    pub scheduling: SchedulingGrant,
    /// The queue's capacity, in bytes.
    pub queue_capacity_bytes: u64,
    /// When sample 0 was due, in nanoseconds of CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// From `start_ns` to after the last sample was attempted, in nanoseconds.
    pub elapsed_ns: u64,
    /// CPU time of the sending thread from its start to the report, user and system, in nanoseconds.
    pub cpu_ns: u64,
}

/// Losses as they happen, joined to runs.
#[derive(Debug, Default)]
struct Losses {
    runs: Vec<LossRun>,
    total: u64,
}

impl Losses {
    fn record(&mut self, sequence: u64) {
        self.total += 1;
        match self.runs.last_mut() {
            Some(run) if run.first + run.length == sequence => run.length += 1,
            _ => self.runs.push(LossRun { first: sequence, length: 1 }),
        }
    }

    fn by_length(&self) -> BTreeMap<u64, u64> {
        let mut lengths = BTreeMap::new();
        for run in &self.runs {
            *lengths.entry(run.length).or_insert(0) += 1;
        }
        lengths
    }
}

/// Sends samples on the calling thread until all are attempted, `stop` is set or the queue is removed; then the end marker.
///
/// `stop` is looked at before every sample; a sample's wait is not cut short.
///
/// # Errors
///
/// The kernel's, when it refuses for another reason than a full queue or one that is gone.
pub fn run_source(config: &SourceConfig, queue: &Queue, stop: &AtomicBool) -> io::Result<SourceReport> {
    let cpu_before_ns = thread_cpu_ns();
    let scheduling = config.scheduling.apply();
    let machine = MachineTool::new(config.seed);
    let start_ns = config.start_ns.unwrap_or_else(monotonic_ns);
    let mut pacer = Pacer::new(Schedule::every(config.period_ns), start_ns);
    let mut losses = Losses::default();
    let (end, attempted) = send_samples(config.samples, &machine, queue, stop, &mut pacer, &mut losses)?;
    let elapsed_ns = monotonic_ns().saturating_sub(start_ns);
    let end_marker_sent =
        end != SourceEnd::QueueRemoved && send_end_marker(queue, attempted, config.end_patience_ns)?;
    Ok(SourceReport {
        end,
        attempted,
        sent: attempted - losses.total,
        lost: losses.total,
        lost_run_lengths: losses.by_length(),
        lost_runs: losses.runs,
        end_marker_sent,
        pacing: pacer.summary(),
        scheduling,
        queue_capacity_bytes: CAPACITY_BYTES,
        start_ns,
        elapsed_ns,
        cpu_ns: thread_cpu_ns().saturating_sub(cpu_before_ns),
    })
}

/// The loop itself: why it ended, and how many samples were attempted.
fn send_samples(
    samples: u64,
    machine: &MachineTool,
    queue: &Queue,
    stop: &AtomicBool,
    pacer: &mut Pacer,
    losses: &mut Losses,
) -> io::Result<(SourceEnd, u64)> {
    for sequence in 0..samples {
        // Made before the wait, so that waking and sending are close together.
        let values = machine.sample(sequence);
        if stop.load(Ordering::Relaxed) || pacer.wait().is_none() {
            return Ok((SourceEnd::Stopped, sequence));
        }
        match queue.send(sequence, values) {
            Ok(true) => {}
            Ok(false) => losses.record(sequence),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Ok((SourceEnd::QueueRemoved, sequence));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((SourceEnd::Complete, samples))
}

/// Tries the end marker every millisecond until it finds room, the patience ends or the queue is removed.
fn send_end_marker(queue: &Queue, attempted: u64, patience_ns: u64) -> io::Result<bool> {
    let begin_ns = monotonic_ns();
    let mut retries = Pacer::new(Schedule::every(END_RETRY_NS), begin_ns);
    while let Some(tick) = retries.wait() {
        match queue.send_end(attempted) {
            Ok(true) => return Ok(true),
            Ok(false) if tick.woke_ns - begin_ns >= patience_ns => return Ok(false),
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
