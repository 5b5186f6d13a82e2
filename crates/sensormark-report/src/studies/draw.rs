//! Figures of a study, drawn again: points over implementations and an axis, and those that the study printed.

use super::*;

impl Scope<'_> {
    /// All of them, in the order of the file.
    pub fn drawings(&self) -> Vec<Table> {
        self.file
            .drawings
            .iter()
            .flat_map(|row| self.each(&row.each).into_iter().filter_map(|scope| scope.drawn(row)))
            .collect()
    }

    fn drawn(&self, row: &DrawingRow) -> Option<Table> {
        if row.function == "ingest_rate" {
            return Some(ingest_rate::drawn(self.field));
        }
        self.fill(&row.only)?;
        let (x, y) = (heading(named(&row.x).0), self.fill(&row.y)?);
        let x = Some(x).filter(|(name, _)| !name.is_empty());
        let is_bars = x.is_none() || row.shape == "groups";
        let shape = if is_bars { Shape::Bars } else { Shape::Lines };
        let (id, title) = (self.fill(&row.id)?, self.fill(&row.title)?);
        let unit = self.quantity(&row.figure).unit;
        let (y, own) = heading(&y);
        let mut drawn = figure(&id, &title, (shape, !is_bars), x, (y, or(own, &unit)));
        let usual = x.map_or(IMPLEMENTATION.to_owned(), |(name, _)| format!("{IMPLEMENTATION}, {name}"));
        let over = or(&row.rows, &usual);
        let whose = or(&row.name, "{implementation}");
        for scope in self.each(over) {
            let quantity = scope.quantity(&scope.fill(&row.figure)?);
            let at = x.map(|_| scope.key(&row.x));
            point(&mut drawn, &scope.fill(whose)?, HERE, at, scope.own_cell(&quantity));
        }
        // Printed figures run over what their names have, too.
        let is_of_printed = |range: &&str| {
            let mut own = range.split(" in ").next().unwrap_or_default().split(' ');
            ![IMPLEMENTATION, "database"].contains(range)
                && own.any(|name| whose.contains(&format!("{{{name}}}")))
        };
        for scope in self.each(&names(over).filter(is_of_printed).join(", ")) {
            for printed in row.printed.lines() {
                scope.draw_printed(&mut drawn, row, is_bars, whose, &scope.fill(printed)?);
            }
        }
        row.notes.lines().filter_map(|note| self.fill(note)).for_each(|note| drawn.note(note));
        Some(drawn)
    }

    /// Adds a printed table, or a column of one: lines by the study's names, bars beside what stands for the study's database here.
    fn draw_printed(&self, figure: &mut Table, row: &DrawingRow, is_bars: bool, whose: &str, printed: &str) {
        let (column, table) = printed.split_once(" of ").unwrap_or(("", printed));
        let scopes = self.each(&format!("rows of {table}, columns of {table}"));
        for scope in scopes.into_iter().filter(|scope| column.is_empty() || column == scope.text("figure")) {
            let database = scope.text("database");
            let is_beside = is_bars && scope.subject(IMPLEMENTATION).is_some();
            let named = if is_beside { scope.clone() } else { scope.with(IMPLEMENTATION, database) };
            let at = match &*row.at {
                "" => Some(named.key(&row.x)).filter(|_| !row.x.is_empty()),
                at => named.fill(at).map(|at| cell(&value(&at))),
            };
            let further = named.fill(&row.further).filter(|further| !further.is_empty());
            let figures = further.map_or("published".to_owned(), |further| format!("published, {further}"));
            let value = scope.value("printed").and_then(Value::as_f64);
            let (Some(name), Some(value)) = (named.fill(whose), value) else { continue };
            if row.x.is_empty() && name != database {
                figure.note(format!("The study's {database} stands beside {name}."));
            }
            point(figure, &name, &figures, at, exact(value));
        }
    }
}
