//! A study's versions beside ours.

use super::field::Field;
use super::sections::cells::listed;
use super::tables::{Cell, Section, Table};
use crate::published::Software;
use std::collections::BTreeSet;

/// Adds the table of versions: of the databases that the study ran and that were measured here. Years between them explain more of a ratio than machines do.
pub fn put(section: &mut Section, field: &Field, study: &Software) {
    section.paragraph(format!("The study's system: {}.", study.system));
    let columns = [("database", ""), ("study", ""), ("here", "")];
    let mut table = Table::new(
        "published_versions",
        "The study's versions and ours",
        &columns,
    );
    for (title, version) in &study.versions {
        let here = ours(field, title);
        let here: Vec<&str> = here.iter().map(String::as_str).collect();
        table.row(vec![
            Cell::text(title),
            Cell::text(version),
            if here.is_empty() {
                Cell::Missing("not measured".to_owned())
            } else {
                Cell::text(listed(&here))
            },
        ]);
    }
    section.table(table);
}

/// The versions of a database that valid trials ran on.
fn ours(field: &Field, title: &str) -> BTreeSet<String> {
    let arms = field.all().map(|(_, arm)| arm);
    arms.filter(|arm| arm.implementation.title == title)
        .flat_map(|arm| field.valid_of(arm))
        .filter_map(|trial| Some(trial.server.as_ref()?.version.clone()))
        .collect()
}
