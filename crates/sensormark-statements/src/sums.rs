//! Sums that the client adds up: a batch becomes one row for each series, period and part of the day that it touches.

use sensormark_drivers::Cell;
use sensormark_store::{Batch, Column, DaySplit, ErrorKind, StoreError, Values};
use std::collections::BTreeMap;
use std::ops::Range;

/// What has been added up of one field.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    count: i64,
    total: Number,
    smallest: Number,
    largest: Number,
}

#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(i64),
    Real(f64),
}

impl Default for Number {
    fn default() -> Self {
        Self::Whole(0)
    }
}

impl Number {
    const fn cell(self) -> Cell<'static> {
        match self {
            Self::Whole(value) => Cell::I64(value),
            Self::Real(value) => Cell::F64(value),
        }
    }

    fn of(column: &Column, row: usize) -> Option<Self> {
        match &column.values {
            Values::I64(values) => Some(Self::Whole(values[row])),
            Values::U16(values) => Some(Self::Whole(i64::from(values[row]))),
            Values::F64(values) => Some(Self::Real(values[row])),
            Values::Bool(_) | Values::Text(_) => None,
        }
    }

    /// Both together by one of these; nothing when a whole number is over 64 bits. Values of one field have one type.
    fn with(
        self,
        other: Self,
        whole: fn(i64, i64) -> Option<i64>,
        real: fn(f64, f64) -> f64,
    ) -> Option<Self> {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => whole(one, other).map(Self::Whole),
            (Self::Real(one), Self::Real(other)) => Some(Self::Real(real(one, other))),
            _ => None,
        }
    }
}

impl Sum {
    /// Adds a value; nothing when the sum is over 64 bits.
    fn add(&mut self, value: Number) -> Option<()> {
        self.count += 1;
        if self.count == 1 {
            (self.total, self.smallest, self.largest) = (value, value, value);
            return Some(());
        }
        self.total = self.total.with(value, i64::checked_add, |one, other| one + other)?;
        self.smallest = self.smallest.with(value, |one, other| Some(one.min(other)), f64::min)?;
        self.largest = self.largest.with(value, |one, other| Some(one.max(other)), f64::max)?;
        Some(())
    }

    /// Count, sum, smallest and largest.
    pub const fn cells(self) -> [Cell<'static>; 4] {
        if self.count == 0 {
            return [Cell::I64(0), Cell::Null, Cell::Null, Cell::Null];
        }
        [Cell::I64(self.count), self.total.cell(), self.smallest.cell(), self.largest.cell()]
    }
}

/// What a batch adds to rows of sums, by series, the period's start in ns, and whether it is day, in an order in which all writers lock rows.
pub type Sums = BTreeMap<(u32, i64, bool), Vec<Sum>>;

/// What these readings add up to: a sum for each of the fields.
///
/// # Errors
/// [`ErrorKind::Rejected`] when a sum of whole numbers is over 64 bits.
pub fn sums_of(
    batch: &Batch,
    readings: Range<usize>,
    fields: &[usize],
    (per_ns, split): (i64, DaySplit),
) -> Result<Sums, StoreError> {
    let mut rows = Sums::new();
    for reading in readings {
        let time = batch.times_ns[reading];
        let key = (batch.series[reading], time - time.rem_euclid(per_ns), split.is_day(time));
        let sums = rows.entry(key).or_insert_with(|| vec![Sum::default(); fields.len()]);
        for (&field, sum) in fields.iter().zip(sums) {
            let column = &batch.columns[field];
            if column.has(reading)
                && let Some(value) = Number::of(column, reading)
            {
                sum.add(value).ok_or_else(overflow)?;
            }
        }
    }
    Ok(rows)
}

fn overflow() -> StoreError {
    StoreError::new(
        ErrorKind::Rejected,
        "add up sums",
        "a sum of whole numbers is over 64 bits; choose a layout without sums",
    )
}
