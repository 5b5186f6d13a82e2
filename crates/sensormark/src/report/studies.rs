//! What the report says of a study beyond any workload's tables, by the workload's name: its figures beside ours, and whether its claims
//! held here.
//!
//! One folder a study beside this file; each makes its sections from the [`Field`], the published figures and [`super::claims`].

use super::field::Field;
use super::tables::Section;
use super::{ReportOptions, iot_platform, machine_tool};

/// The sections of the study whose workload was run; none for a workload of nobody's study.
pub fn sections(field: &Field, options: &ReportOptions) -> Vec<Section> {
    match field.run.workload.as_str() {
        crate::workload::machine_tool::NAME => machine_tool::sections(field, options),
        crate::workload::iot_platform::NAME => iot_platform::sections(field, options),
        _ => Vec::new(),
    }
}
