//! The sensors' readings as a data set that can be exported: what is sent, in the order of sending.

use super::Sensors;
use crate::export::{Batches, DataSet, Shard};
use sensormark_store::{Batch, Schema};
use std::ops::Range;
use std::sync::Arc;

/// Turns in a batch that is made for writing.
const TURNS: u64 = 4_096;

/// What sensors send in their first ticks, copies of repeated readings included.
#[derive(Debug, Clone)]
pub struct SensorReadings {
    schema: Arc<Schema>,
    sensors: Sensors,
    ticks: u64,
}

impl SensorReadings {
    /// The first `ticks` ticks, in a schema of one table whose fields are the sensors'.
    ///
    /// # Panics
    /// When the table has another number of fields or series.
    pub fn new(schema: Arc<Schema>, sensors: Sensors, ticks: u64) -> Self {
        let table = &schema.tables[0];
        assert_eq!(table.fields.len(), sensors.fields().len(), "the same fields");
        assert_eq!(table.series.len(), sensors.series(), "the same series");
        Self { schema, sensors, ticks }
    }
}

impl DataSet for SensorReadings {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn batches(&self, shard: Shard) -> Box<dyn Batches + '_> {
        Box::new(SentBatches {
            readings: self,
            series: shard.series(self.sensors.series()),
            next: 0,
            batch: Batch::new(0, &self.schema.tables[0]),
        })
    }
}

struct SentBatches<'d> {
    readings: &'d SensorReadings,
    series: Range<u32>,
    /// The next turn of these series.
    next: u64,
    batch: Batch,
}

impl Batches for SentBatches<'_> {
    fn next(&mut self) -> Option<&Batch> {
        let SensorReadings { sensors, ticks, .. } = self.readings;
        let width = u64::from(self.series.end - self.series.start);
        let end = ticks.saturating_mul(width);
        self.batch.clear();
        // A stretch of turns may send nothing.
        while self.batch.is_empty() && self.next < end {
            let after = (self.next + TURNS).min(end);
            for turn in self.next..after {
                let place = u32::try_from(turn % width).unwrap_or(0);
                let series = self.series.start + place;
                for sent in sensors.sent(series, turn / width, true) {
                    sensors.push(series, sent.tick, &mut self.batch);
                }
            }
            self.next = after;
        }
        (!self.batch.is_empty()).then_some(&self.batch)
    }
}
