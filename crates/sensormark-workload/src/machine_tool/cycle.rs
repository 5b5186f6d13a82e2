//! Finding the machine cycle around a time in columns that are in memory, and summing its channels.
//!
//! Source: study 000, figure 3. With A the angle's amplitude and t the time asked for:
//!
//! | point | sample |
//! | --- | --- |
//! | t1 | first after t with angle > A/2 |
//! | t2 | last before t1 with angle < A/8 |
//! | t3 | last before t2 with angle > A/2 |
//! | t4 | the minimum angle in [t3, t2), the earliest of equals: the cycle's start |
//! | t5 | first after t1 with angle < A/8: the cycle's end, not part of it |
//!
//! These are the reading strategies' in-memory half (bulk and bulk-1) and the source of every expected answer; searches
//! that a database answers are the stores'. Nothing here does I/O.

use std::ops::Range;

use sensormark_data::machine_tool::{AMPLITUDE, CHANNELS};

/// The five points of the search, as positions in the columns searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CyclePoints {
    /// First sample after the time asked for with the angle above A/2.
    pub t1: usize,
    /// Last sample before t1 with the angle below A/8.
    pub t2: usize,
    /// Last sample before t2 with the angle above A/2.
    pub t3: usize,
    /// The earliest minimum of the angle from t3 to before t2: the cycle's first sample.
    pub t4: usize,
    /// First sample after t1 with the angle below A/8: the first sample after the cycle.
    pub t5: usize,
}

impl CyclePoints {
    /// The cycle's samples, [t4, t5), as positions in the columns searched.
    #[must_use]
    pub fn samples(&self) -> Range<usize> {
        self.t4..self.t5
    }

    /// When the five were, of the times searched.
    #[must_use]
    pub fn times(&self, times_ns: &[i64]) -> [i64; 5] {
        [self.t1, self.t2, self.t3, self.t4, self.t5].map(|place| times_ns[place])
    }
}

/// Which of the five points is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// The rise after the time asked for.
    T1,
    /// The low part before the rise.
    T2,
    /// The high part of the cycle before.
    T3,
    /// The cycle's end.
    T5,
}

/// Why columns do not show the cycle around a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CycleError {
    /// Columns of one search have one length.
    #[error("there are {times} times but {angles} angles")]
    UnequalColumns {
        /// Times given.
        times: usize,
        /// Angles given.
        angles: usize,
    },
    /// The data ends before, or starts after, a point of the search.
    #[error("{point:?} of the cycle around {around_ns} ns is not among the {samples} samples searched")]
    NotHeld {
        /// The first point that is missing.
        point: Point,
        /// The time asked for, in the columns' own nanoseconds.
        around_ns: i64,
        /// How many samples were searched.
        samples: usize,
    },
}

/// Is the angle above A/2? In whole numbers, because A is odd.
#[must_use]
pub const fn is_high(angle: u16) -> bool {
    angle as u32 * 2 > AMPLITUDE as u32
}

/// Is the angle below A/8? In whole numbers, because A is odd.
#[must_use]
pub const fn is_low(angle: u16) -> bool {
    (angle as u32) * 8 < AMPLITUDE as u32
}

/// Finds the cycle around a time in columns sorted by time.
///
/// `times_ns` are strictly increasing nanoseconds of any epoch, `angles` the angle at each of them. About two seconds
/// of samples always hold the cycle around a time in their middle.
///
/// # Errors
///
/// [`CycleError::UnequalColumns`], and [`CycleError::NotHeld`] with the first of t1, t2, t3, t5 (in this order) that
/// the data does not hold. (t4 is held whenever t3 and t2 are.)
pub fn find_cycle(times_ns: &[i64], angles: &[u16], around_ns: i64) -> Result<CyclePoints, CycleError> {
    if times_ns.len() != angles.len() {
        return Err(CycleError::UnequalColumns { times: times_ns.len(), angles: angles.len() });
    }
    let not_held = |point| CycleError::NotHeld { point, around_ns, samples: angles.len() };
    let after = times_ns.partition_point(|&time_ns| time_ns <= around_ns);
    let t1 = first(angles, after, is_high).ok_or(not_held(Point::T1))?;
    let t2 = last(&angles[..t1], is_low).ok_or(not_held(Point::T2))?;
    let t3 = last(&angles[..t2], is_high).ok_or(not_held(Point::T3))?;
    let t5 = first(angles, t1 + 1, is_low).ok_or(not_held(Point::T5))?;
    Ok(CyclePoints { t1, t2, t3, t4: t3 + earliest_minimum(&angles[t3..t2]), t5 })
}

/// The sum of every channel over the samples of a range, in counts.
///
/// # Panics
///
/// When a column is shorter than the range's end.
#[must_use]
pub fn channel_sums(columns: [&[u16]; CHANNELS], samples: Range<usize>) -> [u64; CHANNELS] {
    columns.map(|column| column[samples.clone()].iter().map(|&value| u64::from(value)).sum())
}

fn first(angles: &[u16], from: usize, passes: fn(u16) -> bool) -> Option<usize> {
    let found = angles.get(from..)?.iter().position(|&angle| passes(angle))?;
    Some(from + found)
}

fn last(angles: &[u16], passes: fn(u16) -> bool) -> Option<usize> {
    angles.iter().rposition(|&angle| passes(angle))
}

/// The position of the smallest angle; of several, the first. 0 where there is none.
fn earliest_minimum(angles: &[u16]) -> usize {
    (0..angles.len()).min_by_key(|&position| angles[position]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_possible_truncation, reason = "test data sets are small")]

    use std::num::NonZeroU64;

    use super::*;
    use sensormark_data::machine_tool::MachineTool;
    use sensormark_data::random::Stream;

    /// The specification read out, point by point, over all samples.
    fn by_brute_force(times: &[i64], angles: &[u16], around: i64) -> Option<CyclePoints> {
        let amplitude = f64::from(AMPLITUDE);
        let high = |&i: &usize| f64::from(angles[i]) > amplitude / 2.0;
        let low = |&i: &usize| f64::from(angles[i]) < amplitude / 8.0;
        let all = || 0..angles.len();
        let t1 = all().filter(|&i| times[i] > around).find(high)?;
        let t2 = all().filter(|&i| times[i] < times[t1]).filter(low).max()?;
        let t3 = all().filter(|&i| times[i] < times[t2]).filter(high).max()?;
        let minimum = (t3..t2).map(|i| angles[i]).min()?;
        let t4 = (t3..t2).find(|&i| angles[i] == minimum)?;
        let t5 = all().filter(|&i| times[i] > times[t1]).find(low)?;
        Some(CyclePoints { t1, t2, t3, t4, t5 })
    }

    fn below(stream: Stream, index: u64, bound: u64) -> u64 {
        stream.below(index, NonZeroU64::new(bound).expect("bounds in tests are not zero"))
    }

    #[test]
    fn agrees_with_brute_force_on_arbitrary_angles() {
        let stream = Stream::new(3, 0, 0);
        let (mut index, mut held) = (0, 0);
        let mut draw = |bound| {
            index += 1;
            below(stream, index, bound)
        };
        // Few levels, around the thresholds, so that equal minima and repeated crossings are common.
        let levels = [0, 1, 511, 512, 513, 2_047, 2_048, 4_095];
        for _ in 0..5_000 {
            let length = draw(40);
            let angles: Vec<u16> = (0..length).map(|_| levels[draw(8) as usize]).collect();
            let mut time = -20;
            let times: Vec<i64> = angles
                .iter()
                .map(|_| {
                    time += 1 + draw(3).cast_signed();
                    time
                })
                .collect();
            let around = draw(100).cast_signed() - 30;
            let found = find_cycle(&times, &angles, around).ok();
            assert_eq!(found, by_brute_force(&times, &angles, around), "{angles:?} {times:?} {around}");
            held += u64::from(found.is_some());
        }
        assert!(held > 1_000, "only {held} searches found a cycle");
    }

    #[test]
    fn finds_the_generators_true_cycles() {
        const SAMPLES: usize = 2_000;
        for seed in 0..200u64 {
            let machine = MachineTool::new(seed);
            let start = 1_000 * seed;
            let mut columns: [Vec<u16>; CHANNELS] = std::array::from_fn(|_| vec![0; SAMPLES]);
            for (channel, column) in columns.iter_mut().enumerate() {
                machine.fill(start, channel, column);
            }
            let times: Vec<i64> =
                (0..SAMPLES as i64).map(|i| 1_700_000_000_000_000_000 + i * 1_000_000).collect();
            for attempt in 0..20 {
                let middle = 700 + below(Stream::new(seed, 1, 0), attempt, 600);
                let around =
                    times[middle as usize] + below(Stream::new(seed, 1, 1), attempt, 1_000_000).cast_signed();
                let points = find_cycle(&times, &columns[0], around).expect("two seconds hold a cycle");
                // The rise after t is in this cycle: its boundary is exact, because the angle rises strictly within it.
                let truth = machine.cycle(machine.cycle_at(start + points.t1 as u64));
                let found = points.samples();
                assert_eq!(
                    truth,
                    start + found.start as u64..start + found.end as u64,
                    "seed {seed}, {points:?}"
                );
                let sums = channel_sums(columns.each_ref().map(Vec::as_slice), found);
                let mut expected = [0; CHANNELS];
                for sample in truth {
                    for (sum, value) in expected.iter_mut().zip(machine.sample(sample)) {
                        *sum += u64::from(value);
                    }
                }
                assert_eq!(sums, expected);
            }
        }
    }

    #[test]
    fn the_time_itself_is_not_after_it() {
        let times = [0, 1, 2, 3, 4, 5];
        let angles = [4_000, 7, 600, 3_000, 3_500, 6];
        let rise = |around| find_cycle(&times, &angles, around).map(|points| points.t1);
        assert_eq!(rise(2), Ok(3));
        assert_eq!(rise(3), Ok(4));
    }

    #[test]
    fn says_which_point_is_missing() {
        let times: Vec<i64> = (0..6).collect();
        let missing = |angles: [u16; 6], around| match find_cycle(&times, &angles, around) {
            Err(CycleError::NotHeld { point, .. }) => Some(point),
            _ => None,
        };
        assert_eq!(missing([4_000, 5, 5, 100, 200, 5], 2), Some(Point::T1));
        assert_eq!(missing([4_000, 4_000, 900, 4_000, 4_000, 5], 2), Some(Point::T2));
        assert_eq!(missing([900, 5, 900, 4_000, 4_000, 5], 2), Some(Point::T3));
        assert_eq!(missing([4_000, 5, 100, 4_000, 4_000, 900], 2), Some(Point::T5));
        assert_eq!(missing([4_000, 5, 100, 4_000, 4_000, 5], 2), None);
        assert_eq!(find_cycle(&times, &[1], 0), Err(CycleError::UnequalColumns { times: 6, angles: 1 }));
    }
}
