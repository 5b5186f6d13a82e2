//! DuckDB's rows, read in the vectors where DuckDB has them.

use super::client::{Answered, Vector};
use sensormark_kit::{Document, Row, unexpected};
use sensormark_store::{Column, FieldType, StoreError, Value, Values};

/// A row of a chunk.
pub(super) struct Fetched<'a> {
    /// The chunk.
    pub(super) chunk: &'a Answered,
    /// The row's number in it.
    pub(super) row: usize,
}

impl Fetched<'_> {
    #[inline]
    fn vector(&self, place: usize) -> Result<&Vector, StoreError> {
        self.chunk.vector(place).ok_or_else(|| unexpected("a row has too few columns"))
    }
}

impl Row for Fetched<'_> {
    #[inline]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        push(self.vector(place)?, self.row, column)
    }

    #[inline]
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        let integer = self.vector(place)?.integer(self.row);
        integer.ok_or_else(|| wrong_type("a whole number"))
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        text(self.vector(place)?, self.row)
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        self.integer(place).map(|value| value != 0)
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        let vector = self.vector(place)?;
        if vector.is_null(self.row) {
            return Ok(Value::Null);
        }
        let value = match kind {
            FieldType::Bool => vector.integer(self.row).map(|it| Value::Bool(it != 0)),
            FieldType::I64 | FieldType::U16 => vector.integer(self.row).map(Value::I64),
            FieldType::F64 => vector.real(self.row).map(Value::F64),
            FieldType::Text => return Ok(Value::Text(text(vector, self.row)?.to_owned())),
        };
        value.ok_or_else(|| wrong_type("a value of the field's type"))
    }

    fn printed(&self, place: usize) -> Result<String, StoreError> {
        let vector = self.vector(place)?;
        let number = vector.integer(self.row).map(|it| it.to_string());
        match number.or_else(|| vector.real(self.row).map(|it| it.to_string())) {
            Some(number) => Ok(number),
            None if vector.is_null(self.row) => Ok(String::new()),
            None => text(vector, self.row).map(str::to_owned),
        }
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.vector(place)?.is_null(self.row))
    }

    fn document(&self, _: usize) -> Result<Document<'_>, StoreError> {
        Err(wrong_type("a document, which no layout has,"))
    }

    fn offsets(&self, place: usize) -> Result<Vec<i64>, StoreError> {
        let list = self.vector(place)?.list(self.row);
        let (elements, places) = list.ok_or_else(|| wrong_type("a list"))?;
        places
            .map(|place| {
                let offset = elements.integer(place);
                offset.ok_or_else(|| wrong_type("a whole number"))
            })
            .collect()
    }

    fn elements(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        let list = self.vector(place)?.list(self.row);
        let (elements, mut places) = list.ok_or_else(|| wrong_type("a list"))?;
        places.try_for_each(|place| push(elements, place, column))
    }
}

/// Appends a value to a column of its type.
#[inline]
fn push(vector: &Vector, row: usize, column: &mut Column) -> Result<(), StoreError> {
    if vector.is_null(row) {
        column.push_null();
        return Ok(());
    }
    let wrong = || wrong_type("a value of the field's type");
    let integer = || vector.integer(row).ok_or_else(wrong);
    match &mut column.values {
        Values::Bool(values) => values.push(integer()? != 0),
        Values::I64(values) => values.push(integer()?),
        Values::U16(values) => {
            values.push(u16::try_from(integer()?).map_err(|_| wrong_type("16 bits"))?);
        }
        Values::F64(values) => values.push(vector.real(row).ok_or_else(wrong)?),
        Values::Text(values) => values.push(text(vector, row)?),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

fn text(vector: &Vector, row: usize) -> Result<&str, StoreError> {
    let bytes = vector.text(row).ok_or_else(|| wrong_type("text"))?;
    std::str::from_utf8(bytes).map_err(|cause| unexpected("text is not UTF-8").with_source(cause))
}

fn wrong_type(wanted: &str) -> StoreError {
    unexpected(&format!("a row holds something else in place of {wanted}"))
}
