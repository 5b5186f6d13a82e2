//! How a property moves: its value in turn k, at once.
//!
//! Floating point values are whole multiples of a power of two, for example a sixteenth of a degree, as a common thermometer of 12 bits has it. So their sums
//! are exact in whatever order a database adds them, also around zero.
//!
//! When turns are is not known here.

use super::*;

/// How a property moves.
#[derive(Clone)]
pub enum Signal {
    /// A floating point level.
    Float(Level),
    /// A level in whole numbers.
    Whole(Level),
    /// A counter of whole numbers that never falls: turn k has k · step and a part of a step.
    Meter {
        /// How much it grows a turn on average.
        step: u32,
    },
    /// Seconds since the device was last started.
    Uptime {
        /// Turns from one start to the next.
        turns: u64,
    },
    /// A truth value.
    Switch {
        /// The share of stretches in which it is true.
        share: f64,
        /// Turns in a stretch.
        hold: u64,
    },
    /// One of some texts, the earlier ones more often.
    Words {
        /// The texts.
        words: Vec<String>,
        /// Turns in a stretch.
        hold: u64,
    },
}

/// A level: a mean, the year's and the day's wave, a slow drift and noise, within bounds.
#[derive(Clone, Deserialize)]
pub struct Level {
    /// What properties call it.
    pub name: String,
    /// The mean.
    mean: f64,
    /// Amplitude of the year's wave.
    year: f64,
    /// Amplitude of the day's wave.
    day: f64,
    /// Largest drift to either side.
    drift: f64,
    /// Turns between two points of the drift, which is smooth between them.
    drift_turns: u64,
    /// Largest noise to either side.
    noise: f64,
    /// The least value.
    low: f64,
    /// The largest value.
    high: f64,
    /// Steps in one unit: a power of two.
    per_unit: f64,
}

/// A turn of a property of a home, and the property's random numbers.
pub struct Turn {
    /// Its number.
    pub number: u64,
    /// When its message comes, in ns since the Unix epoch.
    pub time_ns: i64,
    /// From one turn to the next, in seconds.
    pub every_s: u32,
    /// What is drawn for each turn or stretch.
    pub value: Stream,
    /// The drift.
    pub drift: Stream,
}

impl Signal {
    /// The type of its values.
    pub fn kind(&self) -> FieldType {
        match self {
            Self::Float(_) => F64,
            Self::Whole(_) | Self::Meter { .. } | Self::Uptime { .. } => I64,
            Self::Switch { .. } => Bool,
            Self::Words { .. } => Text,
        }
    }

    /// The value of a turn.
    #[inline]
    pub fn value(&self, turn: &Turn) -> Value {
        match self {
            Self::Float(level) => Value::F64(level.value(turn)),
            Self::Whole(level) => Value::I64(whole(level.value(turn))),
            Self::Meter { step } => {
                Value::I64(signed(turn.number * *step as u64 + turn.value.below(turn.number, *step)))
            }
            Self::Uptime { turns } => {
                // Each device has its own day of starting.
                Value::I64(signed(
                    (turn.number + turn.drift.below(0, *turns)) % turns * turn.every_s as u64 + 1,
                ))
            }
            Self::Switch { share, hold } => Value::Bool(turn.value.unit(turn.number / hold) < *share),
            Self::Words { words, hold } => {
                let unit = turn.value.unit(turn.number / hold);
                // The square makes the first of n texts as frequent as the root of 1/n.
                let place = usize::try_from(whole(unit * unit * words.len() as f64)).unwrap_or(0);
                Value::Text(words[place.min(words.len() - 1)].clone())
            }
        }
    }
}

impl Level {
    #[inline]
    fn value(&self, turn: &Turn) -> f64 {
        let mut value = self.mean;
        if self.year != 0.0 {
            // It is coldest on 15 January 2021. Ten thousand years of the Gregorian calendar have 3,652,425 days.
            value += self.year
                * sine_of_turns(
                    (turn.time_ns - 1_610_668_800 * SECOND_NS) as f64 / (31_556_952.0 * 1e9) - 0.25,
                );
        }
        if self.day != 0.0 {
            // It is coldest at four o'clock.
            let since = (turn.time_ns - 4 * HOUR_NS).rem_euclid(DAY_NS);
            value += self.day * sine_of_turns(since as f64 / DAY_NS as f64 - 0.25);
        }
        if self.drift != 0.0 {
            let (point, within) = (turn.number / self.drift_turns, turn.number % self.drift_turns);
            let (one, other) = (turn.drift.unit(point), turn.drift.unit(point + 1));
            let share = within as f64 / self.drift_turns as f64;
            let smooth = share * share * (3.0 - 2.0 * share);
            value += self.drift * (2.0 * (one + (other - one) * smooth) - 1.0);
        }
        if self.noise != 0.0 {
            value += self.noise * (2.0 * turn.value.unit(turn.number) - 1.0);
        }
        let stepped = (value.clamp(self.low, self.high) * self.per_unit).round();
        // There is one zero: some databases keep no negative one.
        stepped / self.per_unit + 0.0
    }
}
