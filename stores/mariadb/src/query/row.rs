//! MariaDB's rows, read from the driver's values.

use crate::connection::cell::{self, unexpected};
use mysql_async::Value as Native;
use sensormark_relational::row::{Document, Row};
use sensormark_store::{Column, FieldType, StoreError, Value, Values};

/// A row that the server sent.
pub(super) struct Fetched<'a>(pub(super) &'a mysql_async::Row);

impl Row for Fetched<'_> {
    #[inline]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        let Some(native) = cell::value(self.0, place) else {
            column.push_null();
            return Ok(());
        };
        match (&mut column.values, native) {
            (Values::Bool(values), Native::Int(value)) => values.push(*value != 0),
            (Values::I64(values), Native::Int(value)) => values.push(*value),
            (Values::U16(values), _) => {
                let value = u16::try_from(self.integer(place)?);
                values.push(value.map_err(|_| unexpected(place, "number of 16 bits"))?);
            }
            (Values::F64(values), Native::Double(value)) => values.push(*value),
            (Values::Text(values), Native::Bytes(_)) => values.push(self.text(place)?),
            _ => return Err(unexpected(place, "value of the field's type")),
        }
        if let Some(present) = &mut column.present {
            present.push(true);
        }
        Ok(())
    }

    /// The server gives sums of whole numbers as decimals.
    #[inline]
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        cell::integer(self.0, place)
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        cell::text(self.0, place)
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        self.integer(place).map(|value| value != 0)
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        let Some(native) = cell::value(self.0, place) else {
            return Ok(Value::Null);
        };
        Ok(match kind {
            FieldType::Bool => Value::Bool(self.truth(place)?),
            FieldType::I64 | FieldType::U16 => Value::I64(self.integer(place)?),
            FieldType::F64 => match native {
                Native::Double(value) => Value::F64(*value),
                _ => return Err(unexpected(place, "floating point number")),
            },
            FieldType::Text => Value::Text(self.text(place)?.to_owned()),
        })
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(cell::value(self.0, place).is_none())
    }

    fn document(&self, place: usize) -> Result<Document<'_>, StoreError> {
        self.text(place).map(Document::Json)
    }
}
