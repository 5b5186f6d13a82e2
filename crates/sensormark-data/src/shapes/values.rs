//! The values of a field of one series: that of tick k at once, and sooner where the tick before was asked just before it.

use super::{Shape::*, walk::Walk, *};
use crate::devops::Track;

/// A value is repeated less often than this in a row.
const LONGEST_RUN: u64 = 64;

/// A field of one series, with what its values have in common.
pub struct SeriesField<'f> {
    field: &'f FieldShape,
    /// Its number, and that of the series.
    of: (usize, u32),
    interval_ns: u64,
    value: Stream,
    noise: Stream,
    phase: Stream,
    repeats: Stream,
    outliers: Stream,
    walk: Option<Walk>,
    temperature: Option<temperature::Temperature>,
    meter: Option<meter::Meter>,
    track: Option<Track>,
    /// The tick that was asked last, and its value before rounding.
    last: Option<(u64, f64)>,
}

impl<'f> SeriesField<'f> {
    /// Field number `number` of a series under a seed.
    pub fn new(field: &'f FieldShape, number: usize, (seed, series): (u64, u32), interval_ns: i64) -> Self {
        let streams = Streams::new(seed, series.into());
        let interval_ns = interval_ns.unsigned_abs().max(1);
        // The phase says where a series begins in its period or column, repeats and outliers which values are such.
        let [value, noise, phase, repeats, outliers] =
            [0, 1, 2, 3, 4].map(|of: u64| streams.of((of << 10) + number as u64));
        let walk = match field.shape {
            Walk(_, _, period_ns) => Some(Walk::new(value, period_ns.get() / interval_ns)),
            _ => None,
        };
        let temperature =
            matches!(field.shape, Temperature).then(|| temperature::Temperature::new(streams, number));
        let meter = matches!(field.shape, Meter(_)).then(|| meter::Meter::new(streams));
        Self {
            field,
            of: (number, series),
            interval_ns,
            value,
            noise,
            phase,
            repeats,
            outliers,
            walk,
            temperature,
            meter,
            track: None,
            last: None,
        }
    }

    /// The value of a numeric field; none for text and truth values.
    pub fn number(&mut self, tick: u64) -> Option<Number> {
        match (&self.field.shape, self.field.kind) {
            (Recorded(values), _) => match values.as_ref() {
                Values::I64(values) => Some(Integer(values[self.row(tick, values.len())])),
                Values::F64(values) => Some(Float(values[self.row(tick, values.len())])),
                _ => None,
            },
            (Meter(field), _) => Some(self.meter?.value(*field, tick)),
            (Walked(walks), _) => {
                let before = self.track.take().filter(|track| track.tick <= tick);
                let mut track = before.or_else(|| walks.track(self.of.0, self.of.1, tick))?;
                track.skip_to(tick);
                let value = track.advance();
                self.track = Some(track);
                Some(Float(value))
            }
            (_, I64) => Some(Integer(self.integer(tick))),
            (_, F64) => Some(Float(self.float(tick))),
            _ => None,
        }
    }

    /// The truth value; false of a field of another type.
    pub fn truth(&self, tick: u64) -> bool {
        match &self.field.shape {
            Truth(value) => *value,
            Chance(share) => self.value.unit(self.held(tick)) < *share,
            Recorded(values) => {
                matches!(values.as_ref(), Values::Bool(truths) if truths[self.row(tick, truths.len())])
            }
            _ => false,
        }
    }

    /// The text; empty of a field of another type.
    pub fn text(&self, tick: u64) -> &'f str {
        match &self.field.shape {
            Words(words) if !words.is_empty() => self.value.one_of(self.held(tick), words).as_str(),
            Recorded(values) => match values.as_ref() {
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
        let length = length as u64;
        usize::try_from((self.phase.below(0, length) + tick) % length.max(1)).unwrap_or(0)
    }

    fn float(&mut self, tick: u64) -> f64 {
        let value = self.noisy(tick);
        let FieldShape { decimals, bits, .. } = self.field;
        let power = decimals.and_then(|places| 10_u32.checked_pow(places.into())).map(f64::from);
        power
            .or_else(|| bits.map(|places| (1_u64 << places.min(63)) as f64))
            .map_or(value, |power| (value * power).round() / power)
    }

    fn integer(&mut self, tick: u64) -> i64 {
        match self.field.shape {
            // Exact, however large: floating point would lose digits.
            Random(low, high) => {
                let (low, high) = (whole(low), whole(high));
                self.value.within(self.held(tick), low..=high.max(low))
            }
            Counter(start, step) => {
                let step = whole(step).max(1);
                whole(start)
                    .saturating_add(signed(tick).saturating_mul(step))
                    .saturating_add_unsigned(self.value.below(tick, step.unsigned_abs()))
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
        self.field.repeats > 0.0
            && !tick.is_multiple_of(LONGEST_RUN)
            && self.repeats.unit(tick) < self.field.repeats
    }

    /// The value of a tick that is no repeat.
    fn first(&mut self, tick: u64) -> f64 {
        if let Sine(low, high, _) | Sawtooth(low, high, _) | Walk(low, high, _) = self.field.shape
            && self.field.outliers > 0.0
            && self.outliers.unit(tick) < self.field.outliers
        {
            return low + (high - low) * self.outliers.unit(!tick);
        }
        let value = self.smooth(tick);
        let noise = self.field.noise;
        if noise > 0.0 { value + noise * self.noise.normal(tick) } else { value }
    }

    /// The value before noise and rounding.
    fn smooth(&mut self, tick: u64) -> f64 {
        let amid = |low: f64, high: f64, swing: f64| (low + high) * 0.5 + (high - low) * 0.5 * swing;
        match self.field.shape {
            Constant(value) => value,
            Random(low, high) => low + (high - low) * self.value.unit(self.held(tick)),
            Sine(low, high, period_ns) => amid(low, high, sine_of_turns(self.turns(tick, period_ns))),
            Sawtooth(low, high, period_ns) => low + (high - low) * self.turns(tick, period_ns),
            Counter(start, step) => start + step * (tick as f64 + self.value.unit(tick)),
            Walk(low, high, _) => self.walk.as_mut().map_or(0.0, |walk| amid(low, high, walk.at(tick))),
            Temperature => self.temperature.map_or(0.0, |room| room.at(tick)),
            _ => 0.0,
        }
    }

    /// How far into a period the tick is, 0 to 1.
    fn turns(&self, tick: u64, period_ns: NonZeroU64) -> f64 {
        // What lies beyond centuries of ns is no time that can be told.
        let since = tick.saturating_mul(self.interval_ns) % period_ns;
        let turns = since as f64 / period_ns.get() as f64 + self.phase.unit(0);
        turns - turns.floor()
    }
}
