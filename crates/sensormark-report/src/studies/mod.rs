//! Studies whose measurements are repeated here, one file each. A large one has its printed figures and its claims in a folder of its name.
//!
//! A file says what its study printed and which of our implementations stands for which of its own. It has the study's tables and figures with ours in
//! them, and its claims. [`Study::sections`] makes the report's sections of them.
//!
//! All declarations use the selectors in [`select`]. Tables are made of what is in [`quantity`] and [`mod@table`]. A page draws [`figure`]. [`drawing`] has a
//! study's pictures of its own data. Claims are judged in [`crate::claims`].

pub mod billing;
pub mod devops;
pub mod drawing;
pub mod environments;
mod figure;
mod ingest_rate;
mod iot_platform;
pub mod machine_tool;
mod quantity;
mod select;
mod sensor_operations;
mod study;
mod table;
#[cfg(test)]
mod tests;

use crate::field::Field;
use crate::options::ReportOptions;
use crate::tables::Section;
use drawing::Drawing;
pub use machine_tool::published_difficulties;
use select::Results;
pub use study::{Declaration, Study};

/// The studies that are declared here.
const STUDIES: [&Study; 5] =
    [&machine_tool::STUDY, &sensor_operations::STUDY, &billing::STUDY, &devops::STUDY, &iot_platform::STUDY];

fn of(field: &Field) -> Option<&'static Study> {
    let mut studies = STUDIES.into_iter();
    studies.find(|study| study.workload == field.run.workload)
}

/// The sections of the study whose workload was run; none for a workload of nobody's study.
pub fn sections(field: &Field, options: &ReportOptions) -> Vec<Section> {
    let results = Results { field, options };
    of(field).map_or_else(Vec::new, |study| study.sections(results))
}

/// The pictures of its own data of the study whose workload was run.
pub fn drawings(field: &Field) -> Vec<Drawing> {
    of(field).map_or_else(Vec::new, |study| (study.draw)(field.run.seed))
}
