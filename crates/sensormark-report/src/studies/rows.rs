//! Tables of what was measured here: rows over implementations and ranges, and a figure in each column.

use crate::{
    claims::has,
    prelude::*,
    studies::{
        expression::Quantity,
        file::{TableRows, names},
        functions,
        scope::{IMPLEMENTATION, Scope, cell},
        table::{Column, column, table},
    },
};

/// `data [h]` as its name and its unit.
pub fn heading(text: &str) -> (&str, &str) {
    text.strip_suffix(']').and_then(|text| text.split_once(" [")).unwrap_or((text, ""))
}

/// "NAME = REST" as both; the text itself for both where it has no name of its own.
pub fn named(text: &str) -> (&str, &str) {
    text.split_once(" = ").unwrap_or((text, text))
}

impl<'a> Scope<'a> {
    /// The tables of a section: of the first one of the study's own where they name none, and of what was published where they are of a printed table.
    pub fn tables(&self, section: &str) -> Vec<Table> {
        let mut sections = self.file.study.sections.iter().map(|[id, _]| &**id);
        let first = sections.find(|id| *id != "claims").unwrap_or_default();
        let own = self.file.tables.iter().filter(|table| {
            let own = if table.section.is_empty() { first } else { &table.section };
            section == if table.of.is_empty() { own } else { "published" }
        });
        own.flat_map(|rows| self.each(&rows.each).into_iter().filter_map(|scope| scope.table(rows))).collect()
    }

    fn table(&self, of: &TableRows) -> Option<Table> {
        self.fill(&of.only)?;
        let is_printed = !of.of.is_empty();
        let over = match of.rows.is_empty() {
            _ if is_printed => format!("rows of {0}, columns of {0}", of.of),
            true => IMPLEMENTATION.to_owned(),
            false => of.rows.clone(),
        };
        let key = |range: &str| range.split(" in ").next().unwrap_or_default().to_owned();
        let keys: Vec<String> =
            if of.keys.is_empty() { names(&over).map(key).collect() } else { of.keys.clone() };
        let columns: Vec<_> = of.columns.lines().flat_map(|text| self.columns(text)).collect();
        let scopes = self.each(&over);
        let own = |row: &Self| {
            let figures = row.figures(of, &columns).filter(|figures| !figures.is_empty())?;
            Some((keys.iter().map(|key| row.key(key)).collect(), figures))
        };
        let rows = scopes.iter().filter_map(|row| if is_printed { row.beside(of) } else { own(row) });
        let headings: Vec<(&str, &str)> = keys.iter().map(|key| heading(named(key).0)).collect();
        let mut made = table(&self.fill(&of.id)?, &self.fill(&of.title)?, &headings, rows.collect());
        for row in scopes.iter().filter(|_| is_printed && keys[0] != IMPLEMENTATION) {
            if row
                .subject(IMPLEMENTATION)
                .is_some_and(|arm| row.fill("{database}").as_ref() != Some(&arm.label))
            {
                row.note(&mut made, "{database}: here {implementation}.", &[]);
            }
        }
        of.notes.lines().for_each(|note| self.note(&mut made, note, &scopes));
        Some(made)
    }

    /// The figures of a row; none where none of them was measured and the table leaves such rows out.
    fn figures(&self, of: &TableRows, columns: &[(String, &str, Self)]) -> Option<Vec<Column>> {
        let mut is_any = !of.some;
        let figures = columns.iter().map(|(name, definition, scope)| {
            let scope = self.and(scope);
            let quantity = scope.quantity(definition).or(&of.missing);
            let arm = scope.subject(IMPLEMENTATION).or_else(|| scope.subject("one"));
            is_any |= has(&scope.values(&quantity.expression, arm));
            let cell = functions::cell(&scope, definition).unwrap_or_else(|| scope.cell(&quantity, arm));
            column(name, &quantity.unit, cell)
        });
        let figures = figures.collect();
        is_any.then_some(figures)
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

    /// Adds a note, one for each value of the ranges that it names, or for each row.
    fn note(&self, table: &mut Table, note: &str, rows: &[Self]) {
        let mut about = self.each_named(note);
        about.extend_from_slice(rows);
        about.iter().filter_map(|scope| scope.fill(note)).for_each(|note| table.note(note));
    }

    /// The point or cell of a quantity where an implementation is the row's own.
    pub fn own_cell(&self, quantity: &Quantity) -> Cell {
        self.cell(quantity, self.subject(IMPLEMENTATION))
    }
}
