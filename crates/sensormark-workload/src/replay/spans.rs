//! How long the stretches of a recording are that questions are about: parts of its length, stated in results.

use sensormark_store::Batch;
use serde::{Deserialize, Serialize};

const SECOND_NS: i64 = 1_000_000_000;

/// Lengths of windows that people use, in ns.
const ROUND_NS: [i64; 22] = [
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    SECOND_NS,
    5 * SECOND_NS,
    10 * SECOND_NS,
    30 * SECOND_NS,
    60 * SECOND_NS,
    300 * SECOND_NS,
    600 * SECOND_NS,
    1_800 * SECOND_NS,
    3_600 * SECOND_NS,
    3 * 3_600 * SECOND_NS,
    6 * 3_600 * SECOND_NS,
    12 * 3_600 * SECOND_NS,
    86_400 * SECOND_NS,
    7 * 86_400 * SECOND_NS,
    30 * 86_400 * SECOND_NS,
    365 * 86_400 * SECOND_NS,
];

/// The first round length that is no shorter than this.
pub(crate) fn round_span(least_ns: i64) -> i64 {
    let longest = ROUND_NS[ROUND_NS.len() - 1];
    let mut round = ROUND_NS.into_iter();
    round.find(|round| *round >= least_ns).unwrap_or(longest)
}

/// Spans of questions, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spans {
    /// The recording's first instant.
    pub first_ns: i64,
    /// The instant after its last reading.
    pub end_ns: i64,
    /// Of a range: a hundredth.
    pub range_ns: i64,
    /// Of a minimum or maximum: a tenth.
    pub extreme_ns: i64,
    /// Of a window mean: a quarter.
    pub windows_ns: i64,
    /// The length of one window: the first round one of which the quarter holds no more than 64.
    pub window_ns: i64,
}

impl Spans {
    /// Of these readings.
    pub fn of(readings: &Batch) -> Self {
        let first_ns = readings.times_ns.iter().copied().min().unwrap_or(0);
        let end_ns = readings.times_ns.iter().copied().max().unwrap_or(0) + 1;
        let part = |parts: i64| (end_ns.saturating_sub(first_ns) / parts).max(1);
        let windows_ns = part(4);
        let window_ns = ROUND_NS
            .into_iter()
            .find(|round| windows_ns / round <= 64)
            .unwrap_or(ROUND_NS[ROUND_NS.len() - 1]);
        Self { first_ns, end_ns, range_ns: part(100), extreme_ns: part(10), windows_ns, window_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_is_asked_by_the_hour() {
        let week = Batch {
            table: 0,
            times_ns: vec![0, 7 * 86_400 * SECOND_NS - 1],
            series: vec![0, 0],
            columns: Vec::new(),
        };
        let spans = Spans::of(&week);
        assert_eq!(spans.window_ns, 3_600 * SECOND_NS);
        assert_eq!(spans.windows_ns, 42 * 3_600 * SECOND_NS);
        assert_eq!(spans.range_ns, 7 * 864 * SECOND_NS);
    }
}
