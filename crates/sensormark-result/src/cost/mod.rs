//! What layouts are ranked by: a cost of eight criteria, printed as a multiple of the lowest cost of its ranking.
//!
//! ln cost(a) = Σ wᵢ ln max(aᵢ, εᵢ) / Σ wᵢ. So the ratio of two costs is a weighted geometric mean of ratios, and does not change when somebody else joins.
//! Values under the floor εᵢ count as the floor, because what nobody pays decides nothing.
//!
//! Pure functions: no I/O, no entropy. What chance does is in [`crate::statistics`].

mod criterion;
mod sensitivity;
mod weights;

pub use criterion::{CRITERIA, Criterion};
pub use sensitivity::{WeightChange, smallest_change, win_shares};
pub use weights::{Weights, WeightsError};

/// The logarithm of a cost: the weighted mean of the logarithms of values above 0, a weight each.
#[must_use]
pub fn log_cost(values: &[f64], weights: &[f64]) -> f64 {
    let sum: f64 = values.iter().zip(weights).map(|(value, weight)| weight * value.ln()).sum();
    sum / weights.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::log_cost;

    /// Four times the time and the same disk is twice the cost; with the disk weighed three times, √2.
    #[test]
    fn the_formula_by_hand() {
        let ratio =
            |weights: &[f64]| (log_cost(&[8.0, 30.0], weights) - log_cost(&[2.0, 30.0], weights)).exp();
        assert!((ratio(&[1.0, 1.0]) - 2.0).abs() < 1e-12);
        assert!((ratio(&[1.0, 3.0]) - 2.0_f64.sqrt()).abs() < 1e-12);
    }
}
