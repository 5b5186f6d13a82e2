//! Times as recordings write them, and how they are read: exactly, to the nanosecond, or not at all.
//!
//! It guesses nothing: of 03/04/2015 it says in which orders it can be read.

mod epochs;
mod format;
mod pattern;
mod zone;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use sensormark_store::TimeRange;

pub use epochs::Epoch;
pub use format::TimeFormat;

use format::TimeFault;

pub(super) use epochs::{Meaning, plausible, plausible_years};

/// The months' names. Three letters are enough.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A time that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instant {
    /// Nanoseconds since the Unix epoch.
    pub time_ns: i64,
    /// What is to be said of it.
    pub oddity: Option<Oddity>,
}

/// How a time is written that is read as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Oddity {
    /// 24:00, which is the first moment of the next day.
    NextDay,
    /// 23:59:60, which Unix time counts as the first second of the next day.
    LeapSecond,
}

/// The orders in which the numbers of a date can be read: which of [`TimeFormat::DATES`].
pub(super) type Orders = [bool; 3];

/// A date and a time of day as written, before it is decided which number is the day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    numbers: [u16; 3],
    /// In which orders it can be read.
    pub orders: Orders,
    /// Whether the year has two digits.
    pub is_short: bool,
    /// Hour, minute, second, nanosecond.
    clock: (u8, u8, u8, u32),
    too_fine: bool,
    /// Where one is given.
    pub zone: Option<TimeZone>,
}

impl Default for Written {
    fn default() -> Self {
        Self {
            numbers: [0; 3],
            orders: [true, false, false],
            is_short: false,
            clock: (0, 0, 0, 0),
            too_fine: false,
            zone: None,
        }
    }
}

impl TimeFormat {
    /// Reads a time.
    pub(super) fn read(&self, text: &str) -> Result<Instant, TimeFault> {
        match self {
            Self::Count(epoch) => in_range(epoch.read(text)?, None),
            Self::Pattern(pattern) => pattern::read(pattern, text),
            _ => Written::read(text).ok_or(TimeFault::Shape)?.instant(self),
        }
    }
}

impl Written {
    /// Reads a date, and a time of day and a zone where there are any; `None` when it is written in no known way.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut rest = text.as_bytes();
        if rest.iter().take(8).filter(|byte| byte.is_ascii_digit()).count() == 8 {
            return Self::read_digits(text);
        }
        skip_weekday(&mut rest);
        let (mut parts, mut marks, mut named) = ([(0, 0); 3], [0; 2], None);
        for place in 0..3 {
            if place > 0 {
                let mark = *rest.first().filter(|mark| b"-/., ".contains(mark))?;
                rest = &rest[1..];
                marks[place - 1] = mark;
                if mark == b',' {
                    skip_blanks(&mut rest);
                }
            }
            parts[place] = match number(&mut rest, 4) {
                Some(number) => number,
                None if named.is_none() => {
                    named = Some(place);
                    (month(&mut rest)?, 0)
                }
                None => return None,
            };
        }
        if named.is_none() && (marks[0] != marks[1] || b", ".contains(&marks[0])) {
            return None;
        }
        let (orders, is_short) = orders(parts, named)?;
        let mut written =
            Self { numbers: parts.map(|(number, _)| number), orders, is_short, ..Self::default() };
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
        if !(accept(rest, b'T') || accept(rest, b't') || accept(rest, b':')) {
            accept(rest, b',');
            skip_blanks(rest).then_some(())?;
        }
        self.read_time_of_day(rest)
    }

    /// 23:50, 23:50:00.5, 23.50.00, 2350, 235000 or 23, with AM or PM and a zone where there are any.
    fn read_time_of_day(&mut self, rest: &mut &[u8]) -> Option<()> {
        let width = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_dense = matches!(width, 4 | 6);
        let (mut parts, mut count, mut mark) = ([0; 3], 0, b':');
        while count < 3 {
            let next = if is_dense { two(rest) } else { number(rest, 2) };
            parts[count] = u8::try_from(next?.0).ok()?;
            count += 1;
            if count == 1 && rest.first() == Some(&b'.') {
                mark = b'.';
            }
            if !(if is_dense { count * 2 < width } else { count < 3 && accept(rest, mark) }) {
                break;
            }
        }
        self.clock = (parts[0], parts[1], parts[2], 0);
        let is_hour = count == 1 && (half(rest).is_some() || rest.is_empty() && width == 2);
        if count == 1 && !is_hour || count == 2 && mark == b'.' {
            return None; // 23.50 is a number
        }
        if count == 3 && (accept(rest, b'.') || accept(rest, b',')) {
            (self.clock.3, self.too_fine) = fraction(rest)?;
        }
        if let Some((is_afternoon, after)) = half(rest) {
            *rest = after;
            self.clock.0 = match self.clock.0 {
                12 => u8::from(is_afternoon) * 12,
                hour @ 1..=11 => hour + u8::from(is_afternoon) * 12,
                _ => u8::MAX, // 0 PM or 13 PM: no such time
            };
            skip_blanks(rest);
        } else if skip_blanks(rest) && rest.is_empty() {
            return None;
        }
        if !rest.is_empty() {
            self.zone = Some(zone::read(std::str::from_utf8(rest).ok()?)?);
        }
        Some(())
    }

    /// Whether it is the first moment of its day.
    pub(super) const fn is_midnight(&self) -> bool {
        matches!(self.clock, (0, 0, 0, 0))
    }

    /// Whether it can be a time of day.
    fn is_clock(&self) -> bool {
        let (hour, minute, second, _) = self.clock;
        hour <= 24 && minute < 60 && second <= 60
    }

    fn instant(&self, format: &TimeFormat) -> Result<Instant, TimeFault> {
        let [one, two, three] = self.numbers;
        let [is_year_first, is_day_first, is_month_first] = self.orders;
        let (year, month, day) = match format {
            TimeFormat::YearMonthDay if is_year_first => (one, two, three),
            TimeFormat::DayMonthYear if is_day_first => (three, two, one),
            TimeFormat::MonthDayYear if is_month_first => (three, one, two),
            _ => return Err(TimeFault::Shape),
        };
        if self.too_fine {
            return Err(TimeFault::TooFine);
        }
        let year = match year {
            0..69 if self.is_short => year + 2_000,
            69.. if self.is_short => year + 1_900,
            year => year,
        };
        let civil = self.civil(year, month, day).ok_or(TimeFault::NoSuchTime)?;
        let utc = match &self.zone {
            None => TimeZone::UTC.to_timestamp(civil).map_err(|_| TimeFault::OutOfRange)?,
            Some(zone) => {
                let time = zone.to_ambiguous_timestamp(civil);
                time.unambiguous().map_err(|_| TimeFault::Twice)?
            }
        };
        let utc = utc.as_nanosecond();
        match self.clock {
            (24, 0, 0, 0) => in_range(utc + 86_400_000_000_000, Some(Oddity::NextDay)),
            (_, _, 60, _) => epochs::leap(utc + 1_000_000_000),
            _ => in_range(utc, None),
        }
    }

    fn civil(&self, year: u16, month: u16, day: u16) -> Option<DateTime> {
        let (hour, minute, second, nanosecond) = match self.clock {
            (24, 0, 0, 0) => (0, 0, 0, 0),
            (hour, minute, 60, nanosecond) => (hour, minute, 59, nanosecond),
            clock => clock,
        };
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

/// In which orders three numbers with these widths can be read, and whether the year has two digits. A month may be given by its name.
fn orders(parts: [(u16, usize); 3], named: Option<usize>) -> Option<(Orders, bool)> {
    let [(one, one_width), (two, two_width), (three, three_width)] = parts;
    if two_width > 2 {
        return None;
    }
    let (is_month_first, is_month_second) = (named == Some(0), named == Some(1));
    let orders = match (one_width, three_width) {
        (4, 1 | 2) if !is_month_first => return Some(([true, false, false], false)),
        (0..=2, 4) if named.is_some() => return Some(([false, is_month_second, is_month_first], false)),
        (1 | 2, 4) => return Some(([false, two <= 12 || one > 12, one <= 12], false)),
        (0..=2, 1 | 2) => [
            one_width == 2 && is_date(two, three) && !is_month_first,
            three_width == 2 && is_date(two, one) && !is_month_first,
            three_width == 2 && is_date(one, two) && !is_month_second,
        ],
        _ => return None,
    };
    orders.contains(&true).then_some((orders, true))
}

/// Whether some month with this number has a day with this number.
const fn is_date(month: u16, day: u16) -> bool {
    matches!((month, day), (1..=12, 1..=31))
}

fn in_range(time_ns: i128, oddity: Option<Oddity>) -> Result<Instant, TimeFault> {
    match i64::try_from(time_ns) {
        Ok(time_ns) if TimeRange::OF_RECORDINGS.contains(time_ns) => Ok(Instant { time_ns, oddity }),
        _ => Err(TimeFault::OutOfRange),
    }
}

/// Every meaning in which all numbers from the smallest to the largest are plausible times: what they count, or the digits of a date.
pub(super) fn meanings(smallest: f64, largest: f64) -> Vec<Meaning> {
    let format = TimeFormat::YearMonthDay;
    let written = |number: f64| {
        let instant = format.read(&format!("{number:.0}")).ok()?;
        let first_ns = i128::from(instant.time_ns);
        (number.fract() == 0.0 && instant.time_ns < plausible().end).then_some(first_ns)
    };
    let mut found = epochs::counted(smallest, largest);
    if let (Some(first_ns), Some(_)) = (written(smallest), written(largest)) {
        found.push(Meaning { format, first_ns });
    }
    found
}

/// Whether the text is a time of day alone, and then whether it names a zone.
pub(super) fn read_clock(text: &str) -> Option<bool> {
    let mut parts = text.split([':', '.']).skip(1).take(2);
    let is_two = |part: &str| part.len() > 1 && part.as_bytes()[..2].iter().all(u8::is_ascii_digit);
    let mut written = Written::default();
    written.read_time_of_day(&mut text.as_bytes())?;
    (parts.all(is_two) && written.is_clock()).then_some(written.zone.is_some())
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

/// Skips blanks, those too that break no line and those that are narrow, and says whether there were any.
fn skip_blanks(rest: &mut &[u8]) -> bool {
    let before = rest.len();
    loop {
        let length = match rest {
            [b' ', ..] => 1,
            [0xc2, 0xa0, ..] => 2,
            [0xe2, 0x80, 0xaf | 0x89, ..] => 3,
            _ => return rest.len() < before,
        };
        *rest = &rest[length..];
    }
}

/// Skips the name of a day before a date.
fn skip_weekday(rest: &mut &[u8]) {
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if letters < 3 {
        return;
    }
    let is_day = |day: &&[u8]| rest[..3].eq_ignore_ascii_case(day);
    if [b"mon".as_slice(), b"tue", b"wed", b"thu", b"fri", b"sat", b"sun"].iter().any(is_day) {
        *rest = &rest[letters..];
        accept(rest, b',');
        skip_blanks(rest);
    }
}

/// The number of a month that is given by its name.
fn month(rest: &mut &[u8]) -> Option<u16> {
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if letters < 3 {
        return None;
    }
    let (name, after) = rest.split_at(letters);
    let is_it =
        |month: &&str| month.as_bytes().get(..letters).is_some_and(|month| name.eq_ignore_ascii_case(month));
    let place = MONTHS.iter().position(is_it)?;
    *rest = after;
    u16::try_from(place + 1).ok()
}

/// AM or PM, also a.m. and p.m., after any blanks: whether it is the afternoon, and what follows.
fn half<'r>(rest: &&'r [u8]) -> Option<(bool, &'r [u8])> {
    let mut rest = *rest;
    if rest.is_empty() {
        return None;
    }
    skip_blanks(&mut rest);
    let (first, after) = rest.split_first()?;
    let is_afternoon = matches!(first, b'P' | b'p');
    let after =
        [b"m".as_slice(), b"M", b".m.", b".M."].into_iter().find_map(|end| after.strip_prefix(end))?;
    (is_afternoon || matches!(first, b'A' | b'a')).then_some((is_afternoon, after))
}

/// One to `most` digits, and how many.
fn number(rest: &mut &[u8], most: usize) -> Option<(u16, usize)> {
    let width = rest.iter().take(most + 1).take_while(|byte| byte.is_ascii_digit()).count();
    if width == 0 || width > most {
        return None;
    }
    Some((digits(rest, width), width))
}

/// The next two digits.
fn two(rest: &mut &[u8]) -> Option<(u16, usize)> {
    let are_digits = rest.get(..2)?.iter().all(u8::is_ascii_digit);
    are_digits.then(|| (digits(rest, 2), 2))
}

/// The value of so many digits.
fn digits(rest: &mut &[u8], width: usize) -> u16 {
    let (digits, after) = rest.split_at(width);
    *rest = after;
    digits.iter().fold(0, |value, &digit| value * 10 + u16::from(digit - b'0'))
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

#[cfg(test)]
mod tests;
