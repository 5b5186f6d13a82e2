//! Readings of consumption meters, one an hour. A reading has the usage since the last reading, running totals by hour, day, week, month and year, and error
//! codes. Each meter also has its owner and where it stands.
//!
//! A reading bears the time at which its hour begins, and counts that hour: the readings of a calendar month (UTC) sum up to the month's usage.
//! Usage is in hundredths (of a kWh, say), so that sums are exact to the hundredth. Up to hour k a meter has counted
//!
//! ```text
//! counted(k) = floor(base · W(k)) + jitter(k) − jitter(0)
//! ```
//!
//! Here base is the meter's own mean hour, and W(k) the sum of the first k hours' weights. Weights follow the hour of the day and the day of the week. The
//! jitter is uniform, independent, and smaller than the least hour. So an hour's usage is its share of the week with noise of both neighbours' jitter, and
//! never 0. Every total is a difference of two `counted`, so any reading can be computed at once, and totals add up exactly.
//!
//! Hours since the last reading and since the hour began are the same where readings come hourly, and so are the two fields. Error codes are rare. The form of
//! the tables is that of Fixstars, "Benchmarking a Sensor Billing Application using GridDB and MariaDB" (2018), appendix. The numbers are ours, because the
//! study does not give its own.
//!
//! It is not where readings are written or billed: that is `workload::billing`.

pub mod calendar;

mod contact;

#[cfg(test)]
mod tests;

use crate::prelude::*;
use calendar::{HOUR_NS, START_NS};
pub use contact::fill_contact;

/// The field of what was used since the last reading: what is billed.
pub const USAGE_SINCE_READ: usize = 0;
/// The field of what was used since the meter was made.
const ALL_TIME_USAGE: usize = 6;
/// The field of an error of the meter's own, 0 for none. The one after it is of its line.
const ERROR_CODE_1: usize = 7;
/// Names of the fields.
const FIELDS: &str = "usage_since_read usage_this_hour usage_this_day usage_this_week usage_this_month usage_this_year all_time_usage error_code_1 error_code_2";

const HOURS_A_DAY: usize = 24;
const HOURS_A_WEEK: usize = 7 * HOURS_A_DAY;
/// What each hour of a day weighs; 1,000 by mean.
const DAY: [u64; HOURS_A_DAY] = [
    560, 490, 460, 450, 460, 540, 760, 1_020, 1_130, 1_050, 1_000, 1_010, 1_070, 1_050, 1_020, 1_050, 1_180,
    1_450, 1_720, 1_780, 1_620, 1_350, 1_030, 750,
];
/// What each day of a week weighs, from Monday; 100 by mean.
const WEEK: [u64; 7] = [98, 97, 97, 98, 100, 106, 104];
/// Sums of the weights of a week's first hours, from none to all.
const WEIGHTS: [u64; HOURS_A_WEEK + 1] = {
    let mut sums = [0; HOURS_A_WEEK + 1];
    let mut hour = 0;
    while hour < HOURS_A_WEEK {
        sums[hour + 1] = sums[hour] + DAY[hour % HOURS_A_DAY] * WEEK[hour / HOURS_A_DAY];
        hour += 1;
    }
    sums
};
/// Shares of readings with an error, of its first and its second kind; the codes go up to the last number.
const ERRORS: [(f64, f64); 2] = [(0.001, 99.0), (0.000_2, 9.0)];

/// The table of readings of so many meters, numbered from 1, with their entities.
pub fn schema(meters: u32) -> Schema {
    // The first so many of one type, the others of another.
    let named = |names: &str, first: usize, kinds: [FieldType; 2]| -> Vec<Field> {
        let kind = |number| kinds[(number >= first) as usize];
        names.split(' ').enumerate().map(|(number, name)| field(name, kind(number))).collect()
    };
    let readings = named(FIELDS, ERROR_CODE_1, [F64, I64]);
    let series = Series::new(vec![TagColumn::Integer((1..=meters as i64).collect())]).every(HOUR_NS);
    let entity = Entity {
        name: "meters".to_owned(),
        columns: named(contact::COLUMNS, contact::TEXTS, [Text, F64]),
        last_time_column: "last_reading".to_owned(),
    };
    let table = table("meter_reads", &["meter"], readings, TimeResolution::Seconds, series);
    Schema { tables: vec![Table { entity: Some(entity), ..table }] }
}

/// One meter under a seed: everything that it reads.
#[derive(Debug, Clone, Copy)]
pub struct Meter {
    /// Its mean hour, in hundredths.
    base: u64,
    /// What it had counted when readings began, in hundredths.
    before: u64,
    jitter: Stream,
    errors: [Stream; 2],
    /// Jitter at the beginning, and how many values it has.
    first_jitter: u64,
    jitters: u64,
}

impl Meter {
    /// The meter of this series.
    pub fn new(seed: u64, series: u32) -> Self {
        let stream = |number| Stream::new(seed, series as u64, number);
        let base = stream(0).within(0, 60..=240).unsigned_abs();
        // Under the least hour, which weighs 0.43 of the mean one.
        let jitters = 1 + base * 4 / 10;
        let jitter = stream(2);
        Self {
            base,
            before: stream(1).below(0, 5_000_000_u64),
            jitter,
            errors: [3, 4].map(stream),
            first_jitter: jitter.below(0, jitters),
            jitters,
        }
    }

    /// What it has counted from the beginning to before this hour, in hundredths.
    #[inline]
    pub fn counted(&self, hour: u32) -> u64 {
        let (weeks, rest) = (hour as usize / HOURS_A_WEEK, hour as usize % HOURS_A_WEEK);
        let weight = weeks as u64 * WEIGHTS[HOURS_A_WEEK] + WEIGHTS[rest];
        // The least hour is more than any jitter, so that this is never below 0.
        // An hour weighs 100,000 by mean.
        self.base * weight / 100_000 + self.jitter.below(hour as u64, self.jitters) - self.first_jitter
    }

    /// What was used in these hours, in hundredths.
    pub fn used(&self, hours: Range<u32>) -> u64 {
        if hours.is_empty() {
            return 0;
        }
        self.counted(hours.end) - self.counted(hours.start)
    }

    /// An error code of a reading: 0 but for few.
    fn error(&self, kind: usize, hour: u32) -> i64 {
        let unit = self.errors[kind].unit(hour as u64);
        let (share, codes) = ERRORS[kind];
        if unit < share { signed(1 + round_u64((unit / share * codes).floor())) } else { 0 }
    }

    /// Appends the readings of these hours to a batch of the [`schema`]'s table.
    ///
    /// # Panics
    /// When the batch is of another table, or the hours go beyond [`calendar::MOST_HOURS`]: defects of the caller.
    pub fn push(&self, series: u32, hours: Range<u32>, batch: &mut Batch) {
        batch.times_ns.extend(hours.clone().map(time_ns));
        batch.series.resize(batch.series.len() + hours.len(), series);
        let after: Vec<u64> = hours.clone().map(|hour| self.counted(hour + 1)).collect();
        for (number, column) in batch.columns.iter_mut().enumerate() {
            match &mut column.values {
                Values::F64(values) => {
                    let before = if number == ALL_TIME_USAGE { self.before } else { 0 };
                    let (mut start, mut counted) = (0, 0);
                    values.extend(hours.clone().zip(&after).map(|(hour, after)| {
                        let begins = period_start(number, hour);
                        if start != begins {
                            (start, counted) = (begins, self.counted(begins));
                        }
                        (before + after - counted) as f64 / 100.0
                    }));
                }
                Values::I64(values) => {
                    values.extend(hours.clone().map(|hour| self.error(number - ERROR_CODE_1, hour)));
                }
                _ => unreachable!("usage is in floating point, and error codes are integers"),
            }
        }
    }
}

/// The hour in which the period began that a field of usage counts, and that an hour is in.
fn period_start(field: usize, hour: u32) -> u32 {
    let month = || calendar::month_of(hour);
    match field {
        // Day, week (from Monday), month and year.
        2 => hour - hour % 24,
        3 => hour - hour % 168,
        4 => calendar::STARTS[month()],
        5 => calendar::STARTS[month() - month() % 12],
        ALL_TIME_USAGE => 0,
        _ => hour,
    }
}

/// When an hour's reading is taken, in ns since the Unix epoch.
#[inline]
pub fn time_ns(hour: u32) -> i64 {
    START_NS + hour as i64 * HOUR_NS
}

/// So many first readings of each of so many meters as a data set that can be exported, meter by meter.
pub fn data_set(seed: u64, meters: u32, readings: u32) -> DataSet {
    DataSet::new(schema(meters), move |shard, sink| {
        for series in shard.series(meters) {
            let meter = Meter::new(seed, series);
            for start in (0..readings).step_by(BATCH as usize) {
                sink.put(0, |batch| meter.push(series, start..readings.min(start + BATCH), batch))?;
            }
        }
        Ok(())
    })
}
