//! The interval of a median that asks nothing of the distribution: it lies between two of the samples, sorted.
//!
//! How many of n independent samples are below the true median is binomial with p = 1/2. So the median lies between the r-th smallest and the r-th largest
//! sample with a probability of 1 − 2·P(B ≤ r − 1). The rank r is the largest that leaves at least [`CONFIDENCE`] (Conover, Practical Nonparametric
//! Statistics, 3rd edition, 1999, section 3.2).

use super::interval::CONFIDENCE;
use statrs::distribution::{Binomial, DiscreteCDF};

/// The most samples whose ranks are counted exactly. Beyond, the normal approximation is as good, and sums of the binomial lose digits.
const EXACT: u64 = 1_000_000;

/// Half of the normal distribution's quantile of 97.5 %, in hundredths: the standard deviation of the binomial is half of the count's square root.
const HALF_WIDTH_PERCENT: u64 = 98;

/// The ranks, from 1, of the samples in ascending order that bound the interval of a median; `None` with fewer than 6, which have no such interval.
///
/// Samples that depend on each other, as latencies of one stall do, make the interval too narrow.
#[must_use]
pub fn median_ranks(count: u64) -> Option<(u64, u64)> {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    // The fewest below whose probability passes the tail: one fewer still leaves it.
    let rank = if count <= EXACT {
        let below = Binomial::new(0.5, count).ok()?;
        let (mut least, mut most) = (0, count / 2);
        while least < most {
            let middle = least.midpoint(most);
            match below.cdf(middle) >= tail {
                true => most = middle,
                false => least = middle + 1,
            }
        }
        least
    } else {
        count / 2 - (count.isqrt() * HALF_WIDTH_PERCENT / 100 + 1)
    };
    (rank > 0).then(|| (rank, count - (rank - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::synthetic::Random;

    #[test]
    fn ranks_are_those_of_published_tables() {
        for (count, ranks) in [
            (0, None),
            (1, None),
            (5, None),
            (6, Some((1, 6))),
            (8, Some((1, 8))),
            (9, Some((2, 8))),
            (10, Some((2, 9))),
            (15, Some((4, 12))),
            (20, Some((6, 15))),
            (25, Some((8, 18))),
            (45, Some((16, 30))),
            (100, Some((40, 61))),
            (1_000, Some((469, 532))),
        ] {
            assert_eq!(median_ranks(count), ranks, "{count} samples");
        }
    }

    /// Among them are those of which the library's search found the probabilities not in order, and gave up.
    #[test]
    fn any_number_of_samples_has_ranks() {
        let powers = (3..64).map(|power| 1_u64 << power);
        let decades = (1..=9).flat_map(|digit| (3..17).map(move |zeros| digit * 10_u64.pow(zeros)));
        for count in (6..20_000).chain(powers).chain(decades).chain([u64::MAX]) {
            let (low, high) = median_ranks(count).expect("an interval");
            assert!(0 < low && low < high && high <= count, "{count} samples");
        }
    }

    #[test]
    fn both_ways_to_the_ranks_meet() {
        let (exact, _) = median_ranks(EXACT).expect("an interval");
        let (near, _) = median_ranks(EXACT + 1).expect("an interval");
        assert!(exact.abs_diff(near) <= 1, "{exact} and {near}");
    }

    /// Against sums of whole binomial coefficients: the rank leaves at most 2.5 % on each side, and the next one more.
    #[test]
    fn ranks_are_the_narrowest_that_exact_sums_allow() {
        let mut row: Vec<u128> = vec![1];
        for count in 1..=120_u64 {
            let inner = row.windows(2).map(|pair| pair[0] + pair[1]);
            row = std::iter::once(1).chain(inner).chain([1]).collect();
            let allows = |rank: u64| {
                let fewer = usize::try_from(rank).expect("a small rank");
                row[..fewer].iter().sum::<u128>() * 40 <= 1_u128 << count
            };
            let rank = median_ranks(count).map_or(0, |(low, _)| low);
            assert!(rank == 0 || allows(rank), "{count} samples, rank {rank}");
            assert!(!allows(rank + 1), "{count} samples, rank {rank}");
        }
    }

    /// Of many samples the ranks are next to those of the normal distribution.
    #[test]
    fn ranks_of_a_billion_samples_are_found() {
        for count in [10_000_u64, 1_000_000, 1_000_000_000] {
            let (low, high) = median_ranks(count).expect("an interval");
            let half = 0.5 * (high - low) as f64 / (count as f64).sqrt();
            assert!((half - 0.979_98).abs() < 0.01, "{count}: {half}");
        }
    }

    #[test]
    fn at_least_as_many_intervals_hold_the_median_as_are_promised() {
        const SETS: u32 = 4_000;
        let mut random = Random::new(7);
        for (count, promised) in [(6, 0.968_75), (10, 0.978_5), (45, 0.964_3)] {
            let (low, high) = median_ranks(count).expect("an interval");
            let mut held = 0;
            for _ in 0..SETS {
                let below = (0..count).filter(|_| random.uniform() < 0.5).count() as u64;
                held += u32::from(below >= low && below < high);
            }
            let share = f64::from(held) / f64::from(SETS);
            assert!((share - promised).abs() < 0.015, "{count}: {share}");
        }
    }
}
