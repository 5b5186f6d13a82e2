//! What a write trial comes to: its ledger, its figures, and what speaks against it.
//!
//! Running the trial is in [`super::write_trial`]; comparing what is stored in `ledger`.

use super::source::SourceReport;
use super::trial::{Trial, TrialFailure};
use super::write_trial::{keep_journal, read_journal};
use super::writer::WriterReport;
use crate::engine::lateness::{PACING_LIMIT_NS, late_by_host};
use crate::engine::scheduling::Grant;
use crate::engine::throttling::throttled;
use crate::ledger;
use crate::measurement::names;
use crate::measurement::record::{Figure, LatencyRecord, LedgerRecord, TrialRecord};
use crate::measurement::verdict::{Reason, ReasonKind, Verdict};
use crate::probe::{DiskUsage, Recording};
use std::path::Path;

/// The share of failed operations that makes a trial invalid.
const ERROR_SHARE: f64 = 0.01;

/// The disk used before, after and after settling.
pub fn disk_figures(
    record: &mut TrialRecord,
    before: Option<DiskUsage>,
    after: Option<DiskUsage>,
    settled: Option<DiskUsage>,
) {
    for (name, logs, usage) in [
        (names::DISK_BEFORE, names::DISK_BEFORE_LOGS, before),
        (names::DISK_AFTER, names::DISK_AFTER_LOGS, after),
        (names::DISK_SETTLED, names::DISK_SETTLED_LOGS, settled),
    ] {
        let figure = |bytes: Option<u64>| Figure {
            value: bytes.map(|bytes| bytes as f64),
            unit: "bytes".to_owned(),
        };
        record.figures.insert(
            name.to_owned(),
            figure(usage.map(|usage| usage.allocated_bytes)),
        );
        record.figures.insert(
            logs.to_owned(),
            figure(usage.map(|usage| usage.apart_bytes)),
        );
    }
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
    let mut reasons = ledger::reasons(&ledger);
    reasons.extend(judge(trial, source, &writer));
    keep_journal(trial, record, &folder.join("journal"))?;
    reasons.extend(trial.keep(record, recording, writer.service.0.count)?);
    reasons.extend(client_bound(trial, record));
    if !trial.context.tolerate_disturbance {
        let counted = record.phases.iter().filter(|phase| phase.operations > 0);
        reasons.extend(late_by_host(&reasons, counted));
    }
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
    record.verdict = Verdict::from_reasons(reasons);
    Ok(())
}

fn judge(trial: &Trial<'_>, source: &SourceReport, writer: &WriterReport) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let failed: u64 = writer.errors.values().sum();
    let share = failed as f64 / (failed + writer.operations).max(1) as f64;
    if share > ERROR_SHARE {
        let first = writer.first_error.as_deref().unwrap_or_default();
        reasons.push(Reason::new(
            ReasonKind::Errors,
            format!(
                "{failed} of {} writes failed; the first: {first}",
                failed + writer.operations
            ),
        ));
    }
    if writer
        .errors
        .contains_key(sensormark_store::ErrorKind::Timeout.text())
    {
        reasons.push(Reason::new(
            ReasonKind::Hung,
            format!(
                "a write did not come back in time; the longest took {} ms",
                writer.longest_ns / 1_000_000
            ),
        ));
    } else if writer.late > 0 {
        reasons.push(Reason::new(
            ReasonKind::LateAnswers,
            format!(
                "{} writes came back after the time limit of {} ms",
                writer.late, trial.context.timeout_ms
            ),
        ));
    }
    if let Some(p99) = source.pacing.p99_ns
        && p99 > PACING_LIMIT_NS
    {
        reasons.push(Reason::new(
            ReasonKind::SourceLate,
            format!("pacing error p99 {:.2} ms, over 1 ms", p99 as f64 / 1e6),
        ));
    }
    if writer.received < source.sent {
        reasons.push(Reason::new(
            ReasonKind::ClientFailed,
            format!(
                "{} samples vanished between queue and writer",
                source.sent - writer.received
            ),
        ));
    }
    if writer.received < u64::from(trial.parameters.samples_per_second) {
        reasons.push(Reason::new(
            ReasonKind::TooShort,
            format!("only {} samples arrived", writer.received),
        ));
    }
    reasons
}

/// A client that uses up its core measures itself, not the database. (Embedded, client and database are one.)
pub fn client_bound(trial: &Trial<'_>, record: &TrialRecord) -> Option<Reason> {
    if trial.site.store().description().embedded {
        return None;
    }
    let phase = record
        .phases
        .iter()
        .find(|phase| phase.name == "measured")?;
    let measured = phase.totals.as_ref()?;
    let client = measured
        .roles
        .get("writer")
        .or_else(|| measured.roles.get("reader"))?;
    let busy = client.cpu_percent_of_core;
    if busy > 90.0 {
        let text = format!("the client used {busy:.0} % of its core");
        return Some(Reason::new(ReasonKind::ClientBound, text));
    }
    throttled(phase, record.server.as_ref(), trial.context.limits)
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
