//! The values of a field of one series: that of tick k at once, and sooner where the tick before was asked just before it.

use super::{
    shape::{FieldShape, Number, Shape, whole},
    temperature::Temperature,
    walk::Walk,
};
use crate::{
    elementary::sine_of_turns,
    random::{Stream, Streams},
    units::signed,
};
use sensormark_store::{FieldType, Values};
use std::num::NonZeroU64;

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

/// A field of one series, with what its values have in common.
#[derive(Debug)]
pub struct SeriesField<'f> {
    field: &'f FieldShape,
    interval_ns: u64,
    value: Stream,
    noise: Option<Stream>,
    repeats: Option<Stream>,
    outliers: Option<Stream>,
    begin: Begin,
    /// The tick that was asked last, and its value before rounding.
    last: Option<(u64, f64)>,
}

/// What a shape begins with in a series.
#[derive(Debug)]
enum Begin {
    /// Nothing of its own.
    Alike,
    /// So far into its period, 0 to 1.
    Turns(f64),
    /// At a row of the recorded column.
    Row(u64),
    Walk(Walk),
    Temperature(Temperature),
}

impl<'f> SeriesField<'f> {
    /// Field number `number` of a series whose random numbers these are.
    pub fn new(field: &'f FieldShape, number: usize, streams: Streams, interval_ns: i64) -> Self {
        let stream = |of: u64| streams.of(of + number as u64);
        let interval_ns = interval_ns.unsigned_abs();
        let value = stream(VALUE);
        let begin = match &field.shape {
            Shape::Sine(..) | Shape::Sawtooth(..) => Begin::Turns(stream(PHASE).unit(0)),
            Shape::Recorded(values) => Begin::Row(stream(PHASE).below(0, values.len() as u64)),
            Shape::Walk(_, _, period_ns) => {
                Begin::Walk(Walk::new(value, period_ns.get() / interval_ns.max(1)))
            }
            Shape::Temperature => Begin::Temperature(Temperature::new(streams, number)),
            _ => Begin::Alike,
        };
        Self {
            field,
            interval_ns,
            value,
            noise: (field.noise > 0.0).then(|| stream(NOISE)),
            repeats: (field.repeats > 0.0).then(|| stream(REPEATS)),
            outliers: (field.outliers > 0.0).then(|| stream(OUTLIERS)),
            begin,
            last: None,
        }
    }

    /// The value of a numeric field; none for text and truth values.
    pub fn number(&mut self, tick: u64) -> Option<Number> {
        match (&self.field.shape, self.field.kind) {
            (Shape::Recorded(values), _) => match values.as_ref() {
                Values::I64(values) => Some(Number::Integer(values[self.row(tick, values.len())])),
                Values::F64(values) => Some(Number::Float(values[self.row(tick, values.len())])),
                _ => None,
            },
            (_, FieldType::I64) => Some(Number::Integer(self.integer(tick))),
            (_, FieldType::F64) => Some(Number::Float(self.float(tick))),
            _ => None,
        }
    }

    /// The truth value; false of a field of another type.
    pub fn truth(&self, tick: u64) -> bool {
        match &self.field.shape {
            Shape::Truth(value) => *value,
            Shape::Chance(share) => self.value.unit(self.held(tick)) < *share,
            Shape::Recorded(values) => {
                matches!(values.as_ref(), Values::Bool(truths) if truths[self.row(tick, truths.len())])
            }
            _ => false,
        }
    }

    /// The text; empty of a field of another type.
    pub fn text(&self, tick: u64) -> &'f str {
        match &self.field.shape {
            Shape::Words(words) if !words.is_empty() => self.value.one_of(self.held(tick), words).as_str(),
            Shape::Recorded(values) => match values.as_ref() {
                Values::Text(texts) => texts.get(self.row(tick, texts.len())),
                _ => "",
            },
            _ => "",
        }
    }

    /// The number of the random value that the tick has.
    fn held(&self, tick: u64) -> u64 {
        tick / self.field.hold_ticks
    }

    /// Where in a recorded column of this length the tick is.
    fn row(&self, tick: u64, length: usize) -> usize {
        let Begin::Row(first) = self.begin else { return 0 };
        let row = (u128::from(first) + u128::from(tick)) % (length.max(1) as u128);
        usize::try_from(row).unwrap_or(0)
    }

    fn float(&mut self, tick: u64) -> f64 {
        let value = self.noisy(tick);
        let FieldShape { decimals, bits, .. } = self.field;
        let decimal = decimals.and_then(|places| 10_u32.checked_pow(places.into())).map(f64::from);
        match decimal.or_else(|| bits.map(|places| (1_u64 << places.min(63)) as f64)) {
            Some(power) => (value * power).round() / power,
            None => value,
        }
    }

    fn integer(&mut self, tick: u64) -> i64 {
        match self.field.shape {
            // Exact, however large: floating point would lose digits.
            Shape::Random(low, high) => {
                let (low, high) = (whole(low), whole(high));
                self.value.within(self.held(tick), low..=high.max(low))
            }
            Shape::Counter(start, step) => {
                let step = whole(step).max(1);
                let part = self.value.below(tick, step.unsigned_abs());
                let grown = signed(tick).saturating_mul(step);
                whole(start).saturating_add(grown).saturating_add_unsigned(part)
            }
            _ => whole(self.noisy(tick).round()),
        }
    }

    /// The value before rounding. A repeat is what the tick before had.
    fn noisy(&mut self, tick: u64) -> f64 {
        let value = match self.last {
            Some((last, value)) if last + 1 == tick && self.is_repeat(tick) => value,
            _ => {
                let mut first = tick;
                while self.is_repeat(first) {
                    first -= 1;
                }
                self.first(first)
            }
        };
        self.last = Some((tick, value));
        value
    }

    fn is_repeat(&self, tick: u64) -> bool {
        self.repeats
            .is_some_and(|stream| !tick.is_multiple_of(LONGEST_RUN) && stream.unit(tick) < self.field.repeats)
    }

    /// The value of a tick that is no repeat.
    fn first(&mut self, tick: u64) -> f64 {
        if let Shape::Sine(low, high, _) | Shape::Sawtooth(low, high, _) | Shape::Walk(low, high, _) =
            self.field.shape
            && let Some(outliers) = self.outliers
            && outliers.unit(tick) < self.field.outliers
        {
            return low + (high - low) * outliers.unit(!tick);
        }
        let value = self.smooth(tick);
        self.noise.map_or(value, |noise| value + self.field.noise * noise.normal(tick))
    }

    /// The value before noise and rounding.
    fn smooth(&mut self, tick: u64) -> f64 {
        let amid = |low: f64, high: f64, swing: f64| (low + high) * 0.5 + (high - low) * 0.5 * swing;
        match self.field.shape {
            Shape::Constant(value) => value,
            Shape::Random(low, high) => low + (high - low) * self.value.unit(self.held(tick)),
            Shape::Sine(low, high, period_ns) => amid(low, high, sine_of_turns(self.turns(tick, period_ns))),
            Shape::Sawtooth(low, high, period_ns) => low + (high - low) * self.turns(tick, period_ns),
            Shape::Counter(start, step) => start + step * (tick as f64 + self.value.unit(tick)),
            Shape::Walk(low, high, _) => match &mut self.begin {
                Begin::Walk(walk) => amid(low, high, walk.at(tick)),
                _ => 0.0,
            },
            Shape::Temperature => match &self.begin {
                Begin::Temperature(temperature) => temperature.at(tick),
                _ => 0.0,
            },
            _ => 0.0,
        }
    }

    /// How far into a period the tick is, 0 to 1.
    fn turns(&self, tick: u64, period_ns: NonZeroU64) -> f64 {
        let Begin::Turns(begin) = self.begin else { return 0.0 };
        let since = match tick.checked_mul(self.interval_ns) {
            Some(time) => (time % period_ns) as f64,
            None => (u128::from(tick) * u128::from(self.interval_ns) % u128::from(period_ns.get())) as f64,
        };
        let turns = since / period_ns.get() as f64 + begin;
        turns - turns.floor()
    }
}
