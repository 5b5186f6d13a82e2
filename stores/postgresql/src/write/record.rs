//! Records of a span as PostgreSQL takes them: a document, or arrays.

use crate::cell::array;
use crate::cell::native;
use sensormark_relational::cell::Cell;
use sensormark_relational::column_type::ColumnType;
use sensormark_store::record::{Record, json};
use sensormark_store::{Batch, Encoding, Table};

/// The offsets of a record's readings, and then one array a field.
pub(crate) fn arrays(
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
    let mut payloads = vec![array(&native(kind), count, offsets)];
    for (number, field) in description.fields.iter().enumerate() {
        let cells = record.rows().map(|row| Cell::field(batch, row, number));
        let kind = native(ColumnType::of_field(field.kind));
        payloads.push(array(&kind, count, cells));
    }
    payloads
}

/// A record's document; the binary form of jsonb is its version, 1, and the same text.
pub(crate) fn document(batch: &Batch, record: &Record<'_>, encoding: Encoding) -> Vec<u8> {
    let readings = record.readings();
    let mut out = Vec::with_capacity(32 + readings * (20 + 8 * batch.columns.len()));
    if encoding == Encoding::BinaryJson {
        out.push(1);
    }
    json::encode(batch, record, &mut out);
    out
}
