//! What the report says of the devops workload beyond any workload's tables: the study's own tables with our figures, its figures beside ours, and
//! whether its claims held here.

mod claims;
mod facts;
mod published;
mod redrawn;
mod tables;
#[cfg(test)]
mod tests;

use super::ReportOptions;
use super::field::Field;
use super::tables::Section;
use facts::Facts;

/// The sections.
pub fn sections(field: &Field, _options: &ReportOptions) -> Vec<Section> {
    let Some(facts) = Facts::new(field) else {
        return Vec::new();
    };
    vec![
        tables::section(&facts),
        claims::section(&facts),
        redrawn::section(&facts),
        published::section(&facts),
    ]
}
