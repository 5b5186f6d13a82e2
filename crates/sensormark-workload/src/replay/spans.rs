//! How long the stretches of a recording are that questions are about: parts of its length, stated in results.

use sensormark_store::Batch;

/// Lengths of windows that people use, in ns.
const ROUND_NS: [i64; 22] = [
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    // 1, 5, 10 and 30 seconds
    1_000_000_000,
    5_000_000_000,
    10_000_000_000,
    30_000_000_000,
    // 1, 5, 10 and 30 minutes
    60_000_000_000,
    300_000_000_000,
    600_000_000_000,
    1_800_000_000_000,
    // 1, 3, 6 and 12 hours
    3_600_000_000_000,
    10_800_000_000_000,
    21_600_000_000_000,
    43_200_000_000_000,
    // 1, 7, 30 and 365 days
    86_400_000_000_000,
    604_800_000_000_000,
    2_592_000_000_000_000,
    LONGEST_NS,
];
/// The longest of them.
const LONGEST_NS: i64 = 31_536_000_000_000_000;

/// The first round length that is no shorter than this.
pub(crate) fn round_span(least_ns: i64) -> i64 {
    ROUND_NS.into_iter().find(|round| *round >= least_ns).unwrap_or(LONGEST_NS)
}

/// Spans of questions, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        let window_ns = round_span(windows_ns / 65 + 1);
        Self { first_ns, end_ns, range_ns: part(100), extreme_ns: part(10), windows_ns, window_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: i64 = 1_000_000_000;

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
