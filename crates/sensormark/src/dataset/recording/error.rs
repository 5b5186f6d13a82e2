//! Why a recording cannot be read: each message says what, where, and what to try.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::bad_rows::BadRows;
use super::time::TimeFormat;
use crate::nearest::unknown;

/// Why a recording cannot be read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The file cannot be opened or read.
    #[error("cannot read the recording {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not text, or not UTF-8 text.
    #[error(
        "{} is not UTF-8 text (it may be UTF-16, compressed or a spreadsheet); export it as CSV in UTF-8, or convert it with iconv",
        path.display()
    )]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// There is no row.
    #[error("{} holds no readings; a recording has a header and a row a reading", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The delimiter cannot be found.
    #[error(
        "{} has one cell a line with any of comma, semicolon, tab and bar between cells; say the delimiter with --delimiter",
        path.display()
    )]
    NoDelimiter {
        /// The file.
        path: PathBuf,
    },
    /// The delimiter that was given cannot be one.
    #[error("{given:?} cannot be a delimiter: give one ASCII character")]
    Delimiter {
        /// What was given.
        given: String,
    },
    /// The header does not fit the rows.
    #[error(
        "{}: the header has {names} names and most rows have {cells} cells; they may differ by one (a row number without a name). Correct the header, or say --header false if line 1 is no header",
        path.display()
    )]
    Header {
        /// The file.
        path: PathBuf,
        /// Names in the header.
        names: usize,
        /// Cells of most rows.
        cells: usize,
    },
    /// An option names a column that is not there.
    #[error("{option}: {}", unknown("column", name, columns.iter().cloned()))]
    UnknownColumn {
        /// What was named.
        name: String,
        /// By which option.
        option: &'static str,
        /// The columns that are there.
        columns: Vec<String>,
    },
    /// One column is to be two things.
    #[error("column {column} is named by both {one} and {other}; a column is one thing")]
    TwoRoles {
        /// The column.
        column: String,
        /// One option.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// No column looks like a time.
    #[error(
        "no column of {} looks like a time; name it with --time, and its format with --time-format if that is not enough. The columns are {}",
        path.display(),
        columns.join(", ")
    )]
    NoTime {
        /// The file.
        path: PathBuf,
        /// The columns, each with an example.
        columns: Vec<String>,
    },
    /// The column that was named holds no times.
    #[error(
        "column {column} does not look like a time (first value {example:?}); say its format with --time-format, one of {}",
        TimeFormat::ALL.map(TimeFormat::name).join(", ")
    )]
    NotATime {
        /// The column.
        column: String,
        /// Its first value.
        example: String,
    },
    /// Day and month cannot be told apart.
    #[error(
        "the dates in column {column} can be day and month or month and day: the first is {example:?}, and none has a number over 12 that decides. Say which with --time-format day-month-year or --time-format month-day-year"
    )]
    AmbiguousTime {
        /// The column.
        column: String,
        /// Its first value.
        example: String,
    },
    /// Some dates are day first, some month first.
    #[error(
        "the dates in column {column} contradict each other: {day_first:?} can only be day first and {month_first:?} only month first. Say which is right with --time-format day-month-year or month-day-year; the others are then bad rows"
    )]
    MixedTime {
        /// The column.
        column: String,
        /// A date that has the day first.
        day_first: String,
        /// A date that has the month first.
        month_first: String,
    },
    /// Numbers seem to have decimal commas.
    #[error(
        "column {column} looks like numbers with a decimal comma (first value {example:?}); say --decimal-comma if it is so, or --type {column}=text if it is not"
    )]
    DecimalComma {
        /// The column.
        column: String,
        /// Its first value.
        example: String,
    },
    /// There are more fields than a table can have.
    #[error(
        "{fields} columns of values are more than the {most} that a table can have; leave some out with --leave-out"
    )]
    TooManyFields {
        /// Columns of values.
        fields: usize,
        /// The most there can be.
        most: usize,
    },
    /// There is no column of values.
    #[error("no column of {} holds values beside the time and the tags", path.display())]
    NoField {
        /// The file.
        path: PathBuf,
    },
    /// Rows cannot be read.
    #[error(
        "{} of {rows} rows of {} cannot be read:\n{bad}Correct the file, or go on without these rows with --skip-bad-rows (they are counted in the report)",
        bad.count,
        path.display()
    )]
    BadRows {
        /// The file.
        path: PathBuf,
        /// All rows.
        rows: u64,
        /// Those that cannot be read.
        bad: BadRows,
    },
    /// The file changed between the two readings.
    #[error("{} changed while it was read ({before} rows, then {after}); copy it and read the copy", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// Rows at first.
        before: u64,
        /// Rows then.
        after: u64,
    },
}

impl RecordingError {
    pub(super) fn open(path: &Path, source: io::Error) -> Self {
        Self::Open {
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn read(path: &Path, error: csv::Error) -> Self {
        let text = error.to_string();
        let source = match error.into_kind() {
            csv::ErrorKind::Io(source) => source,
            _ => io::Error::new(io::ErrorKind::InvalidData, text),
        };
        Self::open(path, source)
    }
}
