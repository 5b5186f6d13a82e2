//! The hosts' readings as a data set that can be exported, in the order of time and then of measurements.

use super::{Cursor, Devops};
use crate::dataset::export::{Batches, DataSet, Shard};
use sensormark_store::{Batch, Schema};
use std::sync::Arc;

/// Readings in a batch that is made for writing, about.
const ROWS: u64 = 2_048;

/// What the hosts report in their first ticks.
#[derive(Debug, Clone)]
pub struct HostReadings {
    schema: Arc<Schema>,
    data: Devops,
    ticks: u64,
}

impl HostReadings {
    /// The first `ticks` ticks.
    pub fn new(data: Devops, ticks: u64) -> Self {
        Self {
            schema: Arc::new(data.schema()),
            data,
            ticks,
        }
    }
}

impl DataSet for HostReadings {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn batches(&self, shard: Shard) -> Box<dyn Batches + '_> {
        let hosts = shard.series(self.data.hosts);
        let tables = self.schema.tables.iter().enumerate();
        let lanes = tables.map(|(number, table)| {
            let cursor = self.data.cursor(number, hosts.clone());
            (cursor, Batch::new(number, table))
        });
        Box::new(HostBatches {
            lanes: lanes.collect(),
            next: 0,
            ticks: if hosts.is_empty() { 0 } else { self.ticks },
            at_once: (ROWS / u64::from(hosts.end - hosts.start).max(1)).max(1),
        })
    }
}

struct HostBatches {
    lanes: Vec<(Cursor, Batch)>,
    /// The lane whose turn it is.
    next: usize,
    ticks: u64,
    /// Ticks in a batch.
    at_once: u64,
}

impl Batches for HostBatches {
    fn next(&mut self) -> Option<&Batch> {
        let number = self.next;
        self.next = (number + 1) % self.lanes.len();
        let (cursor, batch) = &mut self.lanes[number];
        let ticks = self.at_once.min(self.ticks - cursor.tick());
        if ticks == 0 {
            return None;
        }
        batch.clear();
        cursor.fill(ticks, batch);
        Some(batch)
    }
}
