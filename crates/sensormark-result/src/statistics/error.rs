//! Why a statistic could not be computed. Not for data that merely support no interval: that is `None`.

use thiserror::Error;

/// A sample that a statistic is not defined on.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StatisticsError {
    /// There is no value at all.
    #[error("no values: a statistic needs at least one")]
    Empty,
    /// A value is infinite or not a number.
    #[error("value {index} is {value}, not a finite number")]
    NotFinite {
        /// Position in the slice, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A value is zero or negative where a logarithm is taken.
    #[error("value {index} is {value}: times and rates are compared on logarithms and must be above 0")]
    NotPositive {
        /// Position in the slice, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// Fewer samples than the method was shown to hold for.
    #[error("{found} samples are too few: this interval needs {needed}")]
    TooFew {
        /// Samples given.
        found: usize,
        /// Samples needed.
        needed: usize,
    },
    /// Neighbouring samples are so alike that the mean is not identified: a trend, or a far too short trial.
    #[error(
        "samples depend on each other too much (lag-1 correlation {lag_one:.3}): measure longer, or look for a trend"
    )]
    TooCorrelated {
        /// The bias-corrected lag-1 autocorrelation.
        lag_one: f64,
    },
}

/// Refuses an empty slice and values that are not finite.
///
/// # Errors
/// [`StatisticsError::Empty`] or [`StatisticsError::NotFinite`].
pub(super) fn check_finite(values: &[f64]) -> Result<(), StatisticsError> {
    if values.is_empty() {
        return Err(StatisticsError::Empty);
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(StatisticsError::NotFinite { index, value: values[index] }),
        None => Ok(()),
    }
}

/// The natural logarithms of the values.
///
/// # Errors
/// As [`check_finite`], and [`StatisticsError::NotPositive`].
pub(super) fn logarithms(values: &[f64]) -> Result<Vec<f64>, StatisticsError> {
    check_finite(values)?;
    match values.iter().position(|value| *value <= 0.0) {
        Some(index) => Err(StatisticsError::NotPositive { index, value: values[index] }),
        None => Ok(values.iter().map(|value| value.ln()).collect()),
    }
}
