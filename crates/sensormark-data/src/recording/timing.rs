//! When readings were taken: span, usual interval, gaps, repeated and late ones. Nothing is put right.

use super::*;

/// When the readings of a recording were taken. All times in ns since the Unix epoch, all lengths in ns.
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone, Copy)]
pub struct Gap {
    /// The reading before the gap.
    pub start_ns: i64,
    /// From there to the next one.
    pub length_ns: i64,
}

impl Timing {
    /// Looks at the times of at least one reading.
    pub fn of(readings: &Batch) -> Self {
        let keys = || readings.series.iter().zip(&readings.times_ns);
        let mut latest = HashMap::new();
        let late =
            keys().filter(|(series, time)| latest.insert(*series, *time).is_some_and(|before| before > time));
        let out_of_order = late.count() as u64;
        let gaps = keys()
            .sorted_unstable()
            .tuple_windows()
            .filter(|(one, next)| one.0 == next.0)
            .map(|((_, &start_ns), (_, end))| Gap { start_ns, length_ns: end.saturating_sub(start_ns) });
        let gaps: Vec<Gap> = gaps.sorted_by_key(|gap| gap.length_ns).collect();
        let (repeated, gaps) = gaps.split_at(gaps.partition_point(|gap| gap.length_ns == 0));
        let interval_ns = gaps.get(gaps.len() / 2).map(|gap| gap.length_ns);
        let usual_ns = interval_ns.unwrap_or_default().saturating_mul(2);
        let long = &gaps[gaps.partition_point(|gap| gap.length_ns <= usual_ns)..];
        let (first_ns, last_ns) =
            readings.times_ns.iter().copied().minmax().into_option().unwrap_or_default();
        Self {
            first_ns,
            last_ns,
            interval_ns,
            gaps: long.len() as u64,
            longest_gap: long.last().copied(),
            repeated: repeated.len() as u64,
            out_of_order,
        }
    }
}
