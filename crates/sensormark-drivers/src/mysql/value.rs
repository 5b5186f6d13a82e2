//! Values as the driver takes and gives them, and as they stand in texts and files.

use crate::Cell;
use mysql_async::Value as Native;
use sensormark_kit::{Document, Row, unexpected};
use sensormark_store::record::json;
use sensormark_store::{Column, FieldType, StoreError, Value, Values};

/// A value as the driver takes it. Several are one text with commas between them (FIND_IN_SET).
#[inline]
pub(super) fn native(cell: Cell<'_>) -> Native {
    match cell {
        Cell::Null => Native::NULL,
        Cell::Bool(value) => Native::Int(i64::from(value)),
        Cell::I64(value) => Native::Int(value),
        Cell::F64(value) => Native::Double(value),
        Cell::Text(value) => Native::Bytes(value.as_bytes().to_vec()),
        Cell::Bytes(value) => Native::Bytes(value.to_vec()),
        Cell::Integers(values) => {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            Native::Bytes(values.join(",").into_bytes())
        }
        Cell::Texts(values) => Native::Bytes(values.join(",").into_bytes()),
    }
}

/// A value that was kept for people (`'it''s'`), for a plan with it.
pub(super) fn read(printed: &str) -> Native {
    let quoted = printed.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    if let Some(text) = quoted {
        return Native::Bytes(text.replace("''", "'").into_bytes());
    }
    let whole = printed.parse().map(Native::Int).ok();
    let number = whole.or_else(|| printed.parse().map(Native::Double).ok());
    number.unwrap_or(Native::NULL)
}

/// A line of a plan: the columns that say something.
pub(super) fn plan_line(row: &mysql_async::Row) -> String {
    let columns = row.columns_ref().iter().enumerate();
    let said = columns.filter_map(|(place, column)| {
        let value = row.as_ref(place).filter(|value| **value != Native::NULL)?.as_sql(true);
        Some(format!("{}={}", column.name_str().to_lowercase(), value.trim_matches('\'')))
    });
    said.collect::<Vec<String>>().join(" ")
}

/// Appends a value as a literal of SQL. In the session's mode a backslash escapes, and a number without an exponent would be a decimal.
pub(super) fn put_literal(cell: Cell<'_>, out: &mut Vec<u8>) {
    match cell {
        Cell::F64(value) => {
            let start = out.len();
            json::real(value, out);
            if !out[start..].contains(&b'e') {
                out.extend_from_slice(b"e0");
            }
        }
        Cell::Text(value) => {
            out.push(b'\'');
            for &byte in value.as_bytes() {
                if matches!(byte, b'\'' | b'\\') {
                    out.push(b'\\');
                }
                out.push(byte);
            }
            out.push(b'\'');
        }
        other => other.literal(out),
    }
}

/// Appends a value as a column of the file that LOAD DATA reads.
pub(super) fn put_column(cell: Cell<'_>, out: &mut Vec<u8>) {
    match cell {
        Cell::Null => out.extend_from_slice(b"\\N"),
        Cell::Text(value) => {
            for &byte in value.as_bytes() {
                let escaped = match byte {
                    b'\t' => b't',
                    b'\n' => b'n',
                    b'\r' => b'r',
                    b'\\' => b'\\',
                    0 => b'0',
                    _ => {
                        out.push(byte);
                        continue;
                    }
                };
                out.extend_from_slice(&[b'\\', escaped]);
            }
        }
        other => other.literal(out),
    }
}

/// A row that the server sent.
pub(super) struct WireRow<'a>(pub(super) &'a mysql_async::Row);

impl WireRow<'_> {
    /// The value at a place; none where it is NULL.
    #[inline]
    fn present(&self, place: usize) -> Option<&Native> {
        self.0.as_ref(place).filter(|value| **value != Native::NULL)
    }
}

/// The server gives sums of whole numbers as decimals.
#[inline]
fn integer(value: &Native) -> Result<i64, StoreError> {
    let found = match value {
        Native::Int(value) => Some(*value),
        Native::UInt(value) => i64::try_from(*value).ok(),
        Native::Bytes(digits) => std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()),
        _ => None,
    };
    found.ok_or_else(|| unexpected("a value is no whole number"))
}

#[inline]
fn real(value: &Native) -> Result<f64, StoreError> {
    match value {
        Native::Double(value) => Ok(*value),
        Native::Float(value) => Ok(f64::from(*value)),
        _ => Err(unexpected("a value is no floating point number")),
    }
}

#[inline]
fn text(value: &Native) -> Result<&str, StoreError> {
    let Native::Bytes(bytes) = value else { return Err(unexpected("a value is no text")) };
    std::str::from_utf8(bytes).map_err(|_| unexpected("a text is not UTF-8"))
}

fn nothing() -> StoreError {
    unexpected("a value is missing")
}

impl Row for WireRow<'_> {
    #[inline]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        let Some(native) = self.present(place) else {
            column.push_null();
            return Ok(());
        };
        match &mut column.values {
            Values::Bool(values) => values.push(integer(native)? != 0),
            Values::I64(values) => values.push(integer(native)?),
            Values::U16(values) => {
                let value = u16::try_from(integer(native)?);
                values.push(value.map_err(|_| unexpected("a number is not of 16 bits"))?);
            }
            Values::F64(values) => values.push(real(native)?),
            Values::Text(values) => values.push(text(native)?),
        }
        if let Some(present) = &mut column.present {
            present.push(true);
        }
        Ok(())
    }

    #[inline]
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        integer(self.present(place).ok_or_else(nothing)?)
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        text(self.present(place).ok_or_else(nothing)?)
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        self.integer(place).map(|value| value != 0)
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        let Some(native) = self.present(place) else {
            return Ok(Value::Null);
        };
        Ok(match kind {
            FieldType::Bool => Value::Bool(integer(native)? != 0),
            FieldType::I64 | FieldType::U16 => Value::I64(integer(native)?),
            FieldType::F64 => Value::F64(real(native)?),
            FieldType::Text => Value::Text(text(native)?.to_owned()),
        })
    }

    fn printed(&self, place: usize) -> Result<String, StoreError> {
        Ok(match self.present(place) {
            None => String::new(),
            Some(Native::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            Some(other) => other.as_sql(true),
        })
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.present(place).is_none())
    }

    /// JSON is text here.
    fn document(&self, place: usize) -> Result<Document<'_>, StoreError> {
        self.text(place).map(Document::Json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(put: fn(Cell<'_>, &mut Vec<u8>), cell: Cell<'_>) -> String {
        let mut out = Vec::new();
        put(cell, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_stand_in_texts_and_files_as_the_server_reads_them() {
        assert_eq!(written(put_literal, Cell::F64(1.25)), "1.25e0");
        assert_eq!(written(put_literal, Cell::Text("o'k\\")), "'o\\'k\\\\'");
        assert_eq!(written(put_column, Cell::Text("a\tb\\")), "a\\tb\\\\");
        assert_eq!(written(put_column, Cell::Null), "\\N");
        assert_eq!(written(put_column, Cell::Bool(true)), "1");
    }

    #[test]
    fn kept_values_are_read_again() {
        assert_eq!(read("'it''s'"), Native::Bytes(b"it's".to_vec()));
        assert_eq!(read("-7"), Native::Int(-7));
        assert_eq!(read("1.5"), Native::Double(1.5));
        assert_eq!(read("NULL"), Native::NULL);
    }
}
