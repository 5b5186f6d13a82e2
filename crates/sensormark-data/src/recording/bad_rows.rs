//! Rows that could not be read: how many of each kind, and the first of them with line, column and text.

use std::{collections::BTreeMap, fmt};

use super::fault::Fault;

/// How many bad rows are shown.
const SHOWN: usize = 5;

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

/// A row that cannot be read.
#[derive(Debug, Clone)]
pub struct BadRow {
    /// The line at which it starts, counted from 1.
    pub line: u64,
    /// The column, as the file or the report names it; none where it is the whole row.
    pub column: Option<String>,
    /// The cell's text, or the row's start, shortened.
    pub text: String,
    /// What kind of fault it is.
    pub kind: FaultKind,
    /// Why, in words that follow the text.
    pub reason: String,
}

/// All rows that cannot be read.
#[derive(Debug, Clone, Default)]
pub struct BadRows {
    /// How many there are.
    pub count: u64,
    /// How many of each kind.
    pub by_kind: BTreeMap<FaultKind, u64>,
    /// The first of them.
    pub first: Vec<BadRow>,
}

impl BadRows {
    /// Takes note of the fault of a row. Until its line is known, the row has the offset at which it starts.
    pub(super) fn add(&mut self, start: u64, fault: Fault, labels: &[String]) {
        self.count += 1;
        *self.by_kind.entry(fault.kind).or_insert(0) += 1;
        if self.first.len() < SHOWN {
            let Fault { kind, column, text, reason } = fault;
            let column = column.map(|column| labels[column].clone());
            self.first.push(BadRow { line: start, column, text, kind, reason });
        }
    }
}

impl fmt::Display for BadRows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.first {
            let BadRow { line, column, text, reason, .. } = row;
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
