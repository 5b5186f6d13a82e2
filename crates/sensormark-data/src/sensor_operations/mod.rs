//! Sensors of the least that a sensor is: an identifier, a time and a value. What sensor-operations writes and reads back.
//!
//! Source: study 001 (the spec's *sensor-operations*), table I: sensor id, timestamp, value. It says nothing of the values, nor of the interval but for
//! an example, "a temperature sensor might transmit its sensed value every 30 seconds". The values here are ours, pinned by golden checksums:
//! temperatures to a hundredth of a degree,
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
//!
//! **Times.** Tick t of sensor s is at 2012-01-01T00:00:00Z + t · interval + ⌊s · interval / sensors⌋, in whole milliseconds. Sensors report one after the
//! other, regularly, so readings numbered by (tick, sensor) are in the order of time. No reading is missing, late or doubled, because operations are compared
//! here, not data.

#[cfg(test)]
mod tests;

use crate::prelude::*;

/// When sensors begin to report: 2012-01-01T00:00:00Z, in ns since the Unix epoch.
pub const START_NS: i64 = 1_325_376_000_000_000_000;
/// Ticks of a sensor stay below this, and before 2262: [`SensorReadings::ticks`].
pub const TICK_LIMIT: u64 = 1 << 31;
/// The longest interval between two readings of a sensor: an hour.
pub const LONGEST_INTERVAL_MS: u32 = 3_600_000;

const MILLISECOND_NS: i64 = 1_000_000;
/// Ticks in the period of the sine.
const DAY_TICKS: u64 = 2_880;
/// The readings of some sensors under one seed; reading t of sensor s is a pure function of (seed, s, t).
#[derive(Debug)]
pub struct SensorReadings {
    interval_ns: i64,
    sensors: Box<[Sensor]>,
    /// One period of the sine, in hundredths of a degree.
    day: Box<[i64]>,
}

#[derive(Debug)]
struct Sensor {
    offset_ns: i64,
    base: i64,
    phase: u64,
    noise: Stream,
}

impl SensorReadings {
    /// Sensors under a seed, each reporting every so many milliseconds.
    ///
    /// # Errors
    /// That there would be no sensor, or no interval between 1 ms and [`LONGEST_INTERVAL_MS`], in words.
    pub fn new(seed: u64, sensors: u32, interval_ms: u32) -> Result<Self, String> {
        if sensors == 0 {
            return Err("sensors is 0; it must be over 0".to_owned());
        }
        if !(1..=LONGEST_INTERVAL_MS).contains(&interval_ms) {
            return Err(format!(
                "interval_ms is {interval_ms}; it must be 1 to {LONGEST_INTERVAL_MS}, an hour"
            ));
        }
        let sensor = |number: u32| {
            let stream = |field| Stream::new(seed, number.into(), field);
            Sensor {
                offset_ns: (number as i64 * interval_ms as i64 / sensors as i64) * MILLISECOND_NS,
                base: stream(1).below(0, 3_001_u64).cast_signed(),
                phase: stream(2).below(0, DAY_TICKS),
                noise: stream(0),
            }
        };
        Ok(Self {
            interval_ns: interval_ms as i64 * MILLISECOND_NS,
            sensors: (0..sensors).map(sensor).collect(),
            day: (0..DAY_TICKS)
                .map(|tick| whole((500.0 * sine_of_turns(tick as f64 / DAY_TICKS as f64) + 0.5).floor()))
                .collect(),
        })
    }

    /// How many sensors there are.
    pub fn sensors(&self) -> u32 {
        u32::try_from(self.sensors.len()).expect("made from a number of 32 bits")
    }

    /// How many ticks each sensor has: up to [`TICK_LIMIT`], or until 2262.
    pub fn ticks(&self) -> u64 {
        ((TimeRange::OF_READINGS.end_ns - START_NS) / self.interval_ns - 1).unsigned_abs().min(TICK_LIMIT)
    }

    /// When a sensor reports at a tick, in ns since the Unix epoch.
    ///
    /// # Panics
    /// When there is no such sensor.
    #[inline]
    pub fn time_ns(&self, sensor: u32, tick: u64) -> i64 {
        START_NS + self.sensors[sensor as usize].offset_ns + self.interval_ns * tick.cast_signed()
    }

    /// What a sensor reports at a tick, in degrees.
    ///
    /// # Panics
    /// When there is no such sensor.
    #[inline]
    pub fn value(&self, sensor: u32, tick: u64) -> f64 {
        let sensor = &self.sensors[sensor as usize];
        let place = ((tick + sensor.phase) % DAY_TICKS) as usize;
        let coins = (sensor.noise.word(tick).count_ones()) as i64 - 32;
        // The nearest double of the decimal: a quotient is rounded once.
        (sensor.base + self.day[place] + 5 * coins) as f64 / 100.0
    }

    /// The ticks of a sensor whose times lie in a range.
    ///
    /// # Panics
    /// When there is no such sensor.
    pub fn ticks_within(&self, sensor: u32, range: TimeRange) -> Range<u64> {
        let first = self.time_ns(sensor, 0);
        // The first tick that is not before an instant.
        let from = |time_ns: i64| {
            time_ns.saturating_sub(first).max(0).unsigned_abs().div_ceil(self.interval_ns.unsigned_abs())
        };
        let (start, end) = (from(range.start_ns), from(range.end_ns));
        start..end.max(start)
    }

    /// Appends a sensor's readings at these ticks to a batch of a table whose only field is the value.
    ///
    /// # Panics
    /// When there is no such sensor, or the batch is of another table.
    pub fn push(&self, number: u32, ticks: Range<u64>, batch: &mut Batch) {
        batch.times_ns.extend(ticks.clone().map(|tick| self.time_ns(number, tick)));
        batch.series.resize(batch.times_ns.len(), number);
        let Values::F64(values) = &mut batch.columns[0].values else {
            panic!("the value is a floating point number");
        };
        values.extend(ticks.map(|tick| self.value(number, tick)));
    }

    /// What sensors report in their first ticks, in the order of time, as a data set that can be exported. Its schema has one table, whose only field is the
    /// value. It begins at `start_ns`, in ns since the Unix epoch. The caller has checked that its times end before 2262.
    ///
    /// # Panics
    /// When the table has another number of series.
    pub fn data_set(mut self, schema: Schema, start_ns: i64, ticks: u64) -> DataSet {
        assert_eq!(schema.tables[0].series.len(), self.sensors(), "the same sensors");
        for sensor in &mut self.sensors {
            sensor.offset_ns += start_ns - START_NS;
        }
        DataSet::new(schema, move |shard, sink| {
            let sensors = shard.series(self.sensors());
            let at_once = BATCH / (sensors.end - sensors.start).max(1) + 1;
            sink.put_all(0, ticks, at_once, |ticks, batch| {
                for tick in ticks {
                    sensors.clone().for_each(|sensor| self.push(sensor, tick..tick + 1, batch));
                }
            })
        })
    }
}
