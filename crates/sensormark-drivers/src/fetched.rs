//! A row whose values are cells, as decoding reads it.

use crate::Cell;
use sensormark_kit::{Document, Row, unexpected};
use sensormark_store::{Column, FieldType, StoreError, Value, Values};

/// A row that a library in this process gave. Each function fails for a value that is no cell.
pub(crate) trait Cells {
    /// The value at a place.
    fn cell(&self, place: usize) -> Result<Cell<'_>, StoreError>;

    /// Hands over the elements of the array at a place.
    fn each_element(
        &self,
        _: usize,
        _: impl FnMut(Cell<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        Err(wrong_type())
    }
}

/// The same as decoding has it.
pub(crate) struct Fetched<R>(pub(crate) R);

pub(crate) fn wrong_type() -> StoreError {
    unexpected("a row holds a value of another type")
}

/// Appends a value to a column of its type.
#[inline(always)]
fn push(cell: Cell<'_>, column: &mut Column) -> Result<(), StoreError> {
    match (&mut column.values, cell) {
        (_, Cell::Null) => {
            column.push_null();
            return Ok(());
        }
        (Values::F64(values), Cell::F64(value)) => values.push(value),
        (Values::I64(values), Cell::I64(value)) => values.push(value),
        (Values::U16(values), Cell::I64(value)) => {
            values.push(u16::try_from(value).map_err(|_| wrong_type())?);
        }
        (Values::Bool(values), Cell::Bool(value)) => values.push(value),
        (Values::Bool(values), Cell::I64(value @ (0 | 1))) => values.push(value == 1),
        (Values::Text(values), Cell::Text(value)) => values.push(value),
        _ => return Err(wrong_type()),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

impl<R: Cells> Row for Fetched<R> {
    #[inline(always)]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        push(self.0.cell(place)?, column)
    }

    #[inline]
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        match self.0.cell(place)? {
            Cell::I64(value) => Ok(value),
            Cell::Bool(value) => Ok(value.into()),
            _ => Err(wrong_type()),
        }
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        match self.0.cell(place)? {
            Cell::Text(value) => Ok(value),
            _ => Err(wrong_type()),
        }
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        self.integer(place).map(|value| value != 0)
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        Ok(match (kind, self.0.cell(place)?) {
            (_, Cell::Null) => Value::Null,
            (FieldType::Bool, Cell::Bool(value)) => Value::Bool(value),
            (FieldType::Bool, Cell::I64(value @ (0 | 1))) => Value::Bool(value == 1),
            (FieldType::I64 | FieldType::U16, Cell::I64(value)) => Value::I64(value),
            (FieldType::F64, Cell::F64(value)) => Value::F64(value),
            (FieldType::Text, Cell::Text(value)) => Value::Text(value.to_owned()),
            _ => return Err(wrong_type()),
        })
    }

    fn printed(&self, place: usize) -> Result<String, StoreError> {
        Ok(match self.0.cell(place)? {
            Cell::Text(value) => value.to_owned(),
            Cell::Null | Cell::Bytes(_) => String::new(),
            cell => cell.printed(),
        })
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.0.cell(place)? == Cell::Null)
    }

    fn document(&self, place: usize) -> Result<Document<'_>, StoreError> {
        match self.0.cell(place)? {
            Cell::Text(value) => Ok(Document::Json(value)),
            Cell::Bytes(value) => Ok(Document::Packed(value)),
            _ => Err(wrong_type()),
        }
    }

    fn offsets(&self, place: usize) -> Result<Vec<i64>, StoreError> {
        let mut offsets = Vec::new();
        self.0.each_element(place, |cell| match cell {
            Cell::I64(value) => {
                offsets.push(value);
                Ok(())
            }
            _ => Err(wrong_type()),
        })?;
        Ok(offsets)
    }

    fn elements(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        self.0.each_element(place, |cell| push(cell, column))
    }
}
