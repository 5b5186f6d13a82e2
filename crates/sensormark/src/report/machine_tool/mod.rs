//! What the report says of the machine-tool workload beyond any workload's tables: the study's figures beside ours, whether
//! its claims held here, and its figures 1 and 3 drawn from our data.

mod as_study;
mod claims;
mod counterparts;
pub mod drawings;
mod published;
mod redrawn;
mod standings;

use super::ReportOptions;
use super::field::Field;
use super::tables::Section;
use counterparts::Counterparts;
use std::collections::BTreeMap;

/// The study's grades of difficulty, of writing and of reading, by the names in the ranking of what stands for its implementations here.
pub fn published_difficulties(field: &Field) -> [BTreeMap<String, f64>; 2] {
    counterparts::difficulties(field, &crate::published::machine_tool())
}

/// The sections.
pub fn sections(field: &Field, options: &ReportOptions) -> Vec<Section> {
    let study = crate::published::machine_tool();
    let counterparts = Counterparts::new(field, &study, options);
    vec![
        claims::section(&counterparts),
        redrawn::section(&counterparts),
        published::section(&counterparts),
        as_study::section(&counterparts),
    ]
}
