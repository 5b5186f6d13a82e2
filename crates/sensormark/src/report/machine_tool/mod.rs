//! What the report says of the machine-tool workload beyond any workload's tables: the study's figures beside ours, whether
//! its claims held here, and its figures 1 and 3 drawn from our data.

mod claims;
mod counterparts;
pub mod drawings;
mod published;
mod redrawn;

use super::ReportOptions;
use super::field::Field;
use super::tables::Section;
use counterparts::Counterparts;

/// The sections.
pub fn sections(field: &Field, options: &ReportOptions) -> Vec<Section> {
    let study = crate::published::machine_tool();
    let counterparts = Counterparts::new(field, &study, options);
    vec![
        claims::section(&counterparts),
        redrawn::section(&counterparts),
        published::section(&counterparts),
    ]
}
