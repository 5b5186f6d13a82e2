//! Tests of the report on records with known numbers: what is printed, who is ranked, and that nothing hostile gets out.

mod attempts;
mod compare;
mod fields;

mod formats;
mod hosts;
mod in_turns;
mod lifecycle;
pub(crate) mod phases;
mod ranks;
mod requirements;
mod schema;
mod sizes;
mod steadiness;
mod summary;
mod writes;

use super::*;
use sensormark_result::measurement::record::{RunRecord, TrialRecord};
use sensormark_result::tests::fixture::{self, *};

impl Report {
    pub(crate) fn text(&self, width: usize) -> String {
        text::render(self.document(), width)
    }

    pub(crate) fn csv(&self) -> String {
        csv::render(self.document())
    }

    pub(crate) fn markdown(&self) -> String {
        markdown::render(self.document())
    }
}

pub(crate) fn report(trials: Vec<TrialRecord>) -> Report {
    Report::new(run(), trials, &ReportOptions::default())
}

/// MariaDB individual (costly) and bulk (cheap), one repetition.
fn two() -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    trials.extend(pair("MariaDB", "individual", 0, COSTLY, COSTLY));
    trials.extend(pair("MariaDB", "bulk", 0, CHEAP, CHEAP));
    trials
}

/// The labels of the ranked, best first.
fn order(report: &Report) -> Vec<&str> {
    report.ranking().ranked.iter().map(|one| one.label.as_str()).collect()
}

/// The text of a cell: the row whose first cell is `item`, the column of this name.
pub(crate) fn cell(report: &Report, table: &str, item: &str, column: &str) -> String {
    let table = report
        .document()
        .tables()
        .find(|found| found.id == table)
        .unwrap_or_else(|| panic!("no table {table}"));
    let column = table
        .columns
        .iter()
        .position(|found| found.name == column)
        .unwrap_or_else(|| panic!("no column {column}"));
    let row =
        table.rows.iter().find(|row| row.iter().take(table.keys).any(|key| number::cell_text(key) == item));
    number::cell_text(&row.unwrap_or_else(|| panic!("no row {item}"))[column])
}
