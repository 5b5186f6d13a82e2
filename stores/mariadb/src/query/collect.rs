//! Rows put together to readings: a row a reading, a row a field, a record of many readings.

use super::cells;
use super::document::Reader;
use crate::connection::cell;
use crate::schema::{Content, SECOND_NS, TableModel};
use mysql_async::Row;
use sensormark_store::{Batch, FieldSet, StoreError, Table, TimeRange, Value};

/// Puts rows together to readings.
pub(crate) struct Collector<'a> {
    described: &'a TableModel,
    fields: Vec<usize>,
    whole: bool,
    range: Option<TimeRange>,
    /// What is complete.
    pub(crate) batch: Batch,
    /// Rows of fields of readings of one series and time, which are not complete yet.
    open: Option<(u32, i64)>,
    parts: Vec<Vec<Value>>,
}

impl<'a> Collector<'a> {
    /// Readings of table `number` with these fields; of a range, or of everything that a scan reads.
    pub(crate) fn new(
        number: usize,
        table: &Table,
        described: &'a TableModel,
        fields: FieldSet,
        range: Option<TimeRange>,
    ) -> Self {
        Self {
            described,
            fields: fields.iter().collect(),
            whole: fields == table.all_fields(),
            range,
            batch: Batch::new(number, table),
            open: None,
            parts: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, row: &Row) -> Result<(), StoreError> {
        let series = self.described.series.of_row(row, 0)?;
        let first = self.described.series.width();
        match &self.described.content {
            Content::Readings { .. } => {
                self.batch.times_ns.push(cell::integer(row, first)?);
                self.batch.series.push(series);
                for (number, &field) in self.fields.iter().enumerate() {
                    cells::push(&mut self.batch.columns[field], row, first + 1 + number)?;
                }
                Ok(())
            }
            Content::Fields { .. } => self.add_field(row, series, first),
            Content::Records { span_ns, .. } => {
                let start_ns = cell::integer(row, first)?.saturating_mul(*span_ns);
                if self.whole {
                    // From a scan the document comes after its length.
                    let column = first + if self.range.is_some() { 1 } else { 2 };
                    self.add_document(cell::text(row, column)?, series, start_ns)
                } else {
                    self.add_arrays(row, series, start_ns, first + 1)
                }
            }
        }
    }

    /// A row of one field: it belongs to the first reading of its series and time that does not have the field yet.
    fn add_field(&mut self, row: &Row, series: u32, first: usize) -> Result<(), StoreError> {
        let time_ns = cell::integer(row, first)? * SECOND_NS + cell::integer(row, first + 1)?;
        if self.open != Some((series, time_ns)) {
            self.close()?;
            self.open = Some((series, time_ns));
        }
        let number = usize::try_from(cell::integer(row, first + 2)?).unwrap_or(usize::MAX);
        let Some(column) = self.batch.columns.get(number) else {
            return Err(cell::unexpected(first + 2, "number of a field"));
        };
        let value = cells::value(row, first + 3, column.values.kind())?;
        let lacking = self
            .parts
            .iter()
            .position(|part| part[number] == Value::Null);
        let part = lacking.unwrap_or_else(|| {
            self.parts.push(vec![Value::Null; self.batch.columns.len()]);
            self.parts.len() - 1
        });
        self.parts[part][number] = value;
        Ok(())
    }

    /// Completes the readings that rows of fields were collected for.
    fn close(&mut self) -> Result<(), StoreError> {
        let Some((series, time_ns)) = self.open.take() else {
            return Ok(());
        };
        for mut part in self.parts.drain(..) {
            self.batch.times_ns.push(time_ns);
            self.batch.series.push(series);
            for &field in &self.fields {
                let value = std::mem::replace(&mut part[field], Value::Null);
                let pushed = self.batch.columns[field].push(value);
                pushed.map_err(|_| cell::unexpected(field, "value of the field's type"))?;
            }
        }
        Ok(())
    }

    fn add_document(&mut self, text: &str, series: u32, start_ns: i64) -> Result<(), StoreError> {
        let mut reader = Reader::new(text);
        let mut more = reader.first_reading()?;
        while more {
            let time_ns = start_ns + reader.reading_time()?;
            let wanted = self.range.is_none_or(|range| range.contains(time_ns));
            for (number, column) in self.batch.columns.iter_mut().enumerate() {
                if number > 0 {
                    reader.expect(b',')?;
                }
                if wanted {
                    reader.value(column)?;
                } else {
                    reader.skip_value()?;
                }
            }
            if wanted {
                self.batch.times_ns.push(time_ns);
                self.batch.series.push(series);
            }
            more = reader.next_reading()?;
        }
        Ok(())
    }

    /// Arrays of times and of each chosen field's values, of which readings out of range and without any field are left out.
    fn add_arrays(
        &mut self,
        row: &Row,
        series: u32,
        start_ns: i64,
        first: usize,
    ) -> Result<(), StoreError> {
        let Some(range) = self.range.filter(|_| cell::value(row, first).is_some()) else {
            return Ok(());
        };
        let mut times = Reader::new(cell::text(row, first)?);
        let mut values = Vec::with_capacity(self.fields.len());
        for number in 1..=self.fields.len() {
            values.push(Reader::new(cell::text(row, first + number)?));
        }
        times.expect(b'[')?;
        for reader in &mut values {
            reader.expect(b'[')?;
        }
        loop {
            let time_ns = start_ns + times.integer()?;
            let wanted = range.contains(time_ns);
            let any = values.iter_mut().any(|reader| !reader.is_null());
            for (reader, &field) in values.iter_mut().zip(&self.fields) {
                if wanted && any {
                    reader.value(&mut self.batch.columns[field])?;
                } else {
                    reader.skip_value()?;
                }
            }
            if wanted && any {
                self.batch.times_ns.push(time_ns);
                self.batch.series.push(series);
            }
            if !times.skip(b',') {
                return Ok(());
            }
            for reader in &mut values {
                reader.expect(b',')?;
            }
        }
    }

    /// What was collected since the batch was last cleared.
    pub(crate) fn finish(mut self) -> Result<Batch, StoreError> {
        self.close()?;
        Ok(self.batch)
    }
}
