//! What a user may say about a recording where the file alone does not tell.

use std::collections::BTreeMap;

use sensormark_store::FieldType;
use serde::{Deserialize, Serialize};

use super::time::TimeFormat;

/// What to believe about a file. By default everything is found out. Columns are named as in the header, or as in the
/// report; of a file without a header they are `column_1`, `column_2` ….
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct RecordingOptions {
    /// The character between cells.
    pub delimiter: Option<char>,
    /// Whether the first line names the columns.
    pub header: Option<bool>,
    /// The column that holds the time, or the columns, with commas between.
    pub time: Option<String>,
    /// How the time is written.
    pub time_format: Option<TimeFormat>,
    /// The columns that say which series a reading is of (the sensor's name, say).
    pub tags: Vec<String>,
    /// Types of columns, where those found are not wanted.
    pub types: BTreeMap<String, ColumnType>,
    /// Columns to leave out.
    pub leave_out: Vec<String>,
    /// Texts that stand for "no value", beside the empty cell, NA, N/A, null and NaN.
    pub absent: Vec<String>,
    /// Whether 21,5 is a number.
    pub decimal_comma: bool,
    /// What stands between the thousands of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thousands: Option<Thousands>,
    /// Whether rows that cannot be read are counted and left out; else the first of them ends the reading.
    pub skip_bad_rows: bool,
    /// What the recording is called, and its table; as the file where no name is given.
    pub name: Option<String>,
}

/// What stands between the thousands of numbers, as a user says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thousands {
    /// Nothing does.
    Nothing,
    /// This character does.
    Mark(char),
}

impl std::str::FromStr for Thousands {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::Nothing),
            "," | "." | " " | "'" => Ok(Self::Mark(text.chars().next().unwrap_or(' '))),
            _ => Err(format!(
                "{text:?} does not stand between thousands; say , or . or ' or a blank in quotes, or none"
            )),
        }
    }
}

/// A column's type, as a user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnType {
    /// true or false.
    Bool,
    /// Whole numbers of 64 bits.
    Integer,
    /// Floating point numbers of 64 bits.
    Float,
    /// Text.
    Text,
}

impl ColumnType {
    /// The contract's type.
    pub const fn kind(self) -> FieldType {
        match self {
            Self::Bool => FieldType::Bool,
            Self::Integer => FieldType::I64,
            Self::Float => FieldType::F64,
            Self::Text => FieldType::Text,
        }
    }
}
