//! What a user may say about a recording where the file alone does not tell.

use super::*;
use clap::Args;

/// What to believe about a file. By default everything is found out. Columns are named as in the header, or as in the
/// report; of a file without a header they are `column_1`, `column_2` …. Names stand in an option of their own, or with commas between.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Args)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
#[command(next_help_heading = "How the recording is read")]
pub struct RecordingOptions {
    /// The column that holds the time, where the file does not tell; or several: Date,Time or year,month,day,hour
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = dashed)]
    pub time: Option<String>,
    /// How the time is written, where the file does not tell: a name (day-month-year, unix-ms, excel …) or a pattern ('%d.%m.%y %H:%M')
    #[arg(long, value_name = "FORMAT")]
    pub time_format: Option<TimeFormat>,
    /// Columns that say which series a reading is of
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = dashed)]
    pub tags: Vec<String>,
    /// Columns to keep beside the time and the tags; all others are left out
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = dashed)]
    pub only: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = dashed)]
    pub leave_out: Vec<String>,
    /// The type of a column, where another than the one found is wanted: bool, integer, float, text, or mixed (its numbers, and its texts beside them)
    #[arg(long = "type", value_name = "COLUMN=TYPE", allow_hyphen_values = true, value_parser = dashed)]
    pub types: Vec<String>,
    /// Texts that stand for "no value"; a number does however it is written: -999 and -999.0
    #[arg(long, value_name = "TEXT", value_delimiter = ',', allow_hyphen_values = true, value_parser = dashed)]
    pub absent: Vec<String>,
    /// Keep NA, N/A, null and NaN as texts: "no value" are the empty cell and what --absent names
    #[arg(long)]
    pub absent_only: bool,
    /// Read 21,5 as a number
    #[arg(long)]
    pub decimal_comma: bool,
    /// What stands between the thousands of numbers: , or . or ' or a blank, or none
    #[arg(long, value_name = "CHARACTER", hide_possible_values = true, value_parser = [",", ".", "'", " ", "none"])]
    pub thousands: Option<String>,
    /// Read 12.5 °C as 12.5, in columns whose cells all have the same unit
    #[arg(long)]
    pub unit_in_cells: bool,
    /// The character between cells, where the file does not tell
    #[arg(long, value_name = "CHARACTER")]
    pub delimiter: Option<char>,
    /// Whether the first line names the columns: true or false
    #[arg(long, value_name = "BOOL")]
    pub header: Option<bool>,
    /// The line that names the columns; those before it are left out
    #[arg(long, value_name = "NUMBER", conflicts_with = "skip_lines")]
    pub header_line: Option<usize>,
    /// Lines before the table, which are left out
    #[arg(long, value_name = "NUMBER")]
    pub skip_lines: Option<usize>,
    /// The character that begins lines which are comments, anywhere in the file
    #[arg(long, value_name = "CHARACTER")]
    pub comment: Option<char>,
    /// The file's encoding, where it is not UTF-8: windows-1252, latin1, utf-16le …
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// Count and leave out rows that cannot be read, instead of stopping at them
    #[arg(long)]
    pub skip_bad_rows: bool,
    /// What the recording is called, and its table; as the file where no name is given.
    #[arg(skip)]
    pub name: Option<String>,
}

/// A text that may begin with a dash, such as -999 or --. What looks like an option stands where the text is missing.
///
/// # Errors
/// That the text is missing.
pub fn dashed(text: &str) -> Result<String, String> {
    if text.strip_prefix("--").unwrap_or_default().starts_with(|first: char| first.is_ascii_lowercase()) {
        return Err("this is an option, and a value is missing before it".to_owned());
    }
    Ok(text.to_owned())
}
