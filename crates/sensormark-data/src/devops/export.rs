//! The hosts' readings as a data set that can be exported, in the order of time and then of measurements.

use super::{Cursor, Devops};
use crate::export::DataSet;

/// Readings of one measurement before it is the next one's turn, about.
const TURN: u64 = 2_048;
/// Readings in a batch, about: few enough for columns and lines to stay in a processor's cache.
const ROWS: u64 = 512;

impl Devops {
    /// What the hosts report in their first ticks.
    pub fn data_set(self, ticks: u64) -> DataSet {
        let schema = self.schema();
        let tables = schema.tables.len();
        DataSet::new(schema, move |shard, sink| {
            let hosts = shard.series(self.hosts);
            let ticks_of = |readings: u64| (readings / (hosts.len() as u64).max(1)).max(1);
            let mut cursors: Vec<Cursor> =
                (0..tables).map(|table| self.cursor(table, hosts.clone())).collect();
            let mut end = 0;
            while end < ticks {
                end = ticks.min(end + ticks_of(TURN));
                for (table, cursor) in cursors.iter_mut().enumerate() {
                    while cursor.tick() < end {
                        let ticks = ticks_of(ROWS).min(end - cursor.tick());
                        sink.put(table, |batch| cursor.fill(ticks, batch))?;
                    }
                }
            }
            Ok(())
        })
    }
}
