//! How much each criterion counts.

use super::criterion::CRITERIA;
use std::collections::BTreeMap;
use thiserror::Error;

/// Weights that cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum WeightsError {
    /// The text is no TOML of a number for each criterion.
    #[error("the weights cannot be read: {0}. Write a number for each criterion, such as `disk = 3`")]
    Malformed(String),
    /// A weight is negative, infinite or not a number.
    #[error("the weight of {criterion} is {weight}: a weight is a finite number, 0 or more")]
    BadWeight {
        /// The criterion.
        criterion: String,
        /// Its weight.
        weight: f64,
    },
    /// A weight names a criterion that does not exist.
    #[error("there is no criterion {0:?}; the criteria are {all}", all = CRITERIA.map(|one| one.id).join(", "))]
    UnknownCriterion(String),
    /// All weights are 0.
    #[error("all weights are 0: give one criterion a weight above 0")]
    NothingWeighed,
}

/// Weights by criterion: 1 where none is given; 0 leaves a criterion out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Weights {
    given: BTreeMap<String, f64>,
}

impl Weights {
    /// From TOML: a number for each criterion that counts otherwise than 1.
    ///
    /// # Errors
    /// Text that is not so, criteria that do not exist, and weights that are negative, not finite, or all 0.
    pub fn from_toml(text: &str) -> Result<Self, WeightsError> {
        let read = toml::from_str(text);
        let weights = Self { given: read.map_err(|error| WeightsError::Malformed(error.to_string()))? };
        for (id, weight) in &weights.given {
            if !CRITERIA.iter().any(|criterion| criterion.id == id) {
                return Err(WeightsError::UnknownCriterion(id.clone()));
            }
            if !weight.is_finite() || *weight < 0.0 {
                return Err(WeightsError::BadWeight { criterion: id.clone(), weight: *weight });
            }
        }
        if CRITERIA.iter().all(|criterion| weights.of(criterion.id) == 0.0) {
            return Err(WeightsError::NothingWeighed);
        }
        Ok(weights)
    }

    /// The weight of a criterion.
    #[must_use]
    pub fn of(&self, id: &str) -> f64 {
        self.given.get(id).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_counts_once() {
        let weights = Weights::from_toml("disk = 3\nwire = 0").expect("weights");
        assert_eq!(["disk", "wire", "memory"].map(|id| weights.of(id)), [3.0, 0.0, 1.0]);
        assert_eq!(Weights::from_toml("").expect("none given"), Weights::default());
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| Weights::from_toml(text).expect_err(text).to_string();
        assert!(error("beauty = 1").contains("\"beauty\"; the criteria are load_time, load_cpu"));
        assert!(error("disk = -1").contains("disk is -1"));
        assert!(error("[write]\nserver_cpu = 3").contains("such as `disk = 3`"));
        let zero: String = CRITERIA.iter().map(|criterion| format!("{} = 0\n", criterion.id)).collect();
        assert!(error(&zero).contains("all weights are 0"));
    }
}
