//! Figures of a study, drawn again: points over implementations and an axis, and those that the study printed.

use super::figure::Figure;
use super::file::DrawingRow;
use super::functions;
use super::rows::{heading, named};
use super::scope::{IMPLEMENTATION, Scope, cell, value as value_of};
use crate::tables::Shape;

impl Scope<'_> {
    /// All of them, in the order of the file.
    pub fn drawings(&self) -> Vec<Figure> {
        let rows = self.file.drawings.iter();
        rows.flat_map(|row| self.each(&row.each).into_iter().filter_map(|scope| scope.drawn(row))).collect()
    }

    fn drawn(&self, row: &DrawingRow) -> Option<Figure> {
        if !row.function.is_empty() {
            return functions::drawing(self, &row.function);
        }
        self.fill(&row.only)?;
        let (x, y) = (heading(named(&row.x).0), self.fill(&row.y)?);
        let shape = if matches!(&*row.shape, "lines" | "even") { Shape::Lines } else { Shape::Bars };
        let x = Some(x).filter(|(name, _)| !name.is_empty());
        let mut figure = Figure::new(&self.fill(&row.id)?, &self.fill(&row.title)?, shape, x, heading(&y));
        if row.shape == "even" {
            figure = figure.even();
        }
        let name = x.map_or("", |(name, _)| name);
        let usual = [IMPLEMENTATION, name];
        let over: Vec<&str> = match row.rows.is_empty() {
            true => usual.into_iter().filter(|range| !range.is_empty()).collect(),
            false => row.rows.iter().map(String::as_str).collect(),
        };
        let whose = if row.name.is_empty() { "{implementation}" } else { &row.name };
        for scope in self.each(&over) {
            let quantity = scope.quantity(&scope.fill(&row.figure)?);
            figure.here(&scope.fill(whose)?, x.map(|_| scope.key(&row.x)), scope.own_cell(&quantity));
        }
        let is_of_printed = |range: &&&str| {
            let names = range.split(" in ").next().unwrap_or_default();
            ![IMPLEMENTATION, "database", "rows of scores"].contains(range)
                && names.split(' ').all(|name| !row.x.contains(&format!("{{{name}}}")) && name != row.x)
        };
        let over: Vec<&str> = over.iter().filter(is_of_printed).copied().collect();
        for scope in self.each(&over) {
            for printed in &row.printed {
                scope.draw_printed(&mut figure, row, whose, &scope.fill(printed)?);
            }
        }
        for note in row.notes.iter().filter_map(|note| self.fill(note)) {
            figure = figure.note(&note);
        }
        Some(figure)
    }

    /// Adds a column of a printed table: a line by the study's names, bars beside what stands for the study's database here.
    fn draw_printed(&self, figure: &mut Figure, row: &DrawingRow, whose: &str, printed: &str) {
        let (column, block) =
            printed.split_once(" of ").map_or((None, printed), |(column, block)| (Some(column), block));
        let columns = self.file.printed.get(block).map_or(&[][..], |block| &block.columns);
        for one in self.printed(block) {
            let label = match (whose, &*row.shape) {
                ("{implementation}", "bars" | "groups") => {
                    self.subject(&one.name).map_or(one.title(), |arm| &arm.label)
                }
                _ => one.title(),
            };
            if row.shape == "bars" && label != one.title() {
                figure.say(&format!("The study's {} stands beside {label}.", one.title()));
            }
            let further = one.scope.fill(&row.further).unwrap_or_default();
            let named = one.scope.with(IMPLEMENTATION, label.into()).with("database", label.into());
            for (place, value) in one.values.iter().enumerate() {
                let name = columns.get(place).and_then(|column| column.split(" = ").next());
                if column.is_some() && name != column {
                    continue;
                }
                let named = named.with("column", name.into());
                let at = match &*row.at {
                    "" => Some(named.key(&row.x)).filter(|_| !row.x.is_empty()),
                    at => named.fill(at).map(|at| cell(&value_of(&at))),
                };
                if let Some(name) = named.fill(whose) {
                    figure.published(&name, &further, at, *value);
                }
            }
        }
    }
}
