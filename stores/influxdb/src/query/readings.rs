//! Points, ranges, latest readings, and the scan of a whole table.
//!
//! Rows of a series go straight into columns, series by series in the order of their numbers.

use super::message::{Rows, read_part};
use super::{Reader, form};
use crate::connection::Message;
use crate::query::statement::Statement;
use crate::schema::Measurement;
use sensormark_store::{
    Answer, Ask, Batch, Derived, FieldSet, Query, Selection, StoreError, Table, TimeRange,
};

/// Names of these fields.
fn names(measurement: &Measurement, fields: FieldSet) -> Vec<&str> {
    fields.iter().map(|field| measurement.fields[field].as_str()).collect()
}

/// The series that all rows are of, where they are of one.
pub(super) fn only(selection: &Selection) -> Option<u32> {
    match selection {
        Selection::One(series) => Some(*series),
        Selection::Set(_) | Selection::Tagged { .. } | Selection::All => None,
    }
}

impl Reader<'_> {
    pub(super) async fn point(&mut self, query: &Query, fields: FieldSet) -> Result<Answer, StoreError> {
        let measurement = &self.physical.tables[query.table];
        let mut statement = Statement::new();
        statement.select(&names(measurement, fields), &measurement.name);
        if query.range.start_ns < 0 {
            return Ok(Answer::Readings(self.empty(query.table)));
        }
        if self.physical.layout.in_second_language() {
            return self.range_in_flux(query, fields).await.map(Answer::Readings);
        }
        statement.at(query.range.start_ns);
        let batch = self.select(query, statement, fields, "").await?;
        Ok(Answer::Readings(batch))
    }

    /// The readings in the query's range that have any of these fields.
    pub(super) async fn range(&mut self, query: &Query, fields: FieldSet) -> Result<Batch, StoreError> {
        if self.physical.layout.in_second_language() {
            return self.range_in_flux(query, fields).await;
        }
        let measurement = &self.physical.tables[query.table];
        let mut statement = Statement::new();
        statement.select(&names(measurement, fields), &measurement.name);
        statement.within(query.range);
        if let Ask::Derived(Derived::RowsByValue { predicate, .. }) = query.ask {
            statement.passing(measurement, predicate);
        }
        self.select(query, statement, fields, "").await
    }

    pub(super) async fn last_readings(
        &mut self,
        query: &Query,
        fields: FieldSet,
    ) -> Result<Answer, StoreError> {
        if self.physical.layout.in_second_language() {
            return self.last_readings_in_flux(query, fields).await;
        }
        let measurement = &self.physical.tables[query.table];
        let mut statement = Statement::new();
        statement.select(&names(measurement, fields), &measurement.name);
        statement.within(query.range);
        let batch = self.select(query, statement, fields, " ORDER BY time DESC LIMIT 1").await?;
        Ok(Answer::Readings(batch))
    }

    async fn select(
        &mut self,
        query: &Query,
        mut statement: Statement,
        fields: FieldSet,
        ending: &str,
    ) -> Result<Batch, StoreError> {
        let physical = self.physical;
        let measurement = &physical.tables[query.table];
        let known = only(&query.series);
        statement.of_series(measurement, &query.series);
        if known.is_none() {
            statement.group_by_keys(measurement);
        }
        statement.push(ending);
        let mut batch = self.empty(query.table);
        let rows = self.rows("fetch readings", statement.text()).await?;
        for (series, rows) in in_order(rows, measurement, known)? {
            append(&mut batch, series, &rows, fields)?;
        }
        Ok(batch)
    }

    /// Reads back every reading of a table, part by part as the server sends them.
    pub(crate) async fn scan(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(&Batch),
    ) -> Result<(), StoreError> {
        const OPERATION: &str = "read all readings back";
        let physical = self.physical;
        let measurement = &physical.tables[table];
        let description = &physical.schema.tables[table];
        let fields = description.all_fields();
        let mut statement = Statement::new();
        statement.select(&names(measurement, fields), &measurement.name);
        statement.within(TimeRange::new(0, i64::MAX));
        statement.group_by_keys(measurement);
        let message = Message {
            accept: "application/x-msgpack",
            ..Message::post(
                OPERATION,
                "/query",
                "application/x-www-form-urlencoded",
                form(self.database, statement.text(), true),
            )
        };
        let mut pending = Vec::new();
        let mut retry_at = 0;
        let head = self
            .link
            .stream(message, &mut |part| {
                pending.extend_from_slice(part);
                if pending.len() >= retry_at {
                    let used = hand_on(&pending, measurement, table, description, sink)?;
                    pending.drain(..used);
                    retry_at = pending.len() * 5 / 4;
                }
                Ok(())
            })
            .await?;
        if head.status != 200 {
            let text = String::from_utf8_lossy(&pending).into_owned();
            return Err(crate::error::refused(
                OPERATION,
                head.status,
                head.sentence.as_deref().unwrap_or(&text),
            ));
        }
        let used = hand_on(&pending, measurement, table, description, sink)?;
        if used < pending.len() {
            return Err(crate::error::garbled(OPERATION, "the answer ends too early"));
        }
        Ok(())
    }
}

/// Hands on all parts that are whole; gives the bytes that they took.
fn hand_on(
    bytes: &[u8],
    measurement: &Measurement,
    table: usize,
    description: &Table,
    sink: &mut dyn FnMut(&Batch),
) -> Result<usize, StoreError> {
    let mut used = 0;
    while let Some((all, length)) =
        if used < bytes.len() { read_part("read all readings back", &bytes[used..])? } else { None }
    {
        let mut batch = Batch::new(table, description);
        for (series, rows) in in_order(all, measurement, None)? {
            append(&mut batch, series, &rows, description.all_fields())?;
        }
        if !batch.is_empty() {
            sink(&batch);
        }
        used += length;
    }
    Ok(used)
}

/// The rows of each series, in the order of the series' numbers.
fn in_order<'a>(
    all: Vec<Rows<'a>>,
    measurement: &Measurement,
    known: Option<u32>,
) -> Result<Vec<(u32, Rows<'a>)>, StoreError> {
    let mut numbered = Vec::with_capacity(all.len());
    for rows in all {
        numbered.push((rows.series(measurement, known)?, rows));
    }
    numbered.sort_by_key(|(series, _)| *series);
    Ok(numbered)
}

/// Appends the rows of a series, whose cells are these fields.
fn append(batch: &mut Batch, series: u32, rows: &Rows<'_>, fields: FieldSet) -> Result<(), StoreError> {
    let chosen: Vec<usize> = fields.iter().collect();
    batch.times_ns.reserve(rows.count);
    batch.series.reserve(rows.count);
    let mut cells = rows.cells();
    for _ in 0..rows.count {
        let time = cells.begin_row(chosen.len())?;
        batch.times_ns.push(time);
        batch.series.push(series);
        for &field in &chosen {
            cells.cell()?.push_to(&mut batch.columns[field])?;
        }
    }
    Ok(())
}
