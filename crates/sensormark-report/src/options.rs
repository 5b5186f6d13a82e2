//! What a report is made with: weights, and what disk is projected to.

use crate::prices::Offer;
use sensormark_result::cost::{Weights, WeightsError};

/// What a report is made with.
#[derive(Default)]
pub struct ReportOptions {
    /// How much each criterion counts.
    pub weights: Weights,
    /// What disk is projected to.
    pub projection: Projection,
    /// What machines cost.
    pub prices: Vec<Offer>,
}

/// What the user will write, and onto what.
#[derive(Clone, Copy, Default)]
pub struct Projection {
    /// Readings a second; where it is not given, what the workload's own sensors send.
    pub rate: Option<f64>,
    /// The size of the disk, in bytes.
    pub disk_bytes: Option<f64>,
}

impl ReportOptions {
    /// From the text of a weights file: a number for each criterion that does not count once.
    ///
    /// # Errors
    /// Text that is not so.
    pub fn from_toml(text: &str) -> Result<Self, WeightsError> {
        Ok(Self { weights: Weights::from_toml(text)?, ..Self::default() })
    }
}
