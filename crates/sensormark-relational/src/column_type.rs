//! The types of columns and parameters.

use sensormark_store::{FieldType, TagColumn};

/// What a column or a parameter holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// A truth value.
    Bool,
    /// A whole number of 16 bits.
    I16,
    /// A whole number of 32 bits.
    I32,
    /// A whole number of 64 bits.
    I64,
    /// A floating point number of 64 bits.
    F64,
    /// Text.
    Text,
    /// The database's own time.
    Timestamp,
    /// The database's own length of time.
    Interval,
    /// JSON as text.
    Json,
    /// JSON as the database parses it.
    BinaryJson,
    /// Bytes.
    Bytes,
    /// A value of any type.
    Any,
    /// An array of truth values.
    BoolArray,
    /// An array of whole numbers of 32 bits.
    I32Array,
    /// An array of whole numbers of 64 bits.
    I64Array,
    /// An array of floating point numbers.
    F64Array,
    /// An array of texts.
    TextArray,
}

impl ColumnType {
    /// The type for a field's values.
    pub const fn of_field(kind: FieldType) -> Self {
        match kind {
            FieldType::Bool => Self::Bool,
            FieldType::I64 => Self::I64,
            FieldType::U16 => Self::I32,
            FieldType::F64 => Self::F64,
            FieldType::Text => Self::Text,
        }
    }

    /// The type for a tag's values.
    pub const fn of_tag(values: &TagColumn) -> Self {
        match values {
            TagColumn::Text(_) => Self::Text,
            TagColumn::Integer(_) => Self::I64,
        }
    }

    /// The type of an array of these. Types that no array is made of count as whole numbers of 64 bits.
    #[must_use]
    pub const fn array(self) -> Self {
        match self {
            Self::Bool => Self::BoolArray,
            Self::I32 => Self::I32Array,
            Self::F64 => Self::F64Array,
            Self::Text => Self::TextArray,
            _ => Self::I64Array,
        }
    }

    /// The type of times within a span: as short as the span's length allows.
    pub fn of_offset(span_ns: i64) -> Self {
        if i32::try_from(span_ns).is_ok() { Self::I32 } else { Self::I64 }
    }
}
