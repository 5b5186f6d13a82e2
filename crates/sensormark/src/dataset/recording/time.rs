//! Times as recordings write them, and how they are read: exactly, to the nanosecond, or not at all.
//!
//! It guesses nothing: of 03/04/2015 it says that the order is undecided.

use std::fmt;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use sensormark_store::TimeRange;
use serde::{Deserialize, Serialize};

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeFormat {
    /// 2015-02-11 14:48:00.5, also with T, slashes or dots, a zone, or without a clock.
    YearMonthDay,
    /// 11.02.2015 14:48, also with slashes or hyphens.
    DayMonthYear,
    /// 02/11/2015 2:48 PM, also with dots or hyphens.
    MonthDayYear,
    /// Seconds since 1970, also with a fraction.
    UnixSeconds,
    /// Milliseconds since 1970.
    UnixMilliseconds,
    /// Microseconds since 1970.
    UnixMicroseconds,
    /// Nanoseconds since 1970.
    UnixNanoseconds,
}

/// A time that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instant {
    /// Nanoseconds since the Unix epoch, 0 or more.
    pub time_ns: i64,
}

/// Why a text is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeFault {
    /// It is not written so.
    Shape,
    /// It is written so, but there is no such day or time of day.
    NoSuchTime,
    /// It has digits beyond the nanosecond (or, of Unix times, beyond the unit).
    TooFine,
    /// It is outside of [`TimeRange::OF_READINGS`].
    OutOfRange,
}

/// A date and a time of day as written, before it is decided which number is the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    numbers: [u16; 3],
    year_first: bool,
    /// Hour, minute, second, nanosecond.
    clock: (u8, u8, u8, u32),
    too_fine: bool,
    /// Seconds east of UTC, where a zone is given.
    pub zone: Option<i32>,
}

/// What a written date says about the order of its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The year comes first, so it is year, month, day.
    YearFirst,
    /// The first number cannot be a month.
    DayFirst,
    /// The second number cannot be a month.
    MonthFirst,
    /// Either could be.
    Undecided,
}

impl TimeFormat {
    /// All formats, as messages list them.
    pub const ALL: [Self; 7] = [
        Self::YearMonthDay,
        Self::DayMonthYear,
        Self::MonthDayYear,
        Self::UnixSeconds,
        Self::UnixMilliseconds,
        Self::UnixMicroseconds,
        Self::UnixNanoseconds,
    ];

    /// The name by which an option gives it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::YearMonthDay => "year-month-day",
            Self::DayMonthYear => "day-month-year",
            Self::MonthDayYear => "month-day-year",
            Self::UnixSeconds => "unix-seconds",
            Self::UnixMilliseconds => "unix-milliseconds",
            Self::UnixMicroseconds => "unix-microseconds",
            Self::UnixNanoseconds => "unix-nanoseconds",
        }
    }

    /// Whether it counts from 1970.
    pub const fn is_unix(self) -> bool {
        self.unit_ns().is_some()
    }

    const fn unit_ns(self) -> Option<i64> {
        match self {
            Self::YearMonthDay | Self::DayMonthYear | Self::MonthDayYear => None,
            Self::UnixSeconds => Some(1_000_000_000),
            Self::UnixMilliseconds => Some(1_000_000),
            Self::UnixMicroseconds => Some(1_000),
            Self::UnixNanoseconds => Some(1),
        }
    }

    /// The unit in which both numbers are times between 1990 and 2100. Units do not overlap there.
    pub(super) fn of_numbers(smallest: f64, largest: f64) -> Option<Self> {
        const FROM: f64 = 631_152_000.0;
        const TO: f64 = 4_102_444_800.0;
        [
            (Self::UnixSeconds, 1.0),
            (Self::UnixMilliseconds, 1e3),
            (Self::UnixMicroseconds, 1e6),
            (Self::UnixNanoseconds, 1e9),
        ]
        .into_iter()
        .find(|(_, units)| smallest >= FROM * units && largest < TO * units)
        .map(|(format, _)| format)
    }

    /// Reads a time.
    pub(super) fn read(self, text: &str) -> Result<Instant, TimeFault> {
        match self.unit_ns() {
            Some(unit) => read_unix(text, unit),
            None => Written::read(text).ok_or(TimeFault::Shape)?.instant(self),
        }
    }
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl std::str::FromStr for TimeFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                format!("{name:?} is no time format; there are {names}")
            })
    }
}

impl TimeFault {
    /// Why, in words.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Shape => "is not a time of the column's format",
            Self::NoSuchTime => "is no such date or time of day",
            Self::TooFine => "has digits beyond the nanosecond or the unit",
            Self::OutOfRange => "is outside of the years 1970 to 2261",
        }
    }
}

impl Written {
    /// Reads a date, and a time of day and a zone where there are any; `None` when it is written in no known way.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut rest = text.as_bytes();
        let (one, one_width) = number(&mut rest, 4)?;
        let separator = *rest.first()?;
        if !matches!(separator, b'-' | b'/' | b'.') {
            return None;
        }
        accept(&mut rest, separator).then_some(())?;
        let (two, two_width) = number(&mut rest, 2)?;
        accept(&mut rest, separator).then_some(())?;
        let (three, three_width) = number(&mut rest, 4)?;
        let year_first = one_width == 4 && three_width <= 2;
        let year_last = three_width == 4 && one_width <= 2;
        if !(year_first || year_last) || two_width > 2 {
            return None;
        }
        let mut written = Self {
            numbers: [one, two, three],
            year_first,
            clock: (0, 0, 0, 0),
            too_fine: false,
            zone: None,
        };
        if !rest.is_empty() {
            written.read_clock(&mut rest)?;
        }
        Some(written)
    }

    fn read_clock(&mut self, rest: &mut &[u8]) -> Option<()> {
        if !(accept(rest, b'T') || accept(rest, b't')) {
            accept(rest, b' ').then_some(())?;
            while accept(rest, b' ') {}
        }
        let hour = small(rest)?;
        accept(rest, b':').then_some(())?;
        self.clock = (hour, small(rest)?, 0, 0);
        if accept(rest, b':') {
            self.clock.2 = small(rest)?;
            if accept(rest, b'.') || accept(rest, b',') {
                (self.clock.3, self.too_fine) = fraction(rest)?;
            }
        }
        let spaced = accept(rest, b' ');
        if let [half @ (b'A' | b'a' | b'P' | b'p'), b'M' | b'm', after @ ..] = *rest {
            *rest = after;
            let afternoon = matches!(half, b'P' | b'p');
            self.clock.0 = match self.clock.0 {
                12 => u8::from(afternoon) * 12,
                hour @ 1..=11 => hour + u8::from(afternoon) * 12,
                _ => u8::MAX, // 0 PM or 13 PM: no such time
            };
            accept(rest, b' ');
        } else if spaced && rest.is_empty() {
            return None;
        }
        if !rest.is_empty() {
            self.zone = Some(zone(rest)?);
        }
        Some(())
    }

    /// What it says about the order of day and month.
    pub(super) const fn order(&self) -> Order {
        if self.year_first {
            Order::YearFirst
        } else if self.numbers[0] > 12 {
            Order::DayFirst
        } else if self.numbers[1] > 12 {
            Order::MonthFirst
        } else {
            Order::Undecided
        }
    }

    fn instant(&self, format: TimeFormat) -> Result<Instant, TimeFault> {
        let [one, two, three] = self.numbers;
        let (year, month, day) = match (format, self.year_first) {
            (TimeFormat::YearMonthDay, true) => (one, two, three),
            (TimeFormat::DayMonthYear, false) => (three, two, one),
            (TimeFormat::MonthDayYear, false) => (three, one, two),
            _ => return Err(TimeFault::Shape),
        };
        if self.too_fine {
            return Err(TimeFault::TooFine);
        }
        let civil = self.civil(year, month, day).ok_or(TimeFault::NoSuchTime)?;
        let utc = TimeZone::UTC
            .to_timestamp(civil)
            .map_err(|_| TimeFault::OutOfRange)?
            .as_nanosecond();
        in_range(utc - i128::from(self.zone.unwrap_or(0)) * 1_000_000_000)
    }

    fn civil(&self, year: u16, month: u16, day: u16) -> Option<DateTime> {
        let (hour, minute, second, nanosecond) = self.clock;
        let date = Date::new(
            i16::try_from(year).ok()?,
            i8::try_from(month).ok()?,
            i8::try_from(day).ok()?,
        );
        let time = Time::new(
            i8::try_from(hour).ok()?,
            i8::try_from(minute).ok()?,
            i8::try_from(second).ok()?,
            i32::try_from(nanosecond).ok()?,
        );
        Some(date.ok()?.to_datetime(time.ok()?))
    }
}

fn in_range(time_ns: i128) -> Result<Instant, TimeFault> {
    match i64::try_from(time_ns) {
        Ok(time_ns) if TimeRange::OF_READINGS.contains(time_ns) => Ok(Instant { time_ns }),
        _ => Err(TimeFault::OutOfRange),
    }
}

fn read_unix(text: &str, unit_ns: i64) -> Result<Instant, TimeFault> {
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
    let mut place = i128::from(unit_ns);
    let mut time_ns = whole.saturating_mul(place);
    for digit in decimals.bytes().map(|byte| i128::from(byte - b'0')) {
        if place == 1 && digit != 0 {
            return Err(TimeFault::TooFine);
        }
        place = (place / 10).max(1);
        time_ns += digit * place;
    }
    in_range(time_ns)
}

fn accept(rest: &mut &[u8], wanted: u8) -> bool {
    match rest.split_first() {
        Some((&byte, after)) if byte == wanted => {
            *rest = after;
            true
        }
        _ => false,
    }
}

/// One to `most` digits, and how many.
fn number(rest: &mut &[u8], most: usize) -> Option<(u16, usize)> {
    let width = rest
        .iter()
        .take(most + 1)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if width == 0 || width > most {
        return None;
    }
    let (digits, after) = rest.split_at(width);
    *rest = after;
    let value = digits
        .iter()
        .fold(0, |value, &digit| value * 10 + u16::from(digit - b'0'));
    Some((value, width))
}

/// A number of at most two digits.
fn small(rest: &mut &[u8]) -> Option<u8> {
    number(rest, 2).and_then(|(value, _)| u8::try_from(value).ok())
}

/// The digits of a fraction of a second as nanoseconds, and whether there are more that are not zeros.
fn fraction(rest: &mut &[u8]) -> Option<(u32, bool)> {
    let width = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if width == 0 {
        return None;
    }
    let (digits, after) = rest.split_at(width);
    *rest = after;
    let mut nanoseconds = 0;
    for place in 0..9 {
        let digit = digits.get(place).map_or(0, |digit| digit - b'0');
        nanoseconds = nanoseconds * 10 + u32::from(digit);
    }
    let too_fine = digits.iter().skip(9).any(|&digit| digit != b'0');
    Some((nanoseconds, too_fine))
}

/// A zone in seconds east of UTC: Z, UTC, GMT, +01, +0100 or +01:00.
fn zone(rest: &[u8]) -> Option<i32> {
    if matches!(rest, b"Z" | b"z" | b"UTC" | b"GMT") {
        return Some(0);
    }
    let (&sign, digits) = rest.split_first()?;
    let sign = match sign {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let two = |digits: &[u8]| {
        let mut digits = digits;
        number(&mut digits, 2)
            .filter(|(_, width)| *width == 2 && digits.is_empty())
            .map(|(value, _)| i32::from(value))
    };
    let (hours, minutes) = match digits.len() {
        2 => (two(digits)?, 0),
        4 => (two(&digits[..2])?, two(&digits[2..])?),
        5 if digits[2] == b':' => (two(&digits[..2])?, two(&digits[3..])?),
        _ => return None,
    };
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

#[cfg(test)]
mod tests;
