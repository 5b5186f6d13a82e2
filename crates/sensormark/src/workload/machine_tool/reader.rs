//! The reader process: three machine cycles a second, each around a random time, in open loop.
//!
//! A read that could not start when it was due starts late and counts from when it was due; none is skipped. What was found is
//! handed to the coordinator after the measured phase, which compares it with the generator; the reader knows no answer.

use super::read_cycle::{CycleAnswer, CycleReader, ReadFailure, Strategy};
use super::schema;
use super::start::Start;
use crate::dataset::random::Stream;
use crate::engine::connection::{Connection, PlanMessage, Registry};
use crate::engine::pacing::{Pacer, Schedule, monotonic_ns};
use crate::engine::role::{Event, Progress, RoleLine, tell};
use crate::engine::trial::ceiling::{DURATION, null_store};
use crate::measurement::latency::{LatencyRecorder, LatencySummary, SecondHistogram};
use crate::units::{round_u64, signed};
use sensormark_store::{Batch, Census, FieldSet, Plan, StoreError, TimeRange, TimeResolution};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the reader is told.
#[derive(Clone, Serialize, Deserialize)]
pub struct ReaderConfiguration {
    /// How to reach the database.
    pub plan: PlanMessage,
    /// How finely samples are stamped.
    pub time_resolution: TimeResolution,
    /// How cycles are read.
    pub strategy: Strategy,
    /// The seed of the times to read around.
    pub seed: u64,
    /// The first time that may be drawn, in ns since the Unix epoch.
    pub earliest_ns: i64,
    /// The last time that may be drawn.
    pub latest_ns: i64,
    /// Reads before figures count.
    pub warmup_reads: u64,
    /// Reads that count.
    pub reads: u64,
    /// From one read to the next, in ns.
    pub period_ns: u64,
}

/// What became of one read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOutcome {
    /// The read's number, warm-up reads included.
    pub index: u64,
    /// The time read around.
    pub around_ns: i64,
    /// What was found; absent when the read failed.
    pub found: Option<CycleAnswer>,
    /// Why there is no cycle, when the database answered but its answers hold none.
    pub missing: Option<String>,
    /// The readings that were fetched for it, each range summed up, so that all of them are checked and not only the cycle.
    pub fetched: Vec<Fetched>,
}

/// One range of readings as it was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetched {
    /// The range asked for.
    pub range: TimeRange,
    /// The fields asked for.
    pub fields: FieldSet,
    /// How many readings came.
    pub readings: u64,
    /// Their order-free checksum.
    pub checksum: u64,
}

impl Fetched {
    /// Sums up what came.
    pub fn of(range: TimeRange, fields: FieldSet, batch: &Batch) -> Self {
        let hashes = (0..batch.len()).map(|row| Census::reading_hash(batch, row));
        Self {
            range,
            fields,
            readings: batch.len() as u64,
            checksum: hashes.fold(0, u64::wrapping_add),
        }
    }
}

/// What the reader counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReaderReport {
    /// Reads that succeeded in the measured phase.
    pub operations: u64,
    /// Queries that they took.
    pub queries: u64,
    /// Failed reads by kind.
    pub errors: BTreeMap<String, u64>,
    /// The first failure's message.
    pub first_error: Option<String>,
    /// Reads that came back after the time limit.
    pub late: u64,
    /// Reads a second that were reached: reads over the time from the first one's due instant to the last one's end.
    pub reads_per_second: f64,
    /// From when a read was due to its end.
    pub latency: (LatencySummary, Vec<SecondHistogram>),
    /// From when it was sent to its end.
    pub service: (LatencySummary, Vec<SecondHistogram>),
    /// Connections made again.
    pub reconnects: u64,
    /// Reads a second of the same code over the null store; none for an embedded database.
    pub ceiling: Option<f64>,
}

/// The time that read number `index` is around: a pure function of seed and index.
pub fn around(configuration: &ReaderConfiguration, index: u64) -> i64 {
    let width = NonZeroU64::new(configuration.latest_ns.abs_diff(configuration.earliest_ns))
        .unwrap_or(NonZeroU64::MIN);
    let draw = Stream::new(configuration.seed, 0, 0).below(index, width);
    configuration.earliest_ns.saturating_add(signed(draw))
}

/// Runs the reader to its end.
///
/// # Errors
/// When the database cannot be reached at the start.
pub async fn run(
    mut line: RoleLine,
    configuration: ReaderConfiguration,
    registry: &Registry,
) -> Result<(), StoreError> {
    let store = configuration.plan.store(registry)?;
    let plan = configuration
        .plan
        .plan(Arc::new(schema(configuration.time_resolution)));
    let connection = Connection::open(store.as_ref(), &plan).await?;
    tell(&Event::Ready);
    let timeout_ns = plan.timeout_ms * 1_000_000;
    let mut reader = Reader::new(connection, configuration.clone(), timeout_ns);
    let warmup = reader.configuration.warmup_reads;
    reader.phase(&mut line, 0..warmup).await;
    tell(&Event::Phase("measured".to_owned()));
    let mut report = reader
        .phase(&mut line, warmup..warmup + reader.configuration.reads)
        .await;
    tell(&Event::Phase("read".to_owned()));
    line.wait();
    if !store.description().embedded {
        report.ceiling = Some(ceiling(configuration, &plan).await?);
    }
    for outcome in &reader.outcomes {
        tell(&Event::Answer(
            serde_json::to_value(outcome).expect("an answer has string keys"),
        ));
    }
    tell(&Event::Report(
        serde_json::to_value(report).expect("a report has string keys"),
    ));
    if let Err(error) = reader.cycles.connection.close().await {
        tracing::warn!(%error, "saying goodbye failed");
    }
    Ok(())
}

/// Reads a second of the same code over the null store, for a moment. The load has a steady rate, so this is what the rate is held against.
async fn ceiling(configuration: ReaderConfiguration, plan: &Plan) -> Result<f64, StoreError> {
    let store = null_store(plan);
    let connection = Connection::open(&store, plan).await?;
    let timeout_ns = plan.timeout_ms * 1_000_000;
    let mut reader = Reader::new(connection, configuration, timeout_ns);
    reader.rush(DURATION).await
}

/// The reader at work.
struct Reader<'a> {
    cycles: CycleReader<'a>,
    configuration: ReaderConfiguration,
    timeout_ns: u64,
    outcomes: Vec<ReadOutcome>,
    last_progress: Instant,
}

impl<'a> Reader<'a> {
    /// A reader over a connection.
    fn new(
        connection: Connection<'a>,
        configuration: ReaderConfiguration,
        timeout_ns: u64,
    ) -> Self {
        Self {
            cycles: CycleReader::new(connection),
            configuration,
            timeout_ns,
            outcomes: Vec::new(),
            last_progress: Instant::now(),
        }
    }
}

impl Reader<'_> {
    /// Reads for so long as fast as it can, and forgets what it found; how many a second.
    async fn rush(&mut self, duration: Duration) -> Result<f64, StoreError> {
        let (began, mut done) = (Instant::now(), 0);
        while began.elapsed() < duration {
            self.read(done).await?;
            self.sum_up();
            self.outcomes.clear();
            done += 1;
        }
        Ok(done as f64 / began.elapsed().as_secs_f64())
    }

    /// Waits for the coordinator's word, then issues these reads on schedule.
    async fn phase(&mut self, line: &mut RoleLine, reads: std::ops::Range<u64>) -> ReaderReport {
        let start_ns = match line.receive::<Start>() {
            Ok(Some(start)) => start.start_ns,
            _ => std::process::exit(1),
        };
        self.cycles.queries = 0;
        let (mut latency, mut service) = (LatencyRecorder::new(), LatencyRecorder::new());
        let (mut errors, mut first_error) = (BTreeMap::new(), None);
        let (mut late, mut operations, mut end_ns) = (0, 0, start_ns);
        let period = NonZeroU64::new(self.configuration.period_ns).unwrap_or(NonZeroU64::MIN);
        let mut pacer = Pacer::new(Schedule::every(period), start_ns);
        for index in reads.clone() {
            let Some(tick) = pacer.wait() else { break };
            let sent_ns = monotonic_ns();
            let outcome = self.read(index).await;
            end_ns = monotonic_ns();
            self.sum_up();
            late += u64::from(end_ns - sent_ns > self.timeout_ns);
            if let Err(error) = &outcome {
                *errors.entry(error.kind().text().to_owned()).or_default() += 1;
                first_error.get_or_insert_with(|| error.to_string());
            } else {
                operations += 1;
                latency.record(
                    end_ns.saturating_sub(tick.due_ns),
                    end_ns.saturating_sub(start_ns),
                );
                service.record(end_ns - sent_ns, end_ns.saturating_sub(start_ns));
            }
            self.progress(index, &errors);
        }
        let count = reads.end - reads.start;
        // Never faster than the schedule: n reads, one period each.
        let taken = end_ns
            .saturating_sub(start_ns)
            .max(count * self.configuration.period_ns) as f64
            / 1e9;
        let ((_, latency_seconds, latency), (_, service_seconds, service)) =
            (latency.finish(), service.finish());
        ReaderReport {
            operations,
            queries: self.cycles.queries,
            errors,
            first_error,
            late,
            reads_per_second: if taken > 0.0 {
                operations as f64 / taken
            } else {
                0.0
            },
            latency: (latency, latency_seconds),
            service: (service, service_seconds),
            reconnects: self.cycles.connection.reconnects(),
            ceiling: None,
        }
    }

    /// Sums up what the last read fetched; outside its timed span.
    fn sum_up(&mut self) {
        let fetched = self.cycles.batches.drain(..);
        let fetched = fetched.map(|(range, fields, batch)| Fetched::of(range, fields, &batch));
        let fetched = fetched.collect();
        if let Some(outcome) = self.outcomes.last_mut() {
            outcome.fetched = fetched;
        }
    }

    fn progress(&mut self, index: u64, errors: &BTreeMap<String, u64>) {
        if self.last_progress.elapsed() >= Duration::from_millis(500) {
            self.last_progress = Instant::now();
            let of = self.configuration.warmup_reads + self.configuration.reads;
            tell(&Event::Progress(Progress {
                done: index + 1,
                of,
                errors: errors.values().sum(),
            }));
        }
    }

    async fn read(&mut self, index: u64) -> Result<(), StoreError> {
        let around_ns = around(&self.configuration, index);
        let strategy = self.configuration.strategy;
        let found = self.cycles.cycle(strategy, around_ns).await;
        let (found, missing, result) = match found {
            Ok(found) => (Some(found), None, Ok(())),
            Err(ReadFailure::Missing(reason)) => (None, Some(reason), Ok(())),
            Err(ReadFailure::Store(error)) => (None, None, Err(error)),
        };
        self.outcomes.push(ReadOutcome {
            index,
            around_ns,
            found,
            missing,
            fetched: Vec::new(),
        });
        result
    }
}

/// Warm-up reads for so many seconds at this rate.
pub fn warmup_reads(seconds: f64, per_second: f64) -> u64 {
    round_u64(seconds * per_second)
}
