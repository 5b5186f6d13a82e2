//! Series and their names: from the number to what is bound, and from a row's tags back to the number.

use crate::design::SeriesKey;
use crate::error;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use sensormark_store::{StoreError, Table, TagColumn};
use std::collections::HashMap;

/// Finds the number of a row's series.
#[derive(Debug)]
pub enum SeriesReader {
    /// There is one series.
    Only,
    /// The row says the number.
    Number,
    /// By one whole number.
    Integer(HashMap<i64, u32>),
    /// By tags, packed into bytes.
    Packed(HashMap<Vec<u8>, u32>),
}

impl SeriesReader {
    /// The reader of a table with this key.
    pub fn new(table: &Table, key: &SeriesKey) -> Self {
        let SeriesKey::Tags { identifying, .. } = key else {
            return match key {
                SeriesKey::Only => Self::Only,
                _ => Self::Number,
            };
        };
        let columns = table.series.columns();
        if let [tag] = identifying[..]
            && let TagColumn::Integer(values) = &columns[tag]
        {
            return Self::Integer(values.iter().copied().zip(0..).collect());
        }
        let pack = |series: u32| {
            let mut bytes = Vec::new();
            for &tag in identifying {
                match &columns[tag] {
                    TagColumn::Integer(values) => pack_integer(values[series as usize], &mut bytes),
                    TagColumn::Text(values) => {
                        pack_text(values[series as usize].as_bytes(), &mut bytes);
                    }
                }
            }
            bytes
        };
        Self::Packed(
            (0..table.series.len())
                .map(|series| (pack(series), series))
                .collect(),
        )
    }

    /// How many columns name the series.
    pub fn columns(&self, key: &SeriesKey) -> usize {
        key.identifying().len()
    }

    /// The number of the series that this row names in its columns from `first`.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Protocol`] when no series has this name.
    pub fn read(&self, row: &Row<'_>, first: usize, columns: usize) -> Result<u32, StoreError> {
        let found = match self {
            Self::Only => Some(0),
            Self::Number => match row.get_ref_unwrap(first) {
                ValueRef::Integer(number) => u32::try_from(number).ok(),
                _ => None,
            },
            Self::Integer(numbers) => match row.get_ref_unwrap(first) {
                ValueRef::Integer(value) => numbers.get(&value).copied(),
                _ => None,
            },
            Self::Packed(numbers) => {
                let mut bytes = Vec::with_capacity(32);
                for column in first..first + columns {
                    match row.get_ref_unwrap(column) {
                        ValueRef::Integer(value) => pack_integer(value, &mut bytes),
                        ValueRef::Text(text) => pack_text(text, &mut bytes),
                        _ => {}
                    }
                }
                numbers.get(&bytes).copied()
            }
        };
        found.ok_or_else(|| {
            error::unexpected(
                "read the series of a row",
                "a row's tags are of no series of the schema; was the database made with another one?",
            )
        })
    }
}

fn pack_integer(value: i64, bytes: &mut Vec<u8>) {
    bytes.push(b'i');
    bytes.extend_from_slice(&value.to_le_bytes());
}

fn pack_text(text: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(b't');
    bytes.extend_from_slice(&text.len().to_le_bytes());
    bytes.extend_from_slice(text);
}
