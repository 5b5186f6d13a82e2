//! The sensors' first readings as a data set that can be exported, in the order of time.

use super::{START_NS, SensorReadings};
use crate::export::{BATCH, DataSet};
use sensormark_store::Schema;

impl SensorReadings {
    /// What sensors report in their first ticks, in a schema of one table whose only field is the value. It begins at `start_ns`, in ns since the
    /// Unix epoch. The caller has checked that its times end before 2262.
    ///
    /// # Panics
    /// When the table has another number of series.
    pub fn data_set(self, schema: Schema, start_ns: i64, ticks: u64) -> DataSet {
        assert_eq!(schema.tables[0].series.len(), self.sensors(), "the same sensors");
        let later_ns = start_ns.wrapping_sub(START_NS);
        DataSet::new(schema, move |shard, sink| {
            let sensors = shard.series(self.sensors());
            let at_once = BATCH as usize / sensors.len().max(1) + 1;
            for first in (0..ticks).step_by(at_once) {
                sink.put(0, |batch| {
                    for tick in first..ticks.min(first + at_once as u64) {
                        sensors.clone().for_each(|sensor| self.push(sensor, tick..tick + 1, batch));
                    }
                    for time_ns in &mut batch.times_ns {
                        *time_ns = time_ns.wrapping_add(later_ns);
                    }
                })?;
            }
            Ok(())
        })
    }
}
