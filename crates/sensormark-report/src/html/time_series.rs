//! What each trial did and its processes used over time, with its phases: operations in each second, from the raw histograms, and rates between two
//! of the one-second samples.

use crate::prelude::*;
use sensormark_result::probe::Recording;

/// What machine-tool calls its operations among its latencies.
const OPERATIONS: [&str; 2] = ["write", "cycle_read"];
/// Samples nearer than this to the one before make no rate: they were taken to mark a phase.
const SHORTEST_NS: u64 = 500_000_000;
/// Points of a time series; of longer ones every n-th sample is taken.
const MOST_POINTS: usize = 240;

/// One value for each valid trial of the first repetition whose samples are there.
pub fn all(field: &Field, folder: &ResultsFolder) -> Vec<Value> {
    let mut all = vec![];
    for (side, arm) in field.all() {
        let Some(trial) = field.valid_of(arm).next() else {
            continue;
        };
        let Some(recording) = folder.samples(&trial.name) else {
            continue;
        };
        let name = if side == "both" { arm.label.clone() } else { format!("{} ({side})", arm.label) };
        let mut series = time_series(&name, &arm.label, &recording);
        series["throughput"] = throughput(trial, &recording);
        all.push(series);
    }
    all
}

fn time_series(name: &str, label: &str, recording: &Recording) -> Value {
    let origin = recording.started_monotonic_ns;
    let seconds = |at_ns: u64| round(at_ns.saturating_sub(origin) as f64 / 1e9);
    let phases = recording
        .phases
        .iter()
        .map(|phase| json!([clean(&phase.name), seconds(phase.start_ns), seconds(phase.end_ns)]))
        .collect_vec();
    let mut roles: BTreeMap<&str, &TreeColumns> = BTreeMap::new();
    for tree in &recording.trees {
        let known = roles.get(tree.role.as_str());
        if known.is_none_or(|known| known.monotonic_ns.len() < tree.columns.monotonic_ns.len()) {
            roles.insert(&tree.role, &tree.columns);
        }
    }
    let roles: BTreeMap<&str, Value> =
        roles.into_iter().map(|(role, columns)| (role, role_series(columns, &seconds))).collect();
    json!({ "name": name, "implementation": label, "phases": phases, "roles": roles })
}

/// Operations a second by their names: when, in seconds, and how many.
fn throughput(trial: &TrialRecord, recording: &Recording) -> Value {
    let mut found: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let mut add = |phase: &str, name: &str, record: &LatencyRecord, length: Known| {
        let Some(phase) = recording.phase(phase) else {
            return;
        };
        let since = |at_ns: u64| at_ns.saturating_sub(recording.started_monotonic_ns) as f64 / 1e9;
        let (start, end) = (since(phase.start_ns), since(phase.end_ns));
        let counts = record.seconds.iter().filter_map(count).collect_vec();
        let points =
            rates(&counts, length.unwrap_or(end - start)).into_iter().map(|(at, rate)| (start + at, rate));
        found.entry(clean(name)).or_default().extend(points);
    };
    for load in &trial.loads {
        for (class, record) in &load.classes {
            add(&load.phase, class, &record.latency, Some(load.seconds));
        }
    }
    if let Some(measured) = criteria::measured(trial) {
        // Others are of the same operations, from another instant on.
        for (name, record) in trial.latencies.iter().filter(|(name, _)| OPERATIONS.contains(&name.as_str())) {
            add(&measured.name, &name.replace('_', " "), record, None);
        }
    }
    let columns = found.into_iter().map(|(name, points)| {
        let step = points.len().div_ceil(MOST_POINTS).max(1);
        let (seconds, rates): (Vec<f64>, Vec<f64>) =
            points.into_iter().step_by(step).map(|(at, rate)| (round(at), round(rate))).unzip();
        (name, json!({ "seconds": seconds, "per_second": rates }))
    });
    Value::Object(columns.collect())
}

fn count(second: &SecondHistogram) -> Option<(u64, u64)> {
    Some((second.second, decode(&second.v2).ok()?.len()))
}

/// Operations a second at the end of each second of a phase of this length. The rest of its last second counts where it is long enough, or is
/// all that there is.
fn rates(counts: &[(u64, u64)], length: f64) -> Vec<(f64, f64)> {
    let rate = |(second, count): &(u64, u64), shortest: f64| {
        let span = (length - *second as f64).min(1.0);
        (span >= shortest && span > 0.0).then(|| (*second as f64 + span, *count as f64 / span))
    };
    let all = |shortest: f64| counts.iter().filter_map(move |one| rate(one, shortest));
    let long = all(SHORTEST_NS as f64 / 1e9).collect_vec();
    if long.is_empty() { all(0.0).collect() } else { long }
}

/// Columns of one role: seconds, percent of a core, MB resident, kB/s read and written.
fn role_series(columns: &TreeColumns, seconds: &impl Fn(u64) -> f64) -> Value {
    let times = &columns.monotonic_ns;
    let mut kept: Vec<usize> = vec![];
    for place in 0..times.len() {
        if kept.last().is_none_or(|last| times[place].saturating_sub(times[*last]) >= SHORTEST_NS) {
            kept.push(place);
        }
    }
    let step = kept.len().div_ceil(MOST_POINTS).max(1);
    let kept = kept.into_iter().step_by(step).collect_vec();
    let each = |of: &dyn Fn(usize, usize) -> Value| -> Vec<Value> {
        kept.windows(2).map(|pair| of(pair[0], pair[1])).collect()
    };
    let span_ns = |from: usize, to: usize| (times[to] - times[from]) as f64;
    let rate = |values: &[Option<u64>], from: usize, to: usize| {
        let grown = values[to]?.saturating_sub(values[from]?);
        Some(round(grown as f64 / 1e3 / (span_ns(from, to) / 1e9)))
    };
    let cpu = |from: usize, to: usize| {
        let used = columns.cpu_ns[to].saturating_sub(columns.cpu_ns[from]);
        round(used as f64 * 100.0 / span_ns(from, to))
    };
    json!({
        "seconds": each(&|_, to| json!(seconds(times[to]))),
        "cpu_percent": each(&|from, to| json!(cpu(from, to))),
        "resident_mb": each(&|_, to| json!(resident(columns.resident_bytes[to]))),
        "read_kb_s": each(&|from, to| json!(rate(&columns.storage_read_bytes, from, to))),
        "written_kb_s": each(&|from, to| json!(rate(&columns.storage_written_bytes, from, to))),
    })
}

/// In MB; nothing of a process that has ended.
fn resident(bytes: u64) -> Known {
    (bytes > 0).then(|| round(bytes as f64 / 1e6))
}

/// Two decimals: what a chart can show.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::rates;

    #[test]
    fn a_rest_of_a_second_makes_no_rate_unless_it_is_all() {
        assert_eq!(rates(&[(0, 100), (1, 90), (2, 5)], 2.1), [(1.0, 100.0), (2.0, 90.0)]);
        assert_eq!(rates(&[(0, 100), (1, 45)], 1.5), [(1.0, 100.0), (1.5, 90.0)]);
        assert_eq!(rates(&[(0, 25)], 0.25), [(0.25, 100.0)]);
        assert!(rates(&[], 3.0).is_empty());
    }
}
