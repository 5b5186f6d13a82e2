//! Collects rows that cannot be read while a file is read: counted by kind, and the first of them kept.

use std::collections::BTreeMap;

use super::{
    bad_rows::{BadRow, BadRows, FaultKind},
    error::Result,
    rows,
    source::Source,
};

/// How many bad rows are shown.
pub const SHOWN: usize = 5;
/// How much of a cell is shown, in characters.
const SHOWN_TEXT: usize = 60;

/// A fault while reading, before lines are known.
#[derive(Debug, Clone)]
pub struct Fault {
    pub kind: FaultKind,
    pub column: Option<usize>,
    pub text: String,
    pub reason: String,
}

/// Collects faults.
#[derive(Debug, Default)]
pub struct Faults {
    count: u64,
    by_kind: BTreeMap<FaultKind, u64>,
    first: Vec<(u64, Fault)>,
}

impl Fault {
    /// A fault of one cell.
    pub fn of_cell(kind: FaultKind, column: usize, text: &str, reason: impl Into<String>) -> Self {
        Self { kind, column: Some(column), text: shorten(text), reason: reason.into() }
    }

    /// A fault of a whole row, of which the first cell is shown.
    pub fn of_row(kind: FaultKind, record: &csv::ByteRecord, reason: impl Into<String>) -> Self {
        let cells: Vec<_> = record.iter().take(8).map(String::from_utf8_lossy).collect();
        Self { kind, column: None, text: shorten(&cells.join(" ")), reason: reason.into() }
    }
}

impl Faults {
    /// Takes note of the fault of the row that starts at this offset.
    pub fn add(&mut self, start: u64, fault: Fault) {
        self.count += 1;
        *self.by_kind.entry(fault.kind).or_insert(0) += 1;
        if self.first.len() < SHOWN {
            self.first.push((start, fault));
        }
    }

    /// Everything, with lines and names of columns.
    pub fn resolve(self, source: &Source, names: &[String]) -> Result<BadRows> {
        let starts: Vec<u64> = self.first.iter().map(|(start, _)| *start).collect();
        let lines = rows::lines_of(source, &starts)?;
        let row = |(line, (_, fault)): (u64, (u64, Fault))| BadRow {
            line: line - source.lines_before,
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

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN_TEXT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
