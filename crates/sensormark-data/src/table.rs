//! The table of a generated data set.

use crate::prelude::*;
use serde::de::DeserializeOwned;

/// A field that every reading has.
pub fn field(name: impl Into<String>, kind: FieldType) -> Field {
    Field { name: name.into(), kind, nullable: false }
}

/// A table of series without entities.
pub fn table(
    name: &str,
    tags: &[&str],
    fields: impl IntoIterator<Item = Field>,
    time_resolution: TimeResolution,
    series: Series,
) -> Table {
    Table {
        name: name.to_owned(),
        tags: tags.iter().map(|&name| Tag { name: name.to_owned() }).collect(),
        fields: fields.into_iter().collect(),
        entity: None,
        time_resolution,
        series,
    }
}

/// The rows of a text: blanks between cells, which may be in single quotes, a line a row, below one that names the cells.
///
/// # Panics
/// When a row is not as the type says: a defect of the text, which is part of the program.
pub fn rows<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let mut reader = csv::ReaderBuilder::new().delimiter(b' ').quote(b'\'').from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().expect("rows of a table")
}
