//! What the report says of a study beyond any workload's tables, by the workload's name: its figures beside ours, and whether its claims
//! held here.
//!
//! A study is declared in one file of [`crate::studies`]; those that are not yet have a folder beside this file; each makes its sections from the [`Field`], the published figures and [`super::claims`].

use super::field::Field;
use super::machine_tool::drawings::DrawingError;
use super::tables::Section;
use super::{ReportOptions, devops, iot_platform, machine_tool, sensor_operations};

/// The sections of the study whose workload was run; none for a workload of nobody's study.
pub fn sections(field: &Field, options: &ReportOptions) -> Vec<Section> {
    match field.run.workload.as_str() {
        crate::workload::devops::NAME => devops::sections(field, options),
        crate::workload::machine_tool::NAME => machine_tool::sections(field, options),
        crate::workload::sensor_operations::NAME => sensor_operations::sections(field, options),
        crate::workload::iot_platform::NAME => iot_platform::sections(field, options),
        _ => crate::studies::sections(field),
    }
}

/// The figures of the study whose workload was run, each a file's name and its SVG.
///
/// # Errors
/// When one cannot be drawn.
pub fn figures(field: &Field) -> Result<Vec<(&'static str, String)>, DrawingError> {
    Ok(match field.run.workload.as_str() {
        crate::workload::machine_tool::NAME => machine_tool::drawings::draw(field.run.seed)?.into(),
        _ => crate::studies::drawings(field)?,
    })
}
