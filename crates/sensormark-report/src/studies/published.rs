//! What a study printed, row by row and column by column, and our figures beside it.

use super::*;

impl Scope<'_> {
    /// This scope for each row of a printed table with the keys that this scope has. `database` is what the study calls its database. `row` has the side before
    /// that. The implementation is what stands for it here.
    pub fn printed_rows(&self, table: &str) -> Vec<Self> {
        let row = |keys: &str, row: &[Value]| {
            let (own, values) = row.split_at_checked(1 + names(keys).count())?;
            let name = own[0].as_str()?;
            let mut scope =
                self.with("row", name).with("database", without_side(name)).with("values", values);
            for (key, value) in names(keys).zip(&own[1..]) {
                if self.value(key).is_some_and(|own| own != value) {
                    return None;
                }
                scope = scope.with(key, value.clone());
            }
            let arm = scope.subject(name);
            Some(arm.map_or_else(|| scope.clone(), |arm| scope.about(IMPLEMENTATION, arm)))
        };
        self.file.printed(table).map_or_else(Vec::new, |printed| {
            printed.rows.iter().filter_map(|one| row(&printed.keys, one)).collect()
        })
    }

    /// This scope for each column of a printed table: its `figure`, `definition` and `unit`, and of a row what was `printed`.
    pub fn printed_columns(&self, table: &str) -> Vec<Self> {
        let columns = self.file.printed(table).map_or("", |printed| &printed.columns);
        let of_column = |(place, column): (usize, &str)| {
            let (name, definition) = named(column);
            let printed = self.value("values").and_then(|values| values.get(place)).cloned();
            self.with("figure", name)
                .with("definition", definition)
                .with("printed", printed)
                .with("unit", self.quantity(definition).unit)
        };
        or(columns, self.text("figure")).lines().enumerate().map(of_column).collect()
    }

    /// Its printed tables, with ours beside them.
    pub fn published(&self) -> Vec<Table> {
        self.file.printed.iter().map(|of| self.published_table(of)).collect()
    }

    fn published_table(&self, of: &Printed) -> Table {
        let figure = if of.columns.lines().count() > 1 { "figure" } else { "" };
        let usual = format!("database, {}, {figure}", of.keys);
        let shown = names(or(&of.shown, &usual)).collect_vec();
        let scopes = self.each(&format!("rows of {0}, columns of {0}", of.id));
        let rows = scopes.iter().filter_map(|row| row.beside(of, &shown)).collect();
        let study = format!("{}, study", of.ends);
        let headings = shown
            .iter()
            .map(|key| if **key == *of.ends { &*study } else { named(key).0 })
            .map(|heading| (heading, ""))
            .collect_vec();
        let mut made = table(&format!("published_{}", of.id), &of.title, &headings, rows);
        for row in scopes.iter().filter(|_| shown[0] != IMPLEMENTATION) {
            let database = row.text("database");
            if let Some(arm) = row.subject(IMPLEMENTATION)
                && arm.label != database
            {
                made.note(format!("{database}: here {}.", arm.label));
            }
        }
        of.notes.lines().for_each(|note| made.note(note));
        made
    }

    /// A row of a printed figure beside ours; none where nothing stands for the database.
    fn beside(&self, of: &Printed, shown: &[&str]) -> Option<Row> {
        self.subject(IMPLEMENTATION)?;
        let keys = shown.iter().map(|key| self.key(key)).collect();
        let quantity = self.quantity(self.text("definition")).or(&of.missing);
        let printed = self.value("printed")?.as_f64()?;
        let own = self.own_value(of);
        let scope = own.as_ref().map(|own| self.with(&of.ends, own.clone()));
        let here = scope.map_or_else(|| Cell::missing(&of.missing), |scope| scope.own_cell(&quantity));
        let is_any_figure = shown.contains(&"figure");
        let mut columns = beside(if is_any_figure { "" } else { &quantity.unit }, printed, here);
        if is_any_figure {
            columns.insert(0, column("unit", "", Cell::text(quantity.unit)));
        }
        if !of.ends.is_empty() {
            let own = own.map_or_else(|| Cell::missing(NOT_MEASURED), |own| cell(&own));
            columns.insert(1, column(format!("{}, here", of.ends), "", own));
        }
        Some((keys, columns))
    }

    /// What of ours stands beside the study's value of a key: the same, or the least beside the least and the most beside the most.
    fn own_value(&self, of: &Printed) -> Option<Value> {
        let Some(place) = names(&of.keys).position(|key| key == of.ends) else {
            return Some(Value::Null);
        };
        let (theirs, ours) = (self.value(&of.ends)?, self.range(&of.ends));
        let mut all = of.rows.iter().map(|row| &row[1 + place]);
        if ours.contains(theirs) {
            Some(theirs.clone())
        } else if all.next() == Some(theirs) {
            ours.first().cloned()
        } else {
            ours.last().filter(|_| ours.len() > 1 && all.next_back() == Some(theirs)).cloned()
        }
    }
}
