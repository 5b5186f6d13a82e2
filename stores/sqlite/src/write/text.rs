//! Writing by statements as text: single INSERTs one after another in one string, values as literals.
//!
//! This is what the second study did; it is offered to show what parsing costs.

use super::writer::{OPERATION, Writer};
use crate::error;
use rusqlite::Connection;
use sensormark_relational::cell::Cell;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::write::Rows;
use sensormark_relational::write::statement::insert_head;
use sensormark_store::record::json;
use sensormark_store::{Batch, StoreError};
use std::ops::Range;

/// The longest string of statements. For each statement the library copies what is left of its string, so the time grows with the square of the length.
const MOST_BYTES: usize = 16 << 10;

/// Writes these rows as one transaction.
pub fn write(
    connection: &Connection,
    physical: &PhysicalSchema,
    writer: &mut Writer,
    batch: &Batch,
    readings: Range<usize>,
) -> Result<(), StoreError> {
    let rows = Rows::new(physical, batch, readings)?;
    let head = format!("{}(", insert_head(rows.table));
    let text = &mut writer.buffer;
    text.clear();
    text.extend_from_slice(b"BEGIN IMMEDIATE;");
    for row in 0..rows.len() {
        text.extend_from_slice(head.as_bytes());
        for column in 0..rows.table.columns.len() {
            if column > 0 {
                text.push(b',');
            }
            literal(rows.cell(row, column), text);
        }
        text.extend_from_slice(b");");
        if text.len() > MOST_BYTES {
            run(connection, text)?;
            text.clear();
        }
    }
    text.extend_from_slice(b"COMMIT;");
    run(connection, text)
}

/// Runs statements in one string. Where one fails, the transaction is rolled back.
fn run(connection: &Connection, text: &[u8]) -> Result<(), StoreError> {
    let sql = std::str::from_utf8(text)
        .map_err(|cause| error::unexpected(OPERATION, "statements are not UTF-8").with_source(cause))?;
    connection.execute_batch(sql).map_err(|cause| {
        let failure = error::native(OPERATION, cause);
        if !connection.is_autocommit() {
            // What failed is reported; a failing ROLLBACK leaves the transaction to the closing of the connection.
            drop(connection.execute_batch("ROLLBACK"));
        }
        failure
    })
}

fn literal(cell: Cell<'_>, text: &mut Vec<u8>) {
    match cell {
        // Packed records are not written as text.
        Cell::Null | Cell::Encoded(_) => text.extend_from_slice(b"NULL"),
        Cell::Bool(value) => text.push(b'0' + u8::from(value)),
        Cell::I16(value) => json::integer(i64::from(value), text),
        Cell::I32(value) => json::integer(i64::from(value), text),
        Cell::I64(value) => json::integer(value, text),
        Cell::F64(value) => json::real(value, text),
        Cell::Text(value) => quote(value, text),
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
