//! The hosts' readings as a data set that can be exported, in the order of time and then of measurements.

use super::{Cursor, Devops};
use crate::export::{Batches, DataSet, Shard};
use sensormark_store::{Batch, Schema};
use std::sync::Arc;

/// Readings of one measurement before it is the next one's turn, about.
const TURN: u64 = 2_048;
/// Readings in a batch, about: few enough for columns and lines to stay in a processor's cache.
const ROWS: u64 = 512;

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
        Self { schema: Arc::new(data.schema()), data, ticks }
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
        let ticks_of = |readings: u64| (readings / u64::from(hosts.end - hosts.start).max(1)).max(1);
        Box::new(HostBatches {
            lanes: lanes.collect(),
            next: 0,
            ticks: if hosts.is_empty() { 0 } else { self.ticks },
            turn: ticks_of(TURN),
            turn_end: ticks_of(TURN),
            at_once: ticks_of(ROWS),
        })
    }
}

struct HostBatches {
    lanes: Vec<(Cursor, Batch)>,
    /// The lane whose turn it is.
    next: usize,
    ticks: u64,
    /// Ticks in a turn.
    turn: u64,
    /// The tick at which this turn ends.
    turn_end: u64,
    /// Ticks in a batch.
    at_once: u64,
}

impl Batches for HostBatches {
    fn next(&mut self) -> Option<&Batch> {
        let end = self.turn_end.min(self.ticks);
        let number = self.next;
        let (cursor, batch) = &mut self.lanes[number];
        let ticks = self.at_once.min(end - cursor.tick());
        if ticks == 0 {
            return None;
        }
        batch.clear();
        cursor.fill(ticks, batch);
        if cursor.tick() == end {
            self.next += 1;
        }
        if self.next == self.lanes.len() {
            self.next = 0;
            self.turn_end += self.turn;
        }
        Some(&self.lanes[number].1)
    }
}
