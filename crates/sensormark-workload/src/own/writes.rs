//! What writing clients issue: stretches of turns, in the order in which sensors send, or of one sensor each.

use sensormark_data::shapes::Sensors;
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{Answer, Query};
use std::sync::Arc;

/// Writing operations: number i sends `batch` turns from `first` + i · `batch` on.
#[derive(Debug, Clone)]
pub struct Writes {
    /// The table's number.
    table: usize,
    sensors: Arc<Sensors>,
    /// Whether readings are sent twice; not where the database refuses the second.
    with_copies: bool,
    /// Whether the database keeps one of two readings of a time.
    replaces: bool,
    first: u64,
    end: u64,
    batch: u64,
    /// How many turns a series has before the next one.
    block: u64,
    classes: [String; 1],
}

/// What becomes of a reading that is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies {
    /// Whether any is sent.
    pub sent: bool,
    /// Whether the database keeps it beside the first.
    pub kept: bool,
}

impl Writes {
    /// Turns `turns` of the sensors of a table, by its number, `batch` in an operation, the last one smaller. Each series has `block` before the next one.
    pub fn new(
        name: &str,
        (table, sensors): (usize, Arc<Sensors>),
        copies: Copies,
        turns: std::ops::Range<u64>,
        (batch, block): (u64, u64),
    ) -> Self {
        Self {
            table,
            sensors,
            with_copies: copies.sent,
            replaces: !copies.kept,
            first: turns.start,
            end: turns.end,
            batch: batch.max(1),
            block: block.max(1),
            classes: [name.to_owned()],
        }
    }

    /// Fills a slot with an operation's turns.
    fn send(&self, index: u64, with_copies: bool, slot: &mut Slot) {
        let start = self.first.saturating_add(index.saturating_mul(self.batch));
        let turns = start.min(self.end)..start.saturating_add(self.batch).min(self.end);
        let of = 0..self.sensors.series();
        self.sensors.push_turns((&of, self.block), turns, with_copies, slot.write(self.table));
    }
}

impl Operations for Writes {
    fn len(&self) -> u64 {
        (self.end - self.first).div_ceil(self.batch)
    }

    fn extent(&self) -> Extent {
        Extent::of(self.batch as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        self.send(index, self.with_copies, slot);
    }

    fn fill_kept(&self, index: u64, slot: &mut Slot) {
        self.send(index, self.with_copies && !self.replaces, slot);
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}
