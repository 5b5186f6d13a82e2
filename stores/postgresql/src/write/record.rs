//! Records of a span: the readings of a series in one span of time, encoded as a document or as arrays.

use super::rows::field_cell;
use crate::cell::{Cell, array};
use crate::schema::{field_type, offset_type};
use sensormark_store::{Batch, Encoding, Table};
use std::ops::Range;

/// One record.
pub(crate) struct Record {
    /// The span's start divided by its length.
    pub(crate) span: i64,
    /// How many readings it has.
    pub(crate) size: i32,
    /// A reading of it, for the series' tags.
    pub(crate) first_row: usize,
    /// The document; or the offsets and then one array a field.
    pub(crate) payloads: Vec<Vec<u8>>,
}

/// One record for each series and span among these readings.
pub(crate) fn records(
    description: &Table,
    batch: &Batch,
    readings: Range<usize>,
    span_ns: i64,
    encoding: Encoding,
) -> Vec<Record> {
    let key = |row: usize| (batch.series[row], batch.times_ns[row].div_euclid(span_ns));
    let mut order: Vec<usize> = readings.collect();
    order.sort_by_key(|&row| key(row));
    order
        .chunk_by(|&one, &other| key(one) == key(other))
        .map(|rows| {
            let (_, span) = key(rows[0]);
            let start_ns = span * span_ns;
            let payloads = match encoding {
                Encoding::Arrays => arrays(description, batch, rows, span_ns, start_ns),
                _ => vec![document(
                    batch,
                    rows,
                    start_ns,
                    encoding == Encoding::BinaryJson,
                )],
            };
            Record {
                span,
                size: i32::try_from(rows.len()).unwrap_or(i32::MAX),
                first_row: rows[0],
                payloads,
            }
        })
        .collect()
}

fn arrays(
    description: &Table,
    batch: &Batch,
    rows: &[usize],
    span_ns: i64,
    start_ns: i64,
) -> Vec<Vec<u8>> {
    let offsets = rows.iter().map(|&row| {
        let offset = batch.times_ns[row] - start_ns;
        match i32::try_from(span_ns) {
            Ok(_) => Cell::I32(i32::try_from(offset).unwrap_or(i32::MAX)),
            Err(_) => Cell::I64(offset),
        }
    });
    let mut payloads = vec![array(&offset_type(span_ns, false), offsets)];
    for (number, field) in description.fields.iter().enumerate() {
        let cells = rows.iter().map(|&row| field_cell(batch, row, number));
        payloads.push(array(&field_type(field.kind), cells));
    }
    payloads
}

/// `{"measurements":[{"ns":…,"m":[…]},…]}`; the binary form of jsonb is its version, 1, and the same text.
fn document(batch: &Batch, rows: &[usize], start_ns: i64, binary: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(32 + rows.len() * (20 + 8 * batch.columns.len()));
    if binary {
        out.push(1);
    }
    out.extend_from_slice(b"{\"measurements\":[");
    for (number, &row) in rows.iter().enumerate() {
        out.extend_from_slice(if number == 0 {
            b"{\"ns\":"
        } else {
            b",{\"ns\":"
        });
        out.extend_from_slice(
            itoa::Buffer::new()
                .format(batch.times_ns[row] - start_ns)
                .as_bytes(),
        );
        out.extend_from_slice(b",\"m\":[");
        for field in 0..batch.columns.len() {
            if field > 0 {
                out.push(b',');
            }
            put_json(field_cell(batch, row, field), &mut out);
        }
        out.extend_from_slice(b"]}");
    }
    out.extend_from_slice(b"]}");
    out
}

fn put_json(cell: Cell<'_>, out: &mut Vec<u8>) {
    match cell {
        Cell::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Cell::I16(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        Cell::I32(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        Cell::I64(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        Cell::F64(value) => out.extend_from_slice(zmij::Buffer::new().format(value).as_bytes()),
        Cell::Text(value) => {
            // Writing to memory does not fail, and text is always JSON.
            let _ = serde_json::to_writer(out, value);
        }
        Cell::Null | Cell::Encoded(_) => out.extend_from_slice(b"null"),
    }
}
