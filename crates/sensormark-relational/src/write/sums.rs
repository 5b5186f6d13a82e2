//! Sums that the client adds up, as rows of cells.

use crate::cell::Cell;
use crate::physical_schema::PhysicalSchema;
use crate::table::{PhysicalTable, series_cell};
use sensormark_kit::batch_sums::{SumsRow, sums_of};
use sensormark_store::{Batch, StoreError, Table};
use std::ops::Range;

/// What a batch adds to rows of sums.
#[derive(Debug)]
pub struct Sums<'a> {
    table: &'a PhysicalTable,
    description: &'a Table,
    rows: Vec<SumsRow>,
}

impl<'a> Sums<'a> {
    /// What these readings add up to.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Rejected`] when a sum of whole numbers is over 64 bits.
    pub fn of(
        physical: &'a PhysicalSchema,
        batch: &Batch,
        readings: Range<usize>,
    ) -> Result<Self, StoreError> {
        let (description, table) = physical.table(batch.table)?;
        let rows = physical.summary().map(|summary| sums_of(batch, readings, description, summary));
        Ok(Self { table, description, rows: rows.transpose()?.unwrap_or_default() })
    }

    /// The rows. One has the columns of the series, then [`SumsRow::values`].
    pub fn rows(&self) -> impl ExactSizeIterator<Item = impl Iterator<Item = Cell<'_>>> {
        self.rows.iter().map(|row| {
            let columns = self.table.series_columns();
            columns
                .map(|column| series_cell(column.content, self.description, row.series))
                .chain(row.values.iter().map(Cell::of))
        })
    }
}
