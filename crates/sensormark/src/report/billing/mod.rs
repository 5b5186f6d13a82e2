//! What the report says of the billing workload beyond any workload's tables: the study's own tables with our figures, its published figures beside
//! ours, and whether its claims held here.

mod claims;
mod counterparts;
pub mod drawings;
mod figures;
mod measured;
mod published;
mod rate;
mod redrawn;

use super::field::Field;
use super::tables::Section;
use counterparts::Counterparts;

/// The sections.
pub fn sections(field: &Field) -> Vec<Section> {
    let study = crate::published::billing();
    let counterparts = Counterparts::new(field, &study);
    vec![
        measured::section(field),
        claims::section(&counterparts),
        redrawn::section(&counterparts),
        published::section(&counterparts),
    ]
}
