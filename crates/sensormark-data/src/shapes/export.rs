//! The sensors' readings as a data set that can be exported: what is sent, in the order of sending.

use super::Sensors;
use crate::export::{Batches, DataSet, Shard};
use sensormark_store::{Batch, Schema};
use std::sync::Arc;

/// Turns in a batch that is made for writing.
const TURNS: u64 = 4_096;

/// What sensors send in their first ticks, copies of repeated readings included: table after table.
#[derive(Debug, Clone)]
pub struct SensorReadings {
    schema: Arc<Schema>,
    tables: Vec<(Sensors, u64)>,
}

impl SensorReadings {
    /// The sensors of each table of a schema, and of how many ticks.
    pub const fn new(schema: Arc<Schema>, tables: Vec<(Sensors, u64)>) -> Self {
        Self { schema, tables }
    }
}

impl DataSet for SensorReadings {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn batches(&self, shard: Shard) -> Box<dyn Batches + '_> {
        let batches = self.schema.tables.iter().enumerate();
        Box::new(SentBatches {
            readings: self,
            shard,
            table: 0,
            next: 0,
            batches: batches.map(|(number, table)| Batch::new(number, table)).collect(),
        })
    }
}

struct SentBatches<'d> {
    readings: &'d SensorReadings,
    shard: Shard,
    /// The table whose turn it is.
    table: usize,
    /// The next turn of its series.
    next: u64,
    batches: Vec<Batch>,
}

impl Batches for SentBatches<'_> {
    fn next(&mut self) -> Option<&Batch> {
        while let Some((sensors, ticks)) = self.readings.tables.get(self.table) {
            let series = self.shard.series(sensors.series());
            let width = u64::from(series.end - series.start);
            let end = ticks.saturating_mul(width);
            let batch = &mut self.batches[self.table];
            batch.clear();
            // A stretch of turns may send nothing.
            while batch.is_empty() && self.next < end {
                let after = (self.next + TURNS).min(end);
                for turn in self.next..after {
                    let series = series.start + u32::try_from(turn % width).unwrap_or(0);
                    for sent in sensors.sent(series, turn / width, true) {
                        sensors.push(series, sent.tick, batch);
                    }
                }
                self.next = after;
            }
            if !batch.is_empty() {
                return Some(&self.batches[self.table]);
            }
            (self.table, self.next) = (self.table + 1, 0);
        }
        None
    }
}
