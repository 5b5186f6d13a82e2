//! The layouts on offer, and the database's types for tags and fields. How a layout becomes tables is the relational planner's, with the
//! choices in [`crate::dialect`].

pub(crate) mod layout_options;
#[cfg(test)]
mod pins;

use sensormark_relational::physical_schema::OWNER_TABLE;
use sensormark_store::{FieldType, TagColumn};

/// What all tables have in common: readable by any InnoDB, and text compared by its bytes, trailing spaces included.
pub(crate) const OPTIONS: &str = "ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";

/// The statement that makes the owner's table: it has one row, the owner's mark.
pub(crate) fn owner_table() -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {} (`owner` VARCHAR(255) NOT NULL PRIMARY KEY) {OPTIONS}",
        quoted(OWNER_TABLE)
    )
}

/// A name in quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// The database's type for a field's values.
pub(crate) const fn field_type(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Bool => "TINYINT",
        FieldType::I64 => "BIGINT",
        FieldType::U16 => "SMALLINT UNSIGNED",
        FieldType::F64 => "DOUBLE",
        FieldType::Text => "LONGTEXT",
    }
}

/// The longest text that goes into an index as a whole, in characters.
const LONGEST_INDEXED: usize = 190;

/// Characters of the longest text, at least 1.
fn longest(values: &[String]) -> usize {
    let longest = values.iter().map(|value| value.chars().count()).max();
    longest.unwrap_or(0).max(1)
}

/// The database's type for a tag's values.
pub(crate) fn tag_type(values: &TagColumn) -> String {
    match values {
        TagColumn::Text(values) if longest(values) <= LONGEST_INDEXED => {
            format!("VARCHAR({})", longest(values))
        }
        TagColumn::Text(_) => "LONGTEXT".to_owned(),
        TagColumn::Integer(_) => "BIGINT".to_owned(),
    }
}

/// Whether a tag's values go into an index as a whole.
pub(crate) fn is_short(values: &TagColumn) -> bool {
    !matches!(values, TagColumn::Text(values) if longest(values) > LONGEST_INDEXED)
}

/// A tag's column in an index.
pub(crate) fn indexed(name: &str, values: &TagColumn) -> String {
    if is_short(values) { name.to_owned() } else { format!("{name}({LONGEST_INDEXED})") }
}
