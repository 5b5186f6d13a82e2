//! PostgreSQL's rows: each value straight from the wire.

use sensormark_relational::row::binary::{self, integer, text};
use sensormark_relational::row::{Document, Row, unexpected};
use sensormark_store::{Column, FieldType, StoreError, Value};
use std::error::Error;
use tokio_postgres::types::{FromSql, Type};

/// A row that the server sent.
pub(super) struct Answered<'a>(pub(super) &'a tokio_postgres::Row);

/// A value as it came over the wire.
struct Raw<'a>(Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Answered<'_> {
    fn raw(&self, place: usize) -> Result<Option<&[u8]>, StoreError> {
        self.0
            .try_get::<_, Raw<'_>>(place)
            .map(|raw| raw.0)
            .map_err(|_| unexpected("a row has too few columns"))
    }

    fn present(&self, place: usize) -> Result<&[u8], StoreError> {
        self.raw(place).map(Option::unwrap_or_default)
    }
}

impl Row for Answered<'_> {
    #[inline]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        binary::push(self.raw(place)?, column)
    }

    #[inline]
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        integer(self.present(place)?)
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        text(self.present(place)?)
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.present(place)? == [1])
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        binary::value(self.raw(place)?, kind)
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.raw(place)?.is_none())
    }

    /// The binary form of jsonb starts with its version.
    fn document(&self, place: usize) -> Result<Document<'_>, StoreError> {
        let raw = self.present(place)?;
        let is_binary =
            self.0.columns().get(place).map(|column| column.type_()) == Some(&Type::JSONB);
        match (is_binary, raw) {
            (true, [1, json @ ..]) => text(json).map(Document::Json),
            (true, _) => Err(unexpected("a jsonb value has an unknown version")),
            (false, json) => text(json).map(Document::Json),
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
        elements(self.present(place)?, |element| {
            binary::push(element, column)
        })
    }
}

/// The elements of an array in the binary form.
fn elements(
    raw: &[u8],
    mut each: impl FnMut(Option<&[u8]>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let short = || unexpected("an array is cut off");
    let word = |at: usize| {
        let bytes = raw
            .get(at..at + 4)
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(short)?;
        Ok::<i32, StoreError>(i32::from_be_bytes(bytes))
    };
    if word(0)? == 0 {
        return Ok(());
    }
    let count = word(12)?;
    let mut at = 20;
    for _ in 0..count {
        let length = word(at)?;
        at += 4;
        match usize::try_from(length) {
            Err(_) => each(None)?,
            Ok(length) => {
                each(Some(raw.get(at..at + length).ok_or_else(short)?))?;
                at += length;
            }
        }
    }
    Ok(())
}
