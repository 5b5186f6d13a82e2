//! One value on its way to the server: as a parameter, in a COPY stream, in an array, or as a literal.
//!
//! Cells are made and encoded one at a time on the hot path; they borrow and never allocate.

use bytes::{BufMut, BytesMut};
use sensormark_relational::cell::Cell;
use sensormark_relational::column_type::ColumnType;
use std::error::Error;
use std::fmt::Write;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// One value as PostgreSQL takes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Parameter<'a>(pub(crate) Cell<'a>);

impl Parameter<'_> {
    /// The value alone, in the binary form; nothing for no value.
    fn put(self, out: &mut impl BufMut) {
        match self.0 {
            Cell::Null => {}
            Cell::Bool(value) => out.put_u8(u8::from(value)),
            Cell::I16(value) => out.put_i16(value),
            Cell::I32(value) => out.put_i32(value),
            Cell::I64(value) => out.put_i64(value),
            Cell::F64(value) => out.put_f64(value),
            Cell::Text(value) => out.put_slice(value.as_bytes()),
            Cell::Encoded(value) => out.put_slice(value),
        }
    }

    /// The length of the binary form in bytes, -1 for no value.
    fn length(self) -> i32 {
        let of = |bytes: &[u8]| i32::try_from(bytes.len()).unwrap_or(i32::MAX);
        match self.0 {
            Cell::Null => -1,
            Cell::Bool(_) => 1,
            Cell::I16(_) => 2,
            Cell::I32(_) => 4,
            Cell::I64(_) | Cell::F64(_) => 8,
            Cell::Text(value) => of(value.as_bytes()),
            Cell::Encoded(value) => of(value),
        }
    }

    /// Length and value, as rows of COPY and elements of arrays have them.
    pub(crate) fn put_with_length(self, out: &mut impl BufMut) {
        out.put_i32(self.length());
        self.put(out);
    }

    /// The binary form, as a shown statement needs it; nothing for no value.
    pub(crate) fn binary(self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.put(&mut bytes);
        (self.0 != Cell::Null).then_some(bytes)
    }

    /// The value of a parameter of this type, in a form that people can read.
    pub(crate) fn shown(self, kind: &Type) -> String {
        match (self.0, kind) {
            (Cell::I64(micros), &Type::TIMESTAMPTZ) => {
                format!("{micros} µs after 2000-01-01 UTC")
            }
            (Cell::Encoded(bytes), &Type::INTERVAL) => {
                let micros = bytes.first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes));
                format!("interval of {micros} µs")
            }
            (Cell::Encoded(bytes), _) => {
                shown_array(bytes).unwrap_or_else(|| format!("{} bytes of type {kind}", bytes.len()))
            }
            (cell, _) => {
                let mut text = String::new();
                Parameter(cell).put_literal(&mut text);
                text
            }
        }
    }

    /// The value as a literal in a statement.
    pub(crate) fn put_literal(self, out: &mut String) {
        match self.0 {
            Cell::Null => out.push_str("NULL"),
            Cell::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            Cell::I16(value) => out.push_str(itoa::Buffer::new().format(value)),
            Cell::I32(value) => out.push_str(itoa::Buffer::new().format(value)),
            Cell::I64(value) => out.push_str(itoa::Buffer::new().format(value)),
            Cell::F64(value) => out.push_str(zmij::Buffer::new().format(value)),
            Cell::Text(value) => {
                out.push('\'');
                for (number, part) in value.split('\'').enumerate() {
                    if number > 0 {
                        out.push_str("''");
                    }
                    out.push_str(part);
                }
                out.push('\'');
            }
            Cell::Encoded(value) => {
                out.push_str("'\\x");
                for byte in value {
                    let _ = write!(out, "{byte:02x}");
                }
                out.push('\'');
            }
        }
    }
}

impl ToSql for Parameter<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        if self.0 == Cell::Null {
            return Ok(IsNull::Yes);
        }
        self.put(out);
        Ok(IsNull::No)
    }

    // Statements are prepared with the types that their cells have, so there is nothing to check a value.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A one-dimensional array of so many cells in the binary form.
pub(crate) fn array<'a>(element: &Type, count: usize, cells: impl Iterator<Item = Cell<'a>>) -> Vec<u8> {
    let mut out = Vec::with_capacity(20 + count * 12);
    if count == 0 {
        out.put_i32(0);
        out.put_i32(0);
        out.put_u32(element.oid());
        return out;
    }
    out.put_i32(1);
    out.put_i32(0);
    out.put_u32(element.oid());
    out.put_i32(i32::try_from(count).unwrap_or(i32::MAX));
    out.put_i32(1);
    let mut nulls = false;
    for cell in cells {
        nulls |= cell == Cell::Null;
        Parameter(cell).put_with_length(&mut out);
    }
    if nulls {
        out[7] = 1;
    }
    out
}

/// The elements of an array in the binary form, as people read them; none where it is none of the arrays that are sent here.
fn shown_array(bytes: &[u8]) -> Option<String> {
    const SHOWN: usize = 8;
    let number = |place: usize| {
        let four = bytes.get(place..place + 4)?;
        Some(i32::from_be_bytes(four.try_into().ok()?))
    };
    let kind = Type::from_oid(number(8)?.cast_unsigned())?;
    if number(0)? == 0 {
        return Some("{}".to_owned());
    }
    let count = usize::try_from(number(12)?).ok()?;
    let (mut place, mut elements) = (20, Vec::new());
    for _ in 0..count.min(SHOWN) {
        let length = number(place)?;
        place += 4;
        let Ok(length) = usize::try_from(length) else {
            elements.push("NULL".to_owned());
            continue;
        };
        let value = bytes.get(place..place + length)?;
        place += length;
        elements.push(match kind {
            Type::INT4 => i32::from_be_bytes(value.try_into().ok()?).to_string(),
            Type::INT8 => i64::from_be_bytes(value.try_into().ok()?).to_string(),
            Type::FLOAT8 => f64::from_be_bytes(value.try_into().ok()?).to_string(),
            Type::TEXT => format!("{:?}", std::str::from_utf8(value).ok()?),
            Type::BOOL => (value == [1]).to_string(),
            _ => return None,
        });
    }
    let more = count.saturating_sub(SHOWN);
    let more = if more > 0 { format!(", … {more} more") } else { String::new() };
    Some(format!("{{{}{more}}}", elements.join(", ")))
}

/// The driver's type for a column's or parameter's.
pub(crate) const fn native(kind: ColumnType) -> Type {
    match kind {
        ColumnType::Bool => Type::BOOL,
        ColumnType::I16 => Type::INT2,
        ColumnType::I32 => Type::INT4,
        ColumnType::I64 => Type::INT8,
        ColumnType::F64 => Type::FLOAT8,
        ColumnType::Text | ColumnType::Any => Type::TEXT,
        ColumnType::Timestamp => Type::TIMESTAMPTZ,
        ColumnType::Interval => Type::INTERVAL,
        ColumnType::Json => Type::JSON,
        ColumnType::BinaryJson => Type::JSONB,
        ColumnType::Bytes => Type::BYTEA,
        ColumnType::BoolArray => Type::BOOL_ARRAY,
        ColumnType::I32Array => Type::INT4_ARRAY,
        ColumnType::I64Array => Type::INT8_ARRAY,
        ColumnType::F64Array => Type::FLOAT8_ARRAY,
        ColumnType::TextArray => Type::TEXT_ARRAY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(cell: Cell<'_>) -> String {
        let mut text = String::new();
        Parameter(cell).put_literal(&mut text);
        text
    }

    #[test]
    fn literals_are_quoted() {
        assert_eq!(literal(Cell::Text("it's 'ü'")), "'it''s ''ü'''");
        assert_eq!(literal(Cell::I64(i64::MIN)), "-9223372036854775808");
        assert_eq!(literal(Cell::Null), "NULL");
    }

    #[test]
    fn arrays_are_shown_by_their_elements() {
        let numbers = array(&Type::INT8, 10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].into_iter().map(Cell::I64));
        assert_eq!(
            Parameter(Cell::Encoded(&numbers)).shown(&Type::INT8_ARRAY),
            "{0, 1, 2, 3, 4, 5, 6, 7, … 2 more}"
        );
        let texts = array(&Type::TEXT, 2, [Cell::Text("a"), Cell::Null].into_iter());
        assert_eq!(Parameter(Cell::Encoded(&texts)).shown(&Type::TEXT_ARRAY), "{\"a\", NULL}");
    }

    #[test]
    fn arrays_say_whether_they_hold_nulls() {
        let with = array(&Type::INT4, 2, [Cell::I32(1), Cell::Null].into_iter());
        assert_eq!(with.len(), 20 + 8 + 4);
        assert_eq!(with[4..8], [0, 0, 0, 1]);
        let without = array(&Type::INT4, 1, [Cell::I32(1)].into_iter());
        assert_eq!(without[4..8], [0, 0, 0, 0]);
    }
}
