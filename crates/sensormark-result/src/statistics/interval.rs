//! An interval of confidence. Not a range of the data (minimum to maximum), and not a prediction interval.

use serde::{Deserialize, Serialize};

/// The confidence of every interval here: 0.95.
pub const CONFIDENCE: f64 = 0.95;

/// A difference with a corrected p-value below this is significant.
pub const SIGNIFICANCE: f64 = 0.05;

/// A two-sided interval of confidence, in the unit of what it is about; [`CONFIDENCE`] unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end, included.
    pub low: f64,
    /// Upper end, included.
    pub high: f64,
}

impl Interval {
    /// Whether the value lies within, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The interval of the exponentials: from a difference of logarithms to a ratio.
    #[must_use]
    pub fn exp(self) -> Self {
        Self { low: self.low.exp(), high: self.high.exp() }
    }
}
