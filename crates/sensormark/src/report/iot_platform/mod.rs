//! What the report says of the iot-platform workload beyond any workload's tables: each query's time over each span and how it grows, what the
//! index, the filter by day and sums kept at write time are worth and cost, the study's figures beside ours, and whether its claims held.

mod claims;
mod effects;
mod measured;
mod published;
mod queries;
mod redrawn;

use super::ReportOptions;
use super::field::Field;
use super::tables::Section;
use measured::Measured;

/// The sections.
pub fn sections(field: &Field, _options: &ReportOptions) -> Vec<Section> {
    let measured = Measured::new(field);
    vec![
        queries::section(&measured),
        effects::section(&measured),
        claims::section(&measured),
        redrawn::section(&measured),
        published::section(&measured),
    ]
}
