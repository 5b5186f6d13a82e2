//! Batches as text: literals in INSERT statements, and the file that LOAD DATA reads.
//!
//! Numbers are written so that the server reads back the same bits; text is escaped for the session's SQL mode, in which a
//! backslash escapes.

use super::rows::split;
use crate::schema::{Content, TableModel};
use sensormark_store::{Batch, Column, Table, TagColumn, Values};
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
    table: &Table,
    described: &TableModel,
    batch: &Batch,
    range: Range<usize>,
) -> String {
    let mut text = String::from("START TRANSACTION;");
    for reading in range {
        text.push_str(&described.inserts.readings.head);
        push_readings(&mut text, table, described, batch, reading..reading + 1);
        text.push(';');
    }
    text.push_str("COMMIT");
    text
}

/// One INSERT of all readings.
pub(crate) fn multi_row(
    table: &Table,
    described: &TableModel,
    batch: &Batch,
    range: Range<usize>,
) -> String {
    let mut text = described.inserts.readings.head.clone();
    push_readings(&mut text, table, described, batch, range);
    text
}

/// The rows of readings in parentheses, with commas between them.
fn push_readings(
    text: &mut String,
    table: &Table,
    described: &TableModel,
    batch: &Batch,
    range: Range<usize>,
) {
    let mut open = "(";
    for reading in range {
        each_row(described, batch, reading, |field| {
            text.push_str(open);
            open = ",(";
            push_row(text, Form::Literal, table, described, batch, reading, field);
            text.push(')');
        });
    }
}

/// The file of all rows, and how many there are.
pub(crate) fn infile(
    table: &Table,
    described: &TableModel,
    batch: &Batch,
    range: Range<usize>,
) -> (String, u64) {
    let mut text = String::with_capacity(range.len() * (24 + 12 * batch.columns.len()));
    let mut rows = 0;
    for reading in range {
        each_row(described, batch, reading, |field| {
            push_row(
                &mut text,
                Form::File,
                table,
                described,
                batch,
                reading,
                field,
            );
            text.push('\n');
            rows += 1;
        });
    }
    (text, rows)
}

/// Calls for each row of a reading: once, or for each of its fields.
fn each_row(
    described: &TableModel,
    batch: &Batch,
    reading: usize,
    mut row: impl FnMut(Option<usize>),
) {
    if super::is_row_per_field(&described.content) {
        for (field, column) in batch.columns.iter().enumerate() {
            if column.has(reading) {
                row(Some(field));
            }
        }
    } else {
        row(None);
    }
}

fn push_row(
    text: &mut String,
    form: Form,
    table: &Table,
    described: &TableModel,
    batch: &Batch,
    reading: usize,
    field: Option<usize>,
) {
    let stop = if form == Form::Literal { ',' } else { '\t' };
    let series = batch.series[reading];
    for key in &described.keys {
        match key.tag.map(|tag| &table.series.columns()[tag]) {
            None => text.push_str(itoa::Buffer::new().format(series)),
            Some(TagColumn::Integer(values)) => {
                text.push_str(itoa::Buffer::new().format(values[series as usize]));
            }
            Some(TagColumn::Text(values)) => push_text(text, form, &values[series as usize]),
        }
        text.push(stop);
    }
    let time_ns = batch.times_ns[reading];
    match (&described.content, field) {
        (Content::Fields { .. }, Some(field)) => {
            let (second, nanosecond) = split(time_ns);
            for number in [second, nanosecond, i64::try_from(field).unwrap_or_default()] {
                text.push_str(itoa::Buffer::new().format(number));
                text.push(stop);
            }
            push_value(text, form, &batch.columns[field], reading);
        }
        _ => {
            text.push_str(itoa::Buffer::new().format(time_ns));
            for column in &batch.columns {
                text.push(stop);
                push_value(text, form, column, reading);
            }
        }
    }
}

fn push_value(text: &mut String, form: Form, column: &Column, reading: usize) {
    if !column.has(reading) {
        text.push_str(if form == Form::Literal { "NULL" } else { "\\N" });
        return;
    }
    match &column.values {
        Values::Bool(values) => text.push(if values[reading] { '1' } else { '0' }),
        Values::I64(values) => text.push_str(itoa::Buffer::new().format(values[reading])),
        Values::U16(values) => text.push_str(itoa::Buffer::new().format(values[reading])),
        Values::F64(values) => {
            let mut buffer = zmij::Buffer::new();
            let digits = buffer.format_finite(values[reading]);
            text.push_str(digits);
            if form == Form::Literal && !digits.contains('e') {
                text.push_str("e0"); // without an exponent a literal is a decimal, not a double
            }
        }
        Values::Text(values) => push_text(text, form, values.get(reading)),
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
