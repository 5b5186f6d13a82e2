//! Tests of the report on records with known numbers: what is printed, who is ranked, and that nothing hostile gets out.

mod billing;
mod compare;
pub(crate) mod fixture;
mod formats;
pub(crate) mod kept;
pub(crate) mod phased;
mod platform;
mod ranks;
mod schema;
mod sensor_operations;
mod steadiness;
mod study;
mod summary;
mod writes;

use super::*;
use fixture::*;

fn report(trials: Vec<TrialRecord>) -> Report {
    Report::new(run(), trials, &ReportOptions::default()).unwrap()
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
    report
        .ranking()
        .ranked
        .iter()
        .map(|one| one.label())
        .collect()
}

/// The text of a cell: the row whose first cell is `item`, the column of this name.
fn cell(report: &Report, table: &str, item: &str, column: &str) -> String {
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
    let row = table.rows.iter().find(|row| {
        row.iter()
            .take(table.keys)
            .any(|key| number::cell_text(key) == item)
    });
    number::cell_text(&row.unwrap_or_else(|| panic!("no row {item}"))[column])
}

/// How many figures are drawn again, and how many of their bars stand beside those that the study printed, called so; these have to be alike,
/// but for scores, which are of other company, and load averages, of which one machine has one for both sides.
pub(super) fn drawn_as(report: &Report, published: &str) -> (usize, usize) {
    let drawn = || {
        report
            .document()
            .tables()
            .filter(|table| table.drawing.is_some())
    };
    let mut pairs = 0;
    let is_held = |table: &&tables::Table| {
        !table.id.starts_with("figure_score") && !table.id.ends_with("_load")
    };
    for table in drawn().filter(is_held) {
        let of = |figures: &str| {
            let rows = table.rows.iter();
            let own = rows.filter(|row| row[1] == tables::Cell::text(figures));
            own.cloned()
                .map(|mut row| {
                    (row.pop(), {
                        row.remove(1);
                        row
                    })
                })
                .collect::<Vec<_>>()
        };
        let ours = of("here");
        assert!(!ours.is_empty(), "{}: none of it is ours", table.id);
        for (printed, keys) in of(published) {
            let same = ours.iter().find(|(_, own)| *own == keys);
            let Some((Some(tables::Cell::Number(here)), _)) = same else {
                continue;
            };
            let Some(tables::Cell::Number(printed)) = printed else {
                panic!("{}: {printed:?}", table.id);
            };
            let apart = (here.value - printed.value).abs();
            assert!(
                apart <= printed.value * 0.01,
                "{} {keys:?}: {here:?} {printed:?}",
                table.id
            );
            pairs += 1;
        }
    }
    (drawn().count(), pairs)
}
