//! A study's figure, drawn again: its points as a table, ours beside the published ones, and how a page draws them.
//!
//! A row a point, so that formats for programs hold what the page draws. Each study's own file says which figures there are; nothing is measured or judged
//! here.

use super::quantity::Quantity;
use super::select::Results;
use crate::field::Arm;
use crate::sections::cells::exact;
use crate::tables::{Cell, Drawing, Section, Shape, Table};

/// What the column "figures" says of a point that was measured here.
const HERE: &str = "here";
/// The same of one that a study printed; perhaps with more behind it.
const PUBLISHED: &str = "published";

/// A point that was measured: whose, where it stands on the axis if there is one, and the figure.
pub type Point = (String, Option<Cell>, Cell);

/// A figure, point by point.
pub struct Figure {
    table: Table,
}

impl Figure {
    fn new(id: &str, title: &str, shape: Shape, keys: &[(&str, &str)], y: (&str, &str)) -> Self {
        let mut columns = vec![("implementation", ""), ("figures", "")];
        columns.extend(keys);
        columns.push(y);
        let mut table = Table::new(&format!("figure_{id}"), title, &columns);
        table.keys = columns.len() - 1;
        table.is_detail = true;
        table.drawing = Some(Drawing { shape, logarithmic: shape == Shape::Lines });
        Self { table }
    }

    /// A bar for each implementation; `y` is what it shows: name and unit.
    pub fn bars(id: &str, title: &str, y: (&str, &str)) -> Self {
        Self::new(id, title, Shape::Bars, &[], y)
    }

    /// Bars for each implementation, one for each of some things.
    pub fn groups(id: &str, title: &str, of: &str, y: (&str, &str)) -> Self {
        Self::new(id, title, Shape::Bars, &[(of, "")], y)
    }

    /// A line for each implementation, of `y` over `x`. Equal steps are equal factors, because ours and the published ones may lie far apart.
    pub fn lines(id: &str, title: &str, x: (&str, &str), y: (&str, &str)) -> Self {
        Self::new(id, title, Shape::Lines, &[x], y)
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
    pub fn here(&mut self, name: &str, at: impl Into<Option<Cell>>, value: Cell) {
        self.point(name, HERE, at.into(), value);
    }

    /// Adds a figure that the study printed; `further` tells several of its own apart.
    pub fn published(&mut self, name: &str, further: &str, at: impl Into<Option<Cell>>, value: f64) {
        let figures =
            if further.is_empty() { PUBLISHED.to_owned() } else { format!("{PUBLISHED}, {further}") };
        self.point(name, &figures, at.into(), exact(value));
    }

    /// Adds all of these points, measured here.
    pub fn all_here(mut self, points: impl IntoIterator<Item = Point>) -> Self {
        for (name, at, value) in points {
            self.here(&name, at, value);
        }
        self
    }

    /// Adds what everybody has of a quantity at each of these places of the axis.
    pub fn over<'q>(
        self,
        results: Results<'_>,
        places: &[u64],
        quantity: impl Fn(u64) -> Quantity<'q>,
    ) -> Self {
        let at: Vec<(u64, Quantity<'q>)> = places.iter().map(|&at| (at, quantity(at))).collect();
        let points = results.arms().flat_map(|arm| {
            let point = |(at, quantity): &(u64, Quantity<'q>)| {
                let at = Cell::Count(*at);
                (arm.label.clone(), Some(at), quantity.cell(results, arm))
            };
            at.iter().map(point)
        });
        self.all_here(points)
    }

    /// Adds all of these figures, which the study printed.
    pub fn all_published<'n>(mut self, points: impl IntoIterator<Item = (&'n str, Cell, f64)>) -> Self {
        for (name, at, value) in points {
            self.published(name, "", at, value);
        }
        self
    }

    /// Bars of everybody with a valid trial, and the study's own: beside what stands for it here, else by the study's name for it.
    pub fn beside<'a>(
        mut self,
        arms: impl Iterator<Item = &'a Arm>,
        here: impl Fn(&Arm) -> Cell,
        printed: impl Iterator<Item = (&'a str, Option<&'a Arm>, f64)>,
    ) -> Self {
        for arm in arms {
            self.here(&arm.label, None, here(arm));
        }
        for (name, counterpart, value) in printed {
            let label = counterpart.map_or(name, |arm| arm.label.as_str());
            if label != name {
                self.table.note(format!("The study's {name} stands beside {label}."));
            }
            self.published(label, "", None, value);
        }
        self
    }

    /// Says what a reader has to know of it.
    pub fn note(mut self, words: &str) -> Self {
        self.table.note(words);
        self
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
