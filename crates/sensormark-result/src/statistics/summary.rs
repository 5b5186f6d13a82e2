//! The mean over independent repetitions, with its n, standard error and interval. Not for the samples within one
//! repetition, which depend on each other: see `batch_means`.

use serde::{Deserialize, Serialize};

use super::error::{StatisticsError, check_finite, logarithms};
use super::interval::{CONFIDENCE, Interval};
use super::student_t;

/// Fewer repetitions than this have no interval, no p-value and no shared rank: a single trial.
pub const SMALLEST_REPETITIONS: usize = 3;

/// An arithmetic mean over independent repetitions, in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of repetitions.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard error of the mean, s/√n; `None` for one repetition.
    pub standard_error: Option<f64>,
    /// 95 % interval of the mean; `None` below [`SMALLEST_REPETITIONS`]: a single trial.
    pub interval: Option<Interval>,
}

/// A geometric mean over independent repetitions of a time or rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LogSummary {
    /// Number of repetitions.
    pub count: usize,
    /// exp of the mean logarithm, in the unit of the values.
    pub geometric_mean: f64,
    /// Standard error of the mean logarithm (0.01 is about 1 %); `None` for one repetition.
    pub log_standard_error: Option<f64>,
    /// 95 % interval of the geometric mean, in the unit of the values; `None` below [`SMALLEST_REPETITIONS`].
    pub interval: Option<Interval>,
}

/// Arithmetic mean ± t(0.975, n − 1) s/√n (Student 1908). Assumes independent, roughly normal repetitions.
///
/// # Errors
/// No values, or one that is not finite.
pub fn summarize(values: &[f64]) -> Result<Summary, StatisticsError> {
    check_finite(values)?;
    let count = values.len();
    let mean = mean(values);
    let standard_error = (count > 1).then(|| (variance(values, mean) / count as f64).sqrt());
    let interval = standard_error.filter(|_| count >= SMALLEST_REPETITIONS).map(|error| {
        let half = t_factor(count - 1) * error;
        Interval { low: mean - half, high: mean + half }
    });
    Ok(Summary { count, mean, standard_error, interval })
}

/// Geometric mean, its interval by Student's t on the logarithms. For times and rates: their errors are ratios, and
/// an interval on the logarithms never holds a negative time. Covers exp(E ln X), not E X.
///
/// # Errors
/// No values, or one that is not finite and above 0.
pub fn summarize_logarithms(values: &[f64]) -> Result<LogSummary, StatisticsError> {
    let summary = summarize(&logarithms(values)?)?;
    Ok(LogSummary {
        count: summary.count,
        geometric_mean: summary.mean.exp(),
        log_standard_error: summary.standard_error,
        interval: summary.interval.map(Interval::exp),
    })
}

/// The arithmetic mean; the slice is not empty.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance with n − 1 in the divisor; at least two values.
pub(super) fn variance(values: &[f64], mean: f64) -> f64 {
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0)
}

/// The t factor of a two-sided interval with [`CONFIDENCE`].
pub(super) fn t_factor(degrees: usize) -> f64 {
    student_t::quantile(0.5 + 0.5 * CONFIDENCE, degrees as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::synthetic::Random;

    /// Expected values: scipy 1.17.1, `scipy.stats.sem` and `scipy.stats.t.interval`.
    #[test]
    fn equals_scipy() {
        let summary = summarize(&[12.1, 11.4, 13.0, 12.7, 11.9]).unwrap();
        let interval = summary.interval.unwrap();
        for (found, expected) in [
            (summary.mean, 12.22),
            (summary.standard_error.unwrap(), 0.285306852353742),
            (interval.low, 11.427861186303064),
            (interval.high, 13.012138813696938),
        ] {
            assert!((found - expected).abs() < 1e-10, "{found} is not {expected}");
        }
    }

    #[test]
    fn fewer_than_three_repetitions_have_no_interval() {
        assert_eq!(summarize(&[4.0]).unwrap().standard_error, None);
        let two = summarize_logarithms(&[4.0, 5.0]).unwrap();
        assert!(two.interval.is_none() && two.log_standard_error.is_some());
        assert!(summarize(&[4.0, 5.0, 6.0]).unwrap().interval.is_some());
    }

    #[test]
    fn refuses_what_it_is_not_defined_on() {
        assert_eq!(summarize(&[]), Err(StatisticsError::Empty));
        assert!(matches!(summarize(&[1.0, f64::NAN]), Err(StatisticsError::NotFinite { index: 1, .. })));
        assert!(matches!(
            summarize_logarithms(&[1.0, 0.0]),
            Err(StatisticsError::NotPositive { index: 1, .. })
        ));
    }

    /// Five repetitions of a lognormal rate: 4,000 intervals of the geometric mean, of which 95 % hold it.
    #[test]
    fn interval_on_logarithms_covers_the_geometric_mean() {
        let mut random = Random::new(11);
        let covered = (0..4_000)
            .filter(|_| {
                let rates: Vec<f64> = (0..5).map(|_| 50.0 * (0.1 * random.normal()).exp()).collect();
                let summary = summarize_logarithms(&rates).unwrap();
                summary.interval.unwrap().contains(50.0)
            })
            .count();
        assert!((3_740..=3_860).contains(&covered), "{covered} of 4,000");
    }
}
