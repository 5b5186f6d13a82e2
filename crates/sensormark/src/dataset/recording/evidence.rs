//! The first reading of a file: what the cells of each column look like, counted over all rows.
//!
//! Nothing is decided here (that is `plan`), and rows that are of another width or not UTF-8 count for nothing; they
//! are reported by the second reading.

use std::collections::BTreeSet;
use std::path::Path;

use super::cell::{CellRules, Look};
use super::dialect::Dialect;
use super::error::RecordingError;
use super::options::RecordingOptions;
use super::rows;
use super::time::Order;

/// How many different texts of a column are told apart.
pub(super) const DISTINCT: usize = 64;

/// What was seen in a file.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// Rows below the header, readable or not.
    pub rows: u64,
    /// One entry a column.
    pub columns: Vec<ColumnEvidence>,
}

/// What was seen in a column; counts of cells.
#[derive(Debug, Clone)]
pub(super) struct ColumnEvidence {
    pub absent: u64,
    pub integers: u64,
    /// Of the integers: written otherwise than they print, as +1 and -0.
    pub unusual_integers: u64,
    pub large_integers: u64,
    pub floats: u64,
    pub truths: u64,
    pub times: u64,
    pub decimal_commas: u64,
    pub texts: u64,
    /// Of the times: with a zone.
    pub zoned: u64,
    /// Of the times: the year first.
    pub year_first: u64,
    /// Of the times: neither the year first, nor decided what is day and what month.
    pub undecided: u64,
    /// A date that can only be day first, and one that can only be month first.
    pub day_first: Option<String>,
    pub month_first: Option<String>,
    /// Extremes of the numbers.
    pub smallest: f64,
    pub largest: f64,
    /// Whether all cells are whole numbers, each by one larger than the one before; and the first and last of them.
    pub counts_up: bool,
    pub first_integer: Option<i64>,
    pub last_integer: Option<i64>,
    /// The first cell with a value.
    pub example: String,
    /// Different texts, up to [`DISTINCT`]; of columns that are not numbers.
    pub distinct: BTreeSet<String>,
}

/// Looks at every cell of a file.
pub(super) fn gather(
    path: &Path,
    dialect: &Dialect,
    options: &RecordingOptions,
) -> Result<Evidence, RecordingError> {
    let rules = CellRules {
        absent: &options.absent,
        decimal_comma: options.decimal_comma,
    };
    let mut evidence = Evidence {
        rows: 0,
        columns: vec![ColumnEvidence::new(); dialect.width()],
    };
    rows::for_each(path, dialect, |row| {
        evidence.rows += 1;
        let whole = std::str::from_utf8(row.record.as_slice()).is_ok();
        if whole && row.record.len() == dialect.width() {
            for (column, cell) in evidence.columns.iter_mut().zip(row.record) {
                // The row is UTF-8, and cells are cut at ASCII characters.
                let text = std::str::from_utf8(cell).unwrap_or_default().trim();
                column.add(text, rules.look(text));
            }
        }
        Ok(())
    })?;
    Ok(evidence)
}

impl ColumnEvidence {
    const fn new() -> Self {
        Self {
            absent: 0,
            integers: 0,
            unusual_integers: 0,
            large_integers: 0,
            floats: 0,
            truths: 0,
            times: 0,
            decimal_commas: 0,
            texts: 0,
            zoned: 0,
            year_first: 0,
            undecided: 0,
            day_first: None,
            month_first: None,
            smallest: f64::INFINITY,
            largest: f64::NEG_INFINITY,
            counts_up: true,
            first_integer: None,
            last_integer: None,
            example: String::new(),
            distinct: BTreeSet::new(),
        }
    }

    /// Cells with a value.
    pub(super) const fn present(&self) -> u64 {
        self.numbers() + self.truths + self.times + self.decimal_commas + self.texts
    }

    /// Cells that are numbers.
    pub(super) const fn numbers(&self) -> u64 {
        self.integers + self.large_integers + self.floats
    }

    /// Whether more than half of the cells with a value are of this kind.
    pub(super) const fn is_mostly(&self, cells: u64) -> bool {
        cells * 2 > self.present()
    }

    fn add(&mut self, text: &str, look: Look) {
        if look != Look::Absent && self.example.is_empty() {
            text.clone_into(&mut self.example);
        }
        match look {
            Look::Absent => self.absent += 1,
            Look::Integer(value) => {
                self.integers += 1;
                self.unusual_integers += u64::from(text.starts_with('+') || text == "-0");
                self.count(value);
                self.widen(value as f64);
            }
            Look::LargeInteger(value) => {
                self.large_integers += 1;
                self.widen(value);
            }
            Look::Float(value) => {
                self.floats += 1;
                self.widen(value);
            }
            Look::NotFinite => self.floats += 1,
            Look::DecimalComma => self.decimal_commas += 1,
            Look::Bool(_) => self.truths += 1,
            Look::Time(written) => {
                self.times += 1;
                self.zoned += u64::from(written.zone.is_some());
                self.date(written.order(), text);
                self.note(text);
            }
            Look::LeadingZeros | Look::Text => {
                self.texts += 1;
                self.note(text);
            }
        }
        self.counts_up &= matches!(look, Look::Integer(_));
    }

    fn count(&mut self, value: i64) {
        self.first_integer.get_or_insert(value);
        let follows = self
            .last_integer
            .is_none_or(|last| last.checked_add(1) == Some(value));
        self.counts_up &= follows;
        self.last_integer = Some(value);
    }

    fn widen(&mut self, value: f64) {
        self.smallest = self.smallest.min(value);
        self.largest = self.largest.max(value);
    }

    fn date(&mut self, order: Order, text: &str) {
        match order {
            Order::YearFirst => self.year_first += 1,
            Order::Undecided => self.undecided += 1,
            Order::DayFirst if self.day_first.is_none() => self.day_first = Some(text.to_owned()),
            Order::MonthFirst if self.month_first.is_none() => {
                self.month_first = Some(text.to_owned());
            }
            Order::DayFirst | Order::MonthFirst => {}
        }
    }

    fn note(&mut self, text: &str) {
        if self.distinct.len() < DISTINCT && !self.distinct.contains(text) {
            self.distinct.insert(text.to_owned());
        }
    }
}
