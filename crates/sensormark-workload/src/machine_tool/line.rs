//! The line from source to writer, as the coordinator knows it: a queue of its own, the source's process, and what both come to.

use super::answers::WrittenSamples;
use super::parameters::Parameters;
use super::queue::Queue;
use super::source::{SourceConfig, SourceReport, run_source};
use sensormark_engine::outcome::LoadOutcome;
use sensormark_engine::scheduling::{Grant, SchedulingRequest};
use sensormark_engine::trial::feed::{Brought, Line, Source};
use sensormark_result::ledger::journal::Entry;
use sensormark_result::ledger::reconcile::Written;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::Figure;
use sensormark_result::measurement::verdict::{Reason, ReasonKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The real-time priority that the source asks for; without the right to it, it runs like everybody.
const SOURCE_PRIORITY: u8 = 50;

/// What the coordinator tells the source's process.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SourceMessage {
    /// What it does.
    source: SourceConfig,
    /// The queue's number.
    queue: String,
}

/// The machine: what sends the samples of a run.
#[derive(Debug, Clone)]
pub struct Machine {
    seed: u64,
    config: SourceConfig,
}

impl Machine {
    /// The one of a run.
    pub fn new(parameters: &Parameters, seed: u64) -> Self {
        let mut config = SourceConfig::new(seed, parameters.samples());
        config.period_ns = NonZeroU64::new(parameters.period_ns()).unwrap_or(NonZeroU64::MIN);
        config.scheduling = SchedulingRequest {
            real_time_priority: Some(SOURCE_PRIORITY),
            timer_slack_ns: NonZeroU64::new(1),
        };
        Self { seed, config }
    }
}

/// A queue with its source.
struct QueueLine {
    queue: Queue,
    config: SourceConfig,
}

impl Source for Machine {
    fn open(&self) -> Result<Box<dyn Line>, String> {
        let queue = Queue::create().map_err(|error| format!("cannot make the queue: {error}"))?;
        Ok(Box::new(QueueLine { queue, config: self.config.clone() }))
    }

    fn written(&self, entries: Vec<Entry>) -> Box<dyn Written> {
        Box::new(WrittenSamples::new(self.seed, entries))
    }

    fn came_to(&self, report: Value, client: &LoadOutcome) -> Result<Brought, String> {
        let report: SourceReport = serde_json::from_value(report)
            .map_err(|error| format!("the source's report cannot be understood: {error}"))?;
        let received = client.writes.attempted;
        let lost = report.attempted.saturating_sub(received);
        let longest = report.lost_run_lengths.keys().next_back();
        let longest = longest.copied().unwrap_or(0);
        let warning =
            format!("could not keep up: {lost} readings were lost at the queue, at most {longest} in a row");
        Ok(Brought {
            produced: report.attempted,
            pacing_p99_ns: report.pacing.p99_ns,
            figures: figures(&report, client, (lost, longest)),
            warnings: (lost > 0).then_some(warning).into_iter().collect(),
            reasons: vanished(&report, received).into_iter().collect(),
        })
    }
}

impl Line for QueueLine {
    fn address(&self) -> Value {
        json!(self.queue.address())
    }

    fn source(&self, start_ns: u64) -> Value {
        let mut source = self.config.clone();
        source.start_ns = Some(start_ns);
        let queue = self.queue.address();
        serde_json::to_value(SourceMessage { source, queue }).unwrap_or_default()
    }

    fn silence(&self) -> Result<Option<Duration>, String> {
        self.queue.silence().map_err(|error| error.to_string())
    }

    fn end(&self) {
        // A full queue keeps the client awake, which looks for itself whether it is to stop.
        let _ = self.queue.send_end(0);
    }
}

/// The body of the source's process: sends all samples, and gives its report.
///
/// # Errors
/// What broke it off, in words.
pub fn send(told: &Value) -> Result<Value, String> {
    let told: SourceMessage = serde_json::from_value(told.clone()).map_err(|error| error.to_string())?;
    let queue = Queue::source(&told.queue).map_err(|error| error.to_string())?;
    let report = run_source(&told.source, &queue, &AtomicBool::new(false));
    let report = report.map_err(|error| error.to_string())?;
    serde_json::to_value(report).map_err(|error| error.to_string())
}

/// Samples that came out of the queue's one end and not of the other, which no loss for want of room explains.
fn vanished(source: &SourceReport, received: u64) -> Option<Reason> {
    let vanished = source.sent.checked_sub(received)?;
    (vanished > 0).then(|| {
        let text = format!("{vanished} samples vanished between queue and writer");
        Reason::new(ReasonKind::ClientFailed, text)
    })
}

fn figures(
    source: &SourceReport,
    client: &LoadOutcome,
    (lost, longest): (u64, u64),
) -> BTreeMap<String, Figure> {
    let pacing = &source.pacing;
    let ns = |value: Option<u64>| value.map(|ns| ns as f64);
    let journal = client.journal_ns as f64 / (client.seconds.max(1e-9) * 1e9) * 100.0;
    let real_time = matches!(source.scheduling.real_time, Grant::Granted);
    let figures = [
        (names::PACING_P99, ns(pacing.p99_ns), "ns"),
        (names::PACING_P999, ns(pacing.p99_9_ns), "ns"),
        (names::PACING_MAX, Some(pacing.max_ns as f64), "ns"),
        (names::JOURNAL_PERCENT, Some(journal), "% of one core"),
        (names::LOST_AT_QUEUE, Some(lost as f64), "readings"),
        (names::LONGEST_LOSS, Some(longest as f64), "readings"),
        (names::QUEUE_CAPACITY, Some(source.queue_capacity_bytes as f64), "bytes"),
        (names::REAL_TIME_SOURCE, Some(f64::from(u8::from(real_time))), "1 is yes"),
    ];
    let present = figures.into_iter().filter_map(|(name, value, unit)| {
        let figure = Figure::new(value?, unit);
        Some((name.to_owned(), figure))
    });
    present.collect()
}
