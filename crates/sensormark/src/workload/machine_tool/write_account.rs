//! What a write trial comes to: its ledger, its figures, and what speaks against it.
//!
//! Running the trial is in [`super::write_trial`]; comparing what is stored in `ledger`.

use super::answers::WrittenSamples;
use super::source::SourceReport;
use super::trial::{Trial, TrialFailure};
use super::writer::WriterReport;
use crate::engine::judge::work::Work;
use crate::engine::judge::{Circumstances, Evidence, data, judge};
use crate::engine::scheduling::Grant;
use crate::ledger::journal;
use crate::measurement::names;
use crate::measurement::record::{Figure, LatencyRecord, LedgerRecord, TrialRecord};
use crate::measurement::verdict::{Reason, ReasonKind};
use crate::probe::Recording;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The samples that the journal tells of.
pub fn read_journal(trial: &Trial<'_>, path: &Path) -> Option<WrittenSamples> {
    let entries = journal::read(&mut std::io::BufReader::new(File::open(path).ok()?)).ok()?;
    Some(WrittenSamples::new(trial.context.seed, entries))
}

/// The journal stays with the results: it says what every later read of the same data should find.
fn keep_journal(trial: &Trial<'_>, record: &TrialRecord, path: &Path) -> Result<(), TrialFailure> {
    let bytes = std::fs::read(path).map_err(|error| TrialFailure::System(error.to_string()))?;
    let name = PathBuf::from("samples").join(format!("{}.journal", record.name));
    trial
        .context
        .folder
        .write_bytes(&name.to_string_lossy(), &bytes)
        .map_err(|error| TrialFailure::System(error.to_string()))
}

/// Counts and judges.
///
/// # Errors
/// When what is stored cannot be counted or the raw files cannot be kept.
pub fn account(
    trial: &Trial<'_>,
    record: &mut TrialRecord,
    folder: &Path,
    source: &SourceReport,
    writer: WriterReport,
    recording: &Recording,
) -> Result<(), TrialFailure> {
    let written = read_journal(trial, &folder.join("journal"))
        .ok_or_else(|| TrialFailure::System("the journal cannot be read".to_owned()))?;
    let mut ledger = LedgerRecord {
        produced: source.attempted,
        lost_at_queue: source.attempted - writer.received.min(source.attempted),
        attempted: writer.received,
        ..LedgerRecord::default()
    };
    trial.phase("count");
    let schema = trial.plan.schema.clone();
    trial.reconcile(&schema, &written, &mut ledger)?;
    ledger.refused = writer.received.saturating_sub(written.len() as u64);
    let mut data = data::ledger(&ledger);
    data.extend(vanished(source, &writer));
    keep_journal(trial, record, &folder.join("journal"))?;
    trial.keep(record, recording, writer.service.0.count)?;
    let works = vec![work(trial, source, &writer)];
    figures(record, source, &writer, &ledger);
    record.ledger = Some(ledger);
    record.errors = writer.errors;
    for (name, (summary, seconds)) in [
        (names::WRITE, writer.service),
        (names::SENSOR_DELAY, writer.sensor_delay),
    ] {
        record.latencies.insert(
            name.to_owned(),
            LatencyRecord {
                open_loop: name == names::SENSOR_DELAY,
                summary,
                seconds,
            },
        );
    }
    let evidence = Evidence {
        works,
        data,
        failure: None,
    };
    let circumstances = Circumstances::of(trial.context, record.implementation.embedded);
    judge(record, evidence, &circumstances);
    Ok(())
}

/// Samples that came out of the queue's one end and not of the other, which no loss for want of room explains.
fn vanished(source: &SourceReport, writer: &WriterReport) -> Option<Reason> {
    let vanished = source.sent.checked_sub(writer.received)?;
    (vanished > 0).then(|| {
        let text = format!("{vanished} samples vanished between queue and writer");
        Reason::new(ReasonKind::ClientFailed, text)
    })
}

/// What the writer did. Its load has a steady rate, which is how fast its samples come; a layout of spans writes a thousand of them at once.
fn work(trial: &Trial<'_>, source: &SourceReport, writer: &WriterReport) -> Work {
    let second = u64::from(trial.parameters.samples_per_second);
    Work {
        phase: "measured".to_owned(),
        what: "writes",
        unit: "samples",
        paced: "the source sent samples late",
        clients: 1,
        succeeded: writer.operations,
        errors: writer.errors.clone(),
        first_error: writer.first_error.clone(),
        late: writer.late,
        longest_ns: Some(writer.longest_ns),
        counted: (writer.received, "samples arrived"),
        fewest: second,
        planned: Some(trial.parameters.samples()),
        pacing_p99_ns: source.pacing.p99_ns,
        open_loop: true,
        per_second: Some(second as f64),
        ceiling: writer.ceiling,
        ..Work::default()
    }
}

fn figures(
    record: &mut TrialRecord,
    source: &SourceReport,
    writer: &WriterReport,
    ledger: &LedgerRecord,
) {
    let seconds = record
        .phases
        .iter()
        .map(|phase| phase.seconds)
        .sum::<f64>()
        .max(1e-9);
    let mut add = |name: &str, value: f64, unit: &str| {
        record
            .figures
            .insert(name.to_owned(), Figure::new(value, unit));
    };
    add(
        names::PACING_P99,
        source.pacing.p99_ns.map_or(f64::NAN, |ns| ns as f64),
        "ns",
    );
    add(
        names::PACING_P999,
        source.pacing.p99_9_ns.map_or(f64::NAN, |ns| ns as f64),
        "ns",
    );
    add(names::PACING_MAX, source.pacing.max_ns as f64, "ns");
    add(
        names::JOURNAL_PERCENT,
        writer.journal_ns as f64 / (seconds * 1e9) * 100.0,
        "% of one core",
    );
    add(names::DATAGRAM_BYTES, writer.datagram_bytes as f64, "bytes");
    add(names::STATEMENTS, writer.statements as f64, "statements");
    add(names::RECONNECTS, writer.reconnects as f64, "connections");
    add(
        names::LOST_AT_QUEUE,
        ledger.lost_at_queue as f64,
        "readings",
    );
    add(
        names::QUEUE_CAPACITY,
        source.queue_capacity_bytes as f64,
        "bytes",
    );
    record
        .figures
        .retain(|_, figure| figure.value.is_none_or(f64::is_finite));
    queue_figures(record, source, ledger);
}

fn queue_figures(record: &mut TrialRecord, source: &SourceReport, ledger: &LedgerRecord) {
    let mut add = |name: &str, value: f64, unit: &str| {
        record
            .figures
            .insert(name.to_owned(), Figure::new(value, unit));
    };
    let longest = source
        .lost_run_lengths
        .keys()
        .next_back()
        .copied()
        .unwrap_or(0);
    add(names::LONGEST_LOSS, longest as f64, "readings");
    let real_time = matches!(source.scheduling.real_time, Grant::Granted);
    add(
        names::REAL_TIME_SOURCE,
        f64::from(u8::from(real_time)),
        "1 is yes",
    );
    if ledger.lost_at_queue > 0 {
        record.warnings.push(format!(
            "could not keep up: {} readings were lost at the queue, at most {longest} in a row",
            ledger.lost_at_queue
        ));
    }
}
