//! Tables of what was measured here: rows over implementations and ranges, and a figure in each column.

use super::expression::Quantity;
use super::file::TableRows;
use super::functions;
use super::scope::{IMPLEMENTATION, Scope, cell};
use super::table::{Row, column, table};
use crate::claims::has;
use crate::tables::{Cell, Table};

/// "data [h]" as its name and its unit.
pub fn heading(text: &str) -> (&str, &str) {
    text.strip_suffix(']').and_then(|text| text.split_once(" [")).unwrap_or((text, ""))
}

/// "NAME = REST" as both; the text itself for both where it has no name of its own.
pub fn named(text: &str) -> (&str, &str) {
    text.split_once(" = ").unwrap_or((text, text))
}

impl<'a> Scope<'a> {
    /// The tables of a section.
    pub fn tables(&self, section: &str) -> Vec<Table> {
        let first = self.file.study.sections.first().map_or("", |[id, _]| id);
        let own = self
            .file
            .tables
            .iter()
            .filter(|table| table.section == section || table.section.is_empty() && section == first);
        own.flat_map(|rows| self.each(&rows.each).into_iter().filter_map(|scope| scope.table(rows))).collect()
    }

    fn table(&self, of: &TableRows) -> Option<Table> {
        self.fill(&of.only)?;
        let mut made = self.table_of_rows(of, &self.fill(&of.id)?)?;
        self.note(&mut made, &of.notes, &of.rows);
        Some(made)
    }

    fn table_of_rows(&self, of: &TableRows, id: &str) -> Option<Table> {
        let over = if of.rows.is_empty() { vec![IMPLEMENTATION.to_owned()] } else { of.rows.clone() };
        let names = |range: &String| range.split(" in ").next().unwrap_or_default().to_owned();
        let keys: Vec<String> =
            if of.keys.is_empty() { over.iter().map(names).collect() } else { of.keys.clone() };
        let columns: Vec<_> = of.columns.iter().flat_map(|text| self.columns(text)).collect();
        let rows = self.each(&over).into_iter().filter(|_| !columns.is_empty());
        let rows = rows.filter_map(|row| {
            let mut is_any = !of.some;
            let mut figures = Vec::new();
            for (name, definition, scope) in &columns {
                let scope = row.and(scope);
                let quantity = scope.quantity(definition);
                let arm = scope.subject(IMPLEMENTATION).or_else(|| scope.subject("one"));
                is_any |= has(&scope.values(&quantity.expression, arm));
                let cell = functions::cell(&scope, definition).unwrap_or_else(|| scope.cell(&quantity, arm));
                figures.push(column(name, &quantity.unit, cell));
            }
            let keys = keys.iter().map(|key| row.key(key)).collect();
            is_any.then_some((keys, figures))
        });
        let rows: Vec<Row> = rows.collect();
        let names: Vec<&str> = keys.iter().map(|key| heading(named(key).0).0).collect();
        let mut made = table(id, &self.fill(&of.title)?, &names, rows);
        for (column, key) in made.columns.iter_mut().zip(&keys) {
            heading(named(key).0).1.clone_into(&mut column.unit);
        }
        Some(made)
    }

    /// A column as its heading, its definition and what it is about: one for each value of the ranges that its heading names.
    fn columns<'t>(&self, text: &'t str) -> Vec<(String, &'t str, Self)> {
        let (name, definition) = named(text);
        let scopes = self.each_named(name).into_iter();
        scopes.filter_map(|scope| Some((scope.fill(name)?, definition, scope))).collect()
    }

    /// What a key says of this row: `HEADING = TEXT`, or a name whose value is the cell.
    pub fn key(&self, key: &str) -> Cell {
        let (name, text) = named(key);
        let name = if name == text { heading(name).0 } else { text.trim_matches(['{', '}']) };
        let label = || self.subject(name).map(|arm| arm.label.clone());
        let own = self.value(name).map(cell).or_else(|| Some(Cell::text(label()?)));
        own.unwrap_or_else(|| Cell::text(self.fill(text).unwrap_or_default()))
    }

    /// Adds notes, one for each value of the ranges that they name, or for each row.
    pub fn note(&self, table: &mut Table, notes: &[String], rows: &[String]) {
        for note in notes {
            let mut about = self.each_named(note);
            about.extend(self.each(rows));
            if note.contains("{if ") {
                about.extend(self.each(&[IMPLEMENTATION]));
            }
            about.iter().filter_map(|scope| scope.fill(note)).for_each(|note| table.note(note));
        }
    }

    /// The point or cell of a quantity where an implementation is the row's own.
    pub fn own_cell(&self, quantity: &Quantity) -> Cell {
        self.cell(quantity, self.subject(IMPLEMENTATION))
    }
}
