//! One value on its way to the database. Cells are made and sent one at a time on the hot path: they borrow and never allocate.

use sensormark_store::record::json;
use sensormark_store::{Batch, Table, TagColumn, Value, Values};

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number, or a time in the database's own unit since 1970. The slot's type says how wide it is.
    I64(i64),
    /// A floating point number.
    F64(f64),
    /// A text.
    Text(&'a str),
    /// Bytes: a packed record.
    Bytes(&'a [u8]),
    /// Whole numbers as one array.
    Integers(&'a [i64]),
    /// Texts as one array.
    Texts(&'a [&'a str]),
}

impl<'a> Cell<'a> {
    /// A value of an entity.
    pub fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::I64(value) => Self::I64(*value),
            Value::F64(value) => Self::F64(*value),
            Value::Text(value) => Self::Text(value),
        }
    }

    /// A tag's value of a series.
    #[inline]
    pub fn tag(description: &'a Table, tag: usize, series: u32) -> Self {
        match &description.series.columns()[tag] {
            TagColumn::Text(values) => Self::Text(&values[series as usize]),
            TagColumn::Integer(values) => Self::I64(values[series as usize]),
        }
    }

    /// A field's value of a reading.
    #[inline(always)]
    pub fn field(batch: &'a Batch, reading: usize, field: usize) -> Self {
        let column = &batch.columns[field];
        if column.present.as_ref().is_some_and(|present| !present[reading]) {
            return Self::Null;
        }
        match &column.values {
            Values::Bool(values) => Self::Bool(values[reading]),
            Values::I64(values) => Self::I64(values[reading]),
            Values::U16(values) => Self::I64(i64::from(values[reading])),
            Values::F64(values) => Self::F64(values[reading]),
            Values::Text(values) => Self::Text(values.get(reading)),
        }
    }
}

impl Cell<'_> {
    /// Appends the value as SQL writes it.
    pub fn literal(self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"NULL"),
            Self::Bool(value) => out.push(b'0' + u8::from(value)),
            Self::I64(value) => json::integer(value, out),
            Self::F64(value) => json::real(value, out),
            Self::Text(value) => {
                out.push(b'\'');
                for &byte in value.as_bytes() {
                    if byte == b'\'' {
                        out.push(byte);
                    }
                    out.push(byte);
                }
                out.push(b'\'');
            }
            Self::Bytes(value) => {
                out.extend_from_slice(b"x'");
                value.iter().for_each(|byte| out.extend_from_slice(format!("{byte:02x}").as_bytes()));
                out.push(b'\'');
            }
            Self::Integers(values) => list(values.iter().map(|&value| Cell::I64(value)), out),
            Self::Texts(values) => list(values.iter().map(|&value| Cell::Text(value)), out),
        }
    }

    /// The same as text.
    pub fn printed(self) -> String {
        let mut out = Vec::new();
        self.literal(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

fn list<'a>(cells: impl Iterator<Item = Cell<'a>>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            out.extend_from_slice(b", ");
        }
        cell.literal(out);
    }
    out.push(b'}');
}
