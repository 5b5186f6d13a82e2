//! One read trial: machine cycles around random times over everything that the write trial stored, every answer checked.

use super::answers::WrittenSamples;
use super::reader::{ReadOutcome, ReaderConfiguration, ReaderReport, Strategy, warmup_reads};
use super::trial::{Trial, TrialFailure, condemned};
use super::write_account::client_bound;
use super::write_trial::report;
use super::writer::Start;
use crate::engine::cold;
use crate::engine::connection::PlanMessage;
use crate::engine::role::{Event, RoleProcess};
use crate::measurement::names;
use crate::measurement::record::{AnswersRecord, Cache, Figure, LatencyRecord, TrialRecord};
use crate::measurement::verdict::{Reason, ReasonKind, Verdict};
use crate::probe::{Recorder, monotonic_ns};
use crate::units::{ns_to_seconds, round_u64, seconds_to_ns, signed};
use std::time::Duration;

/// How long the reader has to get ready for the start of a phase, in ns.
const LEAD_NS: u64 = 50_000_000;
/// The share of failed reads that makes a trial invalid.
const ERROR_SHARE: f64 = 0.01;
/// The share of the rate asked for that counts as keeping up: the schedule's own end effects are smaller.
const KEPT_UP: f64 = 0.98;

/// Runs the trial.
pub fn run(
    trial: &mut Trial<'_>,
    mut record: TrialRecord,
    strategy: Strategy,
    written: &WrittenSamples,
) -> TrialRecord {
    let seconds = trial.parameters.warmup_seconds
        + f64::from(trial.parameters.reads) / trial.parameters.reads_per_second;
    trial.announce(&record, seconds);
    record.server = trial.site.record().cloned();
    match read(trial, &mut record, strategy, written) {
        Ok(()) => record,
        Err(failure) => condemned(record, &failure),
    }
}

fn read(
    trial: &mut Trial<'_>,
    record: &mut TrialRecord,
    strategy: Strategy,
    written: &WrittenSamples,
) -> Result<(), TrialFailure> {
    let configuration = configuration(trial, strategy, written)?;
    if trial.context.cache == Cache::Cold {
        cold::start(trial.context, trial.site, None)?;
    }
    let mut reader = trial.role("reader", &configuration)?;
    reader.wait_ready(Duration::from_millis(trial.context.timeout_ms * 3))?;
    let recorder = trial.recorder()?;
    trial.watch(&recorder, "reader", &reader)?;
    let outcome = phases(trial, &recorder, &mut reader, &configuration);
    let (outcomes, report) = match outcome {
        Ok(reports) => reports,
        Err(failure) => {
            reader.kill();
            if let Ok(recording) = recorder.stop() {
                trial.keep(record, &recording, 0)?;
            }
            return Err(failure);
        }
    };
    let recording = recorder.stop()?;
    record.settings = trial.site.administer(trial.plan, async |administrator| {
        administrator.settings().await
    })?;
    let (answers, without_cycle) = written.check(strategy, &outcomes);
    if without_cycle > 0 {
        record.warnings.push(format!(
            "{without_cycle} reads rightly found no whole cycle: readings were lost or late there"
        ));
    }
    let mut reasons = judge(trial, &report);
    if answers.wrong > 0 {
        reasons.insert(0, wrong(&answers));
    }
    reasons.extend(trial.keep(record, &recording, report.operations)?);
    reasons.extend(client_bound(trial, record));
    cold::warn(record);
    figures(trial, record, &report);
    record.answers = Some(answers);
    record.errors = report.errors;
    for (name, open_loop, (summary, seconds)) in [
        (names::CYCLE_READ, true, report.latency),
        (names::CYCLE_READ_SERVICE, false, report.service),
    ] {
        record.latencies.insert(
            name.to_owned(),
            LatencyRecord {
                open_loop,
                summary,
                seconds,
            },
        );
    }
    record.verdict = Verdict::from_reasons(reasons);
    Ok(())
}

fn wrong(answers: &AnswersRecord) -> Reason {
    let first = answers.first_wrong.as_deref().unwrap_or_default();
    let (wrong, checked) = (answers.wrong, answers.checked);
    let text = format!("{wrong} of {checked} answers are wrong; {first}");
    Reason::new(ReasonKind::WrongAnswer, text)
}

fn configuration(
    trial: &Trial<'_>,
    strategy: Strategy,
    written: &WrittenSamples,
) -> Result<ReaderConfiguration, TrialFailure> {
    let margin = signed(seconds_to_ns(trial.parameters.margin_seconds));
    let (first, last) = written
        .bounds_ns()
        .ok_or_else(|| TrialFailure::System("nothing is stored".to_owned()))?;
    // Layouts of spans hold whole seconds only after the second is over: what is read lies well inside.
    let (earliest_ns, latest_ns) = (first + margin, last - margin);
    if earliest_ns >= latest_ns {
        return Err(TrialFailure::System(format!(
            "{:.1} s of data are too little to read from",
            (last - first) as f64 / 1e9
        )));
    }
    Ok(ReaderConfiguration {
        plan: PlanMessage::new(
            &trial.site.store().description().name,
            trial.plan,
            trial.context.plant.as_deref(),
        ),
        time_resolution: trial.plan.schema.tables[0].time_resolution,
        strategy,
        seed: trial.context.seed,
        earliest_ns,
        latest_ns,
        warmup_reads: match trial.context.cache {
            Cache::Hot => warmup_reads(
                trial.parameters.warmup_seconds,
                trial.parameters.reads_per_second,
            ),
            // They would fetch what the first measured ones are to fetch.
            Cache::Cold => 0,
        },
        reads: u64::from(trial.parameters.reads),
        period_ns: round_u64(1e9 / trial.parameters.reads_per_second),
    })
}

fn phases(
    trial: &mut Trial<'_>,
    recorder: &Recorder,
    reader: &mut RoleProcess,
    configuration: &ReaderConfiguration,
) -> Result<(Vec<ReadOutcome>, ReaderReport), TrialFailure> {
    // A read may take its time limit six times over, once a query; the reader reports progress after each read.
    let patience = Duration::from_millis(trial.context.timeout_ms * 14)
        + Duration::from_nanos(configuration.period_ns * 2);
    let is_phase = |event: &Event| matches!(event, Event::Phase(_));
    trial.phase("warm-up");
    recorder.begin_phase("warm-up")?;
    reader.send(&Start {
        start_ns: monotonic_ns() + LEAD_NS,
    })?;
    trial.await_event(reader, patience, is_phase)?;
    trial.phase("measured");
    recorder.begin_phase("measured")?;
    reader.send(&Start {
        start_ns: monotonic_ns() + LEAD_NS,
    })?;
    trial.await_event(reader, patience, is_phase)?;
    recorder.end_phase(true)?;
    reader.send(&"report")?;
    let found = trial.await_event(reader, patience, |event| matches!(event, Event::Report(_)))?;
    let mut outcomes = Vec::new();
    while let Some(Event::Answer(value)) = reader.take(|event| matches!(event, Event::Answer(_))) {
        outcomes.push(
            serde_json::from_value(value)
                .map_err(|error| TrialFailure::System(error.to_string()))?,
        );
    }
    Ok((outcomes, report(found)?))
}

fn judge(trial: &Trial<'_>, report: &ReaderReport) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let failed: u64 = report.errors.values().sum();
    let all = failed + report.operations;
    if failed as f64 / all.max(1) as f64 > ERROR_SHARE {
        let first = report.first_error.as_deref().unwrap_or_default();
        reasons.push(Reason::new(
            ReasonKind::Errors,
            format!("{failed} of {all} reads failed; the first: {first}"),
        ));
    }
    if report
        .errors
        .contains_key(sensormark_store::ErrorKind::Timeout.text())
    {
        reasons.push(Reason::new(
            ReasonKind::Hung,
            "a read did not come back in time",
        ));
    } else if report.late > 0 {
        reasons.push(Reason::new(
            ReasonKind::LateAnswers,
            format!(
                "{} reads came back after the time limit of {} ms",
                report.late, trial.context.timeout_ms
            ),
        ));
    }
    if all < u64::from(trial.parameters.reads) {
        reasons.push(Reason::new(
            ReasonKind::TooShort,
            format!("{all} of {} reads were issued", trial.parameters.reads),
        ));
    }
    reasons
}

fn figures(trial: &Trial<'_>, record: &mut TrialRecord, report: &ReaderReport) {
    let asked = trial.parameters.reads_per_second;
    let kept_up = report.reads_per_second >= asked * KEPT_UP;
    let mut add = |name: &str, value: f64, unit: &str| {
        record
            .figures
            .insert(name.to_owned(), Figure::new(value, unit));
    };
    add(names::READS_PER_SECOND, report.reads_per_second, "reads/s");
    add(names::READS_PER_SECOND_ASKED, asked, "reads/s");
    add(names::KEEPS_UP, f64::from(u8::from(kept_up)), "1 is yes");
    add(names::QUERIES, report.queries as f64, "queries");
    add(names::RECONNECTS, report.reconnects as f64, "connections");
    if !kept_up {
        let text = format!(
            "could not keep up with {asked} reads a second: it reached {:.2}",
            report.reads_per_second
        );
        record.warnings.push(text);
    }
    if let Some(max) = report.latency.0.max_ns.checked_sub(seconds_to_ns(1.0)) {
        record.warnings.push(format!(
            "the slowest read came {:.1} s after it was due",
            ns_to_seconds(max) + 1.0
        ));
    }
}
