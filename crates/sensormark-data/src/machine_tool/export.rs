//! A stretch of the machine tool's signal as a data set that can be exported. (In a run the writer stamps samples as they come; a file has no such clock.)

use sensormark_store::{Schema, Values};

use super::{INDEX_LIMIT, MachineTool};
use crate::export::{BATCH, DataSet};

impl MachineTool {
    /// Samples 0 to `samples` in the workload's table, the first at `start_ns` (ns since the Unix epoch), the next ones so far apart. The caller
    /// has checked that their times end before 2262.
    ///
    /// # Panics
    /// When there are more samples than the signal has.
    pub fn data_set(self, schema: Schema, start_ns: i64, period_ns: u64, samples: u64) -> DataSet {
        assert!(samples <= INDEX_LIMIT, "the signal has 2^44 samples");
        DataSet::new(schema, move |shard, sink| {
            let samples = if shard.series(1).is_empty() { 0 } else { samples };
            for first in (0..samples).step_by(BATCH as usize) {
                let indices = first..samples.min(first + u64::from(BATCH));
                sink.put(0, |batch| {
                    let time = |index| start_ns.wrapping_add_unsigned(index * period_ns);
                    batch.times_ns.extend(indices.map(time));
                    batch.series.resize(batch.times_ns.len(), 0);
                    for (channel, column) in batch.columns.iter_mut().enumerate() {
                        if let Values::U16(values) = &mut column.values {
                            values.resize(batch.times_ns.len(), 0);
                            self.fill_channel(first, channel, values);
                        }
                    }
                })?;
            }
            Ok(())
        })
    }
}
