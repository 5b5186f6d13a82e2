//! When readings were taken: span, usual interval, gaps, repeated and late ones. Nothing is put right.

use sensormark_store::Batch;

/// When the readings of a recording were taken. All times in ns since the Unix epoch, all lengths in ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// The earliest reading.
    pub first_ns: i64,
    /// The latest reading.
    pub last_ns: i64,
    /// The median of the intervals between neighbouring readings of a series; none where no series has two times.
    pub interval_ns: Option<i64>,
    /// How many intervals are longer than twice the median.
    pub gaps: u64,
    /// The longest of them.
    pub longest_gap: Option<Gap>,
    /// Readings whose series has another reading of the same time earlier in the file. They are kept.
    pub repeated: u64,
    /// Readings that are before their predecessor in the file, of the same series. They are kept where they are.
    pub out_of_order: u64,
}

/// A stretch without readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The series' number.
    pub series: u32,
    /// The reading before the gap.
    pub start_ns: i64,
    /// From there to the next one.
    pub length_ns: i64,
}

/// Looks at the times of at least one reading.
pub fn timing(readings: &Batch, series: u32) -> Timing {
    let mut latest: Vec<Option<i64>> = vec![None; series as usize];
    let mut out_of_order = 0;
    for (&series, &time) in readings.series.iter().zip(&readings.times_ns) {
        let before = latest[series as usize].replace(time);
        out_of_order += u64::from(before.is_some_and(|before| before > time));
    }
    let mut keys: Vec<(u32, i64)> =
        (readings.series.iter().copied()).zip(readings.times_ns.iter().copied()).collect();
    keys.sort_unstable();
    let intervals = || {
        (keys.windows(2).map(|pair| (pair[0], pair[1]))).filter(|(one, next)| one.0 == next.0).map(
            |(one, next)| Gap { series: one.0, start_ns: one.1, length_ns: next.1.saturating_sub(one.1) },
        )
    };
    let repeated = intervals().filter(|gap| gap.length_ns == 0).count() as u64;
    let mut lengths: Vec<i64> = intervals().map(|gap| gap.length_ns).filter(|length| *length > 0).collect();
    let middle = lengths.len() / 2;
    let interval_ns = (!lengths.is_empty()).then(|| *lengths.select_nth_unstable(middle).1);
    let is_gap = |gap: &Gap| interval_ns.is_some_and(|usual| gap.length_ns > usual.saturating_mul(2));
    Timing {
        first_ns: readings.times_ns.iter().copied().min().unwrap_or_default(),
        last_ns: readings.times_ns.iter().copied().max().unwrap_or_default(),
        interval_ns,
        gaps: intervals().filter(is_gap).count() as u64,
        longest_gap: intervals().filter(is_gap).max_by_key(|gap| gap.length_ns),
        repeated,
        out_of_order,
    }
}
