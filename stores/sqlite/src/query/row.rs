//! SQLite's rows, read where SQLite has them.

use crate::error;
use rusqlite::types::ValueRef;
use sensormark_relational::row::{Document, Row};
use sensormark_store::{Column, FieldType, StoreError, Value, Values};

const OPERATION: &str = "read a value";

/// A row that a statement gave.
pub(super) struct Fetched<'a>(pub(super) &'a rusqlite::Row<'a>);

impl Row for Fetched<'_> {
    /// Without a detour for values that are there.
    #[inline]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        match (&mut column.values, self.0.get_ref_unwrap(place)) {
            (_, ValueRef::Null) => {
                column.push_null();
                return Ok(());
            }
            (Values::Bool(values), ValueRef::Integer(value @ (0 | 1))) => values.push(value == 1),
            (Values::I64(values), ValueRef::Integer(value)) => values.push(value),
            (Values::U16(values), ValueRef::Integer(value)) => match u16::try_from(value) {
                Ok(value) => values.push(value),
                Err(_) => {
                    return Err(error::unexpected(OPERATION, "a 16-bit number is out of range"));
                }
            },
            (Values::F64(values), ValueRef::Real(value)) => values.push(value),
            (Values::Text(values), ValueRef::Text(bytes)) => values.push(text(bytes)?),
            (_, other) => return Err(wrong_type("a value of the field's type", other)),
        }
        if let Some(present) = &mut column.present {
            present.push(true);
        }
        Ok(())
    }

    #[inline]
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        match self.0.get_ref_unwrap(place) {
            ValueRef::Integer(value) => Ok(value),
            other => Err(wrong_type("a whole number", other)),
        }
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        match self.0.get_ref_unwrap(place) {
            ValueRef::Text(bytes) => text(bytes),
            other => Err(wrong_type("text", other)),
        }
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        self.integer(place).map(|value| value != 0)
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        match (kind, self.0.get_ref_unwrap(place)) {
            (_, ValueRef::Null) => Ok(Value::Null),
            (FieldType::Bool, ValueRef::Integer(value @ (0 | 1))) => Ok(Value::Bool(value == 1)),
            (FieldType::I64 | FieldType::U16, ValueRef::Integer(value)) => Ok(Value::I64(value)),
            (FieldType::F64, ValueRef::Real(value)) => Ok(Value::F64(value)),
            (FieldType::Text, ValueRef::Text(bytes)) => Ok(Value::Text(text(bytes)?.to_owned())),
            (_, other) => Err(wrong_type("a value of the field's type", other)),
        }
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.0.get_ref_unwrap(place) == ValueRef::Null)
    }

    fn document(&self, place: usize) -> Result<Document<'_>, StoreError> {
        match self.0.get_ref_unwrap(place) {
            ValueRef::Blob(bytes) => Ok(Document::Packed(bytes)),
            ValueRef::Text(bytes) => text(bytes).map(Document::Json),
            other => Err(wrong_type("a record", other)),
        }
    }
}

fn text(bytes: &[u8]) -> Result<&str, StoreError> {
    std::str::from_utf8(bytes)
        .map_err(|cause| error::unexpected(OPERATION, "text is not UTF-8").with_source(cause))
}

fn wrong_type(wanted: &str, got: ValueRef<'_>) -> StoreError {
    error::unexpected(OPERATION, format!("a row holds {} in place of {wanted}", got.data_type()))
}
