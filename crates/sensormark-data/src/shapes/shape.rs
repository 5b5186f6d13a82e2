//! How a field moves: value k of a series' field, at once.
//!
//! | shape | value of tick k |
//! | --- | --- |
//! | constant | the value |
//! | random | uniform within bounds; of truth values, true with a given chance; of texts, one of a list |
//! | sine, sawtooth | of the tick's time, within bounds; where in its period each series begins is drawn |
//! | counter | start + k · step + a random part below one step: it never falls, and grows by `step` on average |
//! | walk | a sum of value noises, one for each power of two of ticks up to the period, the amplitude growing with the root of the power |
//! | temperature | see [`temperature`](super::temperature) |
//! | recorded | the values of somebody's own column, round and round, each series from its own place |
//!
//! The walk is midpoint displacement (Fournier, Fussell and Carpenter, "Computer rendering of stochastic models", 1982) laid out as a sum of lattice noises.
//! Its increments over 1, 2, 4, … ticks grow with the root of the time, as a random walk's do, up to the period. Beyond the period it turns back. It stays
//! within its bounds without touching them, and needs no value before it.

use super::temperature::Temperature;
use crate::{
    elementary::sine_of_turns,
    random::{Stream, Streams},
    units::signed,
};
use sensormark_store::{FieldType, Values};
use std::{num::NonZeroU64, sync::Arc};

/// The most powers of two of a walk: a million ticks.
const MOST_OCTAVES: u32 = 20;
/// Streams of values. The others' numbers are this far and further from theirs.
const VALUE: u64 = 0;
const NOISE: u64 = 1 << 10;
/// Streams that say where a series begins in its period or column.
const PHASE: u64 = 1 << 11;
/// Streams that say which values are repeats, and which are outliers.
const REPEATS: u64 = 3 << 10;
const OUTLIERS: u64 = 4 << 10;
/// A value is repeated less often than this in a row.
const LONGEST_RUN: u64 = 64;

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
    /// True with this chance.
    Chance(f64),
    /// Always this truth value.
    Truth(bool),
    /// One of these texts.
    Words(Vec<String>),
    /// A column of a recording, without gaps.
    Recorded(Arc<Values>),
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

/// Which field is looked at, and when.
#[derive(Clone, Copy)]
pub struct Moment {
    /// The random numbers of its series.
    pub streams: Streams,
    /// The field.
    pub field: usize,
    /// The tick.
    pub tick: u64,
    /// From tick to tick, in ns.
    pub interval_ns: i64,
}

impl Moment {
    /// The field's own of these streams.
    fn stream(self, of: u64) -> Stream {
        self.streams.of(of + self.field as u64)
    }

    /// How far into a period the tick is, 0 to 1; where the series begins is drawn.
    fn turns(self, period_ns: NonZeroU64) -> f64 {
        let interval = self.interval_ns.unsigned_abs();
        let since = match self.tick.checked_mul(interval) {
            Some(time) => (time % period_ns) as f64,
            None => (u128::from(self.tick) * u128::from(interval) % u128::from(period_ns.get())) as f64,
        };
        let turns = since / period_ns.get() as f64 + self.stream(PHASE).unit(0);
        turns - turns.floor()
    }
}

impl Number {
    /// As a floating point number.
    pub fn float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl FieldShape {
    /// The value of a numeric field; none for text and truth values.
    pub fn number(&self, moment: Moment) -> Option<Number> {
        match (&self.shape, self.kind) {
            (Shape::Recorded(values), _) => match (values.as_ref(), recorded_row(moment, values)) {
                (Values::I64(values), row) => Some(Number::Integer(values[row])),
                (Values::F64(values), row) => Some(Number::Float(values[row])),
                _ => None,
            },
            (_, FieldType::I64) => Some(Number::Integer(self.integer(moment))),
            (_, FieldType::F64) => Some(Number::Float(self.float(moment))),
            _ => None,
        }
    }

    /// Appends the value to a column of the field's type.
    pub fn push(&self, moment: Moment, values: &mut Values) {
        match values {
            Values::Bool(values) => values.push(self.truth(moment)),
            Values::Text(values) => values.push(self.text(moment)),
            _ => match (values, self.number(moment)) {
                (Values::I64(values), Some(Number::Integer(value))) => values.push(value),
                (Values::F64(values), Some(Number::Float(value))) => values.push(value),
                _ => {}
            },
        }
    }

    /// The number of the random value that the tick has.
    fn held(&self, moment: Moment) -> u64 {
        moment.tick / self.hold_ticks
    }

    /// The truth value; false of a field of another type.
    fn truth(&self, moment: Moment) -> bool {
        match &self.shape {
            Shape::Truth(value) => *value,
            Shape::Chance(share) => moment.stream(VALUE).unit(self.held(moment)) < *share,
            Shape::Recorded(values) => {
                matches!(values.as_ref(), Values::Bool(truths) if truths[recorded_row(moment, values)])
            }
            _ => false,
        }
    }

    /// The text; empty of a field of another type.
    fn text(&self, moment: Moment) -> &str {
        match &self.shape {
            Shape::Words(words) if !words.is_empty() => {
                moment.stream(VALUE).one_of(self.held(moment), words).as_str()
            }
            Shape::Recorded(values) => match values.as_ref() {
                Values::Text(texts) => texts.get(recorded_row(moment, values)),
                _ => "",
            },
            _ => "",
        }
    }

    fn float(&self, moment: Moment) -> f64 {
        let value = self.noisy(moment);
        let decimal = self.decimals.and_then(|places| 10_u32.checked_pow(places.into())).map(f64::from);
        match decimal.or_else(|| self.bits.map(|places| (1_u64 << places.min(63)) as f64)) {
            Some(power) => (value * power).round() / power,
            None => value,
        }
    }

    /// The value before rounding.
    fn noisy(&self, mut moment: Moment) -> f64 {
        let mut tick = moment.tick;
        if self.repeats > 0.0 {
            let repeats = moment.stream(REPEATS);
            while !tick.is_multiple_of(LONGEST_RUN) && repeats.unit(tick) < self.repeats {
                tick -= 1;
            }
        }
        let is_outlier = self.outliers > 0.0 && moment.stream(OUTLIERS).unit(tick) < self.outliers;
        moment.tick = tick;
        if let Shape::Sine(low, high, _) | Shape::Sawtooth(low, high, _) | Shape::Walk(low, high, _) =
            self.shape
            && is_outlier
        {
            return low + (high - low) * moment.stream(OUTLIERS).unit(!tick);
        }
        let value = self.smooth(moment);
        if self.noise > 0.0 { value + self.noise * moment.stream(NOISE).normal(tick) } else { value }
    }

    fn integer(&self, moment: Moment) -> i64 {
        match self.shape {
            // Exact, however large: floating point would lose digits.
            Shape::Random(low, high) => {
                let (low, high) = (whole(low), whole(high));
                moment.stream(VALUE).within(self.held(moment), low..=high.max(low))
            }
            Shape::Counter(start, step) => {
                let step = whole(step).max(1);
                let part = moment.stream(VALUE).below(moment.tick, step.unsigned_abs());
                let grown = signed(moment.tick).saturating_mul(step);
                whole(start).saturating_add(grown).saturating_add_unsigned(part)
            }
            _ => whole(self.noisy(moment).round()),
        }
    }

    /// The value before noise and rounding.
    fn smooth(&self, moment: Moment) -> f64 {
        let amid = |low: f64, high: f64, swing: f64| (low + high) * 0.5 + (high - low) * 0.5 * swing;
        let unit = |index| moment.stream(VALUE).unit(index);
        match self.shape {
            Shape::Constant(value) => value,
            Shape::Random(low, high) => low + (high - low) * unit(self.held(moment)),
            Shape::Sine(low, high, period_ns) => amid(low, high, sine_of_turns(moment.turns(period_ns))),
            Shape::Sawtooth(low, high, period_ns) => low + (high - low) * moment.turns(period_ns),
            Shape::Counter(start, step) => start + step * (moment.tick as f64 + unit(moment.tick)),
            Shape::Walk(low, high, period_ns) => amid(low, high, walk(moment, period_ns)),
            Shape::Temperature => Temperature::new(moment.streams, moment.field).at(moment.tick),
            _ => 0.0,
        }
    }
}

/// The roots of 1, 2, 4, …, exact as far as a double is: every second one is twice the one before the last.
const WEIGHTS: [f64; MOST_OCTAVES as usize] = {
    let mut weights = [1.0; MOST_OCTAVES as usize];
    weights[1] = std::f64::consts::SQRT_2;
    let mut octave = 2;
    while octave < weights.len() {
        weights[octave] = 2.0 * weights[octave - 2];
        octave += 1;
    }
    weights
};

/// A walk within -1 and 1.
fn walk(moment: Moment, period_ns: NonZeroU64) -> f64 {
    let stream = moment.stream(VALUE);
    let ticks = (period_ns.get() / moment.interval_ns.unsigned_abs().max(1)).max(1);
    let octaves = (ticks.ilog2() + 1).min(MOST_OCTAVES);
    let (mut sum, mut weights) = (0.0, 0.0);
    for (octave, weight) in (0..octaves).zip(WEIGHTS) {
        let length = 1_u64 << octave;
        let (place, within) = (moment.tick >> octave, moment.tick & (length - 1));
        let share = within as f64 / length as f64;
        let noise = |place: u64| 2.0 * stream.unit(place * 32 + u64::from(octave)) - 1.0;
        let next = if within == 0 { 0.0 } else { noise(place + 1) * share };
        sum += weight * (noise(place) * (1.0 - share) + next);
        weights += weight;
    }
    sum / weights
}

/// Where in a recorded column a series is.
fn recorded_row(moment: Moment, values: &Values) -> usize {
    let length = values.len() as u64;
    let first = moment.stream(PHASE).below(0, length);
    let row = (u128::from(first) + u128::from(moment.tick)) % u128::from(length.max(1));
    usize::try_from(row).unwrap_or(0)
}

/// A whole number of this size, within what a double holds exactly.
#[expect(clippy::cast_possible_truncation, reason = "bounded just before")]
pub(crate) fn whole(value: f64) -> i64 {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    value.clamp(-LARGEST, LARGEST) as i64
}
