//! What each trial's processes used over time, from its one-second samples, with its phases: rates between two samples.

use crate::measurement::folder::ResultsFolder;
use crate::probe::{Recording, TreeColumns};
use crate::report::clean::clean;
use crate::report::field::Field;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Samples nearer than this to the one before make no rate: they were taken to mark a phase.
const SHORTEST_NS: u64 = 500_000_000;
/// Points of a course; of longer ones every n-th sample is taken.
const MOST_POINTS: usize = 240;

/// One value for each valid trial of the first repetition whose samples are there.
pub fn courses(field: &Field, folder: &ResultsFolder) -> Vec<Value> {
    let mut courses = Vec::new();
    for (side, arm) in field.all() {
        let Some(trial) = field.valid_of(arm).next() else {
            continue;
        };
        let Some(recording) = folder.samples(&trial.name) else {
            continue;
        };
        let name = if side == "both" {
            arm.label.clone()
        } else {
            format!("{} ({side})", arm.label)
        };
        courses.push(course(&name, &arm.label, &recording));
    }
    courses
}

fn course(name: &str, label: &str, recording: &Recording) -> Value {
    let origin = recording.started_monotonic_ns;
    let seconds = |at_ns: u64| round(at_ns.saturating_sub(origin) as f64 / 1e9);
    let phases: Vec<Value> = recording
        .phases
        .iter()
        .map(|phase| {
            json!([
                clean(&phase.name),
                seconds(phase.start_ns),
                seconds(phase.end_ns)
            ])
        })
        .collect();
    let mut roles: BTreeMap<&str, &TreeColumns> = BTreeMap::new();
    for tree in &recording.trees {
        let known = roles.get(tree.role.as_str());
        if known.is_none_or(|known| known.monotonic_ns.len() < tree.columns.monotonic_ns.len()) {
            roles.insert(&tree.role, &tree.columns);
        }
    }
    let roles: BTreeMap<&str, Value> = roles
        .into_iter()
        .map(|(role, columns)| (role, role_course(columns, &seconds)))
        .collect();
    json!({ "name": name, "implementation": label, "phases": phases, "roles": roles })
}

/// Columns of one role: seconds, percent of a core, MB resident, kB/s read and written.
fn role_course(columns: &TreeColumns, seconds: &impl Fn(u64) -> f64) -> Value {
    let times = &columns.monotonic_ns;
    let mut kept: Vec<usize> = Vec::new();
    for place in 0..times.len() {
        let is_far = |last: &usize| times[place].saturating_sub(times[*last]) >= SHORTEST_NS;
        if kept.last().is_none_or(is_far) {
            kept.push(place);
        }
    }
    let step = kept.len().div_ceil(MOST_POINTS).max(1);
    let kept: Vec<usize> = kept.into_iter().step_by(step).collect();
    let spans = || kept.windows(2).map(|pair| (pair[0], pair[1]));
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
        "seconds": spans().map(|(_, to)| seconds(times[to])).collect::<Vec<_>>(),
        "cpu_percent": spans().map(|(from, to)| cpu(from, to)).collect::<Vec<_>>(),
        "resident_mb": spans().map(|(_, to)| round(columns.resident_bytes[to] as f64 / 1e6)).collect::<Vec<_>>(),
        "read_kb_s": spans().map(|(from, to)| rate(&columns.storage_read_bytes, from, to)).collect::<Vec<_>>(),
        "written_kb_s": spans().map(|(from, to)| rate(&columns.storage_written_bytes, from, to)).collect::<Vec<_>>(),
    })
}

/// Two decimals: what a chart can show.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
