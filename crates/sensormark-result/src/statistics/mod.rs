//! Statistics: what a handful of repetitions, or one repetition's autocorrelated samples, allow to be said.
//!
//! Pure functions over slices: no I/O, no clock, no entropy. It is not the cost (that weighs criteria, see
//! [`crate::cost`]) and knows neither stores nor workloads.
//!
//! | question | function |
//! | --- | --- |
//! | what is the mean over repetitions, and how sure? | [`summarize`], [`summarize_logarithms`] |
//! | and within one repetition, whose samples depend on each other? | [`within_trial`], [`within_trial_logarithms`] |
//! | is A better than B? | [`compare`] |
//! | and where they were not measured in turns? | [`compare_unpaired`] |
//! | who ranks where, with ties where the data cannot tell? | [`ranks`] |
//! | from when on was the throughput steady? | [`steady_state`] |
//! | may this percentile be printed? | [`percentile`], [`percentile_supported`] |
//! | and how sure is a median of few samples? | [`median_ranks`] |
//! | what is it at a size that nobody measured? | [`projection`] |

mod batch_means;
#[cfg(test)]
mod coverage;
mod error;
mod holm;
mod interval;
mod median;
mod paired;
mod percentile;
pub mod projection;
mod ranks;
mod ratio;
mod steady_state;
pub mod student_t;
mod summary;
#[cfg(any(test, feature = "tests"))]
pub mod synthetic;
mod welch;

pub use batch_means::{
    LARGEST_LAG_ONE, SMALLEST_SAMPLE, WithinTrial, WithinTrialLogarithms, within_trial,
    within_trial_logarithms,
};
pub use error::StatisticsError;
pub use holm::holm;
pub use interval::{CONFIDENCE, Interval, SIGNIFICANCE};
pub use median::median_ranks;
pub use paired::{PairedComparison, compare};
pub use percentile::{Percentile, SAMPLES_BEYOND, percentile, percentile_supported, samples_beyond};
pub use ranks::{Arm, Basis, Better, Pair, Rank, Ranking, ranks};
pub use ratio::{RatioTest, Tested};
pub use steady_state::{LARGEST_DRIFT, SteadyState, steady_state};
pub use summary::{LogSummary, SMALLEST_REPETITIONS, Summary, summarize, summarize_logarithms};
pub use welch::{RUN_VARIANCE, compare_unpaired};
