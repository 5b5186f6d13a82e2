//! Studies whose measurements are repeated here, one file each: `studies/NAME.toml` at the repository's root.
//!
//! `file` has the form of such a file. `check` finds wrong names in one. `scope` says what its names mean in a run.
//! What its figures are is in `expression` and `metric`. Of these come tables
//! (`rows`, `published`), claims (`judge`, `crate::claims`) and figures drawn again (`draw`, `figure`); `study` puts them in order. What a file cannot
//! say is in `functions`, `scores`, `ingest_rate`, `environments` and `pictures`.

mod check;
mod draw;
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

use crate::{
    claims::{
        Claim, Values, doubt, doubted, has, inside, is_less, is_level, is_within, mean, ratios, shown, times,
    },
    prelude::*,
    sections::surroundings::inventory,
};
use expression::{operands, parts};
pub(crate) use figure::{HERE, figure, point};
use file::{ClaimRow, DrawingRow, Printed, Range, StudyFile, TableRows, cells, names, or};
use metric::Kind;
use rows::{heading, named};
use scope::{IMPLEMENTATION, Scope, cell, filled, place, value, without_side};
use select::Loads;
use sensormark_data::nearest::unknown;
use sensormark_workload::{
    machine_tool,
    own::file::{FileError, Source},
};
use std::sync::LazyLock;
use table::{Column, NOT_MEASURED, Row, beside, column, table};

macro_rules! studies {
    ($($name:literal),*) => {
        [$((
            concat!("studies/", $name, ".toml"),
            include_str!(concat!("../../../../studies/", $name, ".toml")),
        )),*]
    };
}

/// The studies that come with the program, read. A test reads them all, so none of these files is wrong.
static READ: LazyLock<Vec<StudyFile>> = LazyLock::new(|| {
    studies![
        "machine-tool",
        "sensor-operations",
        "billing",
        "devops",
        "iot-platform",
        "slow-control",
        "hydrometry"
    ]
    .into_iter()
    .map(|(file, text)| StudyFile::read(file, text).unwrap_or_else(|error| panic!("{error}")))
    .collect()
});

/// The study of this workload.
pub fn study(workload: &str) -> Option<&'static StudyFile> {
    READ.iter().find(|file| file.study.workload == workload)
}

/// The sections of the study whose workload was run; none for a workload of nobody's study.
pub fn sections(field: &Field) -> Vec<Section> {
    study(&field.run.workload).map_or_else(Vec::new, |study| study.sections(field))
}

/// A study's pictures of its own data, where its workload was run.
pub fn drawings(field: &Field) -> Option<Section> {
    (field.run.workload == machine_tool::NAME).then(|| pictures::section(field.run.seed))
}
