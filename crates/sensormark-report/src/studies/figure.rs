//! A study's figure, drawn again: its points as a table, ours beside the published ones, and how a page draws them.
//!
//! A row a point, so that formats for programs hold what the page draws. Nothing is measured or judged here.

use super::*;

/// What the column "figures" says of a point that was measured here.
pub const HERE: &str = "here";

/// A figure without points, over x if there is one. Equal steps of lines may be equal factors, where ours and the published ones may lie far apart.
pub fn figure(
    id: &str,
    title: &str,
    drawing: (Shape, bool),
    x: Option<(&str, &str)>,
    y: (&str, &str),
) -> Table {
    let mut table = Table::detail(&format!("figure_{id}"), title, "implementation; figures");
    table.columns.extend(x.into_iter().chain([y]).map(crate::tables::Column::from));
    table.keys = table.columns.len() - 1;
    table.drawing = Some(Drawing { shape: drawing.0, logarithmic: drawing.1 });
    table
}

/// Adds a point: whose it is and whose figure, where it stands on the axis, and the figure; nothing where there is none.
pub fn point(table: &mut Table, name: &str, figures: &str, at: Option<Cell>, value: Cell) {
    if !matches!(value, Cell::Missing(_)) {
        let keys = [Cell::text(name), Cell::text(figures)].into_iter().chain(at);
        table.row(keys.chain([value]).collect());
    }
}

/// The section; empty when nothing of it was measured here. A figure of which nothing was is left out.
pub fn section(mut figures: Vec<Table>) -> Section {
    let mut section = Section::new("figures", "The study's figures, drawn again");
    figures.retain(|figure| figure.rows.iter().any(|row| row[1] == Cell::text(HERE)));
    if !figures.is_empty() {
        section.paragraph("Ours beside what the study printed, where it printed it: other machines, versions and often sizes, so that shapes and orders compare better than heights.");
    }
    figures.into_iter().for_each(|figure| section.table(figure));
    section
}
