//! A batch as rows of the layout's table: readings, fields of readings, or records of a span.
//!
//! Every way of writing reads its cells from here, so that they differ in how cells travel and in nothing else.

use super::record::{Record, records};
use crate::cell::Cell;
use crate::schema::{Content, Model, TableModel};
use sensormark_store::{Batch, Shape, StoreError, Table, TagColumn, Values};
use std::ops::Range;

/// Some of a batch's readings as rows.
pub(crate) struct Rows<'a> {
    /// The plan's tables.
    pub(crate) model: &'a Model,
    /// The batch's table.
    pub(crate) table: &'a TableModel,
    /// The same, as the schema describes it.
    pub(crate) description: &'a Table,
    batch: &'a Batch,
    kind: Kind,
}

enum Kind {
    /// A row a reading, from the first of the range on.
    Readings(Range<usize>),
    /// A row a present field: (reading, field).
    Fields(Vec<(usize, usize)>),
    /// A row a record.
    Records(Vec<Record>),
}

impl<'a> Rows<'a> {
    /// The rows for these readings of a batch.
    pub(crate) fn new(
        model: &'a Model,
        batch: &'a Batch,
        readings: Range<usize>,
    ) -> Result<Self, StoreError> {
        let (description, table) = model.table(batch.table)?;
        let kind = match model.layout.shape {
            Shape::RowPerField => Kind::Fields(present_fields(batch, readings)),
            Shape::RecordPerSpan { span_ns, encoding } => {
                Kind::Records(records(description, batch, readings, span_ns, encoding))
            }
            _ => Kind::Readings(readings),
        };
        Ok(Self {
            model,
            table,
            description,
            batch,
            kind,
        })
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        match &self.kind {
            Kind::Readings(range) => range.len(),
            Kind::Fields(fields) => fields.len(),
            Kind::Records(records) => records.len(),
        }
    }

    /// The value at a row and column.
    pub(crate) fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let content = self.table.columns[column].content;
        match &self.kind {
            Kind::Readings(range) => self.reading_cell(range.start + row, content),
            Kind::Fields(fields) => {
                let (reading, field) = fields[row];
                match content {
                    Content::FieldNumber => Cell::I16(i16::try_from(field).unwrap_or(i16::MAX)),
                    Content::Value(kind) if self.description.fields[field].kind == kind => {
                        field_cell(self.batch, reading, field)
                    }
                    Content::Value(_) => Cell::Null,
                    other => self.reading_cell(reading, other),
                }
            }
            Kind::Records(records) => {
                let record = &records[row];
                match content {
                    Content::Span => Cell::I64(record.span),
                    Content::Size => Cell::I32(record.size),
                    Content::Document | Content::Offsets => Cell::Encoded(&record.payloads[0]),
                    Content::FieldArray(field) => Cell::Encoded(&record.payloads[field + 1]),
                    other => self.reading_cell(record.first_row, other),
                }
            }
        }
    }

    fn reading_cell(&self, reading: usize, content: Content) -> Cell<'_> {
        match content {
            Content::SeriesNumber => {
                Cell::I32(i32::try_from(self.batch.series[reading]).unwrap_or(i32::MAX))
            }
            Content::Tag(tag) => tag_cell(self.description, tag, self.batch.series[reading]),
            Content::Time => Cell::I64(self.model.time_key(self.batch.times_ns[reading])),
            Content::Field(field) => field_cell(self.batch, reading, field),
            _ => Cell::Null,
        }
    }

    /// The time of the batch's reading number `reading`, as the layout's key of time.
    pub(crate) fn time_key(&self, reading: usize) -> i64 {
        self.model.time_key(self.batch.times_ns[reading])
    }

    /// All cells, row by row.
    pub(crate) fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        let columns = self.table.columns.len();
        (0..self.len() * columns).map(move |number| self.cell(number / columns, number % columns))
    }
}

/// A tag's value of a series.
pub(crate) fn tag_cell(description: &Table, tag: usize, series: u32) -> Cell<'_> {
    match &description.series.columns()[tag] {
        TagColumn::Text(values) => Cell::Text(&values[series as usize]),
        TagColumn::Integer(values) => Cell::I64(values[series as usize]),
    }
}

/// A field's value of a reading.
pub(crate) fn field_cell(batch: &Batch, reading: usize, field: usize) -> Cell<'_> {
    let column = &batch.columns[field];
    if column
        .present
        .as_ref()
        .is_some_and(|present| !present[reading])
    {
        return Cell::Null;
    }
    match &column.values {
        Values::Bool(values) => Cell::Bool(values[reading]),
        Values::I64(values) => Cell::I64(values[reading]),
        Values::U16(values) => Cell::I32(i32::from(values[reading])),
        Values::F64(values) => Cell::F64(values[reading]),
        Values::Text(values) => Cell::Text(values.get(reading)),
    }
}

fn present_fields(batch: &Batch, readings: Range<usize>) -> Vec<(usize, usize)> {
    let fields = batch.columns.len();
    let mut present = Vec::with_capacity(readings.len() * fields);
    for reading in readings {
        present.extend(
            (0..fields)
                .filter(|&field| batch.columns[field].has(reading))
                .map(|field| (reading, field)),
        );
    }
    present
}
