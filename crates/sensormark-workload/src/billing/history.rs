//! What devices had sent before: readings in bulk, of several devices in a write, and each device's meter with its last one.
//!
//! The last devices lack their last hours, which clients then send one by one ([`super::ingest`]): so single writes are measured at every size.

use super::HISTORY;
use super::ingest::Order;
use sensormark_data::billing::{Meter, fill_contact};
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{Answer, Atomicity, Query};
use std::ops::Range;

/// The loading of history.
pub struct History {
    seed: u64,
    devices: Range<u32>,
    /// Hours of each device.
    records: u32,
    /// Devices in a write.
    devices_a_write: u32,
    /// What is not written here.
    rest: Order,
    classes: [String; 1],
}

impl History {
    /// Everything of these devices but the rest, about so many readings in a write.
    pub fn new(seed: u64, devices: Range<u32>, records: u32, rest: Order, readings: u64) -> Self {
        let devices_a_write = u32::try_from(readings / u64::from(records)).unwrap_or(u32::MAX).max(1);
        Self { seed, devices, records, devices_a_write, rest, classes: [HISTORY.to_owned()] }
    }

    /// Writes of readings; the meters' come after.
    fn writes(&self) -> u64 {
        (self.devices.len() as u64).div_ceil(u64::from(self.devices_a_write))
    }

    /// Devices of which every hour is written.
    const fn whole(&self) -> Range<u32> {
        self.devices.start..self.rest.devices.start
    }

    /// The hours of a device that are written in bulk: a meter's write brings the last one.
    fn hours(&self, device: u32) -> Range<u32> {
        if self.rest.devices.contains(&device) { 0..self.rest.hours.start } else { 0..self.records - 1 }
    }
}

impl Operations for History {
    fn len(&self) -> u64 {
        self.writes() + self.whole().len() as u64
    }

    fn extent(&self) -> Extent {
        Extent::of(self.devices.len() as f64 * f64::from(self.records) / self.len() as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        if let Some(meter) = index.checked_sub(self.writes()) {
            let device = self.devices.start + narrow(meter);
            let (batch, entity) = slot.upsert(0, Atomicity::Separate);
            Meter::new(self.seed, device).push(device, self.records - 1..self.records, batch);
            fill_contact(self.seed, device, entity);
            return;
        }
        let batch = slot.write(0);
        let first = self.devices.start + narrow(index) * self.devices_a_write;
        for device in first..first.saturating_add(self.devices_a_write).min(self.devices.end) {
            Meter::new(self.seed, device).push(device, self.hours(device), batch);
        }
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}
