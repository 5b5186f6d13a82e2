//! A row that a driver gives, as decoding reads it.
//!
//! Each store implements [`Row`] for its driver's type. Decoding is compiled for that type: there is no call through a pointer, and no value
//! in between.

pub mod binary;

use sensormark_store::{Column, ErrorKind, FieldType, StoreError, Value};

/// A record's document as it came back.
#[derive(Debug, Clone, Copy)]
pub enum Document<'a> {
    /// JSON.
    Json(&'a str),
    /// Columns packed by the client.
    Packed(&'a [u8]),
}

/// One row of an answer.
pub trait Row {
    /// Appends the value at a place to a column of its type; NULL becomes an absent value.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when it is of another type.
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError>;

    /// The whole number at a place.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when there is none.
    fn integer(&self, place: usize) -> Result<i64, StoreError>;

    /// The text at a place.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when there is none.
    fn text(&self, place: usize) -> Result<&str, StoreError>;

    /// The truth value at a place.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when there is none.
    fn truth(&self, place: usize) -> Result<bool, StoreError>;

    /// The value at a place, of this type.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when it is of another type.
    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError>;

    /// Whether there is no value at a place.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when there is no such place.
    fn is_null(&self, place: usize) -> Result<bool, StoreError>;

    /// The document at a place.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when there is none.
    fn document(&self, place: usize) -> Result<Document<'_>, StoreError>;

    /// The whole numbers of the array at a place, where the database has arrays.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when there is none.
    fn offsets(&self, place: usize) -> Result<Vec<i64>, StoreError> {
        let _ = place;
        Err(unexpected("an array where the database has none"))
    }

    /// Appends the elements of the array at a place to a column, where the database has arrays.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when there is none.
    fn elements(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        let _ = (place, column);
        Err(unexpected("an array where the database has none"))
    }

    /// The JSON array at a place.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when there is none.
    fn json_array(&self, place: usize) -> Result<&str, StoreError> {
        match self.document(place)? {
            Document::Json(text) => Ok(text),
            Document::Packed(_) => Err(unexpected("bytes where JSON is expected")),
        }
    }
}

/// An answer that could not be understood.
pub fn unexpected(what: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Protocol,
        "read the database's answer",
        format!("{what}; is the database of this schema and layout?"),
    )
}
