//! QuestDB's rows: each value straight from the wire.

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
        let raw = self.0.try_get::<_, Raw<'_>>(place);
        raw.map(|raw| raw.0)
            .map_err(|_| unexpected("a row has too few columns"))
    }

    fn present(&self, place: usize) -> Result<&[u8], StoreError> {
        self.raw(place).map(Option::unwrap_or_default)
    }

    fn is_text(&self, place: usize) -> bool {
        let column = self.0.columns().get(place);
        column.is_some_and(|column| *column.type_() == Type::VARCHAR)
    }
}

impl Row for Answered<'_> {
    #[inline]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        binary::push(self.raw(place)?, column)
    }

    /// A symbol of digits is a tag that is a whole number.
    #[inline]
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        let raw = self.present(place)?;
        if self.is_text(place) {
            let number = text(raw)?.parse();
            return number.map_err(|_| unexpected("a symbol is no whole number"));
        }
        integer(raw)
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

    fn document(&self, _: usize) -> Result<Document<'_>, StoreError> {
        Err(unexpected("a document where QuestDB has none"))
    }
}
