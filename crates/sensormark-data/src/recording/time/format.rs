//! The formats of times: by name, or patterns of strftime, as jiff reads them; and why a text is none. How the others are read is in `time` and `epochs`.

use super::*;
use jiff::{fmt::strtime, tz::Offset};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use thiserror::Error;

/// How a time is written.
#[derive(Debug, Clone, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub enum TimeFormat {
    /// 2015-02-11 14:48:00.5, also with T, slashes or dots, a zone, or without a clock; also 20150211, 2015021114 and on.
    YearMonthDay,
    /// 11.02.2015 14:48, also with slashes or hyphens, the month's name, or two digits of the year.
    DayMonthYear,
    /// 02/11/2015 2:48 PM, also with dots or hyphens, the month's name, or two digits of the year.
    MonthDayYear,
    /// A number that counts from some day.
    Count(Epoch),
    /// As a pattern of strftime says.
    Pattern(String),
}

/// Why a text is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum TimeFault {
    /// It is not written so.
    #[error("is not a time of the column's format")]
    Shape,
    /// It is written so, but there is no such day or time of day.
    #[error("is no such date or time of day")]
    NoSuchTime,
    /// Its zone has this time twice, or leaves it out.
    #[error("is a time that its zone has twice or leaves out; write it with an offset")]
    Twice,
    /// It has digits beyond the nanosecond (or, of counted times, beyond the unit).
    #[error("has digits beyond the nanosecond or the unit")]
    TooFine,
    /// It is outside of `TimeRange::OF_RECORDINGS`.
    #[error("is outside of the years 1678 to 2261")]
    OutOfRange,
}

impl TimeFormat {
    /// Those that read dates, in the order of [`super::Dates`].
    pub const DATES: [Self; 3] = [Self::YearMonthDay, Self::DayMonthYear, Self::MonthDayYear];

    /// The names of all formats, as messages list them.
    pub fn names() -> String {
        let mut names =
            Self::DATES.iter().map(Self::name).chain(EPOCHS.iter().map(|epoch| epoch.name.as_str()));
        format!(
            "{}, 'hours since 1900-01-01' or the like, or a pattern such as '%d.%m.%Y %H:%M:%S'",
            names.join(", ")
        )
    }

    /// The name by which an option gives it.
    pub fn name(&self) -> &str {
        match self {
            Self::YearMonthDay => "year-month-day",
            Self::DayMonthYear => "day-month-year",
            Self::MonthDayYear => "month-day-year",
            Self::Count(epoch) => &epoch.name,
            Self::Pattern(pattern) => pattern,
        }
    }

    /// Whether it is a number that counts from some day.
    pub fn is_count(&self) -> bool {
        matches!(self, Self::Count(_))
    }

    /// Whether it counts from 1970.
    pub fn is_unix(&self) -> bool {
        self.name().starts_with("unix-")
    }
}

impl Display for TimeFormat {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for TimeFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name.contains('%') {
            return check(name).map(|()| Self::Pattern(name.to_owned()));
        }
        Self::DATES
            .into_iter()
            .find(|format| format.name() == name)
            .or_else(|| Epoch::named(name).map(Self::Count))
            .ok_or_else(|| format!("{name:?} is no time format; there are {}", Self::names()))
    }
}

/// A time as a pattern writes it.
pub fn written(pattern: &str) -> String {
    strtime::format(pattern, &Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC)).unwrap_or_default()
}

/// Whether a pattern names a date: with it, a time that is written by the pattern is read again.
pub fn check(pattern: &str) -> Result<(), String> {
    read(pattern, &written(pattern)).ok().map(drop).ok_or_else(|| {
        format!("{pattern:?} is no pattern that gives a date; write it as strftime does, such as '%d.%m.%Y %H:%M:%S'")
    })
}

/// Reads a time. Without a zone it is of UTC.
pub fn read(pattern: &str, text: &str) -> Result<Instant, TimeFault> {
    let mut parts = strtime::parse(pattern, text).map_err(|_| Shape)?;
    let has_name = parts.iana_time_zone().is_some();
    if !has_name && parts.offset().is_none() {
        parts.set_offset(Some(Offset::UTC));
    }
    if parts.month().is_some() && parts.day().is_none() {
        // A month begins on its first day.
        parts.set_day(Some(1)).map_err(|_| Shape)?;
    }
    let time = parts.to_zoned().map_err(|_| if has_name { Twice } else { NoSuchTime })?;
    let time_ns = time.timestamp().as_nanosecond();
    // jiff makes 59 of the second 60.
    let are_59 = 1 + (parts.minute() == Some(59)) as usize;
    if parts.second() == Some(59) && text.matches("59").count() < are_59 {
        return epochs::leap(time_ns + 1_000_000_000);
    }
    in_range(time_ns, None)
}
