//! How much each criterion counts, by phase. Not the criteria themselves.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::ScoreError;

/// Weights by phase (`write`, `read`) and criterion id: finite, 0 or more, no unit. 0 leaves a criterion out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Weights {
    phases: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Weights {
    /// From TOML: a table for each phase, with a number for each criterion id.
    ///
    /// # Errors
    /// Text that is not so, and weights that are negative or not finite.
    pub fn from_toml(text: &str) -> Result<Self, ScoreError> {
        let weights: Self = toml::from_str(text).map_err(|error| ScoreError::Malformed {
            what: "the weights file",
            message: error.to_string(),
        })?;
        for (criterion, weight) in weights.phases.values().flatten() {
            if !weight.is_finite() || *weight < 0.0 {
                return Err(ScoreError::BadWeight { criterion: criterion.clone(), weight: *weight });
            }
        }
        Ok(weights)
    }

    /// The machine-tool study's, the default: `weights.toml` beside this file.
    ///
    /// # Panics
    /// Never: the file is part of the program, and a test reads it.
    #[must_use]
    pub fn study() -> Self {
        Self::from_toml(Self::STUDY_TOML).expect("weights.toml is part of the program")
    }

    /// Those of workloads that are made of phases: `cost-weights.toml` beside this file.
    ///
    /// # Panics
    /// Never: the file is part of the program, and a test reads it.
    #[must_use]
    pub fn cost() -> Self {
        Self::from_toml(Self::COST_TOML).expect("cost-weights.toml is part of the program")
    }

    /// Weights, and the difficulties of implementations by name from the table `[difficulty]`, where there is one.
    ///
    /// # Errors
    /// As [`Weights::from_toml`]; and a difficulty that is not from 1 to 5.
    pub fn with_difficulty(text: &str) -> Result<(Self, BTreeMap<String, f64>), ScoreError> {
        let mut weights = Self::from_toml(text)?;
        let difficulty = weights.phases.remove("difficulty").unwrap_or_default();
        if let Some((name, value)) = difficulty.iter().find(|(_, value)| !(1.0..=5.0).contains(*value)) {
            return Err(ScoreError::Malformed {
                what: "the weights file",
                message: format!("the difficulty of {name} is {value}; it goes from 1 (easy) to 5"),
            });
        }
        Ok((weights, difficulty))
    }

    /// Leaves criteria of a phase out.
    pub fn leave_out(&mut self, phase: &str, criteria: &[&str]) {
        let weights = self.phases.get_mut(phase).into_iter().flatten();
        for (_, weight) in weights.filter(|(id, _)| criteria.contains(&id.as_str())) {
            *weight = 0.0;
        }
    }

    /// Whether something of a phase counts; also where there is no such phase, of which [`Weights::phase`] tells.
    #[must_use]
    pub fn weighs(&self, phase: &str) -> bool {
        let weights = self.phases.get(phase);
        weights.is_none_or(|weights| weights.values().any(|weight| *weight > 0.0))
    }

    /// The text of the default weights, from which a user can start.
    pub const STUDY_TOML: &'static str = include_str!("weights.toml");

    /// The text of the default weights of workloads that are made of phases.
    pub const COST_TOML: &'static str = include_str!("cost-weights.toml");

    /// The weights of one phase by criterion id.
    ///
    /// # Errors
    /// There is no such phase.
    pub fn phase(&self, phase: &str) -> Result<&BTreeMap<String, f64>, ScoreError> {
        self.phases.get(phase).ok_or_else(|| ScoreError::NoPhase { phase: phase.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Criterion, cost_criteria, study_criteria};
    use super::*;

    #[test]
    fn the_default_weighs_every_criterion_of_the_study() {
        let weights = Weights::study();
        for phase in ["write", "read"] {
            let phase = weights.phase(phase).unwrap();
            let ids: Vec<String> = study_criteria().into_iter().map(|c| c.id).collect();
            assert_eq!(phase.len(), ids.len());
            assert!(ids.iter().all(|id| phase.contains_key(id)));
        }
        let sum = |phase: &str| weights.phase(phase).unwrap().values().sum::<f64>();
        assert_eq!((sum("write"), sum("read")), (14.0, 13.0));
    }

    #[test]
    fn the_weights_of_phases_weigh_every_criterion_of_theirs() {
        let weights = Weights::cost();
        let ids: Vec<String> = cost_criteria().into_iter().map(|c| c.id).collect();
        for side in ["write", "read"] {
            let side = weights.phase(side).unwrap();
            assert_eq!(side.len(), ids.len());
            assert!(ids.iter().all(|id| side.contains_key(id)));
        }
    }

    #[test]
    fn difficulties_stand_in_the_weights_file() {
        let text = format!("{}\n[difficulty]\n\"MariaDB bulk\" = 2", Weights::STUDY_TOML);
        let (weights, difficulty) = Weights::with_difficulty(&text).unwrap();
        assert_eq!(weights, Weights::study());
        assert_eq!(difficulty["MariaDB bulk"], 2.0);
        let bad = Weights::with_difficulty("[difficulty]\n\"MariaDB bulk\" = 7");
        assert!(bad.unwrap_err().to_string().contains("MariaDB bulk"));
    }

    #[test]
    fn bad_weights_and_criteria_are_refused() {
        let negative = Weights::from_toml("[write]\ncpu = -1");
        assert!(matches!(negative, Err(ScoreError::BadWeight { weight: -1.0, .. })));
        let text = Weights::from_toml("[write]\ncpu = \"much\"");
        assert!(matches!(text, Err(ScoreError::Malformed { .. })));
        let missing = Weights::study();
        assert!(matches!(missing.phase("sleep"), Err(ScoreError::NoPhase { .. })));
        let unknown_field = Criterion::list_from_toml("[[criterion]]\nid = \"a\"\ncolour = 1");
        assert!(matches!(unknown_field, Err(ScoreError::Malformed { .. })));
    }
}
