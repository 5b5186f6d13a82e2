//! How a field moves. `values.rs` makes the values of tick k, `walk.rs` those of a walk.
//!
//! | shape | value of tick k |
//! | --- | --- |
//! | constant | the value |
//! | random | uniform within bounds; of truth values, true with a given chance; of texts, one of a list |
//! | sine, sawtooth | of the tick's time, within bounds; where in its period each series begins is drawn |
//! | counter | start + k · step + a random part below one step: it never falls, and grows by `step` on average |
//! | walk | a sum of value noises, one for each power of two of ticks up to the period, the amplitude growing with the root of the power |
//! | temperature, meter | see [`temperature`](super::temperature) and [`meter`](super::meter) |
//! | walked | each value follows from the one before: see [`devops`](crate::devops) |
//! | recorded | the values of somebody's own column, round and round, each series from its own place |

use crate::{devops::Track, prelude::*};

/// How a field moves.
#[derive(Debug, Clone)]
pub enum Shape {
    /// Always this number.
    Constant(f64),
    /// Uniform from the first to the second, both included for whole numbers.
    Random(f64, f64),
    /// Between bounds, with a period in ns.
    Sine(f64, f64, NonZeroU64),
    /// From the first bound to the second, then from the first again, with a period in ns.
    Sawtooth(f64, f64, NonZeroU64),
    /// Between bounds, wandering; its longest swing in ns.
    Walk(f64, f64, NonZeroU64),
    /// From a start, growing by this much a tick on average.
    Counter(f64, f64),
    /// A room's.
    Temperature,
    /// A consumption meter's: a field of [`FIELDS`](super::meter::FIELDS), by its number.
    Meter(usize),
    /// True with this chance.
    Chance(f64),
    /// Always this truth value.
    Truth(bool),
    /// One of these texts.
    Words(Vec<String>),
    /// A column of a recording, without gaps.
    Recorded(Arc<Values>),
    /// As something else makes them.
    Walked(Arc<dyn Walked>),
}

/// Values of all fields of a table that follow one from the other, or that are not taken at an interval.
pub trait Walked: fmt::Debug + Send + Sync {
    /// Appends the readings of some series in some turns of theirs to a batch, in the order of time.
    fn fill(&self, series: Range<u32>, turns: Range<u64>, batch: &mut Batch);

    /// The values of a field of one series from a tick on; none where it has none that are asked for.
    fn track(&self, _field: usize, _series: u32, _tick: u64) -> Option<Track> {
        None
    }

    /// Readings in a turn, on average, from this one on.
    fn readings_a_turn(&self, _turn: u64) -> f64 {
        1.0
    }

    /// What is before this instant was sent before this tick, where intervals do not say that.
    fn boundary_ns(&self, _tick: u64) -> Option<i64> {
        None
    }

    /// The only field that a series has, where each has one.
    fn field_of(&self, _series: u32) -> Option<usize> {
        None
    }

    /// Appends the readings of such a series in a range to a batch, in the order of time.
    fn push_series(&self, _series: u32, _range: TimeRange, _batch: &mut Batch) {}
}

/// A field: its shape, and what is done to the value.
#[derive(Debug, Clone)]
pub struct FieldShape {
    /// Its type.
    pub kind: FieldType,
    /// How it moves.
    pub shape: Shape,
    /// Standard deviation of normal noise that is added; 0 for none.
    pub noise: f64,
    /// Decimal places that are kept; none for all bits.
    pub decimals: Option<u8>,
    /// Binary places that are kept: sums of such values are exact. None for all bits.
    pub bits: Option<u8>,
    /// The share of values that are the one before once more.
    pub repeats: f64,
    /// The share of values that lie anywhere within the bounds of a shape that has some.
    pub outliers: f64,
    /// Random values are kept for so many ticks.
    pub hold_ticks: NonZeroU64,
}

/// A number of a field.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Number {
    /// Of an integer field.
    Integer(i64),
    /// Of a floating point field.
    Float(f64),
}

impl Number {
    /// As a floating point number.
    pub fn float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// As a whole number.
    pub fn integer(self) -> i64 {
        match self {
            Self::Integer(value) => value,
            Self::Float(value) => whole(value),
        }
    }
}

/// A whole number of this size, within what a double holds exactly.
#[expect(clippy::cast_possible_truncation, reason = "bounded just before")]
pub(crate) fn whole(value: f64) -> i64 {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    value.clamp(-LARGEST, LARGEST) as i64
}
