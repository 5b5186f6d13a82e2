//! A recording: somebody's own readings, from a CSV file, as a data set.
//!
//! The file is read twice, so that memory holds its columns and nothing else. The first reading finds out what it is: delimiter, header, types, the time and
//! its format. The second takes the readings. A [`RecordingReport`] says what was found, and lists every row that cannot be read, by line: none is dropped in
//! silence. By default such a row ends the reading.
//!
//! It makes nothing up. No zone, order of day and month or decimal comma is guessed where the file does not decide. What is assumed instead is in the report,
//! or the error says how to state it. Operations on the recording are in `workload::replay`.

/// A regular expression by a name; # stands for a digit.
macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(&$text.replace('#', "[0-9]")).expect("a regular expression"));
    };
}

/// Stops with these words, which may ask: see [`error::unclear`].
macro_rules! unclear {
    ($($words:tt)+) => {
        unclear(format!($($words)+))
    };
}

mod options;

mod json;
#[cfg(feature = "parquet")]
mod parquet;
mod source;

mod sniff;

mod rows;

mod cell;
mod number;
mod time;
mod time_source;

mod evidence;

mod find_time;
mod marks;

mod odd;
mod plan;

mod take;

mod inspect;
mod names;
mod report;

mod error;

#[cfg(test)]
mod tests;

// What the parts name.
use {
    crate::{nearest::unknown, prelude::*},
    cell::*,
    csv::{ByteRecord, StringRecord},
    error::*,
    evidence::*,
    find_time::*,
    indexmap::IndexSet,
    jiff::{Timestamp, tz::TimeZone},
    marks::*,
    names::*,
    number::*,
    regex::Regex,
    rows::*,
    time::*,
    time_source::*,
};

pub use error::{BadRows, RecordingError};
pub use inspect::{Inspection, inspect};
pub use names::name_of;
pub use options::{RecordingOptions, dashed};
pub use report::{ColumnReport, RecordingReport, Timing, shown};
pub use time::{Epoch, TimeFormat};

/// The readings of one file, in columns, in the file's order.
#[derive(Debug)]
pub struct Recording {
    /// One table of the file's name.
    pub schema: Arc<Schema>,
    /// All readings, in the file's order.
    pub readings: Batch,
    /// What was found.
    pub report: RecordingReport,
}

impl Recording {
    /// Reads a CSV file.
    ///
    /// # Errors
    /// When the file cannot be read, or when what it means is not clear (the error names the option that says it). When a row cannot be read, unless
    /// [`RecordingOptions::skip_bad_rows`] is set.
    pub fn read(path: &Path, options: &RecordingOptions) -> Result<Self> {
        let read = || {
            let dialect = sniff::sniff(Source::open(path, options)?, options)?;
            let evidence = evidence::gather(&dialect)?;
            let plan = plan::decide(&dialect, &evidence)?;
            take::take(&dialect, plan, &evidence)
        };
        read().or_else(|error| match error {
            RecordingError::System(error) => {
                unclear!("cannot read the recording {}: {error}", path.display())
            }
            error => Err(error),
        })
    }
}

// What the stages hand on, in their order.

/// Where a recording is read from.
struct Source {
    /// What the recording is called.
    name: String,
    /// What the user named.
    given: PathBuf,
    /// What is read.
    path: PathBuf,
    /// The copy, which goes with this.
    copy: Option<File>,
    /// What was done to it.
    notes: Vec<String>,
    /// Lines of the copy before what is line 1 of the file.
    lines_before: u64,
}

/// What kind of CSV it is.
struct Dialect {
    /// Where the rows are.
    source: Source,
    /// Bytes before the table.
    skip: u64,
    /// What begins a line that is a comment.
    comment: Option<u8>,
    /// The character between cells.
    delimiter: u8,
    /// Whether the first row names the columns.
    has_header: bool,
    /// Rows of units below the header.
    units_rows: usize,
    /// Names of the columns as the file has them, one a column; empty where a column has none.
    names: Vec<String>,
    /// What was done to the file, and what was found around the table.
    notes: Vec<String>,
    /// What the user says, and where they say nothing, what InfluxDB's own lines say of its columns.
    options: RecordingOptions,
}

/// One row as it stands in the file.
struct Row<'r> {
    /// Its cells.
    record: &'r ByteRecord,
    /// Where it starts (line ends before it included), in bytes.
    start: u64,
    /// Where the next one starts, in bytes.
    end: u64,
}

/// What was seen in a file.
struct Evidence {
    /// Rows below the header, readable or not.
    rows: u64,
    /// One entry a column.
    columns: Vec<ColumnEvidence>,
}

/// What was seen in a column; counts of cells.
#[derive(Default)]
struct ColumnEvidence {
    /// Which column it is.
    number: usize,
    /// The column's name for people: as in the file, or made.
    label: String,
    /// Cells that are numbers, read with a decimal point, with a decimal comma, or either way.
    numeric: u64,
    /// Of those: whole numbers that are written otherwise than they print, as +1, -0 and 1,200.
    unusual_integers: u64,
    /// Those cells as they are with a decimal point.
    point: Tally,
    /// Those cells as they are with a decimal comma.
    comma: Tally,
    truths: u64,
    times: u64,
    /// Times of day without a date.
    clocks: u64,
    /// Digits after needless zeros, which count as texts too.
    leading_zeros: u64,
    texts: u64,
    /// Of the texts: numbers with other signs around them, as (1.5) and $12.
    near_numbers: u64,
    /// Of the times: at the first moment of a day.
    midnights: u64,
    /// Of the times and times of day: with a zone.
    zoned: u64,
    /// Of the times: how many can be read in each order.
    orders: [u64; 3],
    /// Of the times: with two digits of the year.
    short_years: u64,
    /// The first cell with a value.
    example: String,
    /// Units behind numbers, and how often, up to eight.
    units: BTreeMap<String, u64>,
    /// Different texts, up to [`DISTINCT`]; of columns that are not numbers.
    distinct: BTreeSet<String>,
}

/// The numbers of a column, read with one decimal mark; counts of cells.
#[derive(Default)]
struct Tally {
    /// Numbers that stand for no value.
    absent: u64,
    integers: u64,
    floats: u64,
    /// Numbers that 64-bit floating point rounds though it would be asked to keep all their digits, and the first of them.
    rounded: u64,
    rounded_example: Option<(String, f64)>,
    /// What groups thousands, and the first number in which it does.
    grouped: Option<(char, String)>,
    /// The first number with a decimal mark.
    decimal: Option<String>,
    /// Of each power of two: how many numbers have it, the smallest and the largest of them.
    powers: BTreeMap<u64, (u64, f64, f64)>,
}

/// What is done with each column.
struct Plan {
    /// The table's name.
    table: String,
    /// What each column is.
    columns: Vec<ColumnReport>,
    /// The fields, in the file's order.
    fields: Vec<FieldSource>,
    /// The tags, in the file's order.
    tags: Vec<TagSource>,
    /// The time.
    time: TimeSource,
    /// What was assumed, because neither file nor options say it.
    assumptions: Vec<String>,
    /// What the user said.
    named: Named,
    /// Names that are taken.
    names: BTreeSet<String>,
}

/// Where the values of a field are.
#[derive(Clone)]
struct FieldSource {
    name: String,
    column: usize,
    kind: FieldType,
    /// What the marks in its numbers mean.
    marks: Marks,
    /// Of a column of numbers and texts: the type of its numbers.
    numbers: Option<FieldType>,
}

/// Where the values of a tag are, and whether they are whole numbers.
struct TagSource {
    name: String,
    column: usize,
    is_integer: bool,
}

/// Where the time of a row is.
#[derive(Debug)]
pub struct TimeSource {
    /// Its columns, that of the date or the year first.
    pub columns: Vec<usize>,
    /// What stands before each part of a time, and how many digits it has at least.
    layout: Vec<(&'static str, usize)>,
    /// The columns' names, as `--time` takes them.
    pub label: String,
    /// How the time is written.
    pub format: TimeFormat,
    /// The times that are taken, in ns, where nobody said what the numbers are.
    pub plausible: Option<Range<i64>>,
    /// Why these columns and this format, in words.
    pub reason: String,
    /// What was taken for granted.
    pub notes: Vec<String>,
    /// Whether it is a column of dates that nobody named.
    pub is_bare_date: bool,
    /// Whether the first part is a date, which may carry a midnight of its own.
    has_date: bool,
}

/// What the user said of columns, by their numbers.
struct Named {
    time: Vec<usize>,
    tags: Vec<usize>,
    /// Columns to leave out, and those that are not among those to keep.
    left_out: Vec<usize>,
    /// Types, and columns of numbers and texts, which have none.
    types: BTreeMap<usize, Option<FieldType>>,
    /// Columns that are not the time, because the user made them something else.
    taken: Vec<usize>,
}

/// Turns rows into readings.
struct Taker<'r> {
    plan: Plan,
    evidence: &'r Evidence,
    rules: CellRules,
    batch: Batch,
    /// The values of the row at hand, one a field.
    values: Vec<Value>,
    /// Times that are written as others.
    oddities: BTreeMap<&'static str, u64>,
    /// The values of the tags of each series.
    series: IndexSet<Vec<String>>,
    bad: BadRows,
}

/// Whether this is a pipe, a device, or a stream of this process, which another process cannot read again.
pub fn is_read_once(path: &Path) -> bool {
    ["/dev/stdin", "/dev/fd", "/proc/self", "/proc/thread-self"].iter().any(|stream| path.starts_with(stream))
        || path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}
