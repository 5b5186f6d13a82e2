//! Values in the binary form of PostgreSQL's protocol, on their way to the server and back. Whole numbers have 2, 4 or 8 bytes and floating point numbers 8,
//! the highest byte first. Text is UTF-8. In an array, its length stands before each element.

use crate::{Cell, Rows, Source};
use bytes::{BufMut, BytesMut};
use sensormark_kit::{Document, Row, unexpected};
use sensormark_store::{Column, FieldType, StoreError, Value, Values};
use std::error::Error;
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type, to_sql_checked};

/// The server counts time from 2000-01-01, in µs.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// The types of slots.
const TYPES: [Type; 17] = [
    Type::BOOL,
    Type::BOOL_ARRAY,
    Type::INT2,
    Type::INT4,
    Type::INT4_ARRAY,
    Type::INT8,
    Type::INT8_ARRAY,
    Type::FLOAT8,
    Type::FLOAT8_ARRAY,
    Type::TEXT,
    Type::TEXT_ARRAY,
    Type::VARCHAR,
    Type::NAME,
    Type::JSON,
    Type::JSONB,
    Type::BYTEA,
    Type::TIMESTAMPTZ,
];

/// The type that a store's file names.
pub(super) fn type_named(name: &str) -> Option<Type> {
    // The server's name of an array's type.
    let name = name.strip_suffix("[]").map_or_else(|| name.to_owned(), |element| format!("_{element}"));
    TYPES.into_iter().find(|known| known.name() == name)
}

/// The type of an array's elements; a scalar's is its own.
pub(super) fn element(kind: &Type) -> &Type {
    match kind.kind() {
        tokio_postgres::types::Kind::Array(element) => element,
        _ => kind,
    }
}

/// How many bytes a whole number of this type has.
fn width(kind: &Type) -> i32 {
    match *kind {
        Type::INT2 => 2,
        Type::INT4 => 4,
        _ => 8,
    }
}

/// One value as the server takes it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parameter<'a> {
    /// A value that is encoded here.
    Cell(Cell<'a>),
    /// A value that is encoded already: a record's document, or an array.
    Encoded(&'a [u8]),
    /// A value as people read it.
    Printed(&'a str),
}

fn length_of(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

/// The length of a value's binary form, -1 for none.
fn length(cell: Cell<'_>, kind: &Type) -> i32 {
    match cell {
        Cell::Null => -1,
        Cell::Bool(_) => 1,
        Cell::I64(_) => width(kind),
        Cell::F64(_) => 8,
        Cell::Text(text) => length_of(text.len() + usize::from(*kind == Type::JSONB)),
        Cell::Bytes(bytes) => length_of(bytes.len()),
        Cell::Integers(_) | Cell::Texts(_) => 0,
    }
}

/// A value alone, in the binary form; nothing for no value.
fn put(cell: Cell<'_>, kind: &Type, out: &mut impl BufMut) {
    match cell {
        Cell::Null => {}
        Cell::Bool(value) => out.put_u8(u8::from(value)),
        Cell::I64(value) => match *kind {
            Type::INT8 => out.put_i64(value),
            Type::INT4 => out.put_i32(i32::try_from(value).unwrap_or(i32::MAX)),
            Type::INT2 => out.put_i16(i16::try_from(value).unwrap_or(i16::MAX)),
            Type::TIMESTAMPTZ => out.put_i64(value - EPOCH_MICROS),
            Type::VARCHAR => out.put_slice(value.to_string().as_bytes()),
            _ => out.put_f64(value as f64),
        },
        Cell::F64(value) => out.put_f64(value),
        Cell::Text(value) => {
            // The binary form of jsonb starts with its version.
            if *kind == Type::JSONB {
                out.put_u8(1);
            }
            out.put_slice(value.as_bytes());
        }
        Cell::Bytes(value) => out.put_slice(value),
        Cell::Integers(values) => {
            array(element(kind), values.len(), values.iter().map(|&value| Cell::I64(value)), out);
        }
        Cell::Texts(values) => {
            array(element(kind), values.len(), values.iter().map(|&value| Cell::Text(value)), out);
        }
    }
}

/// Length and value, as rows of COPY and elements of arrays have them.
#[inline]
pub(super) fn put_with_length(cell: Cell<'_>, kind: &Type, out: &mut impl BufMut) {
    out.put_i32(length(cell, kind));
    put(cell, kind, out);
}

/// An array of one dimension. Whether it holds NULLs is said before its elements; the server does not mind a yes in vain.
pub(super) fn array<'a>(
    kind: &Type,
    count: usize,
    cells: impl Iterator<Item = Cell<'a>>,
    out: &mut impl BufMut,
) {
    out.put_i32(i32::from(count > 0));
    out.put_i32(1);
    out.put_u32(kind.oid());
    if count > 0 {
        out.put_i32(length_of(count));
        out.put_i32(1);
        cells.for_each(|cell| put_with_length(cell, kind, out));
    }
}

/// What of a record cannot be read as one cell: its document, or an array of its readings.
pub(super) fn put_record(
    rows: &Rows<'_>,
    row: usize,
    slot: usize,
    kind: &Type,
    out: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let source = rows.sources[slot];
    let Some(record) = rows.record(row) else { return Ok(()) };
    let count = record.readings();
    match source {
        Source::Offsets => {
            let offset = |reading: usize| rows.batch.times_ns[reading].wrapping_sub(record.start_ns);
            let offsets = record.rows().map(|reading| Cell::I64(offset(reading)));
            array(element(kind), count, offsets, out);
        }
        Source::FieldArray(field) => {
            let cells = record.rows().map(|reading| Cell::field(rows.batch, reading, field));
            array(element(kind), count, cells, out);
        }
        _ => {
            if *kind == Type::JSONB {
                out.push(1);
            }
            rows.document(row, source, out)?;
        }
    }
    Ok(())
}

/// Whether a slot holds what [`put_record`] writes.
pub(super) const fn is_of_record(source: Source) -> bool {
    matches!(source, Source::Json | Source::Packed | Source::Offsets | Source::FieldArray(_))
}

impl ToSql for Parameter<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *self {
            Self::Cell(Cell::Null) => return Ok(IsNull::Yes),
            Self::Cell(cell) => put(cell, kind, out),
            Self::Encoded(bytes) => out.put_slice(bytes),
            Self::Printed("NULL") => return Ok(IsNull::Yes),
            Self::Printed(text) => match text
                .strip_prefix('\'')
                .and_then(|text| text.strip_suffix('\''))
                .filter(|_| element(kind) == kind)
            {
                Some(quoted) => out.put_slice(quoted.replace("''", "'").as_bytes()),
                // Of a block of arrays, a value of the first row is kept.
                None if element(kind) != kind && !text.starts_with('{') => {
                    out.put_slice(format!("{{{text}}}").as_bytes());
                }
                None => out.put_slice(text.as_bytes()),
            },
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        if matches!(self, Self::Printed(_)) { Format::Text } else { Format::Binary }
    }

    to_sql_checked!();
}

/// A row that the server sent: each value straight from the wire.
#[derive(Debug)]
pub(crate) struct WireRow<'a>(pub(crate) &'a tokio_postgres::Row);

/// A value as it came over the wire.
struct Raw<'a>(Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    #[inline]
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    #[inline]
    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(None))
    }

    #[inline]
    fn accepts(_: &Type) -> bool {
        true
    }
}

impl WireRow<'_> {
    #[inline]
    fn raw(&self, place: usize) -> Result<Option<&[u8]>, StoreError> {
        let raw = self.0.try_get::<_, Raw<'_>>(place);
        raw.map(|raw| raw.0).map_err(|_| unexpected("a row has too few columns"))
    }

    #[inline]
    fn present(&self, place: usize) -> Result<&[u8], StoreError> {
        self.raw(place).map(Option::unwrap_or_default)
    }

    fn kind(&self, place: usize) -> Option<&Type> {
        self.0.columns().get(place).map(tokio_postgres::Column::type_)
    }
}

fn fixed<const LENGTH: usize>(raw: &[u8]) -> Result<[u8; LENGTH], StoreError> {
    raw.try_into().map_err(|_| unexpected("a value has the wrong length"))
}

#[inline]
fn integer(raw: &[u8]) -> Result<i64, StoreError> {
    Ok(match raw.len() {
        2 => i64::from(i16::from_be_bytes(fixed(raw)?)),
        4 => i64::from(i32::from_be_bytes(fixed(raw)?)),
        _ => i64::from_be_bytes(fixed(raw)?),
    })
}

/// Of a whole number, too, the lowest byte says it.
#[inline]
fn truth(raw: &[u8]) -> bool {
    raw.last() == Some(&1)
}

#[inline]
fn text(raw: &[u8]) -> Result<&str, StoreError> {
    std::str::from_utf8(raw).map_err(|_| unexpected("a text is not UTF-8"))
}

#[inline]
fn push(raw: Option<&[u8]>, column: &mut Column) -> Result<(), StoreError> {
    let Some(raw) = raw else {
        column.push_null();
        return Ok(());
    };
    match &mut column.values {
        Values::Bool(values) => values.push(truth(raw)),
        Values::I64(values) => values.push(integer(raw)?),
        Values::U16(values) => {
            let value = u16::try_from(integer(raw)?);
            values.push(value.map_err(|_| unexpected("a number is not of 16 bits"))?);
        }
        Values::F64(values) => values.push(f64::from_be_bytes(fixed(raw)?)),
        Values::Text(values) => values.push(text(raw)?),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

/// Hands over each element of an array of one dimension, none where it is NULL.
fn elements(
    raw: &[u8],
    mut each: impl FnMut(Option<&[u8]>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let short = || unexpected("an array is cut off");
    let word = |at: usize| {
        let bytes = raw.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).ok_or_else(short)?;
        Ok::<i32, StoreError>(i32::from_be_bytes(bytes))
    };
    if word(0)? == 0 {
        return Ok(());
    }
    let (count, mut at) = (word(12)?, 20);
    for _ in 0..count {
        let length = word(at)?;
        at += 4;
        let Ok(length) = usize::try_from(length) else {
            each(None)?;
            continue;
        };
        each(Some(raw.get(at..at + length).ok_or_else(short)?))?;
        at += length;
    }
    Ok(())
}

impl Row for WireRow<'_> {
    #[inline]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        push(self.raw(place)?, column)
    }

    #[inline]
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        let raw = self.present(place)?;
        if self.kind(place) == Some(&Type::VARCHAR) {
            return text(raw)?.parse().map_err(|_| unexpected("a text is no whole number"));
        }
        integer(raw)
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        text(self.present(place)?)
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        self.present(place).map(truth)
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        let Some(raw) = self.raw(place)? else {
            return Ok(Value::Null);
        };
        Ok(match kind {
            FieldType::Bool => Value::Bool(truth(raw)),
            FieldType::I64 | FieldType::U16 => Value::I64(integer(raw)?),
            FieldType::F64 => Value::F64(f64::from_be_bytes(fixed(raw)?)),
            FieldType::Text => Value::Text(text(raw)?.to_owned()),
        })
    }

    fn printed(&self, place: usize) -> Result<String, StoreError> {
        let raw = self.present(place)?;
        Ok(match self.kind(place) {
            Some(&Type::BOOL) => (if raw == [1] { "on" } else { "off" }).to_owned(),
            Some(&(Type::INT2 | Type::INT4 | Type::INT8)) => integer(raw)?.to_string(),
            Some(&Type::FLOAT8) => f64::from_be_bytes(fixed(raw)?).to_string(),
            _ => text(raw)?.to_owned(),
        })
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.raw(place)?.is_none())
    }

    fn document(&self, place: usize) -> Result<Document<'_>, StoreError> {
        let raw = self.present(place)?;
        match (self.kind(place), raw) {
            (Some(&Type::JSONB), [1, json @ ..]) => text(json).map(Document::Json),
            (Some(&Type::JSONB), _) => Err(unexpected("a jsonb value has an unknown version")),
            (Some(&Type::BYTEA), packed) => Ok(Document::Packed(packed)),
            (_, json) => text(json).map(Document::Json),
        }
    }

    fn offsets(&self, place: usize) -> Result<Vec<i64>, StoreError> {
        let raw = self.present(place)?;
        let mut offsets = Vec::with_capacity(raw.len() / 8);
        elements(raw, |element| {
            offsets.push(integer(element.unwrap_or_default())?);
            Ok(())
        })?;
        Ok(offsets)
    }

    fn elements(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        elements(self.present(place)?, |element| push(element, column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(cell: Cell<'_>, kind: &Type) -> Vec<u8> {
        let mut out = Vec::new();
        put_with_length(cell, kind, &mut out);
        out
    }

    #[test]
    fn whole_numbers_are_as_wide_as_their_column() {
        assert_eq!(encoded(Cell::I64(-2), &Type::INT4), [0, 0, 0, 4, 255, 255, 255, 254]);
        assert_eq!(encoded(Cell::I64(3), &Type::INT2), [0, 0, 0, 2, 0, 3]);
        assert_eq!(encoded(Cell::I64(EPOCH_MICROS + 1), &Type::TIMESTAMPTZ)[11], 1);
        assert_eq!(encoded(Cell::Null, &Type::INT4), [255; 4]);
        assert_eq!(encoded(Cell::Text("{}"), &Type::JSONB), [0, 0, 0, 3, 1, b'{', b'}']);
    }

    #[test]
    fn arrays_come_back_as_they_were_sent() {
        let mut out = Vec::new();
        put(Cell::Integers(&[1, -1]), &Type::INT8_ARRAY, &mut out);
        let mut back = Vec::new();
        elements(&out, |raw| {
            back.push(integer(raw.unwrap())?);
            Ok(())
        })
        .unwrap();
        assert_eq!(back, [1, -1]);
        out.clear();
        put(Cell::Texts(&[]), &Type::TEXT_ARRAY, &mut out);
        elements(&out, |_| Err(unexpected("none"))).unwrap();
    }
}
