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
    field
        .trials
        .iter()
        .flat_map(|trial| trial.latencies.keys())
        .sorted()
        .dedup()
        .sorted_by_key(|name| first.iter().position(|one| one == name).unwrap_or(first.len()))
        .collect()
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

/// What the arm's valid trials timed of an operation.
fn records<'a>(field: &'a Field, arm: &'a Arm, name: &str) -> Vec<&'a LatencyRecord> {
    field.valid_of(arm).filter_map(|trial| trial.latencies.get(name)).collect()
}

fn table(field: &Field, name: &str) -> Table {
    let mut timed = field.trials.iter().filter_map(|trial| trial.latencies.get(name));
    let title = timed.next().map_or_else(String::new, |record| title(name, record));
    let arms = field
        .all()
        .map(|(_, arm)| (arm, records(field, arm, name)))
        .filter(|(_, records)| !records.is_empty())
        .collect_vec();
    let has_intervals = arms.iter().any(|(_, records)| medians::lacks(records, |of| of.p999_ns));
    let mean = |arm: &Arm| {
        field.figures(arm, |trial| {
            let summary = &trial.latencies.get(name)?.summary;
            (summary.count > 0).then_some(summary.mean_ns)
        })
    };
    let means = arms.iter().map(|(arm, _)| statistics::Arm { name: arm.label.clone(), blocks: mean(arm) });
    let places = ranks(&means.collect_vec(), Better::Lower).ok();
    let rows = arms.iter().enumerate().map(|(place, (arm, records))| {
        let own = places.as_ref().and_then(|ranking| ranking.ranks[place].rank);
        let count = records.iter().map(|record| record.summary.count).total();
        let percentiles: [medians::Nanoseconds; 4] =
            [|of| of.p90_ns, |of| of.p95_ns, |of| of.p99_ns, |of| of.p999_ns];
        let cells = medians::cells(records, has_intervals, &percentiles, "no operation");
        [row![&arm.label, rank(own), count], cells].concat()
    });
    let columns = format!(
        "implementation; rank [by mean]; count; mean [ms]; {}; p90 [ms]; p95 [ms]; p99 [ms]; p99.9 [ms]; max [ms]",
        medians::column(has_intervals)
    );
    let mut table = Table::new(&format!("latency_{name}"), &title, &columns).with(rows);
    if has_intervals {
        table.note(medians::NOTE);
    }
    table.noted("A percentile needs 10 samples beyond it, or reads –. Means are geometric over repetitions; max is the largest of all.")
}
