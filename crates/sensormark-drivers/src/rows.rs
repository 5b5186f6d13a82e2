//! A batch as rows of a layout's table: a row a reading, a row a field of a reading, or a row a record of a span.
//!
//! Drivers read cells from here straight out of the batch's columns, by row or by slot, so that nothing is boxed or allocated per value.

use crate::cell::Cell;
use sensormark_store::record::{Record, Run, blob, json, records, runs};
use sensormark_store::{Batch, FieldType, StoreError, Table};
use std::any::Any;
use std::ops::Range;
use std::sync::OnceLock;

/// What a slot of a write holds. A slot that is of the series alone changes with the series only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The series' number.
    Series,
    /// A tag's value of the series.
    Tag(usize),
    /// The time, in units of so many ns.
    Time(i64),
    /// The time's ns after the whole second.
    Nanosecond,
    /// A field's value.
    Field(usize),
    /// In rows of one field: its number.
    FieldNumber,
    /// In rows of one field: its value, if it is of this type.
    Value(Option<FieldType>),
    /// In records: the span's number.
    Span,
    /// In records: how many readings it has.
    Size,
    /// In records: the readings as a JSON document ([`Rows::document`]).
    Json,
    /// In records: the readings as packed bytes ([`Rows::document`]).
    Packed,
    /// In records: an array of the readings' ns after the span's start ([`Rows::record`]).
    Offsets,
    /// In records: an array of a field's values ([`Rows::record`]).
    FieldArray(usize),
    /// A value that the client made.
    Made(usize),
}

impl Source {
    /// Whether it is the same for all readings of a series.
    pub const fn is_of_series(self) -> bool {
        matches!(self, Self::Series | Self::Tag(_))
    }
}

/// A row that the client made of readings: the first of them, which says series and time, and values.
#[derive(Debug)]
pub struct MadeRow<'a> {
    /// The reading's number in the batch.
    pub reading: usize,
    /// The values.
    pub values: Vec<Cell<'a>>,
}

/// Some of a batch's readings as rows, with what each slot of the statement holds.
#[derive(Debug)]
pub struct Rows<'a> {
    /// The batch.
    pub batch: &'a Batch,
    /// Its table.
    pub description: &'a Table,
    /// What each slot holds, in the order of the slots.
    pub sources: &'a [Source],
    kind: Kind<'a>,
    /// What the client made of each of them.
    values: &'a [Cell<'a>],
    /// What a driver keeps of the table.
    pub(crate) shared: Option<&'a Shared>,
}

/// What a driver makes of a table once, for all sessions of a plan.
pub type Shared = OnceLock<Box<dyn Any + Send + Sync>>;

#[derive(Debug)]
enum Kind<'a> {
    /// A row a reading, from the first of the range on.
    Readings(Range<usize>),
    /// A row a present field: (reading, field).
    Fields(Vec<(usize, usize)>),
    /// A row a record: its runs, where each record's runs begin and end, and the span's length in ns.
    Records(Vec<Run>, Vec<Range<usize>>, i64),
    /// Rows that the client made.
    Made(&'a [MadeRow<'a>]),
}

/// How readings become rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowShape {
    /// A row a reading.
    Readings,
    /// A row a field of a reading that is there.
    Fields,
    /// A row a series and span of so many ns.
    Records(i64),
}

impl<'a> Rows<'a> {
    /// The rows of these readings of a batch.
    pub fn new(
        batch: &'a Batch,
        description: &'a Table,
        sources: &'a [Source],
        shape: RowShape,
        readings: Range<usize>,
    ) -> Self {
        let kind = match shape {
            RowShape::Readings => Kind::Readings(readings),
            RowShape::Fields => Kind::Fields(present_fields(batch, readings)),
            RowShape::Records(span_ns) => {
                let runs = runs(batch, readings, span_ns);
                let mut places = Vec::new();
                let mut start = 0;
                for record in runs.chunk_by(Run::is_of_same_record) {
                    places.push(start..start + record.len());
                    start += record.len();
                }
                Kind::Records(runs, places, span_ns)
            }
        };
        Self { batch, description, sources, kind, values: &[], shared: None }
    }

    /// Rows that the client made of a batch's readings.
    pub const fn made(
        batch: &'a Batch,
        description: &'a Table,
        sources: &'a [Source],
        rows: &'a [MadeRow<'a>],
    ) -> Self {
        Self { batch, description, sources, kind: Kind::Made(rows), values: &[], shared: None }
    }

    /// The same rows, each with these values that the client made.
    #[must_use]
    pub fn with_values(self, values: &'a [Cell<'a>]) -> Self {
        Self { values, ..self }
    }

    /// The same rows, with the place for what a driver keeps of their table.
    #[must_use]
    pub fn with_shared(self, shared: &'a Shared) -> Self {
        Self { shared: Some(shared), ..self }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Readings(range) => range.len(),
            Kind::Fields(fields) => fields.len(),
            Kind::Records(_, places, _) => places.len(),
            Kind::Made(rows) => rows.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The series of a row.
    #[inline]
    pub fn series(&self, row: usize) -> u32 {
        self.batch.series[self.reading(row)]
    }

    /// The (first) reading of a row.
    #[inline(always)]
    pub(crate) fn reading(&self, row: usize) -> usize {
        match &self.kind {
            Kind::Readings(range) => range.start + row,
            Kind::Fields(fields) => fields[row].0,
            Kind::Records(runs, places, _) => runs[places[row].start].rows().start,
            Kind::Made(rows) => rows[row].reading,
        }
    }

    /// The value of a slot in a row; none for documents and arrays of records.
    #[inline(always)]
    pub fn cell(&self, row: usize, slot: usize) -> Cell<'a> {
        let source = self.sources[slot];
        let reading = self.reading(row);
        match source {
            Source::Series => Cell::I64(i64::from(self.batch.series[reading])),
            Source::Tag(tag) => Cell::tag(self.description, tag, self.batch.series[reading]),
            Source::Time(1) => Cell::I64(self.batch.times_ns[reading]),
            Source::Time(unit) => Cell::I64(self.batch.times_ns[reading].div_euclid(unit)),
            Source::Field(field) => Cell::field(self.batch, reading, field),
            other => self.special(row, other),
        }
    }

    fn special(&self, row: usize, source: Source) -> Cell<'a> {
        match (&self.kind, source) {
            (_, Source::Nanosecond) => {
                Cell::I64(self.batch.times_ns[self.reading(row)].rem_euclid(1_000_000_000))
            }
            (Kind::Fields(fields), Source::FieldNumber) => {
                Cell::I64(i64::try_from(fields[row].1).unwrap_or(i64::MAX))
            }
            (Kind::Fields(fields), Source::Value(kind)) => {
                let (reading, field) = fields[row];
                let own = self.batch.columns[field].values.kind();
                if kind.is_none_or(|kind| kind == own) {
                    Cell::field(self.batch, reading, field)
                } else {
                    Cell::Null
                }
            }
            (Kind::Made(rows), Source::Made(value)) => rows[row].values[value],
            (_, Source::Made(value)) => self.values[value],
            (Kind::Records(..), Source::Span) => Cell::I64(self.record(row).map_or(0, |record| record.span)),
            (Kind::Records(..), Source::Size) => {
                let readings = self.record(row).map_or(0, |record| record.readings());
                Cell::I64(i64::try_from(readings).unwrap_or(i64::MAX))
            }
            _ => Cell::Null,
        }
    }

    /// The record of a row: which readings of the batch it has.
    pub fn record(&self, row: usize) -> Option<Record<'_>> {
        match &self.kind {
            Kind::Records(runs, places, span_ns) => records(&runs[places[row].clone()], *span_ns).next(),
            _ => None,
        }
    }

    /// Appends a record's document, which is text or bytes ([`Source::Json`], [`Source::Packed`]).
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::TooLarge`] for a record that does not fit its encoding.
    pub fn document(&self, row: usize, source: Source, out: &mut Vec<u8>) -> Result<(), StoreError> {
        match (self.record(row), source) {
            (Some(record), Source::Packed) => blob::encode(self.batch, &record, out),
            (Some(record), _) => {
                json::encode(self.batch, &record, out);
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }
}

/// The fields that readings have, as (reading, field). A reading without any field has the first one without a value: nothing that is written gets lost.
fn present_fields(batch: &Batch, readings: Range<usize>) -> Vec<(usize, usize)> {
    let fields = batch.columns.len();
    let mut present = Vec::with_capacity(readings.len() * fields);
    for reading in readings {
        let before = present.len();
        present.extend(
            (0..fields).filter(|&field| batch.columns[field].has(reading)).map(|field| (reading, field)),
        );
        if present.len() == before {
            present.push((reading, 0));
        }
    }
    present
}
