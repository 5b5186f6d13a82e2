//! What homes send, in turns: an hour of a home each; or a message each, in the order in which they are sent.
//!
//! Whoever comes to a message first makes those before it, and they are kept.

use sensormark_data::iot_platform::{Homes, Message, field};
use sensormark_data::shapes::shape::Walked;
use sensormark_store::{Batch, TimeRange};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Turns from this one on are messages.
pub const MESSAGES: u64 = 1 << 40;
/// Readings in a message, on average.
const A_MESSAGE: f64 = 1.8;

/// The turns of homes.
#[derive(Debug)]
pub struct HomeTurns {
    homes: Homes,
    /// The messages of the first so many hours.
    sent: Mutex<(u64, Vec<Message>)>,
}

impl HomeTurns {
    /// Of these homes.
    pub const fn new(homes: Homes) -> Self {
        Self { homes, sent: Mutex::new((0, Vec::new())) }
    }

    /// The message of a turn.
    fn message(&self, turn: u64) -> Option<Message> {
        let number = usize::try_from(turn.checked_sub(MESSAGES)?).ok()?;
        let (hours, messages) = &mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        while messages.len() <= number {
            let before = messages.len();
            for home in 0..self.homes.homes {
                self.homes.messages(home, *hours..*hours + 1, messages);
            }
            messages[before..].sort_unstable();
            *hours += 1;
        }
        messages.get(number).copied()
    }
}

impl Walked for HomeTurns {
    fn fill(&self, homes: Range<u32>, turns: Range<u64>, batch: &mut Batch) {
        for turn in turns {
            let of = u64::from(homes.end - homes.start).max(1);
            let (home, hour) = (homes.start + u32::try_from(turn % of).unwrap_or(0), turn / of);
            match self.message(turn) {
                Some(message) => self.homes.push(&message, batch),
                None => self.homes.push_hours(home, hour..hour + 1, batch),
            }
        }
    }

    fn readings_a_turn(&self, turn: u64) -> f64 {
        if turn < MESSAGES { Homes::values_an_hour() } else { A_MESSAGE }
    }

    fn boundary_ns(&self, tick: u64) -> Option<i64> {
        self.message(tick).map(|message| message.time_ns)
    }

    fn field_of(&self, series: u32) -> Option<usize> {
        Some(field(self.homes.kind(series)))
    }

    fn push_series(&self, series: u32, range: TimeRange, batch: &mut Batch) {
        self.homes.push_series(series, range, batch);
    }
}
