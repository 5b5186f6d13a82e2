//! The JSON document of a record: `{"measurements":[{"ns":…,"m":[…]},…]}`, written by hand in linear time.
//!
//! `ns` is the time since the span's start, `m` has one entry a field, null where a reading lacks it. Read back in
//! [`crate::query::document`].

use sensormark_store::{Batch, Column, Values};

const HEAD: &str = "{\"measurements\":[";

/// Appends a reading.
pub(crate) fn push(document: &mut String, ns: i64, batch: &Batch, reading: usize) {
    document.push_str(if document.is_empty() { HEAD } else { "," });
    document.push_str("{\"ns\":");
    document.push_str(itoa::Buffer::new().format(ns));
    document.push_str(",\"m\":[");
    for (number, column) in batch.columns.iter().enumerate() {
        if number > 0 {
            document.push(',');
        }
        push_value(document, column, reading);
    }
    document.push_str("]}");
}

/// Closes the document.
pub(crate) fn finish(document: &mut String) {
    if document.is_empty() {
        document.push_str(HEAD);
    }
    document.push_str("]}");
}

fn push_value(document: &mut String, column: &Column, reading: usize) {
    if !column.has(reading) {
        document.push_str("null");
        return;
    }
    match &column.values {
        Values::Bool(values) => document.push_str(if values[reading] { "true" } else { "false" }),
        Values::I64(values) => document.push_str(itoa::Buffer::new().format(values[reading])),
        Values::U16(values) => document.push_str(itoa::Buffer::new().format(values[reading])),
        Values::F64(values) => {
            document.push_str(zmij::Buffer::new().format_finite(values[reading]))
        }
        Values::Text(values) => push_text(document, values.get(reading)),
    }
}

fn push_text(document: &mut String, text: &str) {
    const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";
    document.push('"');
    for character in text.chars() {
        match character {
            '"' => document.push_str("\\\""),
            '\\' => document.push_str("\\\\"),
            '\0'..='\x1f' => {
                let code = character as usize;
                document.push_str("\\u00");
                document.push(char::from(HEXADECIMAL[code >> 4]));
                document.push(char::from(HEXADECIMAL[code & 15]));
            }
            other => document.push(other),
        }
    }
    document.push('"');
}
