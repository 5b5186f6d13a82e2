//! What a replay's clients issue: the batches of the load, and the questions.
//!
//! It decides neither the questions (`questions`) nor when they are asked (the engine).

use std::sync::Arc;

use sensormark_store::{Answer, Query};

use super::copies::Order;
use super::{Questions, Replay};
use sensormark_engine::operations::{Extent, Operations, Slot};

/// A load: the readings of copies, each in the file's order, in batches.
#[derive(Debug)]
pub struct Loading {
    replay: Arc<Replay>,
    order: Order,
    batch: usize,
    classes: [String; 1],
}

impl Loading {
    /// In batches of this many readings, the last one smaller.
    ///
    /// # Panics
    /// When a batch would be empty.
    pub fn new(replay: Arc<Replay>, order: Order, batch: usize) -> Self {
        assert!(batch > 0, "a batch holds at least one reading");
        Self { replay, order, batch, classes: ["load".to_owned()] }
    }

    fn readings(&self) -> usize {
        self.order.len(self.replay.readings().len())
    }
}

impl Operations for Loading {
    fn len(&self) -> u64 {
        self.readings().div_ceil(self.batch) as u64
    }

    fn extent(&self) -> Extent {
        Extent::of(self.batch as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let (rows, own_series) = (self.replay.readings(), self.replay.own_series);
        let index = usize::try_from(index).expect("fewer batches than addresses");
        let start = index * self.batch;
        let end = (start + self.batch).min(self.readings());
        let batch = slot.write(0);
        for place in start..end {
            let (copy, row) = self.order.at(place, rows.len());
            batch.push_row(rows, row);
            batch.series[place - start] += copy * own_series;
        }
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

impl Operations for Questions {
    fn len(&self) -> u64 {
        Self::len(self)
    }

    fn extent(&self) -> Extent {
        Extent::of(self.readings_looked_at())
    }

    fn classes(&self) -> &[String] {
        self.class_names()
    }

    fn class(&self, index: u64) -> usize {
        Self::class(self, index)
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        *slot.ask() = self.question(index);
    }

    fn expected(&self, _index: u64, query: &Query) -> Option<Answer> {
        Some(self.answer(query))
    }
}
