//! What a study is: what it printed and claimed, and the sections of a report that a run makes of it.

use super::drawing::Drawing;
use super::figure::{self, Figure};
use super::select::Results;
use super::table;
use crate::claims::{self, Claim};
use crate::field::Field;
use crate::sections::cells::listed;
use crate::tables::{Cell, Section, Table};
use std::collections::BTreeSet;

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
    /// The databases' versions, by title in the order of the alphabet; "not stated" where it does not.
    pub versions: &'static [(&'static str, &'static str)],
    /// The operating system and what else it names, in words.
    pub system: &'static str,
    /// What it leaves open or says twice differently.
    pub notes: &'static [&'static str],
    /// What introduces these notes.
    pub notes_title: &'static str,
    /// Its tables, figures and claims with the results of a run; none where the run's numbers cannot be understood.
    pub declare: fn(Results<'_>) -> Option<Declaration>,
    /// Its pictures of its own data, under this seed.
    pub draw: fn(u64) -> Vec<Drawing>,
}

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

impl Study {
    /// What the report says of this study, in the order of reading.
    pub fn sections(&self, results: Results<'_>) -> Vec<Section> {
        let Some(declared) = (self.declare)(results) else {
            return Vec::new();
        };
        let mut sections = declared.tables;
        let mut section = Section::new("claims", "The study's claims");
        if declared.claims.is_empty() {
            for words in declared.instead_of_claims {
                section.paragraph(words);
            }
        } else {
            let mut judged = claims::table(results.field, &declared.claims);
            judged.notes.extend(declared.claims_note);
            section.table(judged);
        }
        sections.push(section);
        sections.push(figure::section(declared.figures));
        if let Some(setting) = declared.setting {
            sections.push(self.published(results.field, setting, declared.published));
        }
        sections.extend(declared.further);
        sections
    }

    fn published(&self, field: &Field, setting: String, tables: Vec<Table>) -> Section {
        let mut section = Section::new("published", "The study's figures beside ours");
        section.paragraph(setting);
        section.paragraph(format!("The study's system: {}.", self.system));
        section.table(self.versions_beside(field));
        for table in tables {
            section.table(table);
        }
        section.paragraph(self.notes_title);
        section.list(self.notes.iter().map(|note| (*note).to_owned()).collect());
        section
    }

    /// The databases that the study ran, each with its version and ours. Years between them explain more of a ratio than machines do.
    fn versions_beside(&self, field: &Field) -> Table {
        let columns = ["database", "study", "here"];
        let title = "The study's versions and ours";
        let mut table = Table::new("published_versions", title, &columns);
        for (title, version) in self.versions {
            let here = versions_here(field, title);
            let here: Vec<&str> = here.iter().map(String::as_str).collect();
            let here = match here.is_empty() {
                true => Cell::Missing(table::NOT_MEASURED.to_owned()),
                false => Cell::text(listed(&here)),
            };
            table.row(vec![Cell::text(*title), Cell::text(*version), here]);
        }
        table
    }
}

/// The versions of a database that valid trials ran on.
fn versions_here(field: &Field, title: &str) -> BTreeSet<String> {
    let arms = field.all().map(|(_, arm)| arm);
    arms.filter(|arm| arm.implementation.title == title)
        .flat_map(|arm| field.valid_of(arm))
        .filter_map(|trial| Some(trial.server.as_ref()?.version.clone()))
        .collect()
}
