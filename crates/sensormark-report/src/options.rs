//! What a report is made with: weights, difficulties, and what disk is projected to.

use sensormark_result::score::{ScoreError, Weights};
use std::collections::BTreeMap;

/// What a report is made with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReportOptions {
    /// How much each criterion counts; the study's weights, or those of workloads of phases, where none are given.
    pub weights: Option<Weights>,
    /// The difficulty of implementations, 1 (easy) to 5, by their names in the ranking. Used only when everybody ranked
    /// has one.
    pub difficulty: BTreeMap<String, f64>,
    /// The same as the study published it, of writing and of reading; used where a run follows the study and nobody gave another.
    pub published_difficulty: [BTreeMap<String, f64>; 2],
    /// What disk is projected to.
    pub projection: Projection,
}

/// What the user will write, and onto what.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Projection {
    /// Readings a second; where it is not given, what the workload's own sensors send.
    pub rate: Option<f64>,
    /// The size of the disk, in bytes.
    pub disk_bytes: Option<f64>,
}

impl ReportOptions {
    /// From the text of a weights file: a table of weights for each side, and perhaps `[difficulty]`, 1 (easy) to 5 by name in the ranking.
    ///
    /// # Errors
    /// Text that is not so.
    pub fn from_toml(text: &str) -> Result<Self, ScoreError> {
        let (weights, difficulty) = Weights::with_difficulty(text)?;
        Ok(Self { weights: Some(weights), difficulty, ..Self::default() })
    }

    /// Whether anybody gave a difficulty.
    pub(super) fn has_difficulty(&self) -> bool {
        let published = self.published_difficulty.iter();
        !self.difficulty.is_empty() || published.clone().any(|side| !side.is_empty())
    }

    /// The difficulty of an implementation, by its name in the ranking; `side` is 0 for writing and 1 for reading.
    pub(super) fn difficulty_of(&self, side: usize, name: &str) -> Option<f64> {
        let published = || self.published_difficulty.get(side)?.get(name);
        self.difficulty.get(name).or_else(published).copied()
    }
}
