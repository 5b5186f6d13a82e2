//! Times as recordings write them, and how they are read: exactly, to the nanosecond, or not at all.
//!
//! It guesses nothing: of 03/04/2015 it says in which orders it can be read.

mod epochs;
mod format;

use super::*;
pub use epochs::{EPOCHS, Epoch, plausible};
pub use format::{
    TimeFault::{self, *},
    TimeFormat::{self, *},
    written,
};
use jiff::{SignedDuration, civil::DateTime, fmt::temporal::DateTimeParser};

/// A time that was read.
#[derive(Debug, PartialEq)]
pub struct Instant {
    /// Nanoseconds since the Unix epoch.
    pub time_ns: i64,
    /// What it is written as, and read as another.
    pub oddity: Option<&'static str>,
}

/// Year, month and day in each of [`TimeFormat::DATES`], where the numbers of a date can be those.
pub type Dates = [Option<[i16; 3]>; 3];

/// A date and a time of day as written, before it is decided which number is the day.
#[derive(Debug, PartialEq)]
pub struct Written {
    /// Year, month and day in each of [`TimeFormat::DATES`] in which it can be read.
    pub dates: Dates,
    /// Whether the year has two digits.
    pub is_short: bool,
    pub clock: Clock,
}

/// A time of day as written.
#[derive(Debug, PartialEq)]
pub struct Clock {
    /// Nanoseconds since midnight.
    pub since_ns: Result<i64, TimeFault>,
    /// Whether it is of a leap second.
    is_leap: bool,
    /// Where one is given.
    pub zone: Option<TimeZone>,
}

/// A day, in ns.
const DAY_NS: i64 = 86_400_000_000_000;

// A date in three parts, of which one may be the name of a month, and what follows. The name of a day may precede it.
pattern!(DATE, {
    let part = r"(#{1,4}|\pL{3,})([-/. ]|\. |, *)";
    let day = "(?i:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[, ]+)?";
    format!("^{day}{part}{part}(#{{1,4}})([^0-9].*)?$")
});

// A time of day with marks between its parts, AM or PM, and what follows.
pattern!(CLOCK, {
    let half = r"(?:\s*([AaPp])(?:\.?\s?[Mm])?\b\.?)?";
    format!(r"^(##?)(?:([:.h])(##?)(?:([:.])(##?)(?:[.,](#+))?)?)?{half}\s*([^0-9:.,].*)?$")
});

// AM or PM before a time of day, as in eastern Asia.
pattern!(HALF_FIRST, r"^(?i:(am|上午|午前|오전)|pm|下午|午後|오후)\s*(#+:.*)$");

// A date without marks.
pattern!(DIGITS, "^(####)(##)(##)[Tt_ ]?");

// A date whose year stands at the end, as `date`, C and Twitter write it: Mar 25 20:00:00 CET 2023.
pattern!(YEAR_LAST, r"^(?:\pL{3,} +)?(\pL{3,}) +(##?) +(#+:.*?) (####)( [-+].*)?$");

impl TimeFormat {
    /// Reads a time.
    pub fn read(&self, text: &str) -> Result<Instant, TimeFault> {
        match self {
            Self::Count(epoch) => in_range(epoch.read(text)?, None),
            Self::Pattern(pattern) => format::read(pattern, text),
            _ => Written::read(text).ok_or(Shape)?.instant(self),
        }
    }
}

impl Written {
    /// Reads a date, and a time of day and a zone where there are any; `None` when it is written in no known way.
    pub fn read(text: &str) -> Option<Self> {
        let text = DIGITS.replace(text, "$1-$2-$3 ");
        let text = YEAR_LAST.replace(text.trim_end(), "$1 $2 $4 $3$5");
        let found = DATE.captures(&text)?;
        let [one, two, three] = [1, 3, 5].map(|part| &found[part]);
        let named = [one, two].iter().position(|part| part.starts_with(char::is_alphabetic));
        // The marks between them are the same.
        if named.is_none() && (found[2] != found[4] || found[2].starts_with([' ', ','])) {
            return None;
        }
        let number = |part: &str| part.parse().ok().or_else(|| month(part));
        let numbers = [number(one)?, number(two)?, number(three)?];
        let widths = [one, two, three].map(|part| if part.parse::<u16>().is_ok() { part.len() } else { 0 });
        let is_short = !widths.contains(&4);
        Some(Self {
            dates: dates(numbers, widths, named)?,
            is_short,
            clock: Clock::after_date(found.get(6).map_or("", |rest| rest.as_str()), !is_short)?,
        })
    }

    fn instant(&self, format: &TimeFormat) -> Result<Instant, TimeFault> {
        let place = TimeFormat::DATES.iter().position(|known| known == format);
        let [year, month, day] = place.and_then(|place| self.dates[place]).ok_or(Shape)?;
        let century = match year {
            _ if !self.is_short => 0,
            ..69 => 2_000,
            _ => 1_900,
        };
        let since_ns = self.clock.since_ns?;
        let part = |number| i8::try_from(number).unwrap_or(0);
        let date = DateTime::new(year + century, part(month), part(day), 0, 0, 0, 0);
        let utc = self.clock.zone.clone().unwrap_or(TimeZone::UTC).to_ambiguous_timestamp(
            date.map_err(|_| NoSuchTime)?.saturating_add(SignedDuration::from_nanos(since_ns)),
        );
        let fault = if utc.is_ambiguous() { Twice } else { OutOfRange };
        let utc = utc.unambiguous().map_err(|_| fault)?.as_nanosecond();
        if self.clock.is_leap {
            return epochs::leap(utc);
        }
        in_range(utc, (since_ns == DAY_NS).then_some("written as 24:00, which is 00:00 of the next day"))
    }
}

impl Clock {
    /// What stands behind a date: nothing, or a time of day behind a T, a low line, blanks or, of a whole year, a colon. (Mar 25 20:00:00 has no year.)
    fn after_date(rest: &str, has_whole_year: bool) -> Option<Self> {
        Self::read(match rest.strip_prefix(['T', 't', '_', ':']) {
            _ if rest.starts_with(':') && !has_whole_year => return None,
            None if rest.is_empty() => return Some(Self { since_ns: Ok(0), is_leap: false, zone: None }),
            None => rest.trim_start_matches(',').strip_prefix(char::is_whitespace)?.trim_start(),
            Some(clock) => clock,
        })
    }

    /// 23:50, 23:50:00.5, 23.50.00, 2350, 235000 or 23, with AM or PM and a zone where there are any.
    fn read(text: &str) -> Option<Self> {
        if let Some(found) = HALF_FIRST.captures(text) {
            let half = if found.get(1).is_some() { "AM" } else { "PM" };
            return Self::read(&format!("{} {half}", &found[2]));
        }
        let marked = match text.bytes().take_while(u8::is_ascii_digit).count() {
            4 => &format!("{}:{}", &text[..2], &text[2..]),
            6 => &format!("{}:{}:{}", &text[..2], &text[2..4], &text[4..]),
            _ => text,
        };
        let found = CLOCK.captures(marked)?;
        let part = |part: usize| found.get(part).map_or("", |part| part.as_str());
        let number = |place| part(place).parse().unwrap_or(0);
        let (half, rest) = (part(7), part(8));
        let is_hour = !half.is_empty() || rest.is_empty() && part(1).len() == 2;
        match (part(2), part(4)) {
            ("", _) if !is_hour => return None,
            (".", "") => return None, // 23.50 is a number
            (one, other) if !other.is_empty() && one != other => return None,
            _ => {}
        }
        let fraction = format!("{:0<9}", part(6));
        let hour = match (half, number(1)) {
            ("", hour) => hour,
            ("a" | "A", hour @ 1..=12) => hour % 12,
            (_, hour @ 1..=12) => hour % 12 + 12,
            _ => 99, // 0 PM or 13 PM: no such time
        };
        let (minute, second) = (number(3), number(5));
        let since_ns =
            ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + fraction[..9].parse::<i64>().ok()?;
        let is_time = (hour < 24 || since_ns == DAY_NS) && minute < 60 && second <= 60;
        let since_ns = match fraction[9..].contains(|digit| digit != '0') {
            _ if !is_time => Err(NoSuchTime),
            true => Err(TooFine),
            false => Ok(since_ns),
        };
        let zone = if rest.is_empty() { None } else { Some(zone(rest)?) };
        Some(Self { since_ns, is_leap: second == 60, zone })
    }
}

// An offset, maybe behind UTC, and a name, of which there is one at least.
pattern!(ZONE, r"^(?:UTC|GMT)?([-+][0-9:]+)?[ \[]*([A-Za-z][\w/+-]*)?\]?$");

/// The zone that stands at the end of a time. An offset counts before a name that follows it.
fn zone(text: &str) -> Option<TimeZone> {
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    // Names that mean one offset wherever they are used. (CST, IST and BST do not.)
    let offsets = "Z+00 z+00 UTC+00 GMT+00 UT+00 WET+00 WEST+01 CET+01 MEZ+01 CEST+02 MESZ+02 EET+02 EEST+03 EST-05 EDT-04 MST-07 MDT-06 PST-08 PDT-07 CDT-05 AKST-09 AKDT-08 HST-10 MSK+03 SGT+08 HKT+08 JST+09 KST+09 AEST+10 AEDT+11 NZST+12 NZDT+13";
    let known_zone = |text: &str| DateTimeParser::new().parse_time_zone(text).ok();
    let mut known = offsets.split(' ').filter_map(|known| known.strip_prefix(text));
    if let Some(offset) = known.find(|rest| rest.starts_with(['+', '-'])) {
        return known_zone(offset);
    }
    let found = ZONE.captures(text.split(" (").next()?)?;
    let part = |part| found.get(part).map_or("", |part| part.as_str());
    let mut offset = part(1).to_owned();
    if offset.find(':').unwrap_or(offset.len()) == 2 {
        offset.insert(1, '0');
    }
    match part(2) {
        _ if !offset.is_empty() => known_zone(&offset),
        name if name.contains('/') => known_zone(name),
        _ => None,
    }
}

/// Where year, month and day stand, in the order of [`TimeFormat::DATES`].
const PLACES: [[usize; 3]; 3] = [[0, 1, 2], [2, 1, 0], [2, 0, 1]];

/// The dates that three numbers with these widths can be. A month may be given by its name. Where no order gives a month, all that the widths allow are
/// taken: that is no such date.
fn dates(numbers: [i16; 3], widths: [usize; 3], named: Option<usize>) -> Option<Dates> {
    let fits = |is_strict: bool| {
        PLACES.map(|[year, month, day]| {
            let is_year = match widths[year] {
                4 => !is_strict || numbers[month] <= 12,
                // Nobody writes the year first where the month has a name.
                2 => {
                    matches!((numbers[month], numbers[day]), (1..=12, 1..=31))
                        && (year > 0 || named.is_none())
                }
                _ => false,
            };
            let is_date = is_year
                && named.is_none_or(|named| named == month)
                && widths[month] <= 2
                && matches!(widths[day], 1 | 2);
            is_date.then_some([year, month, day].map(|place| numbers[place]))
        })
    };
    [true, false].map(fits).into_iter().find(|dates| dates.iter().any(Option::is_some))
}

fn in_range(time_ns: i128, oddity: Option<&'static str>) -> Result<Instant, TimeFault> {
    match i64::try_from(time_ns) {
        Ok(time_ns) if TimeRange::OF_RECORDINGS.contains(time_ns) => Ok(Instant { time_ns, oddity }),
        _ => Err(OutOfRange),
    }
}

/// Every format in which all numbers from the smallest to the largest are plausible times: what they count, or the digits of a date, which may be before
/// 2000.
pub fn meanings((smallest, largest): (f64, f64)) -> Vec<TimeFormat> {
    let times = plausible();
    EPOCHS
        .iter()
        .cloned()
        .map(Count)
        .chain([YearMonthDay])
        .filter(|format| {
            [smallest, largest].iter().all(|number| {
                format.read(&number.to_string()).is_ok_and(|Instant { time_ns, .. }| {
                    time_ns < times.end && (time_ns >= times.start || !format.is_count())
                })
            })
        })
        .collect()
}

/// Whether the text is a time of day alone, and then whether it names a zone. Without a mark, 2000Z and 2023-01 are none.
pub fn read_clock(text: &str) -> Option<bool> {
    text.find([':', '.', 'm', 'M'])?;
    let mut parts = text.split([':', '.']).skip(1).take(2);
    let is_one = |part: &str| part.bytes().take_while(u8::is_ascii_digit).count() == 1;
    let clock = Clock::read(text)?;
    (!parts.any(is_one) && clock.since_ns.is_ok()).then_some(clock.zone.is_some())
}

/// The number of a month that is given by its name. Three letters are enough.
fn month(name: &str) -> Option<i16> {
    // How the names of months begin in English, German, French, Spanish, Italian and Dutch.
    let months = "jan ene gen|feb fév|mar mär mrz maa mrt|apr avr abr|may mai mei mag|jun juin giu|jul juil lug|aug aoû ago|sep set|oct okt ott|nov|dec dez déc dic";
    let name = name.to_lowercase();
    months
        .split('|')
        .zip(1..)
        .find_map(|(starts, number)| starts.split(' ').any(|start| name.starts_with(start)).then_some(number))
}

/// Whether a text is what may stand in a column behind that of times, AM or PM or a zone, and then whether it is a zone.
pub fn read_tail(text: &str) -> Option<bool> {
    Some(Clock::read(&format!("1:00 {text}")).filter(|_| text.len() > 1)?.zone.is_some())
}

#[cfg(test)]
mod tests;
