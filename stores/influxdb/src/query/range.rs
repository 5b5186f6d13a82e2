//! The times that InfluxDB keeps.

use sensormark_store::TimeRange;

/// The latest time that InfluxDB keeps, and one more.
const LATEST: i64 = i64::MAX - 1;

/// The part of a range that InfluxDB keeps times of.
pub(crate) fn kept(range: TimeRange) -> TimeRange {
    TimeRange::new(range.start_ns.max(0), range.end_ns.min(LATEST))
}
