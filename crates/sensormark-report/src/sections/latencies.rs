//! Latencies, a table for each kind of operation: from when it was due in open loop, service time beside it.

use super::medians;
use crate::prelude::*;
use sensormark_result::statistics::{self, ranks};

/// The section.
pub fn section(field: &Field) -> Section {
    let tables = operations(field).into_iter().map(|name| table(field, name));
    Section::of("latencies", "Latencies", tables)
}

/// The operations that were timed, those of the names first that a reader wants first.
fn operations(field: &Field) -> Vec<&String> {
    let first = [names::CYCLE_READ, names::CYCLE_READ_SERVICE, names::SENSOR_DELAY, names::WRITE];
    let mut all: Vec<&String> = field.trials.iter().flat_map(|trial| trial.latencies.keys()).collect();
    all.sort();
    all.dedup();
    all.sort_by_key(|name| first.iter().position(|one| one == name).unwrap_or(first.len()));
    all
}

fn title(name: &str, record: &LatencyRecord) -> String {
    let words = match name {
        names::CYCLE_READ | names::CYCLE_READ_SERVICE => "Cycle reads",
        names::WRITE => "Writes",
        names::SENSOR_DELAY => {
            return "From sensor to acknowledgement: from when a sample was due at the sensor".to_owned();
        }
        other => other,
    };
    if record.open_loop {
        format!("{words}: from when each was due (open loop)")
    } else {
        format!("{words}: service time, from sent to finished")
    }
}

/// Columns of a latency table.
fn columns(has_intervals: bool) -> [&'static str; 10] {
    [
        "implementation",
        "rank [by mean]",
        "count",
        "mean [ms]",
        medians::column(has_intervals),
        "p90 [ms]",
        "p95 [ms]",
        "p99 [ms]",
        "p99.9 [ms]",
        "max [ms]",
    ]
}

/// What the arm's valid trials timed of an operation.
fn records<'a>(field: &'a Field, arm: &'a Arm, name: &str) -> Vec<&'a LatencyRecord> {
    let trials = field.valid_of(arm);
    trials.filter_map(|trial| trial.latencies.get(name)).collect()
}

fn table(field: &Field, name: &str) -> Table {
    let mut timed = field.trials.iter().filter_map(|trial| trial.latencies.get(name));
    let title = timed.next().map_or_else(String::new, |record| title(name, record));
    let is_timed = |arm: &&Arm| !records(field, arm, name).is_empty();
    let arms: Vec<&Arm> = field.all().map(|(_, arm)| arm).filter(is_timed).collect();
    let is_few = |arm: &&Arm| medians::lacks(&records(field, arm, name), |of| of.p999_ns);
    let has_intervals = arms.iter().any(is_few);
    let id = format!("latency_{name}");
    let mut table = Table::new(&id, &title, &columns(has_intervals));
    let means: Vec<statistics::Arm> = arms
        .iter()
        .map(|arm| statistics::Arm {
            name: arm.label.clone(),
            blocks: milliseconds(field, arm, name, |summary| Some(summary.mean_ns)),
        })
        .collect();
    let places = ranks(&means, Better::Lower).ok();
    for (place, arm) in arms.iter().enumerate() {
        let own = places.as_ref().and_then(|ranking| ranking.ranks[place].rank);
        table.row(row(field, arm, name, own, has_intervals));
    }
    if has_intervals {
        table.note(medians::NOTE);
    }
    table.note("A percentile needs 10 samples beyond it, or reads –. Means are geometric over repetitions; max is the largest of all.");
    table
}

/// One figure of an operation in each repetition, in ms.
fn milliseconds(
    field: &Field,
    arm: &Arm,
    name: &str,
    figure: impl Fn(&LatencySummary) -> Known,
) -> Vec<Known> {
    field.figures(arm, |trial| {
        let summary = &trial.latencies.get(name)?.summary;
        Some(figure(summary).filter(|_| summary.count > 0)? / 1e6)
    })
}

fn row(field: &Field, arm: &Arm, name: &str, place: Option<usize>, has_intervals: bool) -> Vec<Cell> {
    let percentile = |ns: fn(&LatencySummary) -> Option<u64>| {
        geometric_mean(&milliseconds(field, arm, name, |summary| Some(ns(summary)? as f64)), TOO_FEW)
    };
    let means = milliseconds(field, arm, name, |summary| Some(summary.mean_ns));
    let most = milliseconds(field, arm, name, |summary| Some(summary.max_ns as f64));
    let records = records(field, arm, name);
    let median = if has_intervals {
        medians::with_interval(&records, "no operation")
    } else {
        percentile(|of| of.p50_ns)
    };
    row![
        &arm.label,
        rank(place),
        records.iter().map(|record| record.summary.count).total(),
        geometric_mean(&means, "no operation"),
        median,
        percentile(|of| of.p90_ns),
        percentile(|of| of.p95_ns),
        percentile(|of| of.p99_ns),
        percentile(|of| of.p999_ns),
        largest(&most, "no operation"),
    ]
}
