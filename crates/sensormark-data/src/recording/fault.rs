//! Why a row cannot be read, as it is found out while the row is read.

use super::bad_rows::FaultKind;

/// How much of a cell is shown, in characters.
const SHOWN_TEXT: usize = 60;

/// A fault while reading, before lines are known.
pub struct Fault {
    pub kind: FaultKind,
    pub column: Option<usize>,
    pub text: String,
    pub reason: String,
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
