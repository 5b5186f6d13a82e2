//! Temperatures of the least that a sensor is: an identifier, a time and a value. What sensor-operations writes and reads back.
//!
//! Source: study 001, table I: sensor id, timestamp, value. It says nothing of the values, nor of the interval but for an example, "a temperature sensor might
//! transmit its sensed value every 30 seconds". The values here are ours, pinned by golden checksums: temperatures to a hundredth of a degree,
//!
//! ```text
//! value(s, tick) = base(s) + day((tick + phase(s)) mod 2,880) + noise(s, tick)      (in hundredths of a degree)
//! ```
//!
//! | part | what it is | hundredths of a degree |
//! | --- | --- | --- |
//! | base(s) | the sensor's own level, uniform | 0 to 3,000 |
//! | day | one sine over 2,880 ticks, a day of 30 s each, from a phase of the sensor's own | ±500 |
//! | noise | 5 · (binomial of 64 fair coins − 32): mean 0, standard deviation 20 | ±160 |

#[cfg(test)]
mod tests;

use super::shape::whole;
use crate::{
    elementary::sine_of_turns,
    random::{Stream, Streams},
    units::signed,
};
use std::sync::LazyLock;

/// Ticks in the period of the sine.
pub(super) const DAY_TICKS: u64 = 2_880;
/// Hundredths of a degree.
const AMPLITUDE: f64 = 500.0;
const BASES: u64 = 3_001;
/// Hundredths of a degree a coin.
const NOISE_STEP: i64 = 5;
/// A field's streams have numbers from its own times this on: noise, base and phase.
const FIELD: u64 = 1 << 32;
const NOISE: u64 = 0;
const BASE: u64 = 1;
const PHASE: u64 = 2;

/// One period of the sine, in hundredths of a degree.
static DAY: LazyLock<Box<[i64]>> = LazyLock::new(|| {
    let day = |tick: u64| whole((AMPLITUDE * sine_of_turns(tick as f64 / DAY_TICKS as f64) + 0.5).floor());
    (0..DAY_TICKS).map(day).collect()
});

/// The temperatures of one field of one series.
#[derive(Debug, Clone, Copy)]
pub struct Temperature {
    base: i64,
    phase: u64,
    noise: Stream,
    day: &'static [i64],
}

impl Temperature {
    /// Those of field number `field` of a series whose random numbers these are.
    pub fn new(streams: Streams, field: usize) -> Self {
        let stream = |of: u64| streams.of(FIELD * field as u64 + of);
        Self {
            base: signed(stream(BASE).below(0, BASES)),
            phase: stream(PHASE).below(0, DAY_TICKS),
            noise: stream(NOISE),
            day: &DAY,
        }
    }

    /// The temperature at a tick, in degrees.
    #[inline]
    pub fn at(&self, tick: u64) -> f64 {
        let coins = i64::from(self.noise.word(tick).count_ones()) - 32;
        // The nearest double of the decimal: a quotient is rounded once.
        (self.smooth(tick) + NOISE_STEP * coins) as f64 / 100.0
    }

    /// Without noise, in hundredths of a degree.
    #[inline]
    pub(super) fn smooth(&self, tick: u64) -> i64 {
        self.base + self.day[((tick + self.phase) % DAY_TICKS) as usize]
    }
}
