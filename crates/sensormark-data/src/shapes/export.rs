//! The sensors' readings as a data set that can be exported: what is sent, in the order of sending.

use super::Sensors;
use crate::export::{BATCH, DataSet};
use sensormark_store::Schema;

/// What sensors send in their first ticks, copies of repeated readings included: table after table. Each table of the schema has its sensors, and how many ticks.
pub fn data_set(schema: Schema, tables: Vec<(Sensors, u64)>) -> DataSet {
    DataSet::new(schema, move |shard, sink| {
        for (table, (sensors, ticks)) in tables.iter().enumerate() {
            let series = shard.series(sensors.series());
            let end = ticks.saturating_mul(series.len() as u64);
            for first in (0..end).step_by(BATCH as usize) {
                let turns = first..end.min(first + u64::from(BATCH));
                sink.put(table, |batch| sensors.push_turns_of(&series, turns, true, batch))?;
            }
        }
        Ok(())
    })
}
