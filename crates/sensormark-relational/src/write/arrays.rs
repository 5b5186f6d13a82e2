//! A record of a span as arrays: the offsets of its readings, and then one array a field.

use crate::cell::Cell;
use crate::column_type::ColumnType;
use sensormark_store::record::Record;
use sensormark_store::{Batch, Table};

/// How a store's driver takes one array.
pub trait EncodeArray {
    /// An array of this type with so many cells.
    fn encode<'a>(kind: ColumnType, count: usize, cells: impl Iterator<Item = Cell<'a>>) -> Vec<u8>;
}

/// The arrays of a record, each encoded by `E`.
pub fn arrays<E: EncodeArray>(
    description: &Table,
    batch: &Batch,
    record: &Record<'_>,
    span_ns: i64,
) -> Vec<Vec<u8>> {
    let kind = ColumnType::of_offset(span_ns);
    let offsets = record.rows().map(|row| {
        let offset = batch.times_ns[row].wrapping_sub(record.start_ns);
        match kind {
            ColumnType::I32 => Cell::I32(i32::try_from(offset).unwrap_or(i32::MAX)),
            _ => Cell::I64(offset),
        }
    });
    let count = record.readings();
    let mut payloads = vec![E::encode(kind, count, offsets)];
    for (number, field) in description.fields.iter().enumerate() {
        let cells = record.rows().map(|row| Cell::field(batch, row, number));
        payloads.push(E::encode(ColumnType::of_field(field.kind), count, cells));
    }
    payloads
}
