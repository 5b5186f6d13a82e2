//! Writes to a time-series collection. The server gathers what an insert brings of one series into one change of its bucket. So a write's readings go out
//! series by series. However many inserts a write takes, each brings all that the write has of its series.
//! <https://www.mongodb.com/docs/manual/core/timeseries/timeseries-best-practices/>

use super::command::{LARGEST_COMMAND, Writer};
use super::rows::Covered;
use crate::schema::PhysicalTable;
use sensormark_store::{Acknowledgement, Batch, Durability, StoreError};

/// The size that an insert stays under: the driver holds one about four times while it sends it.
const INSERT: usize = 300_000;
/// Readings that are gathered by series at a time.
pub(super) const MOST: usize = 100_000;
const _: () = assert!(INSERT <= LARGEST_COMMAND);

impl Writer<'_> {
    /// Writes a batch, series by series. What a failed insert leaves acknowledged is counted from the batch's first reading to the first one missing.
    pub(super) async fn write_by_series(
        &self,
        kept: &PhysicalTable,
        batch: &Batch,
    ) -> Result<Acknowledgement, StoreError> {
        let order = batch.rows_by_series(0..batch.len());
        let mut covered = Covered::new(0..batch.len());
        let mut done = Acknowledgement::default();
        let mut rest = order.as_slice();
        while !rest.is_empty() {
            let before = covered.reached() as u64;
            let prepared = self
                .rows(kept, batch, rest.iter().map(|&row| row as usize), INSERT, true)
                .and_then(|prepared| prepared.map_err(StoreError::from));
            let mut prepared = prepared.map_err(|error| error.after_acknowledging(before))?;
            let (sent, left) = rest.split_at(prepared.readings);
            covered.prefixes.clear();
            for &row in sent {
                covered.add([row as usize]);
            }
            prepared.covered.clone_from(&covered.prefixes);
            self.send(prepared).await.map_err(|error| {
                let acknowledged = error.acknowledged().max(before);
                error.after_acknowledging(acknowledged)
            })?;
            rest = left;
            done.sent += sent.len() as u64;
            done.statements += 1;
        }
        if self.durability != Durability::Unacknowledged {
            done.readings = done.sent;
        }
        Ok(done)
    }
}
