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
        "no column of {} looks like a time; name it with --time, and its format with --time-format if that is not enough. The columns are {}{}",
        path.display(),
        columns.join(", "),
        hints.iter().map(|hint| format!("\n{hint}")).collect::<String>()
    )]
    NoTime {
        /// The file.
        path: PathBuf,
        /// The columns, each with an example.
        columns: Vec<String>,
        /// What could be the time all the same, in sentences.
        hints: Vec<String>,
    },
    /// Several columns can be the time.
    #[error(
        "several columns of {} can be the time, and they do not agree; say which it is: {}",
        path.display(),
        columns.join(", or ")
    )]
    SeveralTimes {
        /// The file.
        path: PathBuf,
        /// The option for each, with an example.
        columns: Vec<String>,
    },
    /// Dates and times of day are in two columns, and it is not clear whether they belong together.
    #[error(
        "column {date} has dates without a time of day, and times of day are in {}. Say --time {date},{} if they belong together. If the dates alone are the time, say --time {date} and --type {}=text",
        clocks.join(", "),
        clocks[0],
        clocks.join("=text --type ")
    )]
    DateAndClock {
        /// The column of dates.
        date: String,
        /// The columns of times of day.
        clocks: Vec<String>,
    },
    /// Readings share dates, and nothing says the time of day.
    #[error(
        "column {column} has dates without a time of day, and {repeated} of {readings} readings share a date with another. If another column has the time of day or the hour, say --time {column},COLUMN. If another column is the time, say --time COLUMN. If a column says which sensor a reading is of, say --tags COLUMN. If the date alone is the time, say --time {column}"
    )]
    DatesAlone {
        /// The column.
        column: String,
        /// Readings whose date another reading of the series has.
        repeated: u64,
        /// All readings.
        readings: usize,
    },
    /// The columns that were named make up no time.
    #[error(
        "--time {}: these columns make up no time. Name a column of dates and one of times of day (23:50) or hours, or columns of numbers in the order year, month, day, hour, minute, second",
        columns.join(",")
    )]
    NoTimeOfColumns {
        /// The columns.
        columns: Vec<String>,
    },
    /// Numbers can be no usual time, or several.
    #[error(
        "the numbers in column {column} (first value {example}) {}. Say what they are with --time-format, one of {}",
        if meanings.is_empty() {
            format!("give years from {} to {} in no known way", years.0, years.1)
        } else {
            format!("can be {}", meanings.join(", or "))
        },
        TimeFormat::ALL.map(TimeFormat::name).join(", ")
    )]
    NumbersOfTime {
        /// The column.
        column: String,
        /// Its first value.
        example: String,
        /// What they can be, each with the option for it.
        meanings: Vec<String>,
        /// The first and the last plausible year.
        years: (i16, i16),
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
    /// What the marks in numbers mean is not clear, or nobody asked for it.
    #[error(
        "numbers in column {column} are written like {example:?}: {}. If they are no numbers, say --type {column}=text",
        if readings.is_empty() {
            "some have a decimal point and some a decimal comma, so write them in one way".to_owned()
        } else {
            format!("that is {}", readings.join(", or "))
        }
    )]
    NumberMarks {
        /// The column.
        column: String,
        /// A number that shows it.
        example: String,
        /// What it can be, each with the options for it.
        readings: Vec<String>,
    },
    /// A comma cannot be two things.
    #[error(
        "--decimal-comma and --thousands , contradict each other: a comma is the decimal mark, or it stands between thousands"
    )]
    CommaTwice,
    /// The file can be read once, and it is read several times.
    #[error(
        "{} is no file that can be read several times; copy it to a file, or pipe it into sensormark replay -",
        path.display()
    )]
    NotAFile {
        /// What it is called.
        path: PathBuf,
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
        Self::Open { path: path.to_owned(), source }
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
