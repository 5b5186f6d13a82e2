//! From when on a series of throughput samples was steady. It measures no mean and no interval: see `batch_means`.
//!
//! Method: MSER-5 (White 1997, Simulation 69; Franklin and White 2008, Winter Simulation Conference). Samples are averaged in batches of five. The warm-up cut
//! is the d that makes the marginal standard error of what is left smallest. That is Σ(y − ȳ)² / (k − d)², over the k − d batches after the cut. A best cut in
//! the second half of the series means that no steady part was seen (White's rule).
//!
//! A slow, even drift may keep its best cut early, so what is left is also tested for one. The test fits a least-squares line. What is left is not steady if
//! the line moves it by more than [`LARGEST_DRIFT`] of its mean and this is significant at 1 %. The test allows for autocorrelation of the batches.

use serde::{Deserialize, Serialize};

use super::error::{StatisticsError, check_finite};
use super::student_t;
use super::summary::mean;

/// A drift over the steady part below this share of its mean is not counted: 5 %.
pub const LARGEST_DRIFT: f64 = 0.05;

const BATCH: usize = 5;
const SMALLEST_BATCHES: usize = 8;
const SIGNIFICANCE: f64 = 0.01;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum SteadyState {
    /// Steady after the first `discard` samples (0: from the start; always a multiple of five).
    Steady {
        /// Samples to leave out at the start.
        discard: usize,
    },
    /// Still settling: the best cut lies in the second half of the series.
    Settling,
    /// Settled early, but drifting.
    Drifting {
        /// Change over the part after warm-up as a share of its mean: −0.2 is 20 % less at its end.
        drift: f64,
    },
    /// Fewer than 40 samples.
    TooShort,
}

/// Judges evenly spaced samples (operations in each second, say), as this module's head says.
///
/// # Errors
/// No values, or one that is not finite.
pub fn steady_state(samples: &[f64]) -> Result<SteadyState, StatisticsError> {
    check_finite(samples)?;
    let batches: Vec<f64> = samples.chunks_exact(BATCH).map(mean).collect();
    if batches.len() < SMALLEST_BATCHES {
        return Ok(SteadyState::TooShort);
    }
    let cut = best_cut(&batches);
    if cut > batches.len() / 2 {
        return Ok(SteadyState::Settling);
    }
    let rest = &batches[cut..];
    let (drift, p_value) = drift(rest);
    if drift.abs() > LARGEST_DRIFT * mean(rest).abs() && p_value < SIGNIFICANCE {
        return Ok(SteadyState::Drifting { drift: drift / mean(rest) });
    }
    Ok(SteadyState::Steady { discard: cut * BATCH })
}

/// The number of batches to cut off by MSER; the last five are never cut, because their spread says nothing. The
/// earliest of equals.
fn best_cut(batches: &[f64]) -> usize {
    let marginal_error = |cut: usize| {
        let rest = &batches[cut..];
        let centre = mean(rest);
        let squares: f64 = rest.iter().map(|value| (value - centre).powi(2)).sum();
        squares / (rest.len() as f64).powi(2)
    };
    let mut best = (0, marginal_error(0));
    for cut in 1..=batches.len() - 5 {
        let error = marginal_error(cut);
        if error < best.1 {
            best = (cut, error);
        }
    }
    best.0
}

/// The change from first to last batch along the least-squares line, and the p-value of "no change". The line's variance is widened by (1 + r)/(1 − r), where r
/// is the lag-1 autocorrelation around it.
fn drift(batches: &[f64]) -> (f64, f64) {
    let count = batches.len() as f64;
    let (centre, middle) = (mean(batches), (count - 1.0) / 2.0);
    let times = || (0..batches.len()).map(|index| index as f64 - middle);
    let time_squares: f64 = times().map(|time| time * time).sum();
    let slope = times().zip(batches).map(|(time, value)| time * value).sum::<f64>() / time_squares;
    let residuals: Vec<f64> =
        times().zip(batches).map(|(time, value)| value - centre - slope * time).collect();
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let change = slope * (count - 1.0);
    if squares <= 0.0 {
        return (change, if change == 0.0 { 1.0 } else { 0.0 });
    }
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let lag_one = (products / squares + 1.0 / count).clamp(0.0, 0.95);
    let variance = squares / (count - 2.0) / time_squares * (1.0 + lag_one) / (1.0 - lag_one);
    (change, student_t::two_sided_p(slope / variance.sqrt(), count - 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::synthetic::Random;

    /// Throughput around 1,000 with 5 % noise of lag-1 correlation `phi`, times a shape over time (0 to 1).
    fn series(random: &mut Random, count: usize, phi: f64, shape: impl Fn(f64) -> f64) -> Vec<f64> {
        let noise = random.autoregressive(count, phi);
        let shaped = noise
            .iter()
            .enumerate()
            .map(|(index, noise)| 1_000.0 * shape(index as f64 / count as f64) * (1.0 + 0.05 * noise));
        shaped.collect()
    }

    fn share(
        seed: u64,
        count: usize,
        phi: f64,
        shape: impl Fn(f64) -> f64,
        is: impl Fn(SteadyState) -> bool,
    ) -> f64 {
        let mut random = Random::new(seed);
        let hits =
            (0..500).filter(|_| is(steady_state(&series(&mut random, count, phi, &shape)).unwrap())).count();
        let percent = hits as f64 / 5.0;
        println!("n {count}, correlation {phi}: {percent:.1} %");
        percent
    }

    #[test]
    fn steady_series_are_called_steady() {
        for (count, phi) in [(120, 0.0), (300, 0.0), (300, 0.5), (900, 0.5)] {
            let found = share(13, count, phi, |_| 1.0, |state| matches!(state, SteadyState::Steady { .. }));
            assert!(found > 80.0, "n {count}, correlation {phi}: {found} %");
        }
    }

    #[test]
    fn a_warm_up_is_cut_off_but_not_much_more() {
        let warm = |time: f64| 1.0 - 0.6 * (-time / 0.03).exp();
        let found = share(
            14,
            300,
            0.3,
            warm,
            |state| matches!(state, SteadyState::Steady { discard } if (10..=150).contains(&discard)),
        );
        assert!(found > 85.0, "{found} %");
    }

    #[test]
    fn a_series_that_still_climbs_or_sinks_is_not_steady() {
        for slope in [0.5, -0.5] {
            let found = share(
                15,
                300,
                0.3,
                |time| 1.0 + slope * time,
                |state| matches!(state, SteadyState::Steady { .. }),
            );
            assert!(found < 2.0, "{found} %");
        }
    }

    #[test]
    fn a_collapse_near_the_end_is_not_steady() {
        let collapse = |time: f64| if time < 0.7 { 1.0 } else { 0.4 };
        let found = share(16, 300, 0.3, collapse, |state| matches!(state, SteadyState::Steady { .. }));
        assert!(found < 2.0, "{found} %");
    }

    #[test]
    fn constant_and_short_series() {
        assert_eq!(steady_state(&[7.0; 40]).unwrap(), SteadyState::Steady { discard: 0 });
        assert_eq!(steady_state(&[7.0; 39]).unwrap(), SteadyState::TooShort);
        assert_eq!(steady_state(&[]), Err(StatisticsError::Empty));
    }
}
