//! The sensors' first readings as a data set that can be exported, in the order of time.

use super::{START_NS, SensorReadings};
use crate::export::{Batches, DataSet, Shard};
use sensormark_store::{Batch, Schema};
use std::ops::Range;
use std::sync::Arc;

/// Readings in a batch that is made for writing, about.
const BATCH: u64 = 4_096;

/// What sensors report in their first ticks.
#[derive(Debug, Clone)]
pub struct Exported {
    schema: Arc<Schema>,
    readings: SensorReadings,
    ticks: u64,
    /// How much later than the sensors' own times.
    later_ns: i64,
}

impl Exported {
    /// The first `ticks` ticks of all sensors, in a schema of one table whose only field is the value.
    ///
    /// # Panics
    /// When the table has another number of series.
    pub fn new(schema: Arc<Schema>, readings: SensorReadings, ticks: u64) -> Self {
        assert_eq!(schema.tables[0].series.len(), readings.sensors(), "the same sensors");
        Self { schema, readings, ticks, later_ns: 0 }
    }

    /// The same, begun at another time, in ns since the Unix epoch. The caller has checked that times do not end before.
    #[must_use]
    pub fn from_start(self, start_ns: i64) -> Self {
        Self { later_ns: start_ns.wrapping_sub(START_NS), ..self }
    }
}

impl DataSet for Exported {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn batches(&self, shard: Shard) -> Box<dyn Batches + '_> {
        Box::new(TickBatches {
            exported: self,
            sensors: shard.series(self.readings.sensors()),
            next: 0,
            batch: Batch::new(0, &self.schema.tables[0]),
        })
    }
}

struct TickBatches<'d> {
    exported: &'d Exported,
    sensors: Range<u32>,
    next: u64,
    batch: Batch,
}

impl Batches for TickBatches<'_> {
    fn next(&mut self) -> Option<&Batch> {
        let Exported { readings, ticks, later_ns, .. } = self.exported;
        self.batch.clear();
        while (self.batch.len() as u64) < BATCH && self.next < *ticks {
            for sensor in self.sensors.clone() {
                readings.push(sensor, self.next..self.next + 1, &mut self.batch);
            }
            self.next += 1;
            if self.sensors.is_empty() {
                break;
            }
        }
        for time_ns in &mut self.batch.times_ns {
            *time_ns = time_ns.wrapping_add(*later_ns);
        }
        (!self.batch.is_empty()).then_some(&self.batch)
    }
}
