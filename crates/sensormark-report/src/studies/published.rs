//! What a study printed, and our figures beside it.

use super::expression::Quantity;
use super::file::PublishedRow;
use super::rows::named;
use super::scope::{IMPLEMENTATION, Scope, cell, without_side};
use super::table::{NOT_MEASURED, Row, beside, column, table};
use crate::tables::{Cell, Table};
use serde_json::Value;

/// A row of a printed table.
pub struct PrintedRow<'a> {
    /// The study's name of its database, with its side.
    pub name: String,
    /// What its keys are.
    pub scope: Scope<'a>,
    /// Its figures.
    pub values: Vec<f64>,
}

impl PrintedRow<'_> {
    /// The study's name of its database.
    pub fn title(&self) -> &str {
        without_side(&self.name)
    }
}

impl<'a> Scope<'a> {
    /// The rows of a printed table whose keys are what this scope says of them.
    pub fn printed(&self, table: &str) -> Vec<PrintedRow<'a>> {
        let Some(printed) = self.file.printed.get(table) else {
            return Vec::new();
        };
        let row = |row: &Vec<Value>| {
            let (keys, values) = row.split_at_checked(1 + printed.keys.len())?;
            let mut scope = self.clone();
            for (key, value) in printed.keys.iter().zip(&keys[1..]) {
                if self.value(key).is_some_and(|own| own != value) {
                    return None;
                }
                scope = scope.with(key, value.clone());
            }
            let values = values.iter().filter_map(Value::as_f64).collect();
            Some(PrintedRow { name: keys[0].as_str()?.to_owned(), scope, values })
        };
        printed.rows.iter().filter_map(row).collect()
    }

    /// All tables of printed figures beside ours, in the order of the file.
    pub fn published(&self) -> Vec<Table> {
        self.file.published.iter().filter_map(|row| self.table_beside(row)).collect()
    }

    fn table_beside(&self, of: &PublishedRow) -> Option<Table> {
        let printed = self.file.printed.get(&of.of)?;
        let (mut rows, mut notes) = (Vec::new(), Vec::new());
        for one in self.printed(&of.of) {
            let Some(arm) = one.scope.subject(&one.name) else {
                continue;
            };
            let scope = one.scope.about(IMPLEMENTATION, arm).with("database", one.title().into());
            let listed = [scope.value("figure").and_then(Value::as_str).unwrap_or_default().to_owned()];
            let columns = if printed.columns.is_empty() { &listed[..] } else { &printed.columns };
            for (text, value) in columns.iter().zip(&one.values) {
                let (name, definition) = named(text);
                let scope = scope.with("figure", name.into());
                let mut quantity = scope.quantity(definition);
                if !of.missing.is_empty() {
                    quantity = quantity.or(&of.missing);
                }
                rows.push(scope.row_beside(of, &quantity, *value));
            }
            let is_named = rows.last().is_some_and(|(keys, _)| keys[0] == Cell::text(&arm.label));
            if !is_named {
                notes.push(format!("{}: here {}.", one.title(), arm.label));
            }
        }
        let names: Vec<&str> = of.keys.iter().map(|key| named(key).0).collect();
        let mut made = table(&of.id, &of.title, &names, rows);
        notes.into_iter().for_each(|note| made.note(note));
        self.note(&mut made, &of.notes, &[]);
        Some(made)
    }

    fn row_beside(&self, of: &PublishedRow, quantity: &Quantity, printed: f64) -> Row {
        let keys = of.keys.iter().map(|key| self.key(key)).collect();
        let unit = Some(column("unit", "", Cell::text(&quantity.unit)));
        let unit = unit.filter(|_| of.keys.iter().any(|key| key == "figure"));
        if of.ends.is_empty() {
            let of_all = if unit.is_some() { "" } else { &quantity.unit };
            return (
                keys,
                unit.into_iter().chain(beside(of_all, printed, self.own_cell(quantity))).collect(),
            );
        }
        let own = self.own_value(of);
        let here = match &own {
            Some(own) => self.with(&of.ends, own.clone()).own_cell(quantity),
            None => Cell::Missing(of.missing.clone()),
        };
        let mut columns = beside(&quantity.unit, printed, here);
        let own = own.map_or_else(|| Cell::Missing(NOT_MEASURED.to_owned()), |own| cell(&own));
        columns.insert(1, column(format!("{}, here", of.ends), "", own));
        (keys, columns)
    }

    /// What of ours stands beside the study's value of a key: the same, or the least beside the least and the most beside the most.
    fn own_value(&self, of: &PublishedRow) -> Option<Value> {
        let (theirs, ours) = (self.value(&of.ends)?, self.range(&of.ends));
        let printed = self.file.printed.get(&of.of)?;
        let place = 1 + printed.keys.iter().position(|key| *key == of.ends)?;
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
