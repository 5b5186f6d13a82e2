//! Records of a span as packed bytes: columns in little-endian order.
//!
//! A record holds, in this order:
//!
//! - the number of readings (u32);
//! - their offsets from the span's start in ns (i64 each);
//! - for each field a byte that says whether every reading has it, else a byte a reading that says which do;
//! - then the field's values: bool u8, u16, i64, f64 as they are, text as its ends (u32 each) followed by all bytes.

use super::{Record, Wanted};
use crate::batch::{Batch, Column, Values};
use crate::error::{ErrorKind, StoreError};
use crate::schema::FieldType;

/// Appends the readings of a record.
///
/// # Errors
/// [`ErrorKind::TooLarge`] when readings or text do not fit 32-bit counts.
pub fn encode(batch: &Batch, record: &Record<'_>, out: &mut Vec<u8>) -> Result<(), StoreError> {
    out.extend_from_slice(&size(record.readings())?.to_le_bytes());
    for row in record.rows() {
        out.extend_from_slice(&batch.times_ns[row].wrapping_sub(record.start_ns).to_le_bytes());
    }
    for column in &batch.columns {
        let every = record.rows().all(|row| column.has(row));
        out.push(u8::from(every));
        if !every {
            out.extend(record.rows().map(|row| u8::from(column.has(row))));
        }
        match &column.values {
            Values::Bool(values) => out.extend(record.rows().map(|row| u8::from(values[row]))),
            Values::I64(values) => {
                record.rows().for_each(|row| out.extend_from_slice(&values[row].to_le_bytes()));
            }
            Values::U16(values) => {
                record.rows().for_each(|row| out.extend_from_slice(&values[row].to_le_bytes()));
            }
            Values::F64(values) => {
                record.rows().for_each(|row| out.extend_from_slice(&values[row].to_le_bytes()));
            }
            Values::Text(values) => {
                let mut end = 0;
                for row in record.rows() {
                    end += values.get(row).len();
                    out.extend_from_slice(&size(end)?.to_le_bytes());
                }
                record.rows().for_each(|row| out.extend_from_slice(values.get(row).as_bytes()));
            }
        }
    }
    Ok(())
}

fn size(length: usize) -> Result<u32, StoreError> {
    u32::try_from(length).map_err(|_| {
        StoreError::new(
            ErrorKind::TooLarge,
            "pack a record",
            "a record holds at most 2^32 readings and bytes of a text field; choose a shorter span",
        )
    })
}

/// Reads the wanted readings and fields of a record into a batch.
///
/// # Errors
/// [`ErrorKind::Protocol`] when the bytes are not such a record of this table.
pub fn decode(bytes: &[u8], wanted: &Wanted, batch: &mut Batch) -> Result<(), StoreError> {
    unpack(bytes, wanted, batch).ok_or_else(|| {
        StoreError::new(ErrorKind::Protocol, "read a packed record", "the bytes are no record of this table")
    })
}

fn unpack(mut bytes: &[u8], wanted: &Wanted, batch: &mut Batch) -> Option<()> {
    let count = u32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?) as usize;
    let offsets = take(&mut bytes, count.checked_mul(8)?)?;
    let mut chosen = Vec::with_capacity(count);
    for (row, offset) in offsets.chunks_exact(8).enumerate() {
        if let Some(time) = wanted.time(i64::from_le_bytes(offset.try_into().ok()?)) {
            batch.times_ns.push(time);
            batch.series.push(wanted.series);
            chosen.push(row);
        }
    }
    for (field, column) in batch.columns.iter_mut().enumerate() {
        let every = take(&mut bytes, 1)?[0] == 1;
        let present = if every { None } else { Some(take(&mut bytes, count)?) };
        let kind = column.values.kind();
        let packed = take(&mut bytes, count.checked_mul(width(kind))?)?;
        let text = match kind {
            FieldType::Text => take(&mut bytes, text_end(packed, count)?)?,
            _ => &[],
        };
        if wanted.fields.contains(field) {
            unpack_column(column, packed, text, present, &chosen)?;
        }
    }
    bytes.is_empty().then_some(())
}

const fn width(kind: FieldType) -> usize {
    match kind {
        FieldType::Bool => 1,
        FieldType::U16 => 2,
        FieldType::Text => 4,
        FieldType::I64 | FieldType::F64 => 8,
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// Where the text of the first `rows` readings ends.
fn text_end(ends: &[u8], rows: usize) -> Option<usize> {
    match rows.checked_sub(1) {
        None => Some(0),
        Some(last) => {
            let end = ends.get(last * 4..last * 4 + 4)?;
            Some(u32::from_le_bytes(end.try_into().ok()?) as usize)
        }
    }
}

fn unpack_column(
    column: &mut Column,
    packed: &[u8],
    text: &[u8],
    present: Option<&[u8]>,
    chosen: &[usize],
) -> Option<()> {
    for &row in chosen {
        if present.is_some_and(|present| present[row] == 0) {
            column.push_null();
            continue;
        }
        match &mut column.values {
            Values::Bool(values) => values.push(packed[row] == 1),
            Values::I64(values) => values.push(i64::from_le_bytes(eight(packed, row)?)),
            Values::F64(values) => values.push(f64::from_le_bytes(eight(packed, row)?)),
            Values::U16(values) => {
                values.push(u16::from_le_bytes(packed.get(row * 2..row * 2 + 2)?.try_into().ok()?));
            }
            Values::Text(values) => {
                let value = text.get(text_end(packed, row)?..text_end(packed, row + 1)?)?;
                values.push(std::str::from_utf8(value).ok()?);
            }
        }
        if let Some(present) = &mut column.present {
            present.push(true);
        }
    }
    Some(())
}

fn eight(packed: &[u8], row: usize) -> Option<[u8; 8]> {
    packed.get(row * 8..row * 8 + 8)?.try_into().ok()
}
