//! Hours and calendar months (UTC) from the first reading on.

/// When readings begin, in ns since the Unix epoch: 2018-01-01T00:00:00Z, a Monday.
pub const START_NS: i64 = 1_514_764_800_000_000_000;
/// An hour in ns.
pub const HOUR_NS: i64 = 3_600_000_000_000;
/// The year in which readings begin.
const FIRST_YEAR: usize = 2018;
/// Months that the calendar has: ten years.
const MONTHS: usize = 120;
/// Hours that the calendar has.
pub const MOST_HOURS: u64 = STARTS[MONTHS];
/// The first hour of each month, and of the one after the last.
pub const STARTS: [u64; MONTHS + 1] = {
    const DAYS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut starts = [0; MONTHS + 1];
    let mut month = 0;
    while month < MONTHS {
        let year = FIRST_YEAR + month / 12;
        // No year from 2018 to 2027 is one of a full hundred.
        let is_longer = month % 12 == 1 && year.is_multiple_of(4);
        let days = DAYS[month % 12] + is_longer as u64;
        starts[month + 1] = starts[month] + days * 24;
        month += 1;
    }
    starts
};

/// The month, counted from 0, that an hour is in; the one after the last where it is beyond.
pub fn month_of(hour: u64) -> usize {
    STARTS[1..].partition_point(|start| *start <= hour)
}
