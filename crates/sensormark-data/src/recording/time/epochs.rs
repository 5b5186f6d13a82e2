//! Times that are numbers: what they count, from which day, and which of them a number can be.
//!
//! 1423666080 is 2015-02-11 as Unix seconds and 2025-02-15 as GPS seconds. So a number alone is taken for a time only where one meaning
//! alone gives a plausible year. Which column it is about is decided elsewhere.

use jiff::{SignedDuration, Timestamp};

use super::format::{TimeFault, TimeFormat};

/// Nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;
/// Nanoseconds of a day.
const DAY: i128 = 86_400 * SECOND;
/// Plausible times begin at 2000-01-01, in ns since 1970.
const EARLIEST: i128 = 946_684_800 * SECOND;

/// What a number counts.
struct Epoch {
    /// What people call it.
    name: &'static str,
    /// The format that reads it; none where its fractions are too coarse to be read exactly.
    format: Option<TimeFormat>,
    /// Nanoseconds of one step.
    unit_ns: i128,
    /// From the day that it counts from to 1970-01-01, in ns.
    before_unix_ns: i128,
}

const EPOCHS: [Epoch; 12] = [
    Epoch::known(TimeFormat::UnixSeconds, SECOND, 0),
    Epoch::known(TimeFormat::UnixMilliseconds, 1_000_000, 0),
    Epoch::known(TimeFormat::UnixMicroseconds, 1_000, 0),
    Epoch::known(TimeFormat::UnixNanoseconds, 1, 0),
    Epoch::known(TimeFormat::Gps, SECOND, -315_964_800 * SECOND),
    Epoch::known(TimeFormat::Labview, SECOND, 2_082_844_800 * SECOND),
    Epoch::known(TimeFormat::Ntp, SECOND, 2_208_988_800 * SECOND),
    Epoch::known(TimeFormat::Filetime, 100, 11_644_473_600 * SECOND),
    Epoch::known(TimeFormat::DotnetTicks, 100, 62_135_596_800 * SECOND),
    Epoch::named("days as Excel counts them", 25_569 * DAY),
    Epoch::named("days as MATLAB counts them", 719_529 * DAY),
    Epoch::named("Julian days", 2_440_587 * DAY + DAY / 2),
];

/// Unix seconds at which GPS time came to be ahead of UTC by one more second, the first of them by one.
/// Source: International Earth Rotation and Reference Systems Service, Bulletin C.
const LEAPS: [i64; 18] = [
    362_793_600,
    394_329_600,
    425_865_600,
    489_024_000,
    567_993_600,
    631_152_000,
    662_688_000,
    709_948_800,
    741_484_800,
    773_020_800,
    820_454_400,
    867_715_200,
    915_148_800,
    1_136_073_600,
    1_230_768_000,
    1_341_100_800,
    1_435_708_800,
    1_483_228_800,
];

impl Epoch {
    const fn known(format: TimeFormat, unit_ns: i128, before_unix_ns: i128) -> Self {
        Self { name: format.name(), format: Some(format), unit_ns, before_unix_ns }
    }

    const fn named(name: &'static str, before_unix_ns: i128) -> Self {
        Self { name, format: None, unit_ns: DAY, before_unix_ns }
    }

    /// The ns since 1970 of so many ns since its own first day.
    fn unix_ns(&self, count_ns: i128) -> i128 {
        let unix_ns = count_ns.saturating_sub(self.before_unix_ns);
        if self.format != Some(TimeFormat::Gps) {
            return unix_ns;
        }
        let ahead =
            |&(leaps, leap): &(usize, &i64)| unix_ns >= (i128::from(*leap) + leaps as i128 + 1) * SECOND;
        unix_ns - LEAPS.iter().enumerate().take_while(ahead).count() as i128 * SECOND
    }
}

/// What the numbers of a column can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Meaning {
    /// What people call it.
    pub name: &'static str,
    /// The format that reads it, if one does.
    pub format: Option<TimeFormat>,
    /// The smallest number as a time, in ns since 1970.
    pub first_ns: i128,
}

impl Meaning {
    /// The time of the smallest number, as people write it.
    pub(in super::super) fn first(&self) -> String {
        Timestamp::from_nanosecond(self.first_ns)
            .map_or_else(|_| "no date".to_owned(), |first| first.to_string())
    }
}

/// The first and the last plausible year of a number without further word: 2000, and the year of a year from now.
pub(in super::super) fn plausible_years() -> (i16, i16) {
    let last = Timestamp::now() + SignedDuration::from_hours(366 * 24);
    (2000, last.to_zoned(jiff::tz::TimeZone::UTC).year())
}

/// Whether a time is no more than a year ahead.
pub(super) fn is_past(time_ns: i128) -> bool {
    time_ns < Timestamp::now().as_nanosecond() + 366 * DAY
}

/// Every count in which all numbers from the smallest to the largest are plausible times.
pub(super) fn counted(smallest: f64, largest: f64) -> Vec<Meaning> {
    let counted = EPOCHS.iter().filter_map(|epoch| {
        let at = |number: f64| epoch.unix_ns(nanoseconds(number, epoch.unit_ns));
        (at(smallest) >= EARLIEST && is_past(at(largest))).then(|| Meaning {
            name: epoch.name,
            format: epoch.format,
            first_ns: at(smallest),
        })
    });
    counted.collect()
}

/// Nanoseconds of so many units, to the precision that telling meanings apart takes.
#[allow(clippy::cast_possible_truncation, reason = "a number that is too large is no plausible time")]
fn nanoseconds(number: f64, unit_ns: i128) -> i128 {
    (number * unit_ns as f64) as i128
}

/// Reads a number that counts, exactly, as ns since 1970.
pub(super) fn read(text: &str, format: TimeFormat) -> Result<i128, TimeFault> {
    let epoch = EPOCHS.iter().find(|epoch| epoch.format == Some(format));
    let epoch = epoch.ok_or(TimeFault::Shape)?;
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let digits = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    if digits.is_empty() || !all_digits(digits) || !all_digits(decimals) {
        return Err(TimeFault::Shape);
    }
    let whole: i128 = whole.parse().map_err(|_| TimeFault::OutOfRange)?;
    if text.starts_with('-') {
        return Err(TimeFault::OutOfRange);
    }
    let mut place = epoch.unit_ns;
    let mut count_ns = whole.saturating_mul(place);
    for digit in decimals.bytes().map(|byte| i128::from(byte - b'0')) {
        if place == 1 && digit != 0 {
            return Err(TimeFault::TooFine);
        }
        place = (place / 10).max(1);
        count_ns = count_ns.saturating_add(digit * place);
    }
    Ok(epoch.unix_ns(count_ns))
}
