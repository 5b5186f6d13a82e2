//! Sums that the client adds up: a batch becomes one row for each series, period and part of the day that it touches.

use crate::cell::Cell;
use crate::physical_schema::PhysicalSchema;
use crate::table::{PhysicalTable, series_cell};
use sensormark_store::{Batch, Column, ErrorKind, StoreError, Table, Values};
use std::collections::BTreeMap;
use std::ops::Range;

/// What has been added up of one field.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
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
}

impl Sum {
    /// Adds a value; nothing when the sum is over 64 bits.
    fn add(&mut self, value: Number) -> Option<()> {
        self.count += 1;
        if self.count == 1 {
            (self.total, self.smallest, self.largest) = (value, value, value);
            return Some(());
        }
        let parts = (&mut self.total, &mut self.smallest, &mut self.largest);
        match (value, parts) {
            (
                Number::Whole(value),
                (Number::Whole(total), Number::Whole(smallest), Number::Whole(largest)),
            ) => {
                *total = total.checked_add(value)?;
                *smallest = value.min(*smallest);
                *largest = value.max(*largest);
            }
            (Number::Real(value), (Number::Real(total), Number::Real(smallest), Number::Real(largest))) => {
                *total += value;
                *smallest = value.min(*smallest);
                *largest = value.max(*largest);
            }
            // Values of one field have one type.
            _ => return None,
        }
        Some(())
    }

    fn cells(self) -> [Cell<'static>; 4] {
        if self.count == 0 {
            return [Cell::I64(0), Cell::Null, Cell::Null, Cell::Null];
        }
        let [sum, min, max] = [self.total, self.smallest, self.largest].map(Number::cell);
        [Cell::I64(self.count), sum, min, max]
    }
}

/// What a batch adds to rows of sums.
#[derive(Debug)]
pub struct Sums<'a> {
    table: &'a PhysicalTable,
    description: &'a Table,
    rows: BTreeMap<(u32, i64, bool), Vec<Sum>>,
}

impl<'a> Sums<'a> {
    /// What these readings add up to.
    ///
    /// # Errors
    /// [`ErrorKind::Rejected`] when a sum of whole numbers is over 64 bits.
    pub fn of(
        physical: &'a PhysicalSchema,
        batch: &Batch,
        readings: Range<usize>,
    ) -> Result<Self, StoreError> {
        let (description, table) = physical.table(batch.table)?;
        let mut rows: BTreeMap<(u32, i64, bool), Vec<Sum>> = BTreeMap::new();
        let fields = table.sums.as_ref().map_or(&[][..], |sums| &sums.fields);
        if let Some((per_ns, split)) = physical.summary() {
            for reading in readings {
                let time = batch.times_ns[reading];
                let period = time - time.rem_euclid(per_ns);
                let key = (batch.series[reading], period, split.is_day(time));
                let empty = || vec![Sum::default(); fields.len()];
                let sums = rows.entry(key).or_insert_with(empty);
                for (field, sum) in fields.iter().zip(sums) {
                    let column = &batch.columns[field.field];
                    if column.has(reading)
                        && let Some(value) = Number::of(column, reading)
                    {
                        sum.add(value).ok_or_else(overflow)?;
                    }
                }
            }
        }
        Ok(Self { table, description, rows })
    }

    /// The rows, in the order of series and period, so that writers lock in one order. A row has the columns of the series, the period's start
    /// in ns and whether it is day; then count, sum, smallest and largest of each field.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = impl Iterator<Item = Cell<'a>>> {
        let (table, description) = (self.table, self.description);
        self.rows.iter().map(move |(&(series, period, day), sums)| {
            let columns = table.series_columns();
            columns
                .map(move |column| series_cell(column.content, description, series))
                .chain([Cell::I64(period), Cell::Bool(day)])
                .chain(sums.iter().flat_map(|sum| sum.cells()))
        })
    }
}

fn overflow() -> StoreError {
    StoreError::new(
        ErrorKind::Rejected,
        "add up sums",
        "a sum of whole numbers is over 64 bits; choose a layout without sums",
    )
}
