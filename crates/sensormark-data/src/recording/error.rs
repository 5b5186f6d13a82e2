//! Why a recording, or a row of it, cannot be read: each message says what, where, and what to try.

use super::*;
use thiserror::Error;

/// What comes of reading a recording.
pub type Result<T, E = RecordingError> = std::result::Result<T, E>;

/// Why a recording cannot be read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// What the system says of the file.
    #[error(transparent)]
    System(#[from] io::Error),
    /// What the file holds is not clear, or does not fit the options.
    #[error("{words}")]
    Unclear {
        /// What is wrong, where, and what to do.
        words: String,
        /// The options for each thing that it can be.
        choices: Vec<Vec<String>>,
    },
    /// Rows cannot be read.
    #[error(
        "{} of {rows} rows of {file} cannot be read:\n{bad}Correct the file, or leave them out with --skip-bad-rows, which counts them",
        bad.count
    )]
    BadRows {
        /// The file.
        file: String,
        /// All rows.
        rows: u64,
        /// Those that cannot be read.
        bad: BadRows,
    },
}

/// Stops with these words. Options between ⟦ and ⟧, with ‖ between their words, are shown as they are typed, and are the choices. With a ! in front
/// they are shown only.
pub fn unclear<T>(text: String) -> Result<T> {
    let (mut words, mut choices) = (String::new(), Vec::new());
    for (place, part) in text.split(['⟦', '⟧']).enumerate() {
        if place % 2 == 0 {
            words += part;
            continue;
        }
        let option: Vec<String> = part.trim_start_matches('!').split('‖').map(str::to_owned).collect();
        words += &quoted(&option);
        if !part.starts_with('!') {
            choices.push(option);
        }
    }
    Err(RecordingError::Unclear { words, choices })
}

/// Words as a shell takes them.
pub fn quoted(words: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=,:%+@".contains(&byte))
    };
    words
        .iter()
        .map(|word| if plain(word) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) })
        .join(" ")
}

/// Stops because there is no row.
pub fn empty<T>(source: &Source) -> Result<T> {
    unclear!("{source} holds no readings; a recording has a header and a row a reading")
}

/// Bytes that are not UTF-8.
pub const ENCODING: &str = "not UTF-8, or NUL bytes";
/// No value in any column.
pub const NO_VALUE: &str = "no value at all";
/// The header again, or a row without any cell.
pub const NO_ROW: &str = "empty, or the header again";

/// Why a row cannot be read, as it is found out while the row is read.
pub struct Fault {
    /// In words that name all faults of its kind.
    pub kind: &'static str,
    /// None where it is the whole row.
    column: Option<usize>,
    /// The cell's text, or the row's start, shortened.
    text: String,
    /// In words that follow the text.
    reason: String,
}

/// All rows that cannot be read.
#[derive(Debug, Default)]
pub struct BadRows {
    /// How many there are.
    pub count: u64,
    /// How many of each kind.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// The first of them: the line at which it starts, counted from 1, and what is wrong where. Until the line is known, the offset in bytes.
    pub first: Vec<(u64, String)>,
}

impl BadRows {
    /// Takes note of the fault of a row that starts at this offset.
    pub(super) fn add(&mut self, start: u64, fault: Fault, columns: &[ColumnEvidence]) {
        let Fault { kind, column, text, reason } = fault;
        self.count += 1;
        *self.by_kind.entry(kind).or_default() += 1;
        if self.first.len() < 5 {
            let column = column.map(|column| format!(", column {}", columns[column].label));
            self.first.push((start, format!("{}: {text:?} {reason}", column.unwrap_or_default())));
        }
    }
}

impl Display for BadRows {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        for (line, words) in &self.first {
            writeln!(formatter, "  line {line}{words}")?;
        }
        let shown = self.first.len() as u64;
        if self.count > shown {
            writeln!(formatter, "  … and {} more", self.count - shown)?;
        }
        Ok(())
    }
}

impl Fault {
    /// A fault of one cell.
    pub fn of_cell(kind: &'static str, column: usize, text: &str, reason: impl Into<String>) -> Self {
        let mut short: String = text.chars().take(60).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        Self { kind, column: Some(column), text: short, reason: reason.into() }
    }

    /// A fault of a whole row, of which the first cells are shown.
    pub fn of_row(kind: &'static str, record: &ByteRecord, reason: impl Into<String>) -> Self {
        let text = record.iter().take(8).map(String::from_utf8_lossy).join(" ");
        Self { column: None, ..Self::of_cell(kind, 0, &text, reason) }
    }
}
