//! The homes' messages as a data set that can be exported: in the order in which devices send, home by home within an hour.

use super::{Homes, schema};
use crate::export::DataSet;

impl Homes {
    /// Everything that the homes send in their first hours.
    pub fn data_set(self, hours: u64) -> DataSet {
        DataSet::new(schema(self.homes), move |shard, sink| {
            let series = shard.series(self.series());
            for hour in 0..hours {
                for home in 0..self.homes {
                    sink.put(0, |batch| self.push_hours(home, hour..hour + 1, &series, batch))?;
                }
            }
            Ok(())
        })
    }
}
