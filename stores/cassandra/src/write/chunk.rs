//! What a batch becomes: rows with their values, and statements of as many rows as one may hold, partition by partition.
//!
//! It sends nothing.

use super::known::Known;
use crate::connection::{Cell, Cells};
use crate::schema::{PhysicalTable, Rows};
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use sensormark_store::record::{blob, json, records, runs};
use sensormark_store::{Batch, Column, ErrorKind, FieldType, StoreError, Values};

/// Readings in one batch statement.
const READINGS: usize = 1_000;

/// The largest row in bytes: half of a commit log segment of 32 MiB is the largest mutation.
const LARGEST_ROW: usize = 15 << 20;

/// One reading as a row.
pub(super) struct Row<'a> {
    batch: &'a Batch,
    row: usize,
    bucket: i64,
    key: i64,
}

/// The value of a field at a row.
fn cell(column: &Column, row: usize) -> Cell<'_> {
    if !column.has(row) {
        return Cell::Null;
    }
    match &column.values {
        Values::Bool(values) => Cell::Bool(values[row]),
        Values::I64(values) => Cell::Big(values[row]),
        Values::U16(values) => Cell::Int(i32::from(values[row])),
        Values::F64(values) => Cell::Double(values[row]),
        Values::Text(values) => Cell::Bytes(values.get(row).as_bytes()),
    }
}

impl SerializeRow for Row<'_> {
    fn serialize(
        &self,
        _: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        Cell::Int(self.batch.series[self.row].cast_signed()).write(writer)?;
        Cell::Big(self.bucket).write(writer)?;
        Cell::Big(self.key).write(writer)?;
        let mut columns = self.batch.columns.iter();
        columns.try_for_each(|column| cell(column, self.row).write(writer))
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// One row of either kind of table, with its values.
pub(super) enum Line<'a> {
    Reading(Row<'a>),
    Record { series: u32, bucket: i64, span: i64, name: [u8; 20], record: Vec<u8> },
}

impl SerializeRow for Line<'_> {
    fn serialize(
        &self,
        context: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        match self {
            Self::Reading(row) => row.serialize(context, writer),
            Self::Record { series, bucket, span, name, record } => Cells(&[
                Cell::Int(series.cast_signed()),
                Cell::Big(*bucket),
                Cell::Big(*span),
                Cell::Bytes(name),
                Cell::Bytes(record),
            ])
            .serialize(context, writer),
        }
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// One statement: its lines, and the batch's rows that are stored with them, those included that a later one replaces.
pub(super) struct Chunk<'a> {
    pub(super) lines: Vec<Line<'a>>,
    pub(super) rows: Vec<usize>,
    bytes: usize,
}

/// The statements that a batch becomes; `most` bytes of readings in one. Names of records are taken from what the session knows.
pub(super) fn chunks<'b>(
    own: &PhysicalTable,
    batch: &'b Batch,
    most: usize,
    known: &mut Known,
) -> Result<Vec<Chunk<'b>>, StoreError> {
    match own.rows {
        Rows::Reading { .. } => reading_chunks(own, batch, most),
        Rows::Record { span_ns, json } => record_chunks(own, batch, (span_ns, json), known),
    }
}

fn record_chunks<'b>(
    own: &PhysicalTable,
    batch: &'b Batch,
    (span_ns, json): (i64, bool),
    known: &mut Known,
) -> Result<Vec<Chunk<'b>>, StoreError> {
    let runs = runs(batch, 0..batch.len(), span_ns);
    let mut chunks = Vec::new();
    for one in records(&runs, span_ns) {
        let mut bytes = Vec::new();
        if json {
            json::encode(batch, &one, &mut bytes);
        } else {
            blob::encode(batch, &one, &mut bytes)?;
        }
        if bytes.len() > LARGEST_ROW {
            return Err(too_large("a record", bytes.len()));
        }
        chunks.push(Chunk {
            bytes: bytes.len(),
            lines: vec![Line::Record {
                series: one.series,
                bucket: own.bucket(one.span),
                span: one.span,
                name: known.name(),
                record: bytes,
            }],
            rows: one.rows().collect(),
        });
    }
    Ok(chunks)
}

fn too_large(what: &str, bytes: usize) -> StoreError {
    StoreError::new(
        ErrorKind::TooLarge,
        "write",
        format!(
            "{what} takes {bytes} bytes, and Cassandra takes {LARGEST_ROW} at most (half a commit log segment); store less in one"
        ),
    )
}

/// About as many bytes as a reading takes in a statement and in the server's own measure of a batch.
fn estimate(batch: &Batch, row: usize) -> usize {
    let columns = batch.columns.iter();
    let values = columns.map(|column| match &column.values {
        Values::Text(values) => 16 + values.get(row).len(),
        other => match other.kind() {
            FieldType::Bool => 13,
            FieldType::U16 => 16,
            _ => 20,
        },
    });
    values.sum::<usize>() + 40
}

/// Readings by partition, in the order of time, each once.
fn reading_chunks<'b>(
    own: &PhysicalTable,
    batch: &'b Batch,
    most: usize,
) -> Result<Vec<Chunk<'b>>, StoreError> {
    let place = |row: usize| {
        let key = own.key(batch.times_ns[row]);
        (batch.series[row], own.bucket(key), key, row)
    };
    let mut places: Vec<_> = (0..batch.len()).map(place).collect();
    if !places.is_sorted() {
        places.sort_unstable();
    }
    let mut chunks: Vec<Chunk<'b>> = Vec::new();
    let mut partition = None;
    let mut rows = Vec::new();
    for (index, &(series, bucket, key, row)) in places.iter().enumerate() {
        rows.push(row);
        let next = places.get(index + 1);
        if next.is_some_and(|next| (next.0, next.2) == (series, key)) {
            continue; // a later reading of the same series and time takes its place
        }
        let bytes = estimate(batch, row);
        if bytes > LARGEST_ROW {
            return Err(too_large("a reading", bytes));
        }
        let line = Line::Reading(Row { batch, row, bucket, key });
        let same = partition.replace((series, bucket)) == Some((series, bucket));
        match chunks.last_mut() {
            Some(chunk) if same && chunk.lines.len() < READINGS && chunk.bytes + bytes <= most => {
                chunk.lines.push(line);
                chunk.rows.append(&mut rows);
                chunk.bytes += bytes;
            }
            _ => chunks.push(Chunk { lines: vec![line], rows: std::mem::take(&mut rows), bytes }),
        }
    }
    Ok(chunks)
}
