//! A row that a driver gives, as decoding reads it: values go straight from it into their columns. What is compiled for one driver's type calls nothing through a pointer.

use sensormark_store::{Column, ErrorKind, FieldSet, FieldType, StoreError, Value};

/// A record's document as it came back.
#[derive(Debug, Clone, Copy)]
pub enum Document<'a> {
    /// JSON.
    Json(&'a str),
    /// Columns packed by the client.
    Packed(&'a [u8]),
}

/// One row of an answer. Each function fails with [`ErrorKind::Protocol`] when the place does not hold what is asked for.
pub trait Row {
    /// Appends the value at a place to a column of its type; NULL becomes an absent value.
    ///
    /// # Errors
    /// When it is of another type.
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError>;

    /// Appends the values from a place on to the columns of these fields: one call for all values of a reading.
    ///
    /// # Errors
    /// When one is of another type.
    fn push_fields(&self, first: usize, fields: FieldSet, columns: &mut [Column]) -> Result<(), StoreError> {
        for (position, field) in fields.iter().enumerate() {
            self.push(first + position, &mut columns[field])?;
        }
        Ok(())
    }

    /// How many values it has, where somebody may want all of them.
    fn columns(&self) -> usize {
        1
    }

    /// The whole number at a place.
    ///
    /// # Errors
    /// When there is none.
    fn integer(&self, place: usize) -> Result<i64, StoreError>;

    /// The text at a place.
    ///
    /// # Errors
    /// When there is none.
    fn text(&self, place: usize) -> Result<&str, StoreError>;

    /// The truth value at a place.
    ///
    /// # Errors
    /// When there is none.
    fn truth(&self, place: usize) -> Result<bool, StoreError>;

    /// The value at a place, of this type.
    ///
    /// # Errors
    /// When it is of another type.
    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError>;

    /// The value at a place as the database prints it: settings and plans.
    ///
    /// # Errors
    /// When it cannot be printed.
    fn printed(&self, place: usize) -> Result<String, StoreError> {
        let _ = place;
        Err(unexpected("a value that nobody prints"))
    }

    /// Whether there is no value at a place.
    ///
    /// # Errors
    /// When there is no such place.
    fn is_null(&self, place: usize) -> Result<bool, StoreError>;

    /// The document at a place.
    ///
    /// # Errors
    /// When there is none.
    fn document(&self, place: usize) -> Result<Document<'_>, StoreError>;

    /// The whole numbers of the array at a place, where the database has arrays.
    ///
    /// # Errors
    /// When there is none.
    fn offsets(&self, place: usize) -> Result<Vec<i64>, StoreError> {
        let _ = place;
        Err(unexpected("an array where the database has none"))
    }

    /// Appends the elements of the array at a place to a column, where the database has arrays.
    ///
    /// # Errors
    /// When there is none.
    fn elements(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        let _ = (place, column);
        Err(unexpected("an array where the database has none"))
    }

    /// The JSON array at a place.
    ///
    /// # Errors
    /// When there is none.
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
