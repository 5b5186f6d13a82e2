//! The sections of a report that a run makes of a study.

use super::*;
use crate::claims;

/// What is said instead of claims where the study has no words for it.
const NOTHING: &str = "No database of the study has a valid trial here, so none of its claims can be judged.";
/// What introduces the notes where the study has no words for it.
const OPEN: &str = "What the study leaves open or says twice differently:";

/// The versions of a database that valid trials ran on.
fn versions_here(field: &Field, title: &str) -> Cell {
    let versions: BTreeSet<&str> = field
        .all()
        .map(|(_, arm)| arm)
        .filter(|arm| arm.implementation.title == title)
        .flat_map(|arm| field.valid_of(arm))
        .filter_map(|trial| Some(&*trial.server.as_ref()?.version))
        .collect();
    if versions.is_empty() { Cell::missing(NOT_MEASURED) } else { Cell::text(listed(versions)) }
}

impl StudyFile {
    /// What the report says of this study, in the order of reading.
    pub fn sections(&self, field: &Field) -> Vec<Section> {
        let scope = Scope::new(self, field);
        let about = &self.study;
        let is_empty = self.who.keys().all(|name| scope.subject(name).is_none());
        let is_before = |[id, _]: &&[String; 2]| id != "claims";
        let made = |[id, title]: &[String; 2]| {
            let mut section = Section::new(id, title);
            section.tables(scope.tables(id));
            section
        };
        let mut sections = about.sections.iter().take_while(is_before).map(made).collect_vec();
        let mut section = Section::new("claims", "The study's claims");
        if is_empty {
            section.paragraph(or(&about.nothing, NOTHING));
        } else {
            let mut judged = claims::table(field, &scope.claims());
            judged.notes.extend(scope.fill(&about.claims).filter(|note| !note.is_empty()));
            section.table(judged);
        }
        sections.push(section);
        sections.push(figure::section(scope.drawings()));
        if !is_empty {
            sections.extend(scope.fill(&about.setting).map(|setting| scope.beside_ours(&setting)));
        }
        sections.extend(about.sections.iter().skip_while(is_before).map(made));
        sections
    }
}

impl Scope<'_> {
    /// What the study printed, its setting and its versions, beside ours.
    fn beside_ours(&self, setting: &str) -> Section {
        let about = &self.file.study;
        let mut section = Section::new("published", "The study's figures beside ours");
        section.paragraph(format!("Study: {}{setting}", about.title));
        section.paragraph(format!("The study's system: {}.", about.system));
        // Years between versions explain more of a ratio than machines do.
        let mut versions =
            Table::new("published_versions", "The study's versions and ours", "database; study; here");
        for (title, version) in &about.versions {
            versions.row(row![title, version, versions_here(self.field, title)]);
        }
        section.table(versions);
        section.tables(self.published());
        section.paragraph(or(&about.open, OPEN));
        section.list(about.notes.lines().map(str::to_owned).collect());
        section
    }
}
