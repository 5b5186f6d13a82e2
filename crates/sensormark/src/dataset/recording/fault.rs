//! Rows that cannot be read: counted by kind, and the first of them kept with line, column and text.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::RecordingError;
use super::rows;

/// How many bad rows are shown.
pub(super) const SHOWN: usize = 5;
/// How much of a cell is shown, in characters.
const SHOWN_TEXT: usize = 60;

/// Why a row cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// More or fewer cells than the other rows have.
    Cells,
    /// A quote that is not closed, so that rows run together.
    Quote,
    /// Bytes that are not UTF-8.
    Encoding,
    /// No time, or one that cannot be read.
    Time,
    /// A text that does not fit its column's type.
    Value,
    /// No value for a tag.
    Tag,
    /// No value in any column.
    NoValue,
}

impl FaultKind {
    /// The kind in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Cells => "another number of cells",
            Self::Quote => "a quote that is not closed",
            Self::Encoding => "not UTF-8",
            Self::Time => "no readable time",
            Self::Value => "a value that does not fit its column",
            Self::Tag => "no value for a tag",
            Self::NoValue => "no value at all",
        }
    }
}

/// A row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BadRows {
    /// How many there are.
    pub count: u64,
    /// How many of each kind.
    pub by_kind: BTreeMap<FaultKind, u64>,
    /// The first of them.
    pub first: Vec<BadRow>,
}

/// A fault while reading, before lines are known.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub kind: FaultKind,
    pub column: Option<usize>,
    pub text: String,
    pub reason: String,
}

/// Collects faults.
#[derive(Debug, Default)]
pub(super) struct Faults {
    count: u64,
    by_kind: BTreeMap<FaultKind, u64>,
    first: Vec<(u64, Fault)>,
}

impl Fault {
    /// A fault of one cell.
    pub(super) fn of_cell(
        kind: FaultKind,
        column: usize,
        text: &str,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            column: Some(column),
            text: shorten(text),
            reason: reason.into(),
        }
    }

    /// A fault of a whole row, of which the first cell is shown.
    pub(super) fn of_row(
        kind: FaultKind,
        record: &csv::ByteRecord,
        reason: impl Into<String>,
    ) -> Self {
        let cells: Vec<_> = record.iter().take(8).map(String::from_utf8_lossy).collect();
        Self {
            kind,
            column: None,
            text: shorten(&cells.join(" ")),
            reason: reason.into(),
        }
    }
}

impl Faults {
    /// Takes note of the fault of the row that starts at this offset.
    pub(super) fn add(&mut self, start: u64, fault: Fault) {
        self.count += 1;
        *self.by_kind.entry(fault.kind).or_insert(0) += 1;
        if self.first.len() < SHOWN {
            self.first.push((start, fault));
        }
    }

    /// Everything, with lines and names of columns.
    pub(super) fn resolve(self, path: &Path, names: &[String]) -> Result<BadRows, RecordingError> {
        let starts: Vec<u64> = self.first.iter().map(|(start, _)| *start).collect();
        let lines = rows::lines_of(path, &starts)?;
        let row = |(line, (_, fault)): (u64, (u64, Fault))| BadRow {
            line,
            column: fault.column.map(|column| names[column].clone()),
            text: fault.text,
            kind: fault.kind,
            reason: fault.reason,
        };
        Ok(BadRows {
            count: self.count,
            by_kind: self.by_kind,
            first: lines.into_iter().zip(self.first).map(row).collect(),
        })
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}", self.line)?;
        if let Some(column) = &self.column {
            write!(formatter, ", column {column}")?;
        }
        write!(formatter, ": {:?} {}", self.text, self.reason)
    }
}

impl fmt::Display for BadRows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.first {
            writeln!(formatter, "  {row}")?;
        }
        let shown = self.first.len() as u64;
        if self.count > shown {
            writeln!(formatter, "  … and {} more", self.count - shown)?;
        }
        Ok(())
    }
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN_TEXT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
