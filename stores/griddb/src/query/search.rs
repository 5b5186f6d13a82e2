//! Searches: the first and last reading that passes, the smallest value, the latest reading, and the series that have one that passes.
//!
//! Rows of readings are searched by the server, which gives the first row in an order; records of a span are fetched and searched here.

use super::{Reader, each, reading, tql};
use crate::schema::{Rows, TIME};
use sensormark_store::client_side;
use sensormark_store::{Batch, FieldSet, Moment, Predicate, Query, StoreError};
use std::cmp::Reverse;

impl Reader<'_> {
    const fn is_record(&self) -> bool {
        matches!(self.rows, Rows::Record { .. })
    }

    /// The one row that each of the chosen series answers with, in the order of series.
    fn one_each(
        &mut self,
        query: &Query,
        condition: &str,
        fields: FieldSet,
        order: &str,
    ) -> Result<Batch, StoreError> {
        let mut batch = self.empty(query.table);
        let Some(within) = self.within(query.range) else {
            return Ok(batch);
        };
        let and = if condition.is_empty() { "" } else { " AND " };
        let tql = format!("SELECT * WHERE {within}{and}{condition}{order} LIMIT 1");
        let (rows, series) = (self.rows, self.series(query)?);
        self.ask_each(query.table, &series, &tql, |series, found| {
            each(found, |cells| reading(rows, cells, series, fields, &mut batch))
        })?;
        Ok(batch)
    }

    fn condition(&self, query: &Query, predicate: Predicate) -> Option<String> {
        let field = &self.schema.tables[query.table].fields[predicate.field];
        tql::passes(&field.name, field.kind, predicate)
    }

    /// The readings of the range that pass, or of each series the one that comes first in this order.
    fn passing(&mut self, query: &Query, predicate: Predicate, order: &str) -> Result<Batch, StoreError> {
        let fields = FieldSet::one(predicate.field);
        if !self.is_record() {
            return match self.condition(query, predicate) {
                Some(condition) => self.one_each(query, &condition, fields, order),
                None => Ok(self.empty(query.table)),
            };
        }
        let all = self.range(query, query.range, fields)?;
        let mut passing = self.empty(query.table);
        for row in 0..all.len() {
            let number = all.columns[predicate.field].number(row);
            if number.is_some_and(|value| predicate.passes(value)) {
                passing.push_row(&all, row);
            }
        }
        Ok(passing)
    }

    /// The first passing reading, or the last; of readings at the same time, that of the lowest series.
    pub(super) fn search(
        &mut self,
        query: &Query,
        predicate: Predicate,
        backwards: bool,
    ) -> Result<Option<Moment>, StoreError> {
        let direction = if backwards { "DESC" } else { "ASC" };
        let order = format!(" ORDER BY {} {direction}", tql::name(TIME));
        let found = self.passing(query, predicate, &order)?;
        let time = |&row: &usize| found.times_ns[row];
        let row = if backwards {
            (0..found.len()).min_by_key(|row| Reverse(time(row)))
        } else {
            (0..found.len()).min_by_key(time)
        };
        Ok(row.map(|row| client_side::moment(&found, predicate.field, row)))
    }

    /// The smallest value and its time, the earliest of equals.
    pub(super) fn minimum(&mut self, query: &Query, field: usize) -> Result<Option<Moment>, StoreError> {
        let fields = FieldSet::one(field);
        let found = if self.is_record() {
            self.range(query, query.range, fields)?
        } else {
            let name = tql::name(&self.schema.tables[query.table].fields[field].name);
            let condition = format!("{name} IS NOT NULL");
            let order = format!(" ORDER BY {name} ASC, {} ASC", tql::name(TIME));
            self.one_each(query, &condition, fields, &order)?
        };
        Ok(client_side::minimum(&found, field))
    }

    /// Of each series the latest reading that has any of the fields.
    pub(super) fn latest(&mut self, query: &Query, fields: FieldSet) -> Result<Batch, StoreError> {
        if self.is_record() {
            let all = self.range(query, query.range, fields)?;
            let mut latest = self.empty(query.table);
            for row in 0..all.len() {
                if all.series.get(row + 1) != Some(&all.series[row]) {
                    latest.push_row(&all, row);
                }
            }
            return Ok(latest);
        }
        let table = &self.schema.tables[query.table];
        let has = |field: usize| format!("{} IS NOT NULL", tql::name(&table.fields[field].name));
        let condition = if fields.iter().any(|field| !table.fields[field].nullable) {
            String::new()
        } else {
            let any: Vec<String> = fields.iter().map(has).collect();
            format!("({})", any.join(" OR "))
        };
        let order = format!(" ORDER BY {} DESC", tql::name(TIME));
        self.one_each(query, &condition, fields, &order)
    }

    /// The series that have a reading that passes.
    pub(super) fn matching(&mut self, query: &Query, predicate: Predicate) -> Result<Vec<u32>, StoreError> {
        let mut series = self.passing(query, predicate, "")?.series;
        series.dedup();
        Ok(series)
    }
}
