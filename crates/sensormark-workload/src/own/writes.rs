//! What writing clients issue: stretches of turns, in the order in which sensors send, or readings with their entities.

use super::parameters::WritersPart;
use sensormark_data::shapes::{Sensors, order::Order};
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{Answer, Atomicity, Query};
use std::ops::Range;
use std::sync::Arc;

/// Writing operations: number i sends `batch` turns from the first + i · `batch` on.
///
/// Of series with an entity, operations of one turn update it. Larger ones leave out the last reading of each block, and further operations write those, each
/// with its entity.
#[derive(Debug, Clone)]
pub struct Writes {
    /// The table's number.
    table: usize,
    sensors: Arc<Sensors>,
    copies: Copies,
    turns: Range<u64>,
    batch: u64,
    order: Order,
    /// How an entity is updated, where series have one.
    entity: Option<Atomicity>,
    classes: [String; 1],
}

/// What becomes of a reading that is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies {
    /// Whether any is sent; not where the database refuses the second.
    pub sent: bool,
    /// Whether the database keeps it beside the first.
    pub kept: bool,
}

impl Writes {
    /// Turns `turns` of the sensors of a table in an order, `batch` in an operation, the last one smaller.
    pub fn new(
        part: &WritersPart,
        sensors: Arc<Sensors>,
        copies: Copies,
        (turns, order): (Range<u64>, Order),
        batch: u64,
        has_entity: bool,
    ) -> Self {
        let atomicity = if part.atomic { Atomicity::Atomic } else { Atomicity::Separate };
        // Else a stretch could be of nothing but last readings.
        let least = if has_entity && batch > 1 { u64::from(order.together) + 1 } else { 1 };
        Self {
            table: part.table,
            sensors,
            copies,
            turns,
            batch: batch.max(least),
            order,
            entity: has_entity.then_some(atomicity),
            classes: [part.name.clone()],
        }
    }

    /// Operations that write no entity.
    fn stretches(&self) -> u64 {
        if self.entity.is_none() || self.batch > 1 {
            (self.turns.end - self.turns.start).div_ceil(self.batch)
        } else {
            0
        }
    }

    /// Fills a slot with an operation's turns.
    fn send(&self, index: u64, with_copies: bool, slot: &mut Slot) {
        if let (Some(atomicity), Some(number)) = (self.entity, index.checked_sub(self.stretches())) {
            let turn = match self.stretches() {
                0 => self.turns.start + number,
                _ => self.order.end(self.order.ends(self.turns.start) + number),
            };
            let (batch, entity) = slot.upsert(self.table, atomicity);
            self.sensors.push_turns((0, self.order), turn..=turn, with_copies, batch);
            self.sensors.fill_entity(self.order.at(turn).0, entity);
            return;
        }
        let start = self.turns.start.saturating_add(index.saturating_mul(self.batch));
        let turns = start.min(self.turns.end)..start.saturating_add(self.batch).min(self.turns.end);
        let turns = turns.filter(|turn| self.entity.is_none() || !self.order.is_end(*turn));
        self.sensors.push_turns((0, self.order), turns, with_copies, slot.write(self.table));
    }
}

impl Operations for Writes {
    fn len(&self) -> u64 {
        let Range { start, end } = self.turns;
        let upserts = match (self.entity, self.stretches()) {
            (None, _) => 0,
            (_, 0) => end - start,
            _ => self.order.ends(end) - self.order.ends(start),
        };
        self.stretches() + upserts
    }

    fn extent(&self) -> Extent {
        let statements = if self.entity == Some(Atomicity::Separate) && self.batch == 1 { 2.0 } else { 1.0 };
        Extent { readings: self.batch as f64, statements }
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        self.send(index, self.copies.sent, slot);
    }

    fn fill_kept(&self, index: u64, slot: &mut Slot) {
        self.send(index, self.copies.sent && self.copies.kept, slot);
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}
