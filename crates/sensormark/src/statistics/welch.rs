//! Two runs compared, without pairs: their repetitions were not measured in turns. One comparison at a time; many need `holm`.

use serde::{Deserialize, Serialize};

use super::error::{StatisticsError, logarithms};
use super::interval::{CONFIDENCE, Interval};
use super::paired::SMALLEST_REPETITIONS;
use super::student_t;
use super::summary::{mean, variance};

/// How a second sample stands to a first one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UnpairedComparison {
    /// Repetitions of the first and of the second.
    pub counts: (usize, usize),
    /// Ratio of the geometric means, second / first: 1.05 is 5 % more. The effect size.
    pub ratio: f64,
    /// 95 % interval of the ratio; `None` where either has fewer than [`SMALLEST_REPETITIONS`].
    pub interval: Option<Interval>,
    /// Two-sided p-value of "the ratio is 1", not corrected; `None` like the interval.
    pub p_value: Option<f64>,
}

/// Welch's t-test on logarithms (Welch 1947; degrees of freedom after Satterthwaite 1946): unequal variances and counts are
/// allowed for. Assumes independent repetitions whose logarithms are roughly normal. Two samples that are each constant have p = 1 when
/// they are alike and p = 0 when not.
///
/// Values are times, rates or costs above 0.
///
/// # Errors
/// No values, or one that is not finite and above 0.
pub fn compare_unpaired(
    first: &[f64],
    second: &[f64],
) -> Result<UnpairedComparison, StatisticsError> {
    let (first, second) = (logarithms(first)?, logarithms(second)?);
    let (mean_first, mean_second) = (mean(&first), mean(&second));
    let difference = mean_second - mean_first;
    let mut compared = UnpairedComparison {
        counts: (first.len(), second.len()),
        ratio: difference.exp(),
        interval: None,
        p_value: None,
    };
    if first.len().min(second.len()) < SMALLEST_REPETITIONS {
        return Ok(compared);
    }
    let part = |values: &[f64], mean: f64| variance(values, mean) / values.len() as f64;
    let (of_first, of_second) = (part(&first, mean_first), part(&second, mean_second));
    let error = (of_first + of_second).sqrt();
    // Differences below the rounding of a logarithm are none.
    let rounding = 4.0 * f64::EPSILON * mean_first.abs().max(mean_second.abs()).max(1.0);
    if error <= rounding {
        let alike = difference.abs() <= rounding;
        compared.p_value = Some(if alike { 1.0 } else { 0.0 });
        compared.interval = Some(Interval {
            low: compared.ratio,
            high: compared.ratio,
        });
        return Ok(compared);
    }
    let share = |part: f64, count: usize| part * part / (count as f64 - 1.0);
    let degrees = (of_first + of_second).powi(2)
        / (share(of_first, first.len()) + share(of_second, second.len()));
    let half = student_t::quantile(0.5 + 0.5 * CONFIDENCE, degrees) * error;
    compared.interval = Some(Interval {
        low: (difference - half).exp(),
        high: (difference + half).exp(),
    });
    compared.p_value = Some(student_t::two_sided_p(difference / error, degrees));
    Ok(compared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::synthetic::Random;

    /// Expected values: scipy 1.17.1, `scipy.stats.ttest_ind(ln b, ln a, equal_var=False)` and its confidence interval.
    #[test]
    fn equals_scipy() {
        let first = [10.2, 9.8, 10.5, 10.1, 9.9];
        let second = [11.4, 10.9, 12.3, 11.1];
        let compared = compare_unpaired(&first, &second).expect("two samples");
        let interval = compared.interval.expect("enough repetitions");
        for (found, expected) in [
            (compared.ratio, 1.130_304_448_637_737_4),
            (compared.p_value.expect("enough"), 0.012_251_262_251_721_717),
            (interval.low, 1.044_020_276_091_304_4),
            (interval.high, 1.223_719_668_925_786_8),
        ] {
            assert!(
                ((found - expected) / expected).abs() < 1e-9,
                "{found} {expected}"
            );
        }
    }

    #[test]
    fn few_repetitions_and_constant_ones_are_told_apart() {
        let few = compare_unpaired(&[1.0, 2.0], &[3.0, 4.0, 5.0]).expect("values");
        assert_eq!((few.p_value, few.interval), (None, None));
        let alike = compare_unpaired(&[2.0; 3], &[2.0; 4]).expect("values");
        assert_eq!(alike.p_value, Some(1.0));
        let apart = compare_unpaired(&[2.0; 3], &[3.0; 3]).expect("values");
        assert_eq!(apart.p_value, Some(0.0));
        assert!(compare_unpaired(&[], &[1.0]).is_err());
        assert!(compare_unpaired(&[0.0, 1.0, 2.0], &[1.0, 1.0, 1.0]).is_err());
    }

    /// Of 4,000 comparisons of like with like about 5 % are called different, with unequal spreads and counts too.
    #[test]
    fn like_with_like_is_seldom_called_different() {
        let mut random = Random::new(11);
        for (first, second, spread) in [(5, 5, 0.02), (5, 9, 0.1), (16, 16, 0.05)] {
            let mut draw = |count: usize, spread: f64| -> Vec<f64> {
                (0..count)
                    .map(|_| (spread * random.normal()).exp())
                    .collect()
            };
            let found = (0..4_000).filter(|_| {
                let compared = compare_unpaired(&draw(first, 0.02), &draw(second, spread));
                compared.is_ok_and(|one| one.p_value.is_some_and(|p| p < 0.05))
            });
            let share = found.count() as f64 / 4_000.0;
            assert!(
                (0.035..0.065).contains(&share),
                "{first} {second} {spread}: {share}"
            );
        }
    }
}
