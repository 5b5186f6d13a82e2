//! What writing clients issue: messages one by one, and batches of whole hours.

use super::{LOAD, MESSAGES};
use sensormark_data::iot_platform::{HOUR_NS, Homes, Message, START_NS};
use sensormark_data::units::round_u64;
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{Answer, Query};
use std::ops::Range;
use std::sync::Arc;

/// What is there when so many writes are done.
pub trait Written: Operations + std::fmt::Debug {
    /// The instant up to which everything is there when all writes before this one are, in ns since the Unix epoch.
    fn end_ns(&self, watermark: u64) -> i64;

    /// The first write before which everything of so many hours is there.
    fn writes_of(&self, hours: u64) -> u64;
}

/// Messages of all homes, one an operation, in the order in which they are sent.
#[derive(Debug)]
pub struct MessageWrites {
    homes: Arc<Homes>,
    messages: Vec<Message>,
    classes: [String; 1],
}

impl MessageWrites {
    /// The messages with these numbers; fewer, when fewer are sent in so many hours.
    pub fn new(homes: Arc<Homes>, numbers: Range<u64>, hours: u64) -> Self {
        let [first, count] = [numbers.start, numbers.end].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        let (mut messages, mut of_hour) = (Vec::new(), Vec::new());
        for hour in 0..hours {
            if messages.len() >= count {
                break;
            }
            of_hour.clear();
            for home in 0..homes.homes {
                homes.messages(home, hour..hour + 1, &mut of_hour);
            }
            of_hour.sort_unstable();
            messages.extend_from_slice(&of_hour);
        }
        messages.truncate(count);
        messages.drain(..first.min(messages.len()));
        Self { homes, messages, classes: [MESSAGES.to_owned()] }
    }
}

impl Operations for MessageWrites {
    fn len(&self) -> u64 {
        self.messages.len() as u64
    }

    fn extent(&self) -> Extent {
        // The study's messages carry 1.8 values on average.
        Extent::of(2.0)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let index = usize::try_from(index).expect("a number of messages in memory");
        let message = &self.messages[index];
        self.homes.push(message, &(0..u32::MAX), slot.write(0));
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

impl Written for MessageWrites {
    fn end_ns(&self, watermark: u64) -> i64 {
        let next = usize::try_from(watermark).ok().and_then(|place| self.messages.get(place));
        let last = || self.messages.last().map_or(START_NS, |last| last.time_ns + 1);
        next.map_or_else(last, |next| next.time_ns)
    }

    fn writes_of(&self, _hours: u64) -> u64 {
        0
    }
}

/// Everything of some hours, in batches: each of some whole hours of one home, first those of all homes, then the hours after.
#[derive(Debug)]
pub struct BatchWrites {
    homes: Arc<Homes>,
    /// Of these hours; what was before them is there.
    hours: Range<u64>,
    /// Hours in a batch.
    hours_a_batch: u64,
    classes: [String; 1],
}

impl BatchWrites {
    /// Batches of about so many readings, of these hours.
    pub fn new(homes: Arc<Homes>, hours: Range<u64>, readings: u64) -> Self {
        let hours_a_batch = round_u64(readings as f64 / Homes::values_an_hour());
        let most = (hours.end - hours.start).max(1);
        Self { homes, hours, hours_a_batch: hours_a_batch.clamp(1, most), classes: [LOAD.to_owned()] }
    }

    /// Readings that are there when all is written, about.
    pub fn stored(&self) -> u64 {
        round_u64(self.hours.end as f64 * Homes::values_an_hour() * f64::from(self.homes.homes))
    }

    /// The home and the hours of a batch.
    fn place(&self, index: u64) -> (u32, Range<u64>) {
        let homes = u64::from(self.homes.homes);
        let start = (index / homes).saturating_mul(self.hours_a_batch).saturating_add(self.hours.start);
        let end = start.saturating_add(self.hours_a_batch).min(self.hours.end);
        let home = u32::try_from(index % homes).expect("a number of homes");
        (home, start.min(end)..end)
    }

    /// The hours of which everything is there when all batches before this one are.
    pub fn hours_before(&self, index: u64) -> u64 {
        self.place(index).1.start.min(self.hours.end)
    }
}

impl Written for BatchWrites {
    fn end_ns(&self, watermark: u64) -> i64 {
        let hours = i64::try_from(self.hours_before(watermark)).unwrap_or(0);
        START_NS + hours * HOUR_NS
    }

    fn writes_of(&self, hours: u64) -> u64 {
        let added = hours.saturating_sub(self.hours.start);
        added.div_ceil(self.hours_a_batch) * u64::from(self.homes.homes)
    }
}

impl Operations for BatchWrites {
    fn len(&self) -> u64 {
        self.writes_of(self.hours.end)
    }

    fn extent(&self) -> Extent {
        Extent::of(self.hours_a_batch as f64 * Homes::values_an_hour())
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let (home, hours) = self.place(index);
        self.homes.push_hours(home, hours, &(0..u32::MAX), slot.write(0));
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}
