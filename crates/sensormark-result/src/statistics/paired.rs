//! Two arms compared, paired by block: the turn of the run in which both were measured. One comparison at a time;
//! many need `holm`, which `ranks` applies.

use serde::{Deserialize, Serialize};

use super::error::{StatisticsError, logarithms};
use super::interval::Interval;
use super::ratio::{RatioTest, Tested};
use super::student_t;
use super::summary::{SMALLEST_REPETITIONS, summarize};

/// How the first arm stands to the second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedComparison {
    /// Blocks in which both arms have a value.
    pub blocks: usize,
    /// Geometric mean of first / second: 1.05 is 5 % more. The effect size.
    pub ratio: f64,
    /// Standard error of the mean log ratio (0.01 is about 1 %); `None` for one block.
    pub log_standard_error: Option<f64>,
    /// 95 % interval of the ratio; `None` below [`SMALLEST_REPETITIONS`] blocks.
    pub interval: Option<Interval>,
    /// Two-sided p-value of "the ratio is 1", not corrected; `None` below [`SMALLEST_REPETITIONS`] blocks.
    pub p_value: Option<f64>,
}

impl PairedComparison {
    /// The same as a ratio with what was tested, of the hypothesis that it is 1.
    #[must_use]
    pub fn as_ratio_test(&self) -> RatioTest {
        let tested = self.p_value.zip(self.interval).zip(self.log_standard_error).map(
            |((p_value, interval), log_standard_error)| Tested {
                interval,
                p_value,
                log_standard_error,
                degrees: self.blocks as f64 - 1.0,
            },
        );
        RatioTest { counts: (self.blocks, self.blocks), ratio: self.ratio, margin: 0.0, tested }
    }
}

/// Student's paired t-test (Student 1908) on d(i) = ln first(i) − ln second(i), over the blocks i in which both have a value. It takes
/// t = mean(d) / (s(d)/√n) with n − 1 degrees of freedom. Pairing takes out what a block does to both alike. Logarithms make times and rates symmetric:
/// swapping the arms inverts the ratio and keeps p. Assumes log ratios that are independent and roughly normal. Arms that are alike to the last bit have p = 1;
/// a difference that is the same in every block has p = 0.
///
/// Values are a time, a rate or a cost above 0. Slice positions are blocks, and `None` is a trial that is missing or invalid. A block beyond the end of the
/// shorter slice is missing too.
///
/// # Errors
/// No common block, or a value in one that is not finite and above 0 (its index counts common blocks).
pub fn compare(first: &[Option<f64>], second: &[Option<f64>]) -> Result<PairedComparison, StatisticsError> {
    let (first, second): (Vec<f64>, Vec<f64>) =
        first.iter().zip(second).filter_map(|(first, second)| first.zip(*second)).unzip();
    let first = logarithms(&first)?;
    let second = logarithms(&second)?;
    let scale = first.iter().chain(&second).fold(1.0_f64, |most, log| most.max(log.abs()));
    let differences: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a - b).collect();
    let summary = summarize(&differences)?;
    let enough = summary.count >= SMALLEST_REPETITIONS;
    // Differences below the rounding of a logarithm are none.
    let rounding = 4.0 * f64::EPSILON * scale;
    let p_value = summary.standard_error.filter(|_| enough).map(|error| {
        if summary.mean.abs() <= rounding && error <= rounding {
            1.0
        } else if error <= rounding {
            0.0
        } else {
            student_t::two_sided_p(summary.mean / error, summary.count as f64 - 1.0)
        }
    });
    Ok(PairedComparison {
        blocks: summary.count,
        ratio: summary.mean.exp(),
        log_standard_error: summary.standard_error,
        interval: summary.interval.map(Interval::exp),
        p_value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::synthetic::Random;

    /// Blocks that drift by 20 % together, noise of 2 % in each trial, and `ratio` between the arms.
    fn blocks(random: &mut Random, count: usize, ratio: f64) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
        (0..count)
            .map(|_| {
                let block = 1_000.0 * (0.2 * random.normal()).exp();
                let mut trial = || Some(block * (0.02 * random.normal()).exp());
                (trial(), trial().map(|value| value * ratio))
            })
            .unzip()
    }

    /// Share of 2,000 synthetic runs that find a difference at 5 %, in percent.
    fn found_significant(count: usize, ratio: f64, seed: u64) -> f64 {
        let mut random = Random::new(seed);
        let found = (0..2_000)
            .filter(|_| {
                let (first, second) = blocks(&mut random, count, ratio);
                compare(&first, &second).unwrap().p_value.unwrap() < 0.05
            })
            .count();
        let percent = found as f64 / 20.0;
        println!("{count} blocks, ratio {ratio}: {percent:.1} % significant");
        percent
    }

    #[test]
    fn an_arm_against_itself_is_rarely_significant() {
        for count in [3, 5, 10] {
            let found = found_significant(count, 1.0, 5);
            assert!((3.5..=6.5).contains(&found), "{count} blocks: {found} %");
        }
    }

    #[test]
    fn five_percent_slower_is_found() {
        assert!(found_significant(5, 0.95, 6) > 75.0);
        assert!(found_significant(10, 0.95, 6) > 99.0);
    }

    /// Expected values: scipy 1.17.1, `scipy.stats.ttest_rel` on the logarithms.
    #[test]
    fn equals_scipy() {
        let first = [100.0, 110.0, 95.0, 105.0].map(Some);
        let second = [98.0, 104.0, 94.0, 99.0].map(Some);
        let comparison = compare(&first, &second).unwrap();
        let interval = comparison.interval.unwrap();
        assert!((comparison.p_value.unwrap() - 0.059_645_976_960_615_97).abs() < 1e-12);
        assert!((interval.low.ln() + 0.002_765_853_572_285_037_5).abs() < 1e-12);
        assert!((interval.high.ln() - 0.075_623_245_233_301_94).abs() < 1e-12);
    }

    #[test]
    fn swapping_the_arms_inverts_the_ratio() {
        let (first, second) = blocks(&mut Random::new(7), 6, 1.3);
        let forth = compare(&first, &second).unwrap();
        let back = compare(&second, &first).unwrap();
        assert!((forth.ratio * back.ratio - 1.0).abs() < 1e-12);
        assert!((forth.p_value.unwrap() - back.p_value.unwrap()).abs() < 1e-12);
    }

    #[test]
    fn only_common_blocks_count_and_two_are_too_few() {
        let first = [Some(2.0), None, Some(2.0), Some(2.0)];
        let second = [Some(1.0), Some(1.0), None, Some(1.0)];
        let comparison = compare(&first, &second).unwrap();
        assert_eq!((comparison.blocks, comparison.p_value), (2, None));
        assert!((comparison.ratio - 2.0).abs() < 1e-12);
        assert_eq!(compare(&[None], &[Some(1.0)]), Err(StatisticsError::Empty));
    }

    #[test]
    fn values_without_noise_are_equal_or_different_for_certain() {
        let one = [Some(3.0); 3];
        assert_eq!(compare(&one, &one).unwrap().p_value, Some(1.0));
        assert_eq!(compare(&one, &[Some(4.0); 3]).unwrap().p_value, Some(0.0));
    }
}
