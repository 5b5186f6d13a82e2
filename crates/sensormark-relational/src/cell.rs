//! One value on its way to the database: as a parameter, or as a literal in a statement.
//!
//! Cells are made and sent one at a time on the hot path. They borrow and never allocate.

use sensormark_store::{Batch, Table, TagColumn, Value, Values};

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number of 16 bits.
    I16(i16),
    /// A whole number of 32 bits.
    I32(i32),
    /// A whole number of 64 bits, or a time in the database's own unit.
    I64(i64),
    /// A floating point number.
    F64(f64),
    /// A text.
    Text(&'a str),
    /// A value that is encoded already: a document, or an array in the driver's form.
    Encoded(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// A value of an entity.
    #[inline]
    pub fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::I64(value) => Self::I64(*value),
            Value::F64(value) => Self::F64(*value),
            Value::Text(value) => Self::Text(value),
        }
    }

    /// A series' number.
    #[inline]
    pub fn series(series: u32) -> Self {
        Self::I32(i32::try_from(series).unwrap_or(i32::MAX))
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
            Values::U16(values) => Self::I32(i32::from(values[reading])),
            Values::F64(values) => Self::F64(values[reading]),
            Values::Text(values) => Self::Text(values.get(reading)),
        }
    }
}
