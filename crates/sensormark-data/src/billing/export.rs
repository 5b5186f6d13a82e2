//! Readings of all meters as a data set that can be exported, meter by meter.

use super::Meter;
use crate::export::{Batches, DataSet, Shard};
use sensormark_store::{Batch, Schema};
use std::ops::Range;
use std::sync::Arc;

/// Readings in a batch that is made for writing, at most.
const BATCH: u32 = 4_096;

/// The first readings of some meters.
#[derive(Debug, Clone)]
pub struct MeterReadings {
    schema: Arc<Schema>,
    seed: u64,
    readings: u32,
}

impl MeterReadings {
    /// So many readings of each of so many meters.
    pub fn new(seed: u64, meters: u32, readings: u32) -> Self {
        Self { schema: Arc::new(super::schema(meters)), seed, readings }
    }
}

impl DataSet for MeterReadings {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn batches(&self, shard: Shard) -> Box<dyn Batches + '_> {
        let table = &self.schema.tables[0];
        Box::new(MeterBatches {
            of: self,
            meters: shard.series(table.series.len()),
            next: 0,
            batch: Batch::new(0, table),
        })
    }
}

struct MeterBatches<'d> {
    of: &'d MeterReadings,
    /// Meters of which readings are to come.
    meters: Range<u32>,
    /// The next reading of the first of them.
    next: u32,
    batch: Batch,
}

impl Batches for MeterBatches<'_> {
    fn next(&mut self) -> Option<&Batch> {
        if self.next == self.of.readings {
            self.meters.next();
            self.next = 0;
        }
        if self.meters.is_empty() || self.of.readings == 0 {
            return None;
        }
        let series = self.meters.start;
        let after = self.of.readings.min(self.next + BATCH);
        self.batch.clear();
        Meter::new(self.of.seed, series).push(series, self.next..after, &mut self.batch);
        self.next = after;
        Some(&self.batch)
    }
}
