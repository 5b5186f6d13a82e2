//! Rows of databases that speak PostgreSQL's protocol, as the driver `tokio-postgres` gives them, and the loops that read them.
//!
//! Two stores share that driver. What a connection is, how long it may take and what its errors mean stays theirs.

use crate::binary::{self, integer, text};
use crate::decode::Decoder;
use crate::plan::Form;
use futures_util::TryStreamExt;
use sensormark_kit::{Document, Row, unexpected};
use sensormark_store::{Batch, Column, FieldType, StoreError, Value};
use std::pin::{Pin, pin};
use tokio_postgres::RowStream;
use tokio_postgres::types::{FromSql, Type};

/// A row that the server sent: each value straight from the wire.
///
/// With `DIGITS`, a whole number may come as a text of digits: so does a tag that the database keeps as a symbol.
#[derive(Debug)]
pub struct WireRow<'a, const DIGITS: bool = false>(pub &'a tokio_postgres::Row);

/// A value as it came over the wire.
struct Raw<'a>(Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    #[inline]
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    #[inline]
    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(None))
    }

    #[inline]
    fn accepts(_: &Type) -> bool {
        true
    }
}

impl<const DIGITS: bool> WireRow<'_, DIGITS> {
    #[inline]
    fn raw(&self, place: usize) -> Result<Option<&[u8]>, StoreError> {
        let raw = self.0.try_get::<_, Raw<'_>>(place);
        raw.map(|raw| raw.0).map_err(|_| unexpected("a row has too few columns"))
    }

    #[inline]
    fn present(&self, place: usize) -> Result<&[u8], StoreError> {
        self.raw(place).map(Option::unwrap_or_default)
    }

    fn is_of(&self, place: usize, kind: &Type) -> bool {
        let column = self.0.columns().get(place);
        column.is_some_and(|column| column.type_() == kind)
    }
}

impl<const DIGITS: bool> Row for WireRow<'_, DIGITS> {
    #[inline]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        binary::push(self.raw(place)?, column)
    }

    #[inline]
    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        let raw = self.present(place)?;
        if DIGITS && self.is_of(place, &Type::VARCHAR) {
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

    /// The binary form of jsonb starts with its version.
    fn document(&self, place: usize) -> Result<Document<'_>, StoreError> {
        let raw = self.present(place)?;
        match (self.is_of(place, &Type::JSONB), raw) {
            (true, [1, json @ ..]) => text(json).map(Document::Json),
            (true, _) => Err(unexpected("a jsonb value has an unknown version")),
            (false, json) => text(json).map(Document::Json),
        }
    }

    fn offsets(&self, place: usize) -> Result<Vec<i64>, StoreError> {
        let raw = self.present(place)?;
        let mut offsets = Vec::with_capacity(raw.len() / 8);
        binary::elements(raw, |element| {
            offsets.push(integer(element.unwrap_or_default())?);
            Ok(())
        })?;
        Ok(offsets)
    }

    fn elements(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        binary::elements(self.present(place)?, |element| binary::push(element, column))
    }
}

/// Reads all rows of an answer. The inner failure is that of a row: the rest is read all the same, because the connection is used again.
///
/// # Errors
/// The driver's, whose meaning the store knows.
pub async fn read_rows(
    rows: RowStream,
    mut each: impl FnMut(&tokio_postgres::Row) -> Result<(), StoreError>,
) -> Result<Result<(), StoreError>, tokio_postgres::Error> {
    let mut rows = pin!(rows);
    let mut outcome = Ok(());
    while let Some(row) = rows.try_next().await? {
        if outcome.is_ok() {
            outcome = each(&row);
        }
    }
    Ok(outcome)
}

/// Reads rows until a piece of a scan is full: none is left when they are at their end. The inner failure is that of a row.
///
/// # Errors
/// The driver's, whose meaning the store knows.
pub async fn read_piece<const DIGITS: bool>(
    mut rows: Pin<&mut RowStream>,
    decoder: &mut Decoder<'_>,
    form: &Form,
) -> Result<Result<Option<Batch>, StoreError>, tokio_postgres::Error> {
    while let Some(row) = rows.try_next().await? {
        if let Err(error) = decoder.row(form, &WireRow::<DIGITS>(&row)) {
            return Ok(Err(error));
        }
        if let Some(piece) = decoder.take_piece(form) {
            return Ok(Ok(Some(piece)));
        }
    }
    Ok(Ok(None))
}
