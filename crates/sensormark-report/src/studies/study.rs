//! What a study is: what it printed and claimed, and the sections of a report that a run makes of it.

use super::figure;
use super::file::StudyFile;
use super::scope::Scope;
use super::select::Results;
use super::table;
use crate::claims;
use crate::field::Field;
use crate::sections::cells::listed;
use crate::tables::{Cell, Section, Table};
use std::collections::BTreeSet;

/// The databases that the study ran, each with its version and ours. Years between them explain more of a ratio than machines do.
fn versions_beside(field: &Field, versions: &[(&str, &str)]) -> Table {
    let columns = ["database", "study", "here"];
    let title = "The study's versions and ours";
    let mut table = Table::new("published_versions", title, &columns);
    for (title, version) in versions {
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

/// The versions of a database that valid trials ran on.
fn versions_here(field: &Field, title: &str) -> BTreeSet<String> {
    let arms = field.all().map(|(_, arm)| arm);
    arms.filter(|arm| arm.implementation.title == title)
        .flat_map(|arm| field.valid_of(arm))
        .filter_map(|trial| Some(trial.server.as_ref()?.version.clone()))
        .collect()
}

impl StudyFile {
    /// What the report says of this study, in the order of reading.
    pub fn sections(&self, results: Results<'_>) -> Vec<Section> {
        let scope = Scope::new(self, results);
        let about = &self.study;
        let is_empty = self.who.keys().all(|name| scope.subject(name).is_none());
        let is_before = |[id, _]: &&[String; 2]| id != "claims";
        let made = |[id, title]: &[String; 2]| table::section(id, title, scope.tables(id));
        let mut sections: Vec<Section> = about.sections.iter().take_while(is_before).map(made).collect();
        let mut section = Section::new("claims", "The study's claims");
        if is_empty {
            about
                .nothing
                .iter()
                .filter_map(|words| scope.fill(words))
                .for_each(|words| section.paragraph(words));
        } else {
            let mut judged = claims::table(results.field, &scope.claims());
            judged.notes.extend(scope.fill(&about.claims).filter(|note| !note.is_empty()));
            section.table(judged);
        }
        sections.push(section);
        sections.push(figure::section(scope.drawings()));
        if !is_empty && let Some(setting) = scope.fill(&about.setting) {
            sections.push(self.published(results.field, &setting, scope.tables("published")));
        }
        sections.extend(about.sections.iter().skip_while(is_before).map(made));
        sections
    }

    fn published(&self, field: &Field, setting: &str, tables: Vec<Table>) -> Section {
        let about = &self.study;
        let mut section = Section::new("published", "The study's figures beside ours");
        section.paragraph(format!("Study: {}{setting}", about.title));
        section.paragraph(format!("The study's system: {}.", about.system));
        let versions: Vec<(&str, &str)> =
            about.versions.iter().map(|(title, version)| (&**title, &**version)).collect();
        section.table(versions_beside(field, &versions));
        tables.into_iter().for_each(|table| section.table(table));
        section.paragraph(about.open.clone());
        section.list(about.notes.clone());
        section
    }
}
