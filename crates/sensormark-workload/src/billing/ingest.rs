//! What meters send: each operation updates a meter and inserts its reading.
//!
//! Operations go through the devices in batches of as many as there are clients: first the first hour of all devices of the batch, then the second, and so on.
//! They are shared out by stride. So a client stays with one device until all of its readings are written, as the study's threads do. And everything below an
//! operation's number is a known number of hours of known devices.

use super::INGEST;
use sensormark_data::billing::{Meter, fill_contact};
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{Answer, Atomicity, Query};
use std::ops::Range;

/// Which devices' readings are written, in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Series of the devices; as many as a multiple of `lanes`.
    pub devices: Range<u32>,
    /// Devices that are written to at the same time, one a client.
    pub lanes: u32,
    /// Hours of each device.
    pub hours: Range<u32>,
}

impl Order {
    /// How many readings there are.
    pub fn len(&self) -> u64 {
        self.devices.len() as u64 * self.hours.len() as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The series and the hour of a reading.
    pub fn reading(&self, index: u64) -> (u32, u32) {
        let lanes = u64::from(self.lanes);
        let of_batch = lanes * self.hours.len() as u64;
        let (batch, rest) = (index / of_batch, index % of_batch);
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let series = self.devices.start + narrow(batch * lanes + rest % lanes);
        (series, self.hours.start + narrow(rest / lanes))
    }

    /// What is complete when all readings below this number are written: a series and an hour. All devices before the series are complete. Of those
    /// from the series on, as many as there are lanes have the hours before this one. Later ones have none.
    pub fn complete(&self, below: u64) -> (u32, u32) {
        let below = below.min(self.len());
        let (series, hours) = self.reading(below);
        let lane = (series - self.devices.start) % self.lanes;
        (series - lane, hours)
    }
}

/// The writing load.
pub struct Ingest {
    seed: u64,
    order: Order,
    atomicity: Atomicity,
    classes: [String; 1],
}

impl Ingest {
    /// These devices' readings, in this order.
    pub fn new(seed: u64, order: Order, atomicity: Atomicity) -> Self {
        Self { seed, order, atomicity, classes: [INGEST.to_owned()] }
    }
}

impl Operations for Ingest {
    fn len(&self) -> u64 {
        self.order.len()
    }

    fn extent(&self) -> Extent {
        let commits = match self.atomicity {
            Atomicity::Separate => 2.0,
            Atomicity::Atomic => 1.0,
        };
        Extent { readings: 1.0, statements: commits }
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let (series, hour) = self.order.reading(index);
        let (batch, entity) = slot.upsert(0, self.atomicity);
        Meter::new(self.seed, series).push(series, hour..hour + 1, batch);
        fill_contact(self.seed, series, entity);
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}
