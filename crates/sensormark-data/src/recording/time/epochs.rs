//! Times that are numbers: what they count, from which day, and which of them a number can be.
//!
//! 1423666080 is 2015-02-11 as Unix seconds and 2025-02-15 as GPS seconds. So a number alone is taken for a time only where one meaning
//! alone gives a plausible year. Which column it is about is decided elsewhere.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};

use super::format::{TimeFault, TimeFormat};
use super::{Instant, Oddity, in_range};

/// Nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;
/// Nanoseconds of a day.
const DAY: i128 = 86_400 * SECOND;

/// What a number counts.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Epoch {
    /// What an option calls it.
    pub(super) name: &'static str,
    /// Nanoseconds of one step.
    unit_ns: i128,
    /// From the day that it counts from to 1970-01-01, in ns.
    before_unix_ns: i128,
}

pub(super) static EPOCHS: [Epoch; 12] = [
    Epoch::new("unix-s", SECOND, 0),
    Epoch::new("unix-ms", 1_000_000, 0),
    Epoch::new("unix-us", 1_000, 0),
    Epoch::new("unix-ns", 1, 0),
    Epoch::new("gps", SECOND, -315_964_800 * SECOND),
    Epoch::new("labview", SECOND, 2_082_844_800 * SECOND),
    Epoch::new("ntp", SECOND, 2_208_988_800 * SECOND),
    Epoch::new("filetime", 100, 11_644_473_600 * SECOND),
    Epoch::new("dotnet-ticks", 100, 62_135_596_800 * SECOND),
    Epoch::new("excel", DAY, 25_569 * DAY),
    Epoch::new("matlab", DAY, 719_529 * DAY),
    Epoch::new("julian-days", DAY, 2_440_587 * DAY + DAY / 2),
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

/// The leap second that ends at this time, which Unix time counts as the first second after it.
pub(super) fn leap(time_ns: i128) -> Result<Instant, TimeFault> {
    let is_leap = LEAPS.iter().any(|leap| i128::from(*leap) == time_ns.div_euclid(SECOND));
    if is_leap { in_range(time_ns, Some(Oddity::LeapSecond)) } else { Err(TimeFault::NoSuchTime) }
}

impl Epoch {
    const fn new(name: &'static str, unit_ns: i128, before_unix_ns: i128) -> Self {
        Self { name, unit_ns, before_unix_ns }
    }

    /// The ns since 1970 of so many ns since its own first day.
    fn unix_ns(&self, count_ns: i128) -> i128 {
        let unix_ns = count_ns.saturating_sub(self.before_unix_ns);
        if self.name != "gps" {
            return unix_ns;
        }
        let ahead =
            |&(leaps, leap): &(usize, &i64)| unix_ns >= (i128::from(*leap) + leaps as i128 + 1) * SECOND;
        unix_ns - LEAPS.iter().enumerate().take_while(ahead).count() as i128 * SECOND
    }

    /// Reads a number, exactly, as ns since 1970. Fractions of days are rounded to the millisecond, because the programs that count days keep no more.
    pub(super) fn read(&self, text: &str) -> Result<i128, TimeFault> {
        let text = plain(text).ok_or(TimeFault::Shape)?;
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let digits = whole.strip_prefix(['-', '+']).unwrap_or(whole);
        if digits.is_empty() || !all_digits(digits) || !all_digits(decimals) {
            return Err(TimeFault::Shape);
        }
        let whole: i128 = digits.parse().map_err(|_| TimeFault::OutOfRange)?;
        let (mut place, is_of_days) = (self.unit_ns, self.unit_ns == DAY);
        let mut count_ns = whole.saturating_mul(place);
        for digit in decimals.bytes().map(|byte| i128::from(byte - b'0')) {
            if place % 10 != 0 && digit != 0 {
                if is_of_days {
                    break;
                }
                return Err(TimeFault::TooFine);
            }
            place /= 10;
            count_ns += digit * place;
        }
        if is_of_days {
            count_ns = (count_ns + 500_000) / 1_000_000 * 1_000_000;
        }
        Ok(self.unix_ns(if text.starts_with('-') { -count_ns } else { count_ns }))
    }
}

/// The number without an exponent: 1.57e18 becomes 1570000000000000000.
fn plain(text: &str) -> Option<Cow<'_, str>> {
    let Some((number, exponent)) = text.split_once(['e', 'E']) else {
        return Some(Cow::Borrowed(text));
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let exponent = usize::from(exponent.parse::<u8>().ok()?);
    let kept = decimals.get(exponent..).unwrap_or("");
    let moved = &decimals[..decimals.len() - kept.len()];
    Some(format!("{whole}{moved:0<exponent$}.{kept}").into())
}

/// What the numbers of a column can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Meaning {
    /// The format that reads it.
    pub format: TimeFormat,
    /// The smallest number as a time, in ns since 1970.
    pub first_ns: i128,
}

/// The first and the last plausible year of a number without further word: 2000, and the year of a year from now.
pub(in super::super) fn plausible_years() -> (i16, i16) {
    let last = Timestamp::now() + SignedDuration::from_hours(366 * 24);
    (2000, last.to_zoned(jiff::tz::TimeZone::UTC).year())
}

/// Times that are plausible without further word, in ns since 1970: from 2000-01-01 to a year from now.
pub(in super::super) fn plausible() -> std::ops::Range<i64> {
    let end = i64::try_from(Timestamp::now().as_nanosecond() + 366 * DAY).unwrap_or(i64::MAX);
    946_684_800_000_000_000..end
}

/// Every count in which all numbers from the smallest to the largest are plausible times.
pub(super) fn counted(smallest: f64, largest: f64) -> Vec<Meaning> {
    let times = plausible();
    let counted = EPOCHS.iter().filter_map(|epoch| {
        let at = |number: f64| epoch.unix_ns(nanoseconds(number, epoch.unit_ns));
        (at(smallest) >= times.start.into() && at(largest) < times.end.into())
            .then(|| Meaning { format: TimeFormat::Count(epoch), first_ns: at(smallest) })
    });
    counted.collect()
}

/// Nanoseconds of so many units, to the precision that telling meanings apart takes.
#[allow(clippy::cast_possible_truncation, reason = "a number that is too large is no plausible time")]
fn nanoseconds(number: f64, unit_ns: i128) -> i128 {
    (number * unit_ns as f64) as i128
}
