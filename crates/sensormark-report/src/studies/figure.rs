//! A study's figure, drawn again: its points as a table, ours beside the published ones, and how a page draws them.
//!
//! A row a point, so that formats for programs hold what the page draws. Each study's own file says which figures there are; nothing is measured or judged
//! here.

use crate::sections::cells::exact;
use crate::tables::{Cell, Drawing, Section, Shape, Table};

/// What the column "figures" says of a point that was measured here.
const HERE: &str = "here";
/// The same of one that a study printed; perhaps with more behind it.
const PUBLISHED: &str = "published";

/// A figure, point by point.
pub struct Figure {
    table: Table,
}

impl Figure {
    /// A figure without points. Equal steps of lines are equal factors, because ours and the published ones may lie far apart.
    pub fn new<'k>(
        id: &str,
        title: &str,
        shape: Shape,
        keys: impl IntoIterator<Item = (&'k str, &'k str)>,
        y: (&'k str, &'k str),
    ) -> Self {
        let mut columns = vec![("implementation", ""), ("figures", "")];
        columns.extend(keys);
        columns.push(y);
        let mut table = Table::new(&format!("figure_{id}"), title, &columns);
        table.keys = columns.len() - 1;
        table.is_detail = true;
        table.drawing = Some(Drawing { shape, logarithmic: shape == Shape::Lines });
        Self { table }
    }

    /// The same with even axes.
    pub fn even(mut self) -> Self {
        if let Some(drawing) = &mut self.table.drawing {
            drawing.logarithmic = false;
        }
        self
    }

    fn point(&mut self, name: &str, figures: &str, at: Option<Cell>, value: Cell) {
        if matches!(value, Cell::Missing(_)) {
            return;
        }
        let mut row = vec![Cell::text(name), Cell::text(figures)];
        row.extend(at);
        row.push(value);
        self.table.row(row);
    }

    /// Adds what was measured here; nothing where nothing was.
    pub fn here(&mut self, name: &str, at: Option<Cell>, value: Cell) {
        self.point(name, HERE, at, value);
    }

    /// Adds a figure that the study printed; `further` tells several of its own apart.
    pub fn published(&mut self, name: &str, further: &str, at: Option<Cell>, value: f64) {
        let figures =
            if further.is_empty() { PUBLISHED.to_owned() } else { format!("{PUBLISHED}, {further}") };
        self.point(name, &figures, at, exact(value));
    }

    /// Says what a reader has to know of it.
    pub fn note(mut self, words: &str) -> Self {
        self.say(words);
        self
    }

    /// Adds what a reader has to know of it.
    pub fn say(&mut self, words: &str) {
        self.table.note(words);
    }

    /// Its points; none where none of them is ours.
    fn table(mut self) -> Table {
        let is_ours = |row: &Vec<Cell>| row[1] == Cell::text(HERE);
        if !self.table.rows.iter().any(is_ours) {
            self.table.rows.clear();
        }
        self.table
    }
}

/// The section; empty when nothing of it was measured here.
pub fn section(figures: Vec<Figure>) -> Section {
    let mut section = Section::new("figures", "The study's figures, drawn again");
    let tables: Vec<Table> = figures.into_iter().map(Figure::table).collect();
    if tables.iter().any(|table| !table.rows.is_empty()) {
        section.paragraph("Ours beside what the study printed, where it printed it: other machines, versions and often sizes, so that shapes and orders compare better than heights.");
    }
    for table in tables {
        section.table(table);
    }
    section
}
