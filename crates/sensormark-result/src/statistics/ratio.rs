//! A ratio of two samples with what tells chance from change, however that was tested: in pairs or not.

use serde::{Deserialize, Serialize};

use super::interval::{Interval, SIGNIFICANCE};
use super::student_t;

/// The chance with which a detectable change is found.
const POWER: f64 = 0.8;

/// How a second sample stands to a first one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatioTest {
    /// Repetitions of the first and of the second.
    pub counts: (usize, usize),
    /// Ratio of the geometric means, second / first: 1.05 is 5 % more. The effect size.
    pub ratio: f64,
    /// The change that is none, on logarithms: ln(1 + threshold).
    pub margin: f64,
    /// What tells chance from change; `None` where either has fewer than [`SMALLEST_REPETITIONS`](super::SMALLEST_REPETITIONS).
    pub tested: Option<Tested>,
}

/// How sure a ratio is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// 95 % interval of the ratio.
    pub interval: Interval,
    /// p-value of "the ratio is no further from 1 than the threshold", not corrected.
    pub p_value: f64,
    /// Standard error of the ratio's logarithm (0.01 is about 1 %).
    pub log_standard_error: f64,
    /// Degrees of freedom; infinite where nothing varies.
    pub degrees: f64,
}

impl RatioTest {
    /// The smallest change that would have been found in about four of five cases among so many tests: 0.1 is 10 % more (or 1/1.1 of it). It is exp(margin +
    /// (t(1 − α / 2m) + t(0.8)) · standard error) − 1, with α = 0.05 and m tests. This is the strictest step of Holm's correction.
    #[must_use]
    pub fn detectable(&self, tests: usize) -> Option<f64> {
        let tested = self.tested?;
        if !tested.degrees.is_finite() {
            return Some(self.margin.exp_m1());
        }
        let tail = SIGNIFICANCE / (2.0 * tests.max(1) as f64);
        let steps =
            student_t::quantile(1.0 - tail, tested.degrees) + student_t::quantile(POWER, tested.degrees);
        Some((self.margin + steps * tested.log_standard_error).exp_m1())
    }
}
