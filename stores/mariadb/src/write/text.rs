//! Batches as text: literals in INSERT statements, and the file that LOAD DATA reads.
//!
//! Numbers are written so that the server reads back the same bits; text is escaped for the session's SQL mode, in which a
//! backslash escapes.

use super::insert::Insert;
use sensormark_relational::cell::Cell;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::write::Rows;
use sensormark_store::{Batch, StoreError};
use std::ops::Range;

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Literals of SQL, with commas between them.
    Literal,
    /// Columns of a file, with tabs between them.
    File,
}

/// A transaction of one INSERT a reading.
pub(crate) fn concatenated(
    physical: &PhysicalSchema,
    insert: &Insert,
    batch: &Batch,
    readings: Range<usize>,
) -> Result<String, StoreError> {
    let mut text = String::from("START TRANSACTION;");
    for reading in readings {
        let rows = Rows::new(physical, batch, reading..reading + 1)?;
        if !rows.is_empty() {
            text.push_str(&insert.head);
            push_rows(&mut text, &rows);
            text.push(';');
        }
    }
    text.push_str("COMMIT");
    Ok(text)
}

/// One INSERT of all readings.
pub(crate) fn multi_row(
    physical: &PhysicalSchema,
    insert: &Insert,
    batch: &Batch,
    readings: Range<usize>,
) -> Result<String, StoreError> {
    let mut text = insert.head.clone();
    push_rows(&mut text, &Rows::new(physical, batch, readings)?);
    Ok(text)
}

/// Rows in parentheses, with commas between them.
fn push_rows(text: &mut String, rows: &Rows<'_>) {
    for row in 0..rows.len() {
        text.push_str(if row == 0 { "(" } else { ",(" });
        push_row(text, Form::Literal, rows, row);
        text.push(')');
    }
}

/// The file of all rows, and how many there are.
pub(crate) fn infile(
    physical: &PhysicalSchema,
    batch: &Batch,
    readings: Range<usize>,
) -> Result<(String, u64), StoreError> {
    let rows = Rows::new(physical, batch, readings)?;
    let mut text = String::with_capacity(rows.len() * (24 + 12 * rows.table.columns.len()));
    for row in 0..rows.len() {
        push_row(&mut text, Form::File, &rows, row);
        text.push('\n');
    }
    Ok((text, rows.len() as u64))
}

fn push_row(text: &mut String, form: Form, rows: &Rows<'_>, row: usize) {
    let stop = if form == Form::Literal { ',' } else { '\t' };
    for column in 0..rows.table.columns.len() {
        if column > 0 {
            text.push(stop);
        }
        push_cell(text, form, rows.cell(row, column));
    }
}

fn push_cell(text: &mut String, form: Form, cell: Cell<'_>) {
    match cell {
        // Records are not written as text.
        Cell::Null | Cell::Encoded(_) => {
            text.push_str(if form == Form::Literal { "NULL" } else { "\\N" });
        }
        Cell::Bool(value) => text.push(if value { '1' } else { '0' }),
        Cell::I16(value) => text.push_str(itoa::Buffer::new().format(value)),
        Cell::I32(value) => text.push_str(itoa::Buffer::new().format(value)),
        Cell::I64(value) => text.push_str(itoa::Buffer::new().format(value)),
        Cell::F64(value) => {
            let mut buffer = zmij::Buffer::new();
            let digits = buffer.format_finite(value);
            text.push_str(digits);
            if form == Form::Literal && !digits.contains('e') {
                text.push_str("e0"); // without an exponent a literal is a decimal, not a double
            }
        }
        Cell::Text(value) => push_text(text, form, value),
    }
}

fn push_text(text: &mut String, form: Form, value: &str) {
    if form == Form::Literal {
        text.push('\'');
    }
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\'' if form == Form::Literal => text.push_str("\\'"),
            '\t' if form == Form::File => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\0' => text.push_str("\\0"),
            '\x1a' => text.push_str("\\Z"),
            other => text.push(other),
        }
    }
    if form == Form::Literal {
        text.push('\'');
    }
}
