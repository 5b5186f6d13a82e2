//! The table of a generated data set.

use crate::prelude::*;

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
