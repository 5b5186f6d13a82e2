//! What writing clients issue: stretches of turns, in the order in which sensors send, or readings with their entities.

use super::parameters::WritersPart;
use sensormark_data::shapes::{Sensors, order::Order};
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{Answer, Atomicity, Query};
use std::ops::Range;
use std::sync::Arc;

/// Writing operations: number i sends `batch` turns from the first + i · `batch` on. Those of several tables side by side are in the order in which they begin.
///
/// Of series with an entity, operations of one turn update it. Larger ones leave out the last reading of each block, and further operations write those, each
/// with its entity.
#[derive(Debug, Clone)]
pub struct Writes {
    /// The first table's number.
    table: usize,
    /// Those of each table, and what becomes of copies.
    sensors: Vec<(Arc<Sensors>, Copies)>,
    turns: Range<u64>,
    batches: Batches,
    order: Order,
    /// How an entity is updated, where series have one.
    entity: Option<Atomicity>,
    classes: [String; 1],
}

/// How many turns an operation has, of each table.
#[derive(Debug, Clone)]
pub struct Batches(pub Vec<u64>);

impl Batches {
    /// How many operations begin before so many turns of each table.
    pub fn before(&self, turns: u64) -> u64 {
        self.0.iter().map(|batch| turns.div_ceil(*batch)).sum()
    }

    /// The first turn of an operation.
    pub fn turn(&self, index: u64) -> u64 {
        let round = index / self.0.len() as u64;
        let bound = |round: u64, batch: Option<&u64>| round.saturating_mul(batch.copied().unwrap_or(1));
        let (mut least, mut most) =
            (bound(round, self.0.iter().min()), bound(round + 1, self.0.iter().max()) - 1);
        // The last turn before which no more operations begin.
        while least < most {
            let middle = most - (most - least) / 2;
            if self.before(middle) <= index { least = middle } else { most = middle - 1 }
        }
        least
    }

    /// Readings in an operation, on average.
    pub fn mean(&self) -> f64 {
        self.0.len() as f64 / self.0.iter().map(|batch| 1.0 / *batch as f64).sum::<f64>()
    }
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
    /// Turns `turns` of the sensors of tables in an order, so many in an operation, the last one smaller.
    pub fn new(
        part: &WritersPart,
        sensors: Vec<(Arc<Sensors>, Copies)>,
        (turns, order): (Range<u64>, Order),
        batches: Batches,
        has_entity: bool,
    ) -> Self {
        let atomicity = if part.atomic { Atomicity::Atomic } else { Atomicity::Separate };
        // Else a stretch could be of nothing but last readings.
        let least = |batch: u64| if has_entity && batch > 1 { u64::from(order.together) + 1 } else { 1 };
        Self {
            table: part.table,
            sensors,
            turns,
            batches: Batches(batches.0.into_iter().map(|batch| batch.max(least(batch))).collect()),
            order,
            entity: has_entity.then_some(atomicity),
            classes: [part.name.clone()],
        }
    }

    /// Operations that write no entity.
    fn stretches(&self) -> u64 {
        if self.entity.is_none() || self.batches.0[0] > 1 {
            self.batches.before(self.turns.end - self.turns.start)
        } else {
            0
        }
    }

    /// The place of an operation's table, and its turns.
    fn stretch(&self, index: u64) -> (usize, Range<u64>) {
        let turn = self.batches.turn(index);
        let mut begin = (0..self.sensors.len()).filter(|place| turn.is_multiple_of(self.batches.0[*place]));
        let before = usize::try_from(index - self.batches.before(turn)).unwrap_or(0);
        let place = begin.nth(before).unwrap_or(0);
        let within = |turn: u64| self.turns.start.saturating_add(turn).min(self.turns.end);
        (place, within(turn)..within(turn.saturating_add(self.batches.0[place])))
    }

    /// Fills a slot with an operation's turns.
    fn send(&self, index: u64, is_sent: fn(Copies) -> bool, slot: &mut Slot) {
        let is_sent = |place: usize| is_sent(self.sensors[place].1);
        if let (Some(atomicity), Some(number)) = (self.entity, index.checked_sub(self.stretches())) {
            let turn = match self.stretches() {
                0 => self.turns.start + number,
                _ => self.order.end(self.order.ends(self.turns.start) + number),
            };
            let (batch, entity) = slot.upsert(self.table, atomicity);
            let sensors = &self.sensors[0].0;
            sensors.push_turns((0, self.order), turn..=turn, is_sent(0), batch);
            sensors.fill_entity(self.order.at(turn).0, entity);
            return;
        }
        let (place, turns) = self.stretch(index);
        let sensors = &self.sensors[place].0;
        let turns = turns.filter(|turn| self.entity.is_none() || !self.order.is_end(*turn));
        let batch = slot.write_alone(self.table + place);
        sensors.push_turns((0, self.order), turns, is_sent(place), batch);
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
        let readings = self.batches.mean() * self.sensors[0].0.readings_a_turn(self.turns.start);
        let statements = if self.entity == Some(Atomicity::Separate) && readings == 1.0 { 2.0 } else { 1.0 };
        Extent { readings, statements }
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        self.send(index, |copies| copies.sent, slot);
    }

    fn outline(&self, index: u64, slot: &mut Slot) {
        match self.entity {
            Some(_) => self.fill(index, u64::MAX, slot),
            None => _ = slot.write(self.table + self.stretch(index).0),
        }
    }

    fn fill_kept(&self, index: u64, slot: &mut Slot) {
        self.send(index, |copies| copies.sent && copies.kept, slot);
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}
