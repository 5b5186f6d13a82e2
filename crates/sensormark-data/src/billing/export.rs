//! Readings of all meters as a data set that can be exported, meter by meter.

use super::{Meter, schema};
use crate::export::{BATCH, DataSet};

/// So many first readings of each of so many meters.
pub fn data_set(seed: u64, meters: u32, readings: u32) -> DataSet {
    DataSet::new(schema(meters), move |shard, sink| {
        for series in shard.series(meters) {
            let meter = Meter::new(seed, series);
            for start in (0..readings).step_by(BATCH as usize) {
                let hours = start..readings.min(start + BATCH);
                sink.put(0, |batch| meter.push(series, hours, batch))?;
            }
        }
        Ok(())
    })
}
