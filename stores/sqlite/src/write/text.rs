//! Writing by statements as text: single INSERTs one after another in one string, values as literals.
//!
//! This is what the second study did; it is offered to show what parsing costs.

use super::{OPERATION, Writer};
use crate::design::{Design, SeriesKey};
use crate::error;
use rusqlite::Connection;
use sensormark_store::{Batch, Column, StoreError, TagColumn, Values};
use std::ops::Range;

/// Writes these rows as one request and one transaction.
pub fn write(
    connection: &Connection,
    design: &Design,
    writer: &mut Writer,
    batch: &Batch,
    rows: Range<usize>,
) -> Result<(), StoreError> {
    let table = &design.tables[batch.table];
    let mut columns = table.key.written();
    columns.push(&table.time);
    columns.extend(table.values.iter().map(String::as_str));
    let head = format!(
        "INSERT INTO {} ({}) VALUES (",
        table.readings,
        columns.join(", ")
    );
    let text = &mut writer.buffer;
    text.clear();
    text.extend_from_slice(b"BEGIN IMMEDIATE;");
    for row in rows {
        text.extend_from_slice(head.as_bytes());
        series(design, batch, row, text);
        text.extend_from_slice(itoa::Buffer::new().format(batch.times_ns[row]).as_bytes());
        for column in &batch.columns {
            text.push(b',');
            literal(column, row, text);
        }
        text.extend_from_slice(b");");
    }
    text.extend_from_slice(b"COMMIT;");
    let sql = std::str::from_utf8(text).map_err(|cause| {
        error::unexpected(OPERATION, "statements are not UTF-8").with_source(cause)
    })?;
    connection.execute_batch(sql).map_err(|cause| {
        let failure = error::native(OPERATION, cause);
        if !connection.is_autocommit() {
            // What failed is reported; a failing ROLLBACK leaves the transaction to the closing of the connection.
            drop(connection.execute_batch("ROLLBACK"));
        }
        failure
    })
}

fn series(design: &Design, batch: &Batch, row: usize, text: &mut Vec<u8>) {
    let number = batch.series[row];
    match &design.tables[batch.table].key {
        SeriesKey::Only => {}
        SeriesKey::Number(_) => {
            text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            text.push(b',');
        }
        SeriesKey::Tags { .. } => {
            for column in design.schema.tables[batch.table].series.columns() {
                match column {
                    TagColumn::Text(values) => quote(&values[number as usize], text),
                    TagColumn::Integer(values) => text.extend_from_slice(
                        itoa::Buffer::new()
                            .format(values[number as usize])
                            .as_bytes(),
                    ),
                }
                text.push(b',');
            }
        }
    }
}

fn literal(column: &Column, row: usize, text: &mut Vec<u8>) {
    if !column.has(row) {
        return text.extend_from_slice(b"NULL");
    }
    match &column.values {
        Values::Bool(values) => text.push(b'0' + u8::from(values[row])),
        Values::I64(values) => {
            text.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes());
        }
        Values::U16(values) => {
            text.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes());
        }
        Values::F64(values) => sensormark_store::record::json::real(values[row], text),
        Values::Text(values) => quote(values.get(row), text),
    }
}

fn quote(value: &str, text: &mut Vec<u8>) {
    text.push(b'\'');
    for &byte in value.as_bytes() {
        if byte == b'\'' {
            text.push(byte);
        }
        text.push(byte);
    }
    text.push(b'\'');
}
