//! DuckDB's rows, read in the vectors where DuckDB has them.

use super::client::{Chunk, Vector};
use crate::Cell;
use sensormark_kit::{Document, Row, unexpected};
use sensormark_store::{Column, FieldType, StoreError, Value, Values};

/// A row of a chunk, by its number.
pub(super) struct Fetched<'a>(pub(super) &'a Chunk, pub(super) usize);

impl Fetched<'_> {
    #[inline]
    fn vector(&self, place: usize) -> Result<&Vector, StoreError> {
        self.0.vectors.get(place).ok_or_else(|| unexpected("a row has too few columns"))
    }

    #[inline]
    fn cell(&self, place: usize) -> Result<Cell<'_>, StoreError> {
        self.vector(place)?.cell(self.1).ok_or_else(wrong_type)
    }

    fn list(&self, place: usize) -> Result<impl Iterator<Item = Cell<'_>>, StoreError> {
        let (elements, places) = self.vector(place)?.list(self.1).ok_or_else(wrong_type)?;
        Ok(places.map_while(|place| elements.cell(place)))
    }
}

fn wrong_type() -> StoreError {
    unexpected("a row holds a value of another type")
}

/// Appends a value to a column of its type.
#[inline]
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
        (Values::Text(values), Cell::Text(value)) => values.push(value),
        _ => return Err(wrong_type()),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

impl Row for Fetched<'_> {
    #[inline]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        push(self.cell(place)?, column)
    }

    #[inline]
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        match self.cell(place)? {
            Cell::I64(value) => Ok(value),
            Cell::Bool(value) => Ok(value.into()),
            _ => Err(wrong_type()),
        }
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        match self.cell(place)? {
            Cell::Text(value) => Ok(value),
            _ => Err(wrong_type()),
        }
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        self.integer(place).map(|value| value != 0)
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        Ok(match (kind, self.cell(place)?) {
            (_, Cell::Null) => Value::Null,
            (FieldType::Bool, Cell::Bool(value)) => Value::Bool(value),
            (FieldType::I64 | FieldType::U16, Cell::I64(value)) => Value::I64(value),
            (FieldType::F64, Cell::F64(value)) => Value::F64(value),
            (FieldType::Text, Cell::Text(value)) => Value::Text(value.to_owned()),
            _ => return Err(wrong_type()),
        })
    }

    fn printed(&self, place: usize) -> Result<String, StoreError> {
        Ok(match self.cell(place)? {
            Cell::Text(value) => value.to_owned(),
            Cell::Null => String::new(),
            cell => cell.printed(),
        })
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.vector(place)?.cell(self.1) == Some(Cell::Null))
    }

    fn document(&self, _: usize) -> Result<Document<'_>, StoreError> {
        Err(wrong_type())
    }

    fn offsets(&self, place: usize) -> Result<Vec<i64>, StoreError> {
        let offset = |cell| if let Cell::I64(value) = cell { Ok(value) } else { Err(wrong_type()) };
        self.list(place)?.map(offset).collect()
    }

    fn elements(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        self.list(place)?.try_for_each(|cell| push(cell, column))
    }
}
