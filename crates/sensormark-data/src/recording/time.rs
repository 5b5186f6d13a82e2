//! Times as recordings write them, and how they are read: exactly, to the nanosecond, or not at all.
//!
//! It guesses nothing: of 03/04/2015 it says that the order is undecided.

mod epochs;
mod format;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use sensormark_store::TimeRange;

pub use format::TimeFormat;

use format::TimeFault;

pub(super) use epochs::{Meaning, plausible_years};

/// A time that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instant {
    /// Nanoseconds since the Unix epoch, 0 or more.
    pub time_ns: i64,
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

impl Default for Written {
    fn default() -> Self {
        Self { numbers: [0; 3], year_first: true, clock: (0, 0, 0, 0), too_fine: false, zone: None }
    }
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
    /// Reads a time.
    pub(super) fn read(self, text: &str) -> Result<Instant, TimeFault> {
        if self.is_count() {
            return in_range(epochs::read(text, self)?);
        }
        Written::read(text).ok_or(TimeFault::Shape)?.instant(self)
    }
}

impl Written {
    /// Reads a date, and a time of day and a zone where there are any; `None` when it is written in no known way.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut rest = text.as_bytes();
        if rest.iter().take(8).filter(|byte| byte.is_ascii_digit()).count() == 8 {
            return Self::read_digits(text);
        }
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
        let mut written = Self { numbers: [one, two, three], year_first, ..Self::default() };
        if !rest.is_empty() {
            written.read_clock(&mut rest)?;
        }
        Some(written)
    }

    /// Reads year, month and day as eight digits, and two for each of hour, minute and second, or a time of day written as usual.
    fn read_digits(text: &str) -> Option<Self> {
        let width = text.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, mut rest) = (&text[..width], &text.as_bytes()[width..]);
        let two = |place: usize| digits.get(place..place + 2)?.parse().ok();
        let mut written =
            Self { numbers: [digits.get(..4)?.parse().ok()?, two(4)?, two(6)?], ..Self::default() };
        let part = |place| u8::try_from(two(place).unwrap_or(0)).ok();
        written.clock = (part(8)?, part(10)?, part(12)?, 0);
        match (width, rest.is_empty()) {
            (8, false) => written.read_clock(&mut rest)?,
            (8 | 10 | 12 | 14, true) => {}
            _ => return None,
        }
        Some(written)
    }

    fn read_clock(&mut self, rest: &mut &[u8]) -> Option<()> {
        if !(accept(rest, b'T') || accept(rest, b't')) {
            accept(rest, b' ').then_some(())?;
            while accept(rest, b' ') {}
        }
        self.read_time_of_day(rest)
    }

    /// 23:50, 23:50:00.5 or 23.50.00, with AM or PM and a zone where there are any.
    fn read_time_of_day(&mut self, rest: &mut &[u8]) -> Option<()> {
        let hour = small(rest)?;
        let is_dotted = accept(rest, b'.');
        (is_dotted || accept(rest, b':')).then_some(())?;
        self.clock = (hour, small(rest)?, 0, 0);
        if accept(rest, if is_dotted { b'.' } else { b':' }) {
            self.clock.2 = small(rest)?;
            if accept(rest, b'.') || accept(rest, b',') {
                (self.clock.3, self.too_fine) = fraction(rest)?;
            }
        } else if is_dotted {
            return None; // 23.50 is a number
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

    /// Whether it is the first moment of its day.
    pub(super) const fn is_midnight(&self) -> bool {
        matches!(self.clock, (0, 0, 0, 0))
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
        let utc = TimeZone::UTC.to_timestamp(civil).map_err(|_| TimeFault::OutOfRange)?.as_nanosecond();
        in_range(utc - i128::from(self.zone.unwrap_or(0)) * 1_000_000_000)
    }

    fn civil(&self, year: u16, month: u16, day: u16) -> Option<DateTime> {
        let (hour, minute, second, nanosecond) = self.clock;
        let date = Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
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

/// Every meaning in which all numbers from the smallest to the largest are plausible times: what they count, or the digits of a date.
pub(super) fn meanings(smallest: f64, largest: f64) -> Vec<Meaning> {
    let format = TimeFormat::YearMonthDay;
    let written = |number: f64| {
        let instant = format.read(&format!("{number:.0}")).ok()?;
        let first_ns = i128::from(instant.time_ns);
        (number.fract() == 0.0 && epochs::is_past(first_ns)).then_some(first_ns)
    };
    let mut found = epochs::counted(smallest, largest);
    if let (Some(first_ns), Some(_)) = (written(smallest), written(largest)) {
        found.push(Meaning { name: format.name(), format: Some(format), first_ns });
    }
    found
}

/// Whether the text is a time of day alone, and then whether it names a zone.
pub(super) fn read_clock(text: &str) -> Option<bool> {
    let mut parts = text.split([':', '.']).skip(1).take(2);
    let is_two = |part: &str| part.len() > 1 && part.as_bytes()[..2].iter().all(u8::is_ascii_digit);
    let mut written = Written::default();
    written.read_time_of_day(&mut text.as_bytes())?;
    let (hour, minute, second, _) = written.clock;
    (parts.all(is_two) && hour <= 24 && minute < 60 && second <= 60).then_some(written.zone.is_some())
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
    let width = rest.iter().take(most + 1).take_while(|byte| byte.is_ascii_digit()).count();
    if width == 0 || width > most {
        return None;
    }
    let (digits, after) = rest.split_at(width);
    *rest = after;
    let value = digits.iter().fold(0, |value, &digit| value * 10 + u16::from(digit - b'0'));
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
