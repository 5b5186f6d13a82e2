//! What the report says of sensor-operations beyond any workload's tables: the study's claims, its tables IV and V with ours beside them, and its
//! curves over clients and over the number of operations as tables.

mod claims;
mod curves;
mod environments;
mod published;
mod rates;
mod redrawn;

pub use environments::{claims as environment_claims, physical_and_virtual};

use super::ReportOptions;
use super::field::Field;
use super::tables::Section;
use rates::Rates;

/// The sections.
pub fn sections(field: &Field, _options: &ReportOptions) -> Vec<Section> {
    let study = crate::published::sensor_operations();
    let rates = Rates::new(field);
    vec![
        claims::section(&rates, &study),
        redrawn::section(&rates, &study),
        published::section(&rates, &study),
        curves::section(&rates),
    ]
}
