//! Studies whose measurements are repeated here, one file each.
//!
//! A file says what its study printed and which of our implementations stands for which of its own. It has the study's tables and figures with ours in
//! them, and its claims. [`Study::sections`] makes the report's sections of them.
//!
//! [`select`] has the selectors that all declarations use, and [`mod@table`] what tables are made of. [`crate::report::claims`] judges claims.

pub mod billing;
mod ingest_rate;
mod select;
mod table;
#[cfg(test)]
mod tests;

use crate::published::Software;
use crate::report::claims::{self, Claim};
use crate::report::field::Field;
use crate::report::machine_tool::drawings::DrawingError;
use crate::report::redrawn::{self, Figure};
use crate::report::tables::{Section, Table};
use crate::report::versions;
use select::Results;

/// A study.
pub struct Study {
    /// The workload that repeats it.
    pub workload: &'static str,
    /// Title, or a description that says that it is one.
    pub title: &'static str,
    /// Authors; empty where the text does not say.
    pub authors: &'static [&'static str],
    /// Where and when it appeared, as far as the text says.
    pub venue: &'static str,
    /// The databases' versions, by title; "not stated" where it does not.
    pub versions: &'static [(&'static str, &'static str)],
    /// The operating system and what else it names, in words.
    pub system: &'static str,
    /// What it leaves open or says twice differently.
    pub notes: &'static [&'static str],
    /// What introduces these notes.
    pub notes_title: &'static str,
    /// Its tables, figures and claims with the results of a run; none where the run's numbers cannot be understood.
    pub declare: fn(Results<'_>) -> Option<Declaration>,
    /// Its drawings of a run, each a file's name and its SVG.
    pub draw: fn(Results<'_>) -> Result<Vec<Drawn>, DrawingError>,
}

/// A drawing: a file's name and its SVG.
pub type Drawn = (&'static str, String);

/// What a study makes of a run.
#[derive(Default)]
pub struct Declaration {
    /// Its own tables with our figures.
    pub tables: Vec<Section>,
    /// Its claims.
    pub claims: Vec<Claim>,
    /// What is said instead of them where nothing of the study was measured.
    pub instead_of_claims: Vec<String>,
    /// What a reader has to know of the claims.
    pub claims_note: Option<String>,
    /// Its figures, drawn again.
    pub figures: Vec<Figure>,
    /// Its machines and sizes beside ours, in a sentence; none where nothing of the study was measured.
    pub setting: Option<String>,
    /// Its figures beside ours.
    pub published: Vec<Table>,
    /// What else there is to know.
    pub further: Vec<Section>,
}

/// The studies that are declared here.
const STUDIES: [&Study; 1] = [&billing::STUDY];

fn of(field: &Field) -> Option<&'static Study> {
    let mut studies = STUDIES.into_iter();
    studies.find(|study| study.workload == field.run.workload)
}

/// The sections of the study whose workload was run; none for a workload of nobody's study.
pub fn sections(field: &Field) -> Vec<Section> {
    of(field).map_or_else(Vec::new, |study| study.sections(field))
}

/// The drawings of the study whose workload was run.
///
/// # Errors
/// When one cannot be drawn.
pub fn drawings(field: &Field) -> Result<Vec<Drawn>, DrawingError> {
    of(field).map_or_else(|| Ok(Vec::new()), |study| (study.draw)(Results { field }))
}

impl Study {
    /// What the report says of this study, in the order of reading.
    pub fn sections(&self, field: &Field) -> Vec<Section> {
        let Some(declared) = (self.declare)(Results { field }) else {
            return Vec::new();
        };
        let mut sections = declared.tables;
        let mut section = Section::new("claims", "The study's claims");
        if declared.claims.is_empty() {
            for words in declared.instead_of_claims {
                section.paragraph(words);
            }
        } else {
            let mut judged = claims::table(field, &declared.claims);
            judged.notes.extend(declared.claims_note);
            section.table(judged);
        }
        sections.push(section);
        sections.push(redrawn::section(declared.figures));
        if let Some(setting) = declared.setting {
            sections.push(self.published(field, setting, declared.published));
        }
        sections.extend(declared.further);
        sections
    }

    fn published(&self, field: &Field, setting: String, tables: Vec<Table>) -> Section {
        let mut section = Section::new("published", "The study's figures beside ours");
        section.paragraph(setting);
        let versions = self.versions.iter();
        let versions =
            versions.map(|(title, version)| ((*title).to_owned(), (*version).to_owned()));
        let software = Software {
            versions: versions.collect(),
            system: self.system.to_owned(),
        };
        versions::put(&mut section, field, &software);
        for table in tables {
            section.table(table);
        }
        section.paragraph(self.notes_title);
        section.list(self.notes.iter().map(|note| (*note).to_owned()).collect());
        section
    }
}
