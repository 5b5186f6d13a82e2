//! The form of machine-tool's records: a trial is of one side and has one load, whose latencies and figures are the trial's own.

use super::HISTORY;
use super::parameters::Parameters;
use sensormark_data::units::{Total, ns_to_seconds, seconds_to_ns};
use sensormark_engine::judge::work::Work;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, LatencyRecord, LoadRecord, TrialRecord};

/// The share of the rate asked for that counts as keeping up: the schedule's own end effects are smaller.
const KEPT_UP: f64 = 0.98;

/// What a load did. That of the writer has a steady rate, which is how fast its samples come; a layout of spans writes a thousand of them at once.
pub fn work(
    parameters: &Parameters,
    samples_per_write: u64,
    load: &LoadRecord,
    record: &TrialRecord,
) -> Work {
    let work = Work::of(load);
    if load.name == HISTORY {
        return work;
    }
    if !load.writes {
        return Work {
            what: "reads",
            unit: "reads",
            counted: (work.counted.0, "reads were issued"),
            fewest: load.planned,
            ..work
        };
    }
    let second = u64::from(parameters.samples_per_second);
    let attempted = record.ledger.as_ref().map_or(0, |ledger| ledger.attempted);
    let of_history: u64 =
        record.loads.iter().filter(|load| load.name == HISTORY).map(LoadRecord::readings).total();
    Work {
        what: "writes",
        unit: "samples",
        paced: "the source sent samples late",
        counted: (attempted.saturating_sub(of_history), "samples arrived"),
        fewest: second,
        planned: Some(parameters.samples()),
        per_second: Some(second as f64),
        ceiling: work.ceiling.map(|writes| writes * samples_per_write as f64),
        ..work
    }
}

/// Gives a record its form.
pub fn form(parameters: &Parameters, record: &mut TrialRecord) {
    for load in std::mem::take(&mut record.loads) {
        if load.name == HISTORY {
            set_apart(record, load.readings());
        } else if load.writes {
            written(record, &load);
        } else if !load.warm_up {
            read(parameters, record, &load);
        }
    }
    // With one load there is nothing to tell a phase's figures from the trial's.
    record.figures.retain(|name, _| !name.contains('/'));
}

/// Takes the readings of history out of the counts: these are of the samples that the source sent.
fn set_apart(record: &mut TrialRecord, history: u64) {
    let Some(ledger) = &mut record.ledger else { return };
    ledger.history = history;
    for count in [&mut ledger.produced, &mut ledger.attempted, &mut ledger.acknowledged, &mut ledger.stored] {
        *count = count.saturating_sub(history);
    }
}

fn written(record: &mut TrialRecord, load: &LoadRecord) {
    latencies(record, load, (names::SENSOR_DELAY, names::WRITE));
    let bytes = load.datagram_bytes as f64;
    add(record, names::DATAGRAM_BYTES, bytes, "bytes");
    add(record, names::STATEMENTS, load.statements as f64, "statements");
    add(record, names::RECONNECTS, load.reconnects as f64, "connections");
}

fn read(parameters: &Parameters, record: &mut TrialRecord, load: &LoadRecord) {
    latencies(record, load, (names::CYCLE_READ, names::CYCLE_READ_SERVICE));
    let asked = parameters.reads_per_second;
    // Never faster than the schedule: n reads, one period each.
    let seconds = load.seconds.max(load.planned as f64 / asked);
    let reached = load.operations() as f64 / seconds;
    let kept_up = reached >= asked * KEPT_UP;
    let yes = f64::from(u8::from(kept_up));
    add(record, names::READS_PER_SECOND, reached, "reads/s");
    add(record, names::READS_PER_SECOND_ASKED, asked, "reads/s");
    add(record, names::KEEPS_UP, yes, "1 is yes");
    add(record, names::QUERIES, load.statements as f64, "queries");
    add(record, names::RECONNECTS, load.reconnects as f64, "connections");
    if !kept_up {
        record
            .warnings
            .push(format!("could not keep up with {asked} reads a second: it reached {reached:.2}"));
    }
    let slowest = load.classes.values().map(|class| class.latency.summary.max_ns);
    let beyond = slowest.max().and_then(|ns| ns.checked_sub(seconds_to_ns(1.0)));
    if let Some(beyond) = beyond {
        let seconds = ns_to_seconds(beyond) + 1.0;
        record.warnings.push(format!("the slowest read came {seconds:.1} s after it was due"));
    }
}

/// Takes the load's latencies as the trial's, by these names: from when it was due, and from when it was sent.
fn latencies(record: &mut TrialRecord, load: &LoadRecord, (due, sent): (&str, &str)) {
    for class in load.classes.values() {
        let mut keep = |name: &str, latency: &LatencyRecord| {
            record.latencies.insert(name.to_owned(), latency.clone());
        };
        keep(due, &class.latency);
        if let Some(service) = &class.service {
            keep(sent, service);
        }
    }
}

fn add(record: &mut TrialRecord, name: &str, value: f64, unit: &str) {
    let figure = Figure::new(value, unit);
    record.figures.insert(name.to_owned(), figure);
}
