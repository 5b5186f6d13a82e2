//! Rows that could not be read: why, how many of each kind, and the first of them with line, column and text.

use super::*;

/// How many bad rows are shown.
const SHOWN: usize = 5;
/// How much of a cell is shown, in characters.
const SHOWN_TEXT: usize = 60;

/// Why a row cannot be read, in words.
pub type FaultKind = &'static str;

/// More or fewer cells than the other rows have.
pub const CELLS: FaultKind = "another number of cells";
/// A quote that is not closed, so that rows run together.
pub const QUOTE: FaultKind = "a quote that is not closed";
/// Bytes that are not UTF-8.
pub const ENCODING: FaultKind = "not UTF-8, or NUL bytes";
/// No time, or one that cannot be read.
pub const TIME: FaultKind = "no readable time";
/// A text that does not fit its column's type.
pub const VALUE: FaultKind = "a value that does not fit its column";
/// No value for a tag.
pub const TAG: FaultKind = "no value for a tag";
/// No value in any column.
pub const NO_VALUE: FaultKind = "no value at all";
/// The header again, or a row without any cell.
pub const NO_ROW: FaultKind = "empty, or the header again";

/// Why a row cannot be read, as it is found out while the row is read.
#[derive(Debug, Clone)]
pub struct Fault {
    pub kind: FaultKind,
    /// None where it is the whole row.
    pub column: Option<usize>,
    /// The cell's text, or the row's start, shortened.
    pub text: String,
    /// In words that follow the text.
    pub reason: String,
}

/// A row that cannot be read.
#[derive(Debug, Clone)]
pub struct BadRow {
    /// The line at which it starts, counted from 1. Until it is known, the offset in bytes.
    pub line: u64,
    /// The column, as the file or the report names it.
    pub column: Option<String>,
    /// Why it cannot be read.
    pub fault: Fault,
}

/// All rows that cannot be read.
#[derive(Debug, Clone, Default)]
pub struct BadRows {
    /// How many there are.
    pub count: u64,
    /// How many of each kind.
    pub by_kind: BTreeMap<FaultKind, u64>,
    /// The first of them.
    pub(super) first: Vec<BadRow>,
}

impl BadRows {
    /// Takes note of the fault of a row that starts at this offset.
    pub(super) fn add(&mut self, start: u64, fault: Fault, columns: &[ColumnEvidence]) {
        self.count += 1;
        *self.by_kind.entry(fault.kind).or_insert(0) += 1;
        if self.first.len() < SHOWN {
            let column = fault.column.map(|column| columns[column].label.clone());
            self.first.push(BadRow { line: start, column, fault });
        }
    }
}

impl fmt::Display for BadRows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for BadRow { line, column, fault: Fault { text, reason, .. } } in &self.first {
            let column = column.as_ref().map_or_else(String::new, |column| format!(", column {column}"));
            writeln!(formatter, "  line {line}{column}: {text:?} {reason}")?;
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
    pub fn of_cell(kind: FaultKind, column: usize, text: &str, reason: impl Into<String>) -> Self {
        Self { kind, column: Some(column), text: shorten(text), reason: reason.into() }
    }

    /// A fault of a whole row, of which the first cells are shown.
    pub fn of_row(kind: FaultKind, record: &csv::ByteRecord, reason: impl Into<String>) -> Self {
        let cells: Vec<_> = record.iter().take(8).map(String::from_utf8_lossy).collect();
        Self { kind, column: None, text: shorten(&cells.join(" ")), reason: reason.into() }
    }
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN_TEXT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
