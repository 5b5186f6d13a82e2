//! The writer process: takes samples off the queue, stamps them, writes them, and journals what became of them.
//!
//! Individual layouts write each sample by itself and wait for its acknowledgement; layouts of spans collect the samples of
//! one second of the wall clock and write them as one record. Resources are measured from outside, by the coordinator.

use super::queue::{MessageQueue, Received};
use super::start::Start;
use super::{NAME, SPAN_NS, schema};
use crate::dataset::machine_tool::CHANNELS;
use crate::engine::connection::{Connection, PlanMessage, Registry};
use crate::engine::pacing::{monotonic_ns, thread_cpu_ns};
use crate::engine::role::{Event, Progress, RoleLine, tell};
use crate::engine::trial::ceiling::{DURATION, null_store};
use crate::ledger::journal::{Entry, JournalWriter, Standing};
use crate::measurement::latency::{LatencyRecorder, LatencySummary, SecondHistogram};
use crate::units::{duration_ns, signed};
use sensormark_store::{Batch, Plan, Shape, StoreError, TimeResolution, Values};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What the writer is told.
#[derive(Clone, Serialize, Deserialize)]
pub struct WriterConfiguration {
    /// How to reach the database.
    pub plan: PlanMessage,
    /// How finely samples are stamped.
    pub time_resolution: TimeResolution,
    /// The queue's number.
    pub queue: i32,
    /// The journal's pipe.
    pub journal: PathBuf,
    /// When sample 0 is due, in ns of CLOCK_MONOTONIC, comes by command; from one sample to the next it is this, in ns.
    pub period_ns: u64,
    /// Operations that were sent before this many ns after sample 0 was due are warm-up and enter no latency.
    pub warmup_ns: u64,
}

/// What the writer counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriterReport {
    /// Samples taken off the queue.
    pub received: u64,
    /// Samples acknowledged.
    pub acknowledged: u64,
    /// Writes that succeeded.
    pub operations: u64,
    /// Statements that carried them.
    pub statements: u64,
    /// Failed writes by kind.
    pub errors: BTreeMap<String, u64>,
    /// The first failure's message.
    pub first_error: Option<String>,
    /// Writes that came back after the time limit.
    pub late: u64,
    /// The longest write, in ns.
    pub longest_ns: u64,
    /// Service times of writes: from sent to acknowledged.
    pub service: (LatencySummary, Vec<SecondHistogram>),
    /// From when a sample was due at the sensor to its acknowledgement.
    pub sensor_delay: (LatencySummary, Vec<SecondHistogram>),
    /// Time spent on the journal, in ns.
    pub journal_ns: u64,
    /// CPU time of the writing thread, in ns.
    pub cpu_ns: u64,
    /// Bytes on the wire in datagrams: payload, UDP and IP headers.
    pub datagram_bytes: u64,
    /// Connections made again.
    pub reconnects: u64,
    /// Samples a second that the same code takes over the null store; none for an embedded database.
    pub ceiling: Option<f64>,
}

/// Runs the writer to its end.
///
/// # Errors
/// What broke it off, in words.
pub async fn run(
    mut line: RoleLine,
    configuration: WriterConfiguration,
    registry: &Registry,
) -> Result<(), StoreError> {
    let store = configuration.plan.store(registry)?;
    let plan = configuration
        .plan
        .plan(Arc::new(schema(configuration.time_resolution)));
    let connection = Connection::open(store.as_ref(), &plan).await?;
    let queue = MessageQueue::open(configuration.queue)
        .map_err(|error| broken("open the queue", &error))?;
    let journal = JournalWriter::open(&configuration.journal)
        .map_err(|error| broken("open the journal", &error))?;
    tell(&Event::Ready);
    let start = match line.receive::<Start>() {
        Ok(Some(start)) => start,
        _ => return Ok(()),
    };
    let mut writer = Writer::new(connection, journal, configuration.clone(), start, &plan);
    writer.take_all(&queue).await?;
    tell(&Event::Phase("written".to_owned()));
    line.wait();
    let mut report = writer.finish().await;
    if !store.description().embedded {
        report.ceiling = Some(ceiling(configuration, start, &plan).await?);
    }
    tell(&Event::Report(
        serde_json::to_value(report).expect("a report has string keys"),
    ));
    Ok(())
}

fn broken(operation: &str, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::new(
        sensormark_store::ErrorKind::Configuration,
        format!("{NAME} writer: {operation}"),
        error.to_string(),
    )
}

/// Samples a second that the same code takes over the null store, for a moment, with a journal that goes nowhere. The load has a steady rate, so this is
/// what the rate is held against. What the queue costs is not in it; the client's processors are judged too, and with the queue.
async fn ceiling(
    configuration: WriterConfiguration,
    start: Start,
    plan: &Plan,
) -> Result<f64, StoreError> {
    let journal = JournalWriter::open(Path::new("/dev/null"))
        .map_err(|error| broken("open a journal for the null store", &error))?;
    let store = null_store(plan);
    let connection = Connection::open(&store, plan).await?;
    let mut writer = Writer::new(connection, journal, configuration, start, plan);
    writer.rush(DURATION).await
}

/// The writer at work.
struct Writer<'a> {
    connection: Connection<'a>,
    journal: JournalWriter,
    configuration: WriterConfiguration,
    start: Start,
    span: bool,
    timeout_ns: u64,
    batch: Batch,
    sequences: Vec<u64>,
    last_time_ns: i64,
    last_progress: Instant,
    service: LatencyRecorder,
    sensor_delay: LatencyRecorder,
    report: WriterReport,
}

impl<'a> Writer<'a> {
    fn new(
        connection: Connection<'a>,
        journal: JournalWriter,
        configuration: WriterConfiguration,
        start: Start,
        plan: &Plan,
    ) -> Self {
        let empty = || (LatencySummary::empty(), Vec::new());
        Self {
            connection,
            journal,
            start,
            span: matches!(plan.layout.shape, Shape::RecordPerSpan { .. }),
            timeout_ns: plan.timeout_ms * 1_000_000,
            batch: Batch::new(0, &plan.schema.tables[0]),
            sequences: Vec::new(),
            last_time_ns: i64::MIN,
            last_progress: Instant::now(),
            service: LatencyRecorder::new(),
            sensor_delay: LatencyRecorder::new(),
            report: WriterReport {
                received: 0,
                acknowledged: 0,
                operations: 0,
                statements: 0,
                errors: BTreeMap::new(),
                first_error: None,
                late: 0,
                longest_ns: 0,
                service: empty(),
                sensor_delay: empty(),
                journal_ns: 0,
                cpu_ns: 0,
                datagram_bytes: 0,
                reconnects: 0,
                ceiling: None,
            },
            configuration,
        }
    }

    /// Takes samples until the end marker.
    ///
    /// The wait is the kernel's own, on the thread that writes: no polling, and no hop to another thread between sensor and
    /// acknowledgement. The runtime stands still meanwhile. Nothing of ours is under way then, for each write is awaited to its
    /// end; a driver's housekeeping goes on with each write. A source that dies is the coordinator's affair, which sends the end
    /// marker or ends this process.
    async fn take_all(&mut self, queue: &MessageQueue) -> Result<(), StoreError> {
        loop {
            let received = queue
                .receive()
                .map_err(|error| broken("receive a sample", &error))?;
            match received {
                Received::Reading { sequence, values } => self.take(sequence, values).await?,
                Received::End { .. } => {
                    self.write().await?;
                    return self
                        .journal
                        .flush()
                        .map_err(|error| broken("write the journal", &error));
                }
            }
        }
    }

    /// Takes samples for so long as fast as it can; how many a second.
    async fn rush(&mut self, duration: Duration) -> Result<f64, StoreError> {
        let (began, mut taken) = (Instant::now(), 0);
        while began.elapsed() < duration {
            self.take(taken, [1; CHANNELS]).await?;
            taken += 1;
        }
        Ok(taken as f64 / began.elapsed().as_secs_f64())
    }

    async fn take(&mut self, sequence: u64, values: [u16; CHANNELS]) -> Result<(), StoreError> {
        let time_ns = self.stamp();
        self.report.received += 1;
        let full = !self.batch.is_empty()
            && (!self.span
                || time_ns.div_euclid(SPAN_NS) != self.batch.times_ns[0].div_euclid(SPAN_NS));
        if full {
            self.write().await?;
        }
        self.batch.times_ns.push(time_ns);
        self.batch.series.push(0);
        self.sequences.push(sequence);
        for (column, value) in self.batch.columns.iter_mut().zip(values) {
            if let Values::U16(column) = &mut column.values {
                column.push(value);
            }
        }
        if !self.span {
            self.write().await?;
        }
        if self.last_progress.elapsed() >= Duration::from_secs(1) {
            self.last_progress = Instant::now();
            let errors = self.report.errors.values().sum();
            tell(&Event::Progress(Progress {
                done: self.report.received,
                of: 0,
                errors,
            }));
        }
        Ok(())
    }

    /// The wall clock's time, cut to the layout's resolution, after every earlier stamp.
    fn stamp(&mut self) -> i64 {
        let step = self.configuration.time_resolution.nanoseconds();
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| signed(duration_ns(since)));
        self.last_time_ns =
            (now - now.rem_euclid(step)).max(self.last_time_ns.saturating_add(step));
        self.last_time_ns
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        if self.span {
            // What reached the driver in the second behind us (heartbeats, say) is not part of this write.
            tokio::task::yield_now().await;
        }
        let sent_ns = monotonic_ns();
        let result = self.connection.write(&self.batch).await;
        let finished_ns = monotonic_ns();
        self.report.longest_ns = self.report.longest_ns.max(finished_ns - sent_ns);
        self.report.late += u64::from(finished_ns - sent_ns > self.timeout_ns);
        let count = self.batch.len() as u64;
        let (acknowledged, other) = match &result {
            Ok(acknowledgement) => {
                self.succeeded(sent_ns, finished_ns, acknowledgement.readings);
                self.report.statements += acknowledgement.statements;
                (acknowledgement.readings, Standing::InDoubt)
            }
            Err(error) => {
                *self
                    .report
                    .errors
                    .entry(error.kind().text().to_owned())
                    .or_default() += 1;
                self.report
                    .first_error
                    .get_or_insert_with(|| error.to_string());
                (
                    error.acknowledged(),
                    if error.is_in_doubt() {
                        Standing::InDoubt
                    } else {
                        Standing::Refused
                    },
                )
            }
        };
        self.report.acknowledged += acknowledged.min(count);
        for (row, (&time_ns, &sequence)) in
            self.batch.times_ns.iter().zip(&self.sequences).enumerate()
        {
            let standing = if (row as u64) < acknowledged {
                Standing::Acknowledged
            } else {
                other
            };
            self.journal
                .push(Entry {
                    sequence,
                    time_ns,
                    standing,
                })
                .map_err(|error| broken("write the journal", &error))?;
        }
        self.batch.clear();
        self.sequences.clear();
        Ok(())
    }

    fn succeeded(&mut self, sent_ns: u64, finished_ns: u64, acknowledged: u64) {
        self.report.operations += 1;
        let measured_from = self.start.start_ns + self.configuration.warmup_ns;
        if sent_ns < measured_from {
            return;
        }
        let since = finished_ns - measured_from;
        self.service.record(finished_ns - sent_ns, since);
        if acknowledged > 0 {
            for &sequence in &self.sequences {
                let due = self.start.start_ns + sequence * self.configuration.period_ns;
                self.sensor_delay
                    .record(finished_ns.saturating_sub(due), since);
            }
        }
    }

    async fn finish(mut self) -> WriterReport {
        self.report.datagram_bytes = self.connection.datagram_bytes();
        self.report.reconnects = self.connection.reconnects();
        let (_, seconds, summary) = self.service.finish();
        self.report.service = (summary, seconds);
        let (_, seconds, summary) = self.sensor_delay.finish();
        self.report.sensor_delay = (summary, seconds);
        self.report.journal_ns = duration_ns(self.journal.spent());
        self.report.cpu_ns = thread_cpu_ns();
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "saying goodbye failed");
        }
        self.report
    }
}
