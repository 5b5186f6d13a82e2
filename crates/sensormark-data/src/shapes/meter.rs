//! The shape of a consumption meter's readings, one an hour from 2018 on. A reading has the usage since the last reading, running totals by hour, day, week, month and year, and error
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

#[cfg(test)]
mod tests;

mod calendar;
mod contact;

use crate::prelude::*;
pub use calendar::{HOUR_NS, MOST_HOURS, START_NS};
use calendar::{STARTS, month_of};
pub use contact::fill_contact;

/// The field of what was used since the meter was made.
const ALL_TIME_USAGE: usize = 6;
/// The field of an error of the meter's own, 0 for none. The one after it is of its line.
const ERROR_CODE_1: usize = 7;
/// Names of the fields: a field of this shape has one of them.
pub const FIELDS: [&str; 9] = [
    "usage_since_read",
    "usage_this_hour",
    "usage_this_day",
    "usage_this_week",
    "usage_this_month",
    "usage_this_year",
    "all_time_usage",
    "error_code_1",
    "error_code_2",
];

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

/// The entity of a meter: whose it is and where it stands.
pub fn entity() -> Entity {
    let kind = |number: usize| if number < contact::TEXTS { Text } else { F64 };
    let names = contact::COLUMNS.split(' ').enumerate();
    Entity {
        name: "meters".to_owned(),
        columns: names.map(|(number, name)| field(name, kind(number))).collect(),
        last_time_column: "last_reading".to_owned(),
    }
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
    /// The meter of a series whose random numbers these are.
    pub fn new(streams: Streams) -> Self {
        let stream = |number| streams.of(number);
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
    fn counted(&self, hour: u64) -> u64 {
        const WEEK: u64 = HOURS_A_WEEK as u64;
        let weight = hour / WEEK * WEIGHTS[HOURS_A_WEEK] + WEIGHTS[(hour % WEEK) as usize];
        // The least hour is more than any jitter, so that this is never below 0.
        // An hour weighs 100,000 by mean.
        self.base * weight / 100_000 + self.jitter.below(hour, self.jitters) - self.first_jitter
    }

    /// A reading's field, by its place in [`FIELDS`].
    pub fn value(&self, field: usize, hour: u64) -> Number {
        let Some(kind) = field.checked_sub(ERROR_CODE_1) else {
            let before = if field == ALL_TIME_USAGE { self.before } else { 0 };
            let used = self.counted(hour + 1) - self.counted(period_start(field, hour));
            return Float((before + used) as f64 / 100.0);
        };
        let unit = self.errors[kind].unit(hour);
        let (share, codes) = ERRORS[kind];
        Integer(if unit < share { signed(1 + round_u64((unit / share * codes).floor())) } else { 0 })
    }
}

/// The hour in which the period began that a field of usage counts, and that an hour is in.
fn period_start(field: usize, hour: u64) -> u64 {
    let month = || month_of(hour);
    match field {
        // Day, week (from Monday), month and year.
        2 => hour - hour % 24,
        3 => hour - hour % 168,
        4 => STARTS[month()],
        5 => STARTS[month() - month() % 12],
        ALL_TIME_USAGE => 0,
        _ => hour,
    }
}
