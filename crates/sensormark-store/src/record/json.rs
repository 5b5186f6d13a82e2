//! Records of a span as JSON text, `{"measurements":[{"ns":…,"m":[…]},…]}`, written in one pass and read by serde_json.
//!
//! `ns` counts from the span's start; `m` holds a value a field, null where there is none. Any whitespace and any order of keys
//! is read; what is no such record is an error.

use super::{Record, Wanted};
use crate::batch::{Batch, Column, Values};
use crate::error::{ErrorKind, StoreError};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Appends a whole number.
pub fn integer(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a floating point number, which JSON tells from a whole one.
pub fn real(value: f64, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value).as_bytes();
    out.extend_from_slice(text);
    if !text.iter().any(|byte| matches!(byte, b'.' | b'e')) {
        out.extend_from_slice(b".0");
    }
}

/// Appends a string with its quotes.
pub fn text(value: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for &byte in value.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Appends the readings of a record.
pub fn encode(batch: &Batch, record: &Record<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"measurements\":[");
    let mut between: &[u8] = b"{\"ns\":";
    for row in record.rows() {
        out.extend_from_slice(between);
        between = b",{\"ns\":";
        integer(batch.times_ns[row].wrapping_sub(record.start_ns), out);
        out.extend_from_slice(b",\"m\":[");
        for (field, column) in batch.columns.iter().enumerate() {
            if field > 0 {
                out.push(b',');
            }
            value(column, row, out);
        }
        out.extend_from_slice(b"]}");
    }
    out.extend_from_slice(b"]}");
}

fn value(column: &Column, row: usize, out: &mut Vec<u8>) {
    if !column.has(row) {
        return out.extend_from_slice(b"null");
    }
    match &column.values {
        Values::Bool(values) if values[row] => out.extend_from_slice(b"true"),
        Values::Bool(_) => out.extend_from_slice(b"false"),
        Values::I64(values) => integer(values[row], out),
        Values::U16(values) => {
            out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes());
        }
        Values::F64(values) => real(values[row], out),
        Values::Text(values) => text(values.get(row), out),
    }
}

/// A record as its text says it.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    measurements: Vec<Reading<'a>>,
}

#[derive(Deserialize)]
struct Reading<'a> {
    ns: i64,
    #[serde(borrow)]
    m: Vec<&'a RawValue>,
}

/// Reads the wanted readings and fields of a record into a batch.
///
/// # Errors
/// [`ErrorKind::Protocol`] when the text is not such a record.
pub fn decode(text: &str, wanted: &Wanted, batch: &mut Batch) -> Result<(), StoreError> {
    let document: Document<'_> = parsed(text)?;
    for Reading { ns, m } in document.measurements {
        let Some(time) = wanted.time(ns) else { continue };
        if m.len() != batch.columns.len() {
            return Err(wrong(format!("{} values for {} fields", m.len(), batch.columns.len())));
        }
        batch.times_ns.push(time);
        batch.series.push(wanted.series);
        for field in wanted.fields.iter() {
            read(m[field], &mut batch.columns[field])?;
        }
    }
    Ok(())
}

/// Reads the wanted readings of a record whose offsets and wanted fields came as arrays of their own, the fields in the order of their
/// numbers. Readings without any of the fields are left out.
///
/// # Errors
/// [`ErrorKind::Protocol`] when the texts are not such arrays.
pub fn decode_arrays(
    offsets: &str,
    fields: &[&str],
    wanted: &Wanted,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let offsets: Vec<i64> = parsed(offsets)?;
    let fields: Result<Vec<Vec<&RawValue>>, StoreError> = fields.iter().map(|text| parsed(text)).collect();
    let fields = fields?;
    if fields.iter().any(|values| values.len() != offsets.len()) {
        return Err(wrong("the arrays of a record differ in length"));
    }
    for (place, offset) in offsets.into_iter().enumerate() {
        let has_any = fields.iter().any(|values| values[place].get() != NULL);
        let Some(time) = wanted.time(offset).filter(|_| has_any) else { continue };
        batch.times_ns.push(time);
        batch.series.push(wanted.series);
        for (values, field) in fields.iter().zip(wanted.fields.iter()) {
            read(values[place], &mut batch.columns[field])?;
        }
    }
    Ok(())
}

const NULL: &str = "null";

/// Reads one value of a column.
fn read(value: &RawValue, column: &mut Column) -> Result<(), StoreError> {
    let text = value.get();
    if text == NULL {
        column.push_null();
        return Ok(());
    }
    match &mut column.values {
        Values::Bool(values) => values.push(parsed(text)?),
        Values::I64(values) => values.push(parsed(text)?),
        Values::U16(values) => values.push(parsed(text)?),
        Values::F64(values) => values.push(parsed(text)?),
        Values::Text(values) => values.push(&parsed::<Cow<'_, str>>(text)?),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(wrong)
}

fn wrong(why: impl ToString) -> StoreError {
    StoreError::new(ErrorKind::Protocol, "read a JSON record", why.to_string())
}

#[cfg(test)]
mod tests;
