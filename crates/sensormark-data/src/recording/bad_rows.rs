//! Rows that could not be read: why, how many of each kind, and the first of them with line, column and text.

use super::*;

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
#[derive(Debug, Clone, Default)]
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
    pub fn add(&mut self, start: u64, fault: Fault, columns: &[ColumnEvidence]) {
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
