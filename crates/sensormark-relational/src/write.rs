//! A batch as rows of the layout's table: readings, fields of readings, or records of a span.
//!
//! Every way of writing reads its cells from here, so that ways differ in how cells travel and in nothing else. The statements that take them
//! are in [`statement`], sums that the client adds up in [`sums`]. Records as arrays are in [`arrays`].

pub mod arrays;
pub mod statement;
pub mod sums;

use crate::cell::Cell;
use crate::physical_schema::PhysicalSchema;
use crate::table::{Content, PhysicalTable, series_cell};
use sensormark_store::record::{records, runs};
use sensormark_store::{Batch, EntityReading, FieldType, Shape, StoreError, Table, Value};
use std::ops::Range;

/// Some of a batch's readings as rows.
#[derive(Debug)]
pub struct Rows<'a> {
    /// The plan's tables.
    pub physical: &'a PhysicalSchema,
    /// The batch's table.
    pub table: &'a PhysicalTable,
    /// The same, as the schema describes it.
    pub description: &'a Table,
    batch: &'a Batch,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A row a reading, from the first of the range on.
    Readings(Range<usize>),
    /// A row a present field: (reading, field).
    Fields(Vec<(usize, usize)>),
    /// A row a record.
    Records(Vec<Record>),
}

/// One record.
#[derive(Debug)]
struct Record {
    /// The span's start divided by its length.
    span: i64,
    /// How many readings it has.
    size: i32,
    /// A reading of it, which says the series.
    first_row: usize,
    /// The document; or the offsets and then one array a field.
    payloads: Vec<Vec<u8>>,
}

impl<'a> Rows<'a> {
    /// The rows for these readings of a batch.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::NotFound`] when the schema does not have the batch's table, [`sensormark_store::ErrorKind::TooLarge`] for a record that does not fit its
    /// encoding.
    pub fn new(
        physical: &'a PhysicalSchema,
        batch: &'a Batch,
        readings: Range<usize>,
    ) -> Result<Self, StoreError> {
        let (description, table) = physical.table(batch.table)?;
        let kind = match physical.layout.shape {
            Shape::RowPerField => Kind::Fields(present_fields(batch, readings)),
            Shape::RecordPerSpan { span_ns, encoding } => {
                let runs = runs(batch, readings, span_ns);
                let record = |record: sensormark_store::record::Record<'_>| {
                    let dialect = physical.dialect;
                    Ok(Record {
                        span: record.span,
                        size: i32::try_from(record.readings()).unwrap_or(i32::MAX),
                        first_row: record.rows().next().unwrap_or_default(),
                        payloads: dialect.record(description, batch, &record, encoding, span_ns)?,
                    })
                };
                let all = records(&runs, span_ns).map(record);
                Kind::Records(all.collect::<Result<_, StoreError>>()?)
            }
            _ => Kind::Readings(readings),
        };
        Ok(Self { physical, table, description, batch, kind })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Readings(range) => range.len(),
            Kind::Fields(fields) => fields.len(),
            Kind::Records(records) => records.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The series of a row.
    #[inline]
    pub fn series(&self, row: usize) -> u32 {
        let reading = match &self.kind {
            Kind::Readings(range) => range.start + row,
            Kind::Fields(fields) => fields[row].0,
            Kind::Records(records) => records[row].first_row,
        };
        self.batch.series[reading]
    }

    /// The value at a row and column.
    #[inline(always)]
    pub fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let content = self.table.columns[column].content;
        match &self.kind {
            Kind::Readings(range) => self.reading_cell(range.start + row, content),
            Kind::Fields(fields) => {
                let (reading, field) = fields[row];
                match content {
                    Content::FieldNumber => Cell::I16(i16::try_from(field).unwrap_or(i16::MAX)),
                    Content::Value(kind) if self.description.fields[field].kind == kind => {
                        Cell::field(self.batch, reading, field)
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

    #[inline(always)]
    fn reading_cell(&self, reading: usize, content: Content) -> Cell<'_> {
        let time_ns = self.batch.times_ns[reading];
        match content {
            Content::SeriesNumber | Content::Tag(_) => {
                series_cell(content, self.description, self.batch.series[reading])
            }
            Content::Time => Cell::I64(self.physical.time_key(time_ns)),
            Content::Field(field) => Cell::field(self.batch, reading, field),
            Content::Copy => Cell::I64(0),
            _ => Cell::Null,
        }
    }

    /// All cells, row by row.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        let columns = self.table.columns.len();
        (0..self.len() * columns).map(move |number| self.cell(number / columns, number % columns))
    }
}

/// The fields that readings have, as (reading, field).
fn present_fields(batch: &Batch, readings: Range<usize>) -> Vec<(usize, usize)> {
    let fields = |reading| (0..batch.columns.len()).filter(move |&field| batch.columns[field].has(reading));
    readings.flat_map(|reading| fields(reading).map(move |field| (reading, field))).collect()
}

/// What an entity is inserted (or updated) with: the series' key, its own columns, and the last time.
///
/// # Errors
/// As [`EntityReading::check`].
pub fn entity_cells<'a>(
    physical: &'a PhysicalSchema,
    write: EntityReading<'a>,
) -> Result<Vec<Cell<'a>>, StoreError> {
    let (description, table) = physical.table(write.reading.table)?;
    let entity = write.check(description)?;
    let series = write.reading.series[0];
    let mut cells: Vec<Cell<'a>> =
        table.key_columns().map(|column| series_cell(column.content, description, series)).collect();
    for (column, value) in entity.columns.iter().zip(write.entity) {
        cells.push(match (column.kind, value) {
            (FieldType::U16, Value::I64(value)) => Cell::I32(i32::try_from(*value).unwrap_or(i32::MAX)),
            (_, value) => Cell::of(value),
        });
    }
    cells.push(Cell::I64(physical.time_key(write.reading.times_ns[0])));
    Ok(cells)
}
