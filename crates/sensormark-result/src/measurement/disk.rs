//! The disk that a trial's data takes: one rule for every figure, limit and projection.
//!
//! Logs are not in it. A database writes them first so as to lose nothing, a setting bounds them, and they do not grow with the readings. So they are no price
//! of a reading, and reports state them apart.

use super::names;
use super::record::TrialRecord;
use super::sizes;

/// Bytes of data outside the logs, by the names of the figure of all and of its logs. None where it is not known what the logs take.
pub fn data_bytes(trial: &TrialRecord, all: &str, logs: &str) -> Option<f64> {
    let figure = |name: &str| trial.figures.get(name)?.value;
    // Earlier versions looked for no logs of some servers, and wrote down 0. At rest an embedded database has none.
    let is_known = trial.log_bound.is_some()
        || trial.implementation.embedded
        || figure(names::DISK_SETTLED_LOGS).is_some_and(|bytes| bytes > 0.0);
    Some(figure(all)? - figure(logs).filter(|_| is_known)?)
}

/// Bytes of data at rest.
pub fn at_rest_bytes(trial: &TrialRecord) -> Option<f64> {
    data_bytes(trial, names::DISK_SETTLED, names::DISK_SETTLED_LOGS)
}

/// Bytes by which the data grew, from before writing until after settling.
pub fn growth_bytes(trial: &TrialRecord) -> Option<f64> {
    let before = data_bytes(trial, names::DISK_BEFORE, names::DISK_BEFORE_LOGS)?;
    Some(at_rest_bytes(trial)? - before)
}

/// Bytes for a reading more: by how much the data grew between the last two sizes. Of a trial of one size it is [`growth_bytes`] over the readings that were
/// stored then.
pub fn of_a_reading_bytes(trial: &TrialRecord) -> Option<f64> {
    if let [.., (fewer, less), (more, bytes)] = sizes::disk(trial).as_slice() {
        return Some((bytes - less) / (more - fewer));
    }
    Some(growth_bytes(trial)? / trial.readings_at_rest()? as f64)
}
