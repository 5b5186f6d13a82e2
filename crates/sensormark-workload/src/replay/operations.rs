//! What a replay's clients issue: the batches of the load, and the questions.
//!
//! It decides neither the questions (`questions`) nor when they are asked (the engine).

use std::sync::Arc;

use sensormark_store::{Answer, Query};

use super::{Questions, Replay};
use sensormark_engine::operations::{Extent, Operations, Slot};

/// The load: the readings in the file's order, in batches.
#[derive(Debug)]
pub struct Loading {
    replay: Arc<Replay>,
    batch: usize,
    classes: [String; 1],
}

impl Loading {
    /// In batches of this many readings, the last one smaller.
    ///
    /// # Panics
    /// When a batch would be empty.
    pub fn new(replay: Arc<Replay>, batch: usize) -> Self {
        assert!(batch > 0, "a batch holds at least one reading");
        Self { replay, batch, classes: ["load".to_owned()] }
    }
}

impl Operations for Loading {
    fn len(&self) -> u64 {
        self.replay.readings().len().div_ceil(self.batch) as u64
    }

    fn extent(&self) -> Extent {
        Extent::of(self.batch as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let readings = self.replay.readings();
        let index = usize::try_from(index).expect("a number of batches in memory");
        let start = index * self.batch;
        let end = (start + self.batch).min(readings.len());
        let batch = slot.write(0);
        (start..end).for_each(|row| batch.push_row(readings, row));
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
