//! What a study printed, row by row and column by column, and our figures beside it.

use super::{
    file::{TableRows, names},
    rows::named,
    scope::{IMPLEMENTATION, Scope, cell, without_side},
    table::{NOT_MEASURED, Row, beside, column},
};
use crate::prelude::*;

impl Scope<'_> {
    /// This scope for each row of a printed table with the keys that this scope has. `database` is the study's name of its database, and `row` is that with its
    /// side. The implementation is what stands for it here.
    pub fn printed_rows(&self, table: &str) -> Option<Vec<Self>> {
        let printed = self.file.printed.get(table)?;
        let row = |row: &Vec<Value>| {
            let (keys, values) = row.split_at_checked(1 + names(&printed.keys).count())?;
            let name = keys[0].as_str()?;
            let mut scope = self.with("row", name.into()).with("database", without_side(name).into());
            for (key, value) in names(&printed.keys).zip(&keys[1..]) {
                if self.value(key).is_some_and(|own| own != value) {
                    return None;
                }
                scope = scope.with(key, value.clone());
            }
            scope = scope.with("values", values.into());
            let arm = scope.subject(name);
            Some(arm.map_or_else(|| scope.clone(), |arm| scope.about(IMPLEMENTATION, arm)))
        };
        Some(printed.rows.iter().filter_map(row).collect())
    }

    /// This scope for each column of a printed table: its `figure`, `definition` and `unit`, and of a row what was `printed`.
    pub fn printed_columns(&self, table: &str) -> Option<Vec<Self>> {
        let columns = &self.file.printed.get(table)?.columns;
        let listed = self.value("figure").and_then(Value::as_str).unwrap_or_default();
        let columns = if columns.is_empty() { listed } else { columns };
        let of_column = |(place, column): (usize, &str)| {
            let (name, definition) = named(column);
            let unit = self.quantity(definition).unit;
            let scope = self
                .with("figure", name.into())
                .with("definition", definition.into())
                .with("unit", unit.into());
            let printed = self.value("values").and_then(|values| values.get(place)).cloned();
            scope.with("printed", printed.into())
        };
        Some(columns.lines().enumerate().map(of_column).collect())
    }

    /// A row of a printed figure beside ours; none where nothing stands for the database.
    pub fn beside(&self, of: &TableRows) -> Option<Row> {
        self.subject(IMPLEMENTATION)?;
        let keys = of.keys.iter().map(|key| self.key(key)).collect();
        let quantity = self.quantity(self.value("definition")?.as_str()?).or(&of.missing);
        let printed = self.value("printed")?.as_f64()?;
        if of.keys.iter().any(|key| key == "figure") {
            let mut columns = beside("", printed, self.own_cell(&quantity));
            columns.insert(0, column("unit", "", Cell::text(&quantity.unit)));
            return Some((keys, columns));
        }
        let own = if of.ends.is_empty() { Some(Value::Null) } else { self.own_value(of) };
        let here = match &own {
            Some(own) => self.with(&of.ends, own.clone()).own_cell(&quantity),
            None => Cell::Missing(of.missing.clone()),
        };
        let mut columns = beside(&quantity.unit, printed, here);
        if !of.ends.is_empty() {
            let own = own.map_or_else(|| Cell::missing(NOT_MEASURED), |own| cell(&own));
            columns.insert(1, column(format!("{}, here", of.ends), "", own));
        }
        Some((keys, columns))
    }

    /// What of ours stands beside the study's value of a key: the same, or the least beside the least and the most beside the most.
    fn own_value(&self, of: &TableRows) -> Option<Value> {
        let (theirs, ours) = (self.value(&of.ends)?, self.range(&of.ends));
        let printed = self.file.printed.get(&of.of)?;
        let place = 1 + names(&printed.keys).position(|key| key == of.ends)?;
        let mut all = printed.rows.iter().map(|row| &row[place]);
        if ours.contains(theirs) {
            Some(theirs.clone())
        } else if all.next() == Some(theirs) {
            ours.first().cloned()
        } else {
            ours.last().filter(|_| ours.len() > 1 && all.next_back() == Some(theirs)).cloned()
        }
    }
}
