//! What a read of a machine cycle gave: each range of readings summed up, and the cycle found in them.

use super::read_cycle::CycleAnswer;
use sensormark_store::{Batch, Census, FieldSet, TimeRange};

/// One range of readings as it was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The range asked for.
    pub range: TimeRange,
    /// The fields asked for.
    pub fields: FieldSet,
    /// How many readings came.
    pub readings: u64,
    /// Their order-free checksum.
    pub checksum: u64,
}

impl Fetched {
    /// Sums up what came.
    pub fn of(range: TimeRange, fields: FieldSet, batch: &Batch) -> Self {
        let hashes = (0..batch.len()).map(|row| Census::reading_hash(batch, row));
        Self { range, fields, readings: batch.len() as u64, checksum: hashes.fold(0, u64::wrapping_add) }
    }
}

/// What became of one read that the database answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOutcome {
    /// The time read around.
    pub around_ns: i64,
    /// What was found, or why the answers hold no cycle.
    pub found: Result<CycleAnswer, String>,
    /// The readings that were fetched for it, each range summed up, so that all of them are checked and not only the cycle.
    pub fetched: Vec<Fetched>,
}
