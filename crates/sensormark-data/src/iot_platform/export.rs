//! The homes' messages as a data set that can be exported: in the order in which devices send, home by home within an hour.

use super::{Homes, Message};
use crate::export::{Batches, DataSet, Shard};
use sensormark_store::{Batch, Schema};
use std::ops::Range;
use std::sync::Arc;

/// Everything that homes send in their first hours.
#[derive(Debug, Clone)]
pub struct Messages {
    schema: Arc<Schema>,
    homes: Homes,
    hours: u64,
}

impl Messages {
    /// The first `hours` hours.
    pub fn new(homes: Homes, hours: u64) -> Self {
        Self { schema: Arc::new(super::schema(homes.homes())), homes, hours }
    }
}

impl DataSet for Messages {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn batches(&self, shard: Shard) -> Box<dyn Batches + '_> {
        Box::new(Hours {
            data: self,
            series: shard.series(self.homes.series()),
            next: 0,
            messages: Vec::new(),
            batch: Batch::new(0, &self.schema.tables[0]),
        })
    }
}

struct Hours<'d> {
    data: &'d Messages,
    series: Range<u32>,
    /// The next hour of a home, counted through the homes of an hour.
    next: u64,
    messages: Vec<Message>,
    batch: Batch,
}

impl Batches for Hours<'_> {
    fn next(&mut self) -> Option<&Batch> {
        let Messages { homes, hours, .. } = self.data;
        let count = u64::from(homes.homes());
        self.batch.clear();
        // In an hour a shard's series may have nothing to say.
        while self.batch.is_empty() && self.next < hours * count {
            let (hour, home) = (self.next / count, self.next % count);
            let home = u32::try_from(home).unwrap_or(0);
            self.messages.clear();
            homes.messages(home, hour..hour + 1, &mut self.messages);
            for message in &self.messages {
                homes.push(message, &self.series, &mut self.batch);
            }
            self.next += 1;
        }
        (!self.batch.is_empty()).then_some(&self.batch)
    }
}
