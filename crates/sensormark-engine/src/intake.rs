//! Loads that are fed: their readings are not made by the client but come by themselves, from a source, at instants that are the source's.
//!
//! What the source is, and how readings travel, is a workload's. How they are written, timed and journaled is in [`super::fed`].

use super::slot::Slot;
use sensormark_store::StoreError;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a fed client gets to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Feed {
    /// Where readings arrive, in the workload's own form.
    pub address: serde_json::Value,
    /// The journal's file, which is there.
    pub journal: PathBuf,
}

/// A client's end of the line from its source.
pub trait Intake {
    /// Waits on this thread until a write is complete, and puts it into the slot with the times that its readings get. False when nothing will follow.
    ///
    /// # Errors
    /// When the line is broken.
    fn take(&mut self, slot: &mut Slot) -> Result<bool, StoreError>;

    /// The numbers that the source gave the readings of this write.
    fn sequences(&self) -> &[u64];

    /// When the source's reading of this number was due, in ns of CLOCK_MONOTONIC.
    fn due_ns(&self, sequence: u64) -> u64;
}
