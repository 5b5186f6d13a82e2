//! Studies whose measurements are repeated here, one file each: `studies/NAME.toml` at the repository's root.
//!
//! `file` has the form of such a file. `check` finds wrong names in one. `scope` says what its names mean in a run.
//! What its figures are is in `expression` and `metric`. Of these come tables
//! (`rows`, `published`), claims (`judge`, `crate::claims`) and figures drawn again (`draw`, `figure`); `study` puts them in order. What a file cannot
//! say is in `functions`, `scores`, `ingest_rate`, `environments` and `pictures`.

mod check;
mod draw;
pub mod drawing;
pub mod environments;
mod expression;
mod figure;
mod file;
mod functions;
mod ingest_rate;
mod judge;
mod metric;
mod pictures;
mod published;
mod rows;
mod scope;
mod scores;
mod select;
mod study;
mod table;
#[cfg(test)]
mod tests;

use crate::prelude::*;
use drawing::Drawing;
pub(crate) use figure::{HERE, figure, point};
use file::StudyFile;
use select::Results;
use std::sync::LazyLock;

macro_rules! study {
    ($name:literal) => {
        (concat!("studies/", $name, ".toml"), include_str!(concat!("../../../../studies/", $name, ".toml")))
    };
}

/// The files of studies that come with the program.
const FILES: [(&str, &str); 7] = [
    study!("machine-tool"),
    study!("sensor-operations"),
    study!("billing"),
    study!("devops"),
    study!("iot-platform"),
    study!("slow-control"),
    study!("hydrometry"),
];

/// The studies, read. A test reads them all, so no file that comes with the program is wrong.
static READ: LazyLock<Vec<StudyFile>> = LazyLock::new(|| {
    let read =
        |(file, text): (&str, &str)| StudyFile::read(file, text).unwrap_or_else(|error| panic!("{error}"));
    FILES.into_iter().map(read).collect()
});

/// The study of this workload.
pub fn study(workload: &str) -> Option<&'static StudyFile> {
    READ.iter().find(|file| file.study.workload == workload)
}

/// The sections of the study whose workload was run; none for a workload of nobody's study.
pub fn sections(field: &Field, options: &ReportOptions) -> Vec<Section> {
    study(&field.run.workload).map_or_else(Vec::new, |study| study.sections(Results { field, options }))
}

/// The pictures of its own data of the study whose workload was run.
pub fn drawings(field: &Field) -> Vec<Drawing> {
    match &*field.run.workload {
        sensormark_workload::machine_tool::NAME => pictures::drawings(field.run.seed),
        _ => vec![],
    }
}
