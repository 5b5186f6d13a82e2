//! Tables of a study: rows that name their own columns, and the study's figures beside ours.

use super::*;

/// What of ours stands where nothing of the kind was measured.
pub const NOT_MEASURED: &str = "not measured";

/// A figure of a row: what its column is called, its unit, and its cell.
pub type Column = (String, String, Cell);

/// A row: what it is about, and its figures.
pub type Row = (Vec<Cell>, Vec<Column>);

/// A figure of a row.
pub fn column(name: impl Into<String>, unit: &str, cell: Cell) -> Column {
    (name.into(), unit.to_owned(), cell)
}

/// The table of these rows, which are all alike; `keys` name the columns that say what a row is about, and their units.
pub fn table(id: &str, title: &str, keys: &[(&str, &str)], rows: Vec<Row>) -> Table {
    let figures = rows
        .first()
        .into_iter()
        .flat_map(|(_, figures)| figures)
        .map(|(name, unit, _)| (name.as_str(), unit.as_str()));
    let columns = keys.iter().copied().chain(figures).map(crate::tables::Column::from).collect();
    let mut table = Table { columns, keys: keys.len(), ..Table::new(id, title, "") };
    for (mut cells, figures) in rows {
        cells.extend(figures.into_iter().map(|(.., cell)| cell));
        table.row(cells);
    }
    table
}

/// A figure that the study printed, ours, and what ours is of it.
pub fn beside(unit: &str, printed: f64, here: Cell) -> Vec<Column> {
    let (ratio, is_count) = (ratio(&here, printed), matches!(here, Cell::Count(_)));
    let printed = if is_count { Cell::Count(round_u64(printed)) } else { Cell::number(printed) };
    vec![column("study", unit, printed), column("here", unit, here), column("here / study", "", ratio)]
}

/// What ours is of a figure that the study printed.
fn ratio(here: &Cell, printed: f64) -> Cell {
    match here {
        Cell::Number(number) if printed != 0.0 => Cell::number(number.value / printed),
        Cell::Number(_) => Cell::missing("the study printed 0"),
        Cell::Missing(reason) => Cell::Missing(reason.clone()),
        _ => Cell::missing("no figure that has a ratio"),
    }
}
