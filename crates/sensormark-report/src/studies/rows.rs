//! Tables of what was measured here: rows over implementations and ranges, and a figure in each column.

use super::*;

/// `data [h]` as its name and its unit.
pub fn heading(text: &str) -> (&str, &str) {
    text.strip_suffix(']').and_then(|text| text.split_once(" [")).unwrap_or((text, ""))
}

/// "NAME = REST" as both; the text itself for both where it has no name of its own.
pub fn named(text: &str) -> (&str, &str) {
    text.split_once(" = ").unwrap_or((text, text))
}

impl Scope<'_> {
    /// The tables of a section: of the first one of the study's own where they name none.
    pub fn tables(&self, section: &str) -> Vec<Table> {
        let mut sections = self.file.study.sections.iter().map(|[id, _]| &**id);
        let first = sections.find(|id| *id != "claims").unwrap_or_default();
        self.file
            .tables
            .iter()
            .filter(|table| section == or(&table.section, first))
            .flat_map(|rows| self.each(&rows.each).into_iter().filter_map(|scope| scope.table(rows)))
            .collect()
    }

    fn table(&self, of: &TableRows) -> Option<Table> {
        self.fill(&of.only)?;
        let over = or(&of.rows, IMPLEMENTATION);
        let keys =
            names(or(&of.keys, over)).map(|key| key.split(" in ").next().unwrap_or_default()).collect_vec();
        let scopes = self.each(over);
        let row = |row: &Self| {
            let figures = row.figures(of).filter(|figures| !figures.is_empty())?;
            Some((keys.iter().map(|key| row.key(key)).collect(), figures))
        };
        let rows = scopes.iter().filter_map(row).collect();
        let headings = keys.iter().map(|key| heading(named(key).0)).collect_vec();
        let mut made = table(&self.fill(&of.id)?, &self.fill(&of.title)?, &headings, rows);
        for note in of.notes.lines() {
            self.each_named(note)
                .iter()
                .chain(&scopes)
                .filter_map(|scope| scope.fill(note))
                .for_each(|note| made.note(note));
        }
        Some(made)
    }

    /// The figures of a row, a column for each value of the ranges that its heading names. None where nothing was measured and the table leaves such rows out.
    fn figures(&self, of: &TableRows) -> Option<Vec<Column>> {
        let mut is_any = !of.some;
        let mut figures = vec![];
        for (name, definition) in of.columns.lines().map(named) {
            for scope in self.each_named(name) {
                let Some(heading) = scope.fill(name) else { continue };
                let quantity = scope.quantity(definition).or(&of.missing);
                let arm = scope.subject(IMPLEMENTATION).or_else(|| scope.subject("one"));
                is_any |= has(&scope.values(&quantity.expression, arm));
                figures.push(column(
                    heading,
                    &quantity.unit,
                    functions::exponent(&scope, definition).unwrap_or_else(|| scope.cell(&quantity, arm)),
                ));
            }
        }
        is_any.then_some(figures)
    }

    /// What a key says of this row: `HEADING = TEXT`, or a name whose value is the cell.
    pub fn key(&self, key: &str) -> Cell {
        let (name, text) = named(key);
        let name = if name == text { heading(name).0 } else { text.trim_matches(['{', '}']) };
        if let Some(value) = self.value(name) {
            return cell(value);
        }
        let label = self.subject(name).map(|arm| arm.label.clone());
        Cell::text(label.or_else(|| self.fill(text)).unwrap_or_default())
    }
}
