//! The formats of times by name, and why a text is none. How they are read is in `time` and `epochs`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeFormat {
    /// 2015-02-11 14:48:00.5, also with T, slashes or dots, a zone, or without a clock; also 20150211, 2015021114 and on.
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
    /// Seconds since 1980-01-06, leap seconds counted.
    Gps,
    /// Seconds since 1904, as LabVIEW and old Macs count.
    Labview,
    /// Seconds since 1900, as NTP counts.
    Ntp,
    /// Steps of 100 ns since 1601, as Windows counts.
    Filetime,
    /// Steps of 100 ns since the year 1, as .NET counts.
    DotnetTicks,
}

/// Why a text is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum TimeFault {
    /// It is not written so.
    Shape,
    /// It is written so, but there is no such day or time of day.
    NoSuchTime,
    /// It has digits beyond the nanosecond (or, of counted times, beyond the unit).
    TooFine,
    /// It is outside of `TimeRange::OF_READINGS`.
    OutOfRange,
}

impl TimeFormat {
    /// All formats, as messages list them.
    pub const ALL: [Self; 12] = [
        Self::YearMonthDay,
        Self::DayMonthYear,
        Self::MonthDayYear,
        Self::UnixSeconds,
        Self::UnixMilliseconds,
        Self::UnixMicroseconds,
        Self::UnixNanoseconds,
        Self::Gps,
        Self::Labview,
        Self::Ntp,
        Self::Filetime,
        Self::DotnetTicks,
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
            Self::Gps => "gps",
            Self::Labview => "labview",
            Self::Ntp => "ntp",
            Self::Filetime => "filetime",
            Self::DotnetTicks => "dotnet-ticks",
        }
    }

    /// Whether it is a number that counts from some day.
    pub(in super::super) const fn is_count(self) -> bool {
        !matches!(self, Self::YearMonthDay | Self::DayMonthYear | Self::MonthDayYear)
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
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("{name:?} is no time format; there are {names}")
        })
    }
}

impl TimeFault {
    /// Why, in words.
    pub(in super::super) const fn reason(self) -> &'static str {
        match self {
            Self::Shape => "is not a time of the column's format",
            Self::NoSuchTime => "is no such date or time of day",
            Self::TooFine => "has digits beyond the nanosecond or the unit",
            Self::OutOfRange => "is outside of the years 1970 to 2261",
        }
    }
}
