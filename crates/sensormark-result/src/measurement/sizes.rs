//! The sizes that a trial went through, and what a figure is at the size that the user's data will have.

use super::disk::{data_bytes, of_a_reading_bytes};
use super::latency::{LatencySummary, decode};
use super::names;
use super::record::{LatencyRecord, LoadRecord, TrialRecord};
use crate::statistics::projection::Point;
use serde_json::Value;

/// A size has so many times the readings of the one before it.
pub const TIMES: u64 = 4;

impl LoadRecord {
    /// The readings that were stored when its size was loaded; none of a trial without sizes.
    pub fn stored(&self) -> Option<u64> {
        self.labels.get(names::STORED).and_then(Value::as_u64)
    }

    /// Whether its figures count in the ranking.
    pub fn is_scored(&self) -> bool {
        self.labels.get(names::SCORED) != Some(&Value::Bool(false))
    }
}

/// Readings and bytes of data whenever the database was at rest, in order of size, the empty one first; of databases of the same size the last.
pub fn disk(trial: &TrialRecord) -> Vec<(f64, f64)> {
    let before = data_bytes(trial, names::DISK_BEFORE, names::DISK_BEFORE_LOGS);
    let mut points: Vec<(f64, f64)> = before.map(|bytes| (0.0, bytes)).into_iter().collect();
    for phase in &trial.phases {
        let name = |figure: &str| format!("{figure}/{}", phase.name);
        let readings = trial.figures.get(&name(names::READINGS_AT_REST)).and_then(|figure| figure.value);
        let bytes = data_bytes(trial, &name(names::DISK_SETTLED), &name(names::DISK_SETTLED_LOGS));
        let Some(point) = readings.filter(|readings| *readings > 0.0).zip(bytes) else { continue };
        points.retain(|(before, _)| *before < point.0);
        points.push(point);
    }
    points
}

/// A latency of the loads of this name by size, as far as it is known; of several at one size that with the fewest clients, which all sizes have.
pub fn latencies(trial: &TrialRecord, load: &str, of: impl Fn(&LatencySummary) -> Option<f64>) -> Vec<Point> {
    let loads = || trial.loads.iter().filter(|one| one.name == load && !one.warm_up);
    let fewest = loads().map(|one| one.clients).min();
    let points = loads().filter(|one| Some(one.clients) == fewest).filter_map(|one| {
        let latency = &one.classes.values().next_back()?.latency;
        let value = of(&latency.summary).filter(|value| *value > 0.0)?;
        Some(Point { readings: one.stored()? as f64, value, noise: noise(latency) })
    });
    points.collect()
}

/// How many readings fit into the memory for data, where what was measured did and so many do not.
pub fn in_memory(trial: &TrialRecord, readings: f64) -> Option<f64> {
    let memory = trial.figures.get(names::MEMORY_FOR_DATA)?.value?;
    let (_, measured) = *disk(trial).last()?;
    let fitting = memory / of_a_reading_bytes(trial).filter(|bytes| *bytes > 0.0)?;
    (measured < memory && readings > fitting).then_some(fitting)
}

/// The standard error of the mean over the seconds of a load, as a share of it.
fn noise(latency: &LatencyRecord) -> f64 {
    let seconds = latency.seconds.iter().filter_map(|second| decode(&second.v2).ok());
    let means: Vec<f64> = seconds.map(|histogram| histogram.mean()).filter(|mean| *mean > 0.0).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let squares: f64 = means.iter().map(|one| (one - mean).powi(2)).sum();
    if count < 2.0 { 0.0 } else { (squares / (count - 1.0) / count).sqrt() / mean }
}
