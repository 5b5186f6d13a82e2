//! One read trial: machine cycles around random times over everything that the write trial stored, every answer checked.

use super::answers::WrittenSamples;
use super::read_cycle::Strategy;
use super::reader::{ReadOutcome, ReaderConfiguration, ReaderReport, warmup_reads};
use super::start::Start;
use super::trial::{Trial, TrialFailure, broken_off_trial};
use super::write_trial::report;
use crate::engine::cold;
use crate::engine::connection::PlanMessage;
use crate::engine::judge::work::Work;
use crate::engine::judge::{Circumstances, Evidence, judge};
use crate::engine::role::{Event, RoleProcess};
use crate::engine::study_protocol::Protocol;
use crate::measurement::names;
use crate::measurement::record::{Cache, Figure, LatencyRecord, TrialRecord};
use crate::probe::{Recorder, monotonic_ns};
use crate::units::{ns_to_seconds, round_u64, seconds_to_ns, signed};
use std::time::{Duration, Instant};

/// How long the reader has to get ready for the start of a phase, in ns.
const LEAD_NS: u64 = 50_000_000;
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
    let outcome = read(trial, &mut record, strategy, written);
    record.server = trial.site.record();
    match outcome.map_err(|failure| trial.site.cause(failure)) {
        Ok(()) => record,
        Err(failure) => broken_off_trial(trial.context, record, &failure),
    }
}

/// Puts the database where it is to be when the reading begins.
fn begin(trial: &Trial<'_>, record: &mut TrialRecord) -> Result<(), TrialFailure> {
    let context = trial.context;
    if context.cache == Cache::Cold {
        return cold::start(context, trial.site, None);
    }
    let restarts = |study: &Protocol| study.restart_before_reading && trial.site.is_ours();
    if context.protocol.is_some_and(restarts) {
        // The study rebooted its machines before; the warm-up that follows is the study's too.
        let began = Instant::now();
        cold::start(context, trial.site, None)?;
        let seconds = Figure::new(began.elapsed().as_secs_f64(), "s");
        let name = names::RESTART_BEFORE_READING.to_owned();
        record.figures.insert(name, seconds);
    }
    Ok(())
}

fn read(
    trial: &mut Trial<'_>,
    record: &mut TrialRecord,
    strategy: Strategy,
    written: &WrittenSamples,
) -> Result<(), TrialFailure> {
    let configuration = configuration(trial, strategy, written)?;
    begin(trial, record)?;
    let mut reader = trial.role("reader", &configuration)?;
    reader.wait_ready(Duration::from_millis(trial.context.timeout_ms * 3))?;
    let recorder = trial.recorder("reader", &reader)?;
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
    trial.keep(record, &recording, report.operations)?;
    cold::warn(record);
    figures(trial, record, &report);
    let works = vec![work(trial, &report)];
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
    let evidence = Evidence {
        works,
        ..Evidence::default()
    };
    let circumstances = Circumstances::of(trial.context, record.implementation.embedded);
    judge(record, evidence, &circumstances);
    Ok(())
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

/// What the reader did.
fn work(trial: &Trial<'_>, report: &ReaderReport) -> Work {
    let failed: u64 = report.errors.values().sum();
    let reads = u64::from(trial.parameters.reads);
    Work {
        phase: "measured".to_owned(),
        what: "reads",
        unit: "reads",
        clients: 1,
        succeeded: report.operations,
        errors: report.errors.clone(),
        first_error: report.first_error.clone(),
        late: report.late,
        counted: (failed + report.operations, "reads were issued"),
        fewest: reads,
        planned: Some(reads),
        open_loop: true,
        per_second: Some(report.reads_per_second),
        ceiling: report.ceiling,
        ..Work::default()
    }
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
