//! One write trial: source → queue → writer → database, then settling, counting and judging.

use super::answers::WrittenSamples;
use super::queue::{MessageQueue, OwnedQueue};
use super::source::{SourceConfig, SourceReport};
use super::start::Start;
use super::trial::{Trial, TrialFailure, broken_off_trial};
use super::write_account::{account, read_journal};
use super::writer::{WriterConfiguration, WriterReport};
use crate::engine::connection::PlanMessage;
use crate::engine::role::{Event, RoleError, RoleProcess};
use crate::engine::scheduling::SchedulingRequest;
use crate::engine::site::block_on;
use crate::engine::trial::account::{DiskMoment, add_disk};
use crate::engine::trial::watch::tree;
use crate::measurement::record::{LedgerRecord, TrialRecord};
use crate::probe::{Recorder, monotonic_ns};
use crate::units::{round_u64, seconds_to_ns};
use sensormark_store::Batch;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long processes have to get ready for their common start, in ns.
const LEAD_NS: u64 = 200_000_000;
/// How often the coordinator looks whether the source still sends, in ns.
const LOOK_AT_QUEUE_NS: u64 = 1_000_000_000;
/// How long an empty queue may be silent before the trial is broken off.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);
/// The real-time priority that the source asks for; without the right to it, it runs like everybody.
const SOURCE_PRIORITY: u8 = 50;

/// What the coordinator sends to the source process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SourceMessage {
    /// What it does.
    pub source: SourceConfig,
    /// The queue's number.
    pub queue: i32,
}

/// Runs the trial. The samples that it wrote are given back when a read trial may follow.
pub fn run(
    trial: &mut Trial<'_>,
    mut record: TrialRecord,
) -> (TrialRecord, Option<WrittenSamples>) {
    trial.announce(
        &record,
        trial.parameters.warmup_seconds + trial.parameters.measured_seconds + 1.5,
    );
    record.server = trial.site.record();
    let journal = match journal_folder() {
        Ok(folder) => folder,
        Err(error) => {
            return (
                broken_off_trial(
                    trial.context,
                    record,
                    &TrialFailure::System(format!("cannot make the journal: {error}")),
                ),
                None,
            );
        }
    };
    let outcome = write(trial, &mut record, journal.path());
    record.server = trial.site.record();
    if let Err(failure) = outcome.map_err(|failure| trial.site.cause(failure)) {
        record = broken_off_trial(trial.context, record, &failure);
        if trial.context.is_interrupted() || !survivors(trial, &mut record, journal.path()) {
            return (record, None);
        }
    }
    let written = read_journal(trial, &journal.path().join("journal"));
    let written = written.and_then(|written| match stored(trial, &mut record, written) {
        Ok(stored) => Some(stored),
        Err(error) => {
            let text = format!("what is stored could not be listed: {error}");
            record.warnings.push(text);
            None
        }
    });
    (record, written)
}

/// What of the written samples is stored: readers are checked against that, whatever was lost on the way.
fn stored(
    trial: &Trial<'_>,
    record: &mut TrialRecord,
    written: WrittenSamples,
) -> Result<WrittenSamples, TrialFailure> {
    let missing = record
        .ledger
        .as_ref()
        .map_or(0, |ledger| ledger.lost + ledger.in_doubt_not_stored);
    if missing == 0 {
        return Ok(written);
    }
    let mut times_ns = Vec::with_capacity(written.len());
    block_on(async {
        let mut session = trial.site.store().connect(trial.plan).await?;
        let mut keep = |batch: &Batch| times_ns.extend_from_slice(&batch.times_ns);
        session.scan(0, &mut keep).await?;
        session.close().await
    })?;
    record.warnings.push(format!(
        "{missing} samples that were written are not stored: reads are checked against what is stored"
    ));
    Ok(written.stored_at(times_ns))
}

/// The journal's file is in memory where there is such a place, so that it costs the disk nothing.
fn journal_folder() -> std::io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("sensormark-journal-");
        builder
    };
    let folder = if memory.is_dir() {
        builder()
            .tempdir_in(memory)
            .or_else(|_| builder().tempdir())
    } else {
        builder().tempdir()
    }?;
    File::create(folder.path().join("journal"))?;
    Ok(folder)
}

/// After a failure: starts a server that stopped again, and counts what is left of what was acknowledged. Whether it could be counted.
fn survivors(trial: &mut Trial<'_>, record: &mut TrialRecord, journal: &Path) -> bool {
    if trial.site.check().is_err()
        && let Err(error) = trial.site.restart()
    {
        record
            .warnings
            .push(format!("the server could not be started again: {error}"));
        return false;
    }
    let Some(written) = read_journal(trial, &journal.join("journal")) else {
        return false;
    };
    let mut ledger = LedgerRecord {
        attempted: written.len() as u64,
        ..LedgerRecord::default()
    };
    let schema = trial.plan.schema.clone();
    match trial.reconcile(&schema, &written, &mut ledger) {
        Ok(()) => {
            record.warnings.push(format!(
                "counted after the failure: {} of {} acknowledged readings are stored",
                ledger.acknowledged - ledger.lost,
                ledger.acknowledged
            ));
            record.ledger = Some(ledger);
            true
        }
        Err(error) => {
            record.warnings.push(format!(
                "what is stored could not be counted after the failure: {error}"
            ));
            false
        }
    }
}

fn write(
    trial: &mut Trial<'_>,
    record: &mut TrialRecord,
    folder: &Path,
) -> Result<(), TrialFailure> {
    let system = |error: &dyn std::fmt::Display| TrialFailure::System(error.to_string());
    let queue = OwnedQueue::create(&trial.context.supervisor.home().join("queues"))
        .map_err(|error| system(&error))?;
    let disk_before = trial.site.disk()?;
    let period_ns = round_u64(1e9 / f64::from(trial.parameters.samples_per_second));
    let configuration = WriterConfiguration {
        plan: PlanMessage::new(
            &trial.site.store().description().name,
            trial.plan,
            trial.context.plant.as_deref(),
        ),
        time_resolution: trial.plan.schema.tables[0].time_resolution,
        queue: queue.number(),
        journal: folder.join("journal"),
        period_ns,
        warmup_ns: seconds_to_ns(trial.parameters.warmup_seconds),
    };
    let mut writer = trial.role("writer", &configuration)?;
    writer.wait_ready(Duration::from_millis(trial.context.timeout_ms * 3))?;
    let recorder = trial.recorder("writer", &writer)?;
    let start_ns = monotonic_ns() + LEAD_NS;
    let message = source_message(trial, queue.number(), period_ns, start_ns);
    let mut source = trial.role("source", &message)?;
    recorder.add(tree("source", &source, None)?)?;
    let loaded = load(trial, &recorder, &queue, start_ns, &mut writer, &mut source);
    let (source, writer) = match loaded {
        Ok(reports) => reports,
        Err(failure) => {
            source.kill();
            let _ = queue.send_end(0);
            // The writer's journal says what was acknowledged: give it the time to pass it on.
            let _ = writer.listen(Instant::now() + Duration::from_millis(trial.context.timeout_ms));
            writer.kill();
            if let Ok(recording) = recorder.stop() {
                trial.keep(record, &recording, 0)?;
            }
            return Err(failure);
        }
    };
    let disk_after = trial.site.disk()?;
    trial.phase("settle");
    recorder.begin_phase("settle")?;
    trial.settle()?;
    recorder.end_phase(false)?;
    let recording = recorder.stop()?;
    let disk_settled = trial.site.disk()?;
    record.settings = trial.site.administer(trial.plan, async |administrator| {
        administrator.settings().await
    })?;
    for (moment, usage) in [
        (DiskMoment::Before, disk_before),
        (DiskMoment::After, disk_after),
        (DiskMoment::Settled, disk_settled),
    ] {
        add_disk(record, moment, None, usage);
    }
    account(trial, record, folder, &source, writer, &recording)
}

fn source_message(trial: &Trial<'_>, queue: i32, period_ns: u64, start_ns: u64) -> SourceMessage {
    let mut source = SourceConfig::new(trial.context.seed, trial.parameters.samples());
    source.period_ns = NonZeroU64::new(period_ns).unwrap_or(NonZeroU64::MIN);
    source.start_ns = Some(start_ns);
    source.scheduling = SchedulingRequest {
        real_time_priority: Some(SOURCE_PRIORITY),
        timer_slack_ns: NonZeroU64::new(1),
    };
    SourceMessage { source, queue }
}

/// The load itself: warm-up, measured phase, and both processes' reports.
fn load(
    trial: &mut Trial<'_>,
    recorder: &Recorder,
    queue: &MessageQueue,
    start_ns: u64,
    writer: &mut RoleProcess,
    source: &mut RoleProcess,
) -> Result<(SourceReport, WriterReport), TrialFailure> {
    writer.send(&Start { start_ns })?;
    pass_until(trial, queue, start_ns, writer, source)?;
    let measured_ns = start_ns + seconds_to_ns(trial.parameters.warmup_seconds);
    if measured_ns > start_ns {
        trial.phase("warm-up");
        recorder.begin_phase("warm-up")?;
        pass_until(trial, queue, measured_ns, writer, source)?;
    }
    trial.phase("measured");
    recorder.begin_phase("measured")?;
    let end_ns = measured_ns + seconds_to_ns(trial.parameters.measured_seconds);
    pass_until(trial, queue, end_ns, writer, source)?;
    recorder.end_phase(true)?;
    let patience = Duration::from_millis(trial.context.timeout_ms * 3);
    let is_report = |event: &Event| matches!(event, Event::Report(_));
    let from_source = trial.await_event(source, patience, is_report)?;
    trial.await_event(writer, patience, |event| matches!(event, Event::Phase(_)))?;
    writer.send(&"report")?;
    let from_writer = trial.await_event(writer, patience, is_report)?;
    Ok((report(from_source)?, report(from_writer)?))
}

/// Lets time pass, and sees to it that the source goes on sending: the writer sleeps in the kernel until something comes.
///
/// A source that ends is noticed within 0.1 s by [`Trial::pass_until`], one that only falls silent after [`LONGEST_SILENCE`].
fn pass_until(
    trial: &mut Trial<'_>,
    queue: &MessageQueue,
    until_ns: u64,
    writer: &mut RoleProcess,
    source: &mut RoleProcess,
) -> Result<(), TrialFailure> {
    loop {
        let next_ns = until_ns.min(monotonic_ns() + LOOK_AT_QUEUE_NS);
        trial.pass_until(next_ns, &mut [writer, source])?;
        if next_ns == until_ns {
            return Ok(());
        }
        let status = queue
            .status()
            .map_err(|error| TrialFailure::System(error.to_string()))?;
        if status.silence().is_some_and(|long| long >= LONGEST_SILENCE) {
            return Err(RoleError::Silent {
                role: source.name().to_owned(),
                seconds: LONGEST_SILENCE.as_secs(),
            }
            .into());
        }
    }
}

/// A role's report in its own type.
///
/// # Errors
/// When it is another one's.
pub fn report<T: serde::de::DeserializeOwned>(event: Event) -> Result<T, TrialFailure> {
    let Event::Report(value) = event else {
        return Err(TrialFailure::System("a role sent no report".to_owned()));
    };
    serde_json::from_value(value).map_err(|error| {
        TrialFailure::System(format!("a role's report cannot be understood: {error}"))
    })
}
