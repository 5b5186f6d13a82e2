//! A figure with its unit, or without a value where it could not be measured. What figures there are is said in `names`.

use serde::{Deserialize, Serialize};

/// A figure with its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The value; absent when it could not be measured.
    pub value: Option<f64>,
    /// The unit, as printed.
    pub unit: String,
}

impl Figure {
    /// A measured figure.
    pub fn new(value: f64, unit: &str) -> Self {
        Self { value: Some(value), unit: unit.to_owned() }
    }

    /// A figure that could not be measured.
    pub fn unmeasured(unit: &str) -> Self {
        Self { value: None, unit: unit.to_owned() }
    }
}
