//! Tables of a study: rows that name their own columns, and the study's figures beside ours.

use crate::claims::{Values, ratios};
use crate::sections::cells::geometric_mean;
use crate::tables::{Cell, Section, Table};
use sensormark_data::units::round_u64;

/// What of ours stands where nothing of the kind was measured.
pub const NOT_MEASURED: &str = "not measured";

/// A named figure of a row.
pub struct Column {
    name: String,
    unit: String,
    cell: Cell,
}

/// A figure of a row: what its column is called, its unit, and its cell.
pub fn column(name: impl Into<String>, unit: &str, cell: Cell) -> Column {
    let (name, unit) = (name.into(), unit.to_owned());
    Column { name, unit, cell }
}

/// A row: what it is about, and its figures.
pub type Row = (Vec<Cell>, Vec<Column>);

/// The table of these rows, which are all alike; `keys` name the columns that say what a row is about.
pub fn table(id: &str, title: &str, keys: &[&str], rows: impl IntoIterator<Item = Row>) -> Table {
    let mut rows = rows.into_iter().peekable();
    let mut columns: Vec<(&str, &str)> = keys.iter().map(|key| (*key, "")).collect();
    let first: Vec<(String, String)> = rows.peek().map_or_else(Vec::new, |(_, figures)| {
        let named = figures.iter();
        named.map(|one| (one.name.clone(), one.unit.clone())).collect()
    });
    columns.extend(first.iter().map(|(name, unit)| (name.as_str(), unit.as_str())));
    let mut table = Table::new(id, title, &columns);
    table.keys = keys.len();
    for (mut cells, figures) in rows {
        cells.extend(figures.into_iter().map(|one| one.cell));
        table.row(cells);
    }
    table
}

/// Two figures of a row side by side, and what the one is of the other.
pub fn two_and_ratio(
    [one_name, other_name, ratio_name]: [&str; 3],
    unit: &str,
    one: &Values,
    other: &Values,
    missing: &str,
) -> Vec<Column> {
    let cell = |values: &Values| geometric_mean(values, missing);
    vec![
        column(one_name, unit, cell(one)),
        column(other_name, unit, cell(other)),
        column(ratio_name, "", cell(&ratios(one, other))),
    ]
}

/// A section of these tables; those without rows are left out.
pub fn section(id: &str, title: &str, tables: impl IntoIterator<Item = Table>) -> Section {
    let mut section = Section::new(id, title);
    for table in tables {
        section.table(table);
    }
    section
}

/// A figure that the study printed, ours, and what ours is of it.
pub fn beside(unit: &str, printed: f64, here: Cell) -> Vec<Column> {
    let (ratio, is_count) = (ratio(&here, printed), matches!(here, Cell::Count(_)));
    let printed = if is_count { Cell::Count(round_u64(printed)) } else { Cell::number(printed) };
    vec![column("study", unit, printed), column("here", unit, here), column("here / study", "", ratio)]
}

/// What ours is of a figure that the study printed.
pub fn ratio(here: &Cell, printed: f64) -> Cell {
    match here {
        Cell::Number(number) if printed != 0.0 => Cell::number(number.value / printed),
        Cell::Number(_) => Cell::Missing("the study printed 0".to_owned()),
        Cell::Missing(reason) => Cell::Missing(reason.clone()),
        _ => Cell::Missing("no figure that has a ratio".to_owned()),
    }
}
