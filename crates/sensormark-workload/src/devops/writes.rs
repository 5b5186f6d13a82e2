//! What loading workers write: readings in the order of time across all hosts, each write of one table.
//!
//! The load goes in blocks of ticks. In a block each table is cut into writes of about as many readings as suit the store. Writes are in the order of the time
//! at which they start, so that no table runs ahead of the others by more than a block. Write i is the same on every store and for every number of workers. To
//! make it, a cursor that all workers share ([`Lane`]) reads the table's walks. Workers come to it nearly in order, so it hardly ever goes back. What is kept
//! for going back does not grow with the data.

use sensormark_data::devops::fields::MEASUREMENTS;
use sensormark_data::devops::{Cursor, Devops, Position};
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{Answer, Query};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// So many positions just passed are kept: workers come to their writes a little out of order.
const RECENT: usize = 12;
/// So many positions are kept over all of the data.
const KEPT: u64 = 24;

/// The writes of some ticks.
#[derive(Debug, Clone)]
pub struct Plan {
    ticks: Range<u64>,
    block_ticks: u64,
    /// The writes of a whole block.
    block: Vec<Piece>,
    /// The writes of the last block, where it is shorter.
    tail: Vec<Piece>,
    /// The hosts of each table's lanes.
    lanes: Vec<Vec<Range<u32>>>,
}

/// One write of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    table: usize,
    /// Which part of the hosts.
    part: usize,
    /// Ticks since the block's start.
    offset: u64,
    ticks: u64,
}

impl Plan {
    /// Writes of about so many readings, by table, of these ticks.
    pub fn new(hosts: u32, ticks: Range<u64>, readings: &[u64]) -> Self {
        let of_hosts = u64::from(hosts);
        let wanted: Vec<u64> = readings.iter().map(|count| (count / of_hosts).max(1)).collect();
        let span = ticks.end - ticks.start;
        let block_ticks = wanted.iter().copied().max().unwrap_or(1).min(span.max(1));
        let lanes = readings.iter().map(|count| {
            let parts = of_hosts.div_ceil((*count).clamp(1, of_hosts));
            let bound = |part: u64| u32::try_from(of_hosts * part / parts).unwrap_or(hosts);
            (0..parts).map(|part| bound(part)..bound(part + 1)).collect()
        });
        let mut plan =
            Self { lanes: lanes.collect(), block: Vec::new(), tail: Vec::new(), block_ticks, ticks };
        plan.block = plan.pieces(block_ticks, &wanted);
        plan.tail = plan.pieces(span % block_ticks, &wanted);
        plan
    }

    fn pieces(&self, length: u64, wanted: &[u64]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (table, lanes) in self.lanes.iter().enumerate() {
            // Even parts, so that none is a remainder of a few readings.
            let count = length.div_ceil(wanted[table]).max(1);
            for (part, _) in lanes.iter().enumerate() {
                let bound = |number: u64| length * number / count;
                let one = |number| Piece {
                    table,
                    part,
                    offset: bound(number),
                    ticks: bound(number + 1) - bound(number),
                };
                pieces.extend((0..count).map(one).filter(|piece| piece.ticks > 0));
            }
        }
        pieces.sort_by_key(|piece| (piece.offset, piece.table, piece.part));
        pieces
    }

    fn whole_blocks(&self) -> u64 {
        (self.ticks.end - self.ticks.start) / self.block_ticks
    }

    /// How many writes there are.
    pub fn writes(&self) -> u64 {
        self.whole_blocks() * self.block.len() as u64 + self.tail.len() as u64
    }

    /// How many readings there are in a tick, in all tables.
    fn of_a_tick(&self) -> u64 {
        let hosts = |lanes: &Vec<Range<u32>>| lanes.last().map_or(0, |last| u64::from(last.end));
        self.lanes.iter().map(hosts).sum()
    }

    /// How many readings the plan has.
    fn all_readings(&self) -> u64 {
        self.of_a_tick() * (self.ticks.end - self.ticks.start)
    }

    /// How many readings are stored when it and those before it are written.
    pub fn stored(&self) -> u64 {
        self.of_a_tick() * self.ticks.end
    }

    /// The block and the write in it.
    fn piece(&self, index: u64) -> Option<(u64, Piece)> {
        let block = index / self.block.len() as u64;
        let place = usize::try_from(index % self.block.len() as u64).ok()?;
        let pieces = if block < self.whole_blocks() { &self.block } else { &self.tail };
        let start = self.ticks.start + block * self.block_ticks;
        pieces.get(place).map(|piece| (start, *piece))
    }

    /// The ticks of which everything is there when all writes before this one are.
    pub fn complete(&self, watermark: u64) -> Range<u64> {
        // A watermark beyond all writes is that of a load that was not cut.
        let within = Some(watermark).filter(|watermark| *watermark < self.writes());
        let end = within
            .and_then(|watermark| self.piece(watermark))
            .map_or(self.ticks.end, |(start, piece)| start + piece.offset);
        self.ticks.start..end
    }

    /// How many writes it takes at least until this many ticks are complete, or all where there are fewer.
    pub fn writes_for(&self, ticks: u64) -> u64 {
        let ticks = ticks.min(self.ticks.end - self.ticks.start);
        let enough = |count: &u64| {
            let complete = self.complete(*count);
            complete.end - complete.start >= ticks
        };
        let block = self.block.len() as u64;
        let blocks = ticks / self.block_ticks;
        (blocks * block..).find(enough).unwrap_or(0).min(self.writes())
    }

    /// The table of a write, and its readings.
    #[cfg(test)]
    pub fn size(&self, index: u64) -> (usize, u64) {
        let (_, piece) = self.piece(index).expect("there is such a write");
        let hosts = &self.lanes[piece.table][piece.part];
        (piece.table, piece.ticks * u64::from(hosts.end - hosts.start))
    }

    /// The largest write of a table, in readings.
    pub fn readings(&self, table: usize) -> u64 {
        let own = self.block.iter().filter(|piece| piece.table == table);
        let size = |piece: &Piece| {
            let hosts = &self.lanes[table][piece.part];
            piece.ticks * u64::from(hosts.end - hosts.start)
        };
        own.map(size).max().unwrap_or(0)
    }
}

/// The readings of one table of some hosts, from anywhere.
struct Lane {
    cursor: Cursor,
    /// Positions that were just passed.
    recent: VecDeque<Position>,
    /// Positions that are kept, ascending.
    kept: Vec<Position>,
    /// Ticks from one to the next of those.
    spacing: u64,
}

impl Lane {
    fn new(cursor: Cursor, ticks: u64) -> Self {
        Self {
            kept: vec![cursor.position.clone()],
            recent: VecDeque::with_capacity(RECENT),
            spacing: ticks.div_ceil(KEPT).max(1),
            cursor,
        }
    }

    /// Puts the cursor before a tick.
    fn seek(&mut self, tick: u64) {
        if self.cursor.position.tick != tick {
            let before = |position: &&Position| position.tick <= tick;
            let recent = self.recent.iter().filter(before);
            let kept = self.kept.iter().rev().find(before);
            let nearest = recent.chain(kept).max_by_key(|position| position.tick);
            let own = self.cursor.position.tick;
            if let Some(nearest) = nearest
                && (own > tick || nearest.tick > own)
            {
                self.cursor.position.clone_from(nearest);
            }
            self.cursor.skip(tick - self.cursor.position.tick);
        }
        self.keep();
    }

    /// Keeps where the cursor stands.
    fn keep(&mut self) {
        let position = &self.cursor.position;
        let newest = self.recent.back().map(|position| position.tick);
        if newest != Some(position.tick) {
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(position.clone());
        }
        let last = self.kept.last().map_or(0, |position| position.tick);
        if position.tick >= last + self.spacing {
            self.kept.push(position.clone());
        }
    }
}

/// The readings of all tables, from anywhere: shared by all loads of a trial.
pub struct Lanes {
    lanes: Vec<Vec<Mutex<Lane>>>,
}

impl Lanes {
    /// Of the hosts' first `ticks` ticks, cut as a plan's tables are.
    pub fn new(data: &Devops, ticks: u64, plan: &Plan) -> Self {
        let lane = |table: usize, hosts: &Range<u32>| {
            let cursor = data.cursor(table, hosts.clone());
            Mutex::new(Lane::new(cursor, ticks))
        };
        let tables = plan.lanes.iter().enumerate();
        Self {
            lanes: tables
                .map(|(table, parts)| parts.iter().map(|hosts| lane(table, hosts)).collect())
                .collect(),
        }
    }
}

/// The writing operations of a load.
pub struct Writes {
    plan: Arc<Plan>,
    lanes: Arc<Lanes>,
    classes: [String; 1],
}

impl Writes {
    /// The writes of a plan; the lanes are cut alike.
    pub fn new(plan: Arc<Plan>, lanes: Arc<Lanes>) -> Self {
        debug_assert_eq!(plan.lanes.len(), MEASUREMENTS.len());
        Self { plan, lanes, classes: ["write".to_owned()] }
    }
}

impl Operations for Writes {
    fn len(&self) -> u64 {
        self.plan.writes()
    }

    fn extent(&self) -> Extent {
        Extent::of(self.plan.all_readings() as f64 / self.plan.writes().max(1) as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let Some((start, piece)) = self.plan.piece(index) else {
            return;
        };
        let batch = slot.write_alone(piece.table);
        let lane = &self.lanes.lanes[piece.table][piece.part];
        let mut lane = lane.lock().unwrap_or_else(PoisonError::into_inner);
        lane.seek(start + piece.offset);
        lane.cursor.fill(piece.ticks, batch);
        lane.keep();
    }

    fn outline(&self, index: u64, slot: &mut Slot) {
        if let Some((_, piece)) = self.plan.piece(index) {
            slot.write(piece.table);
        }
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}
