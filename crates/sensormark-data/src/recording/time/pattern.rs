//! Times by a pattern of strftime, as jiff reads it.

use super::*;
use jiff::{fmt::strtime, tz::Offset};

/// Whether a pattern names a date: with it, a time that is written by the pattern is read again.
pub fn check(pattern: &str) -> Result<(), String> {
    let written = strtime::format(pattern, &Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC));
    let is_read = written.is_ok_and(|text| read(pattern, &text).is_ok());
    is_read.then_some(()).ok_or_else(|| {
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
    let time = parts.to_zoned().map_err(|_| if has_name { Twice } else { NoSuchTime })?;
    let time_ns = time.timestamp().as_nanosecond();
    // jiff makes 59 of the second 60.
    let are_59 = 1 + (parts.minute() == Some(59)) as usize;
    if parts.second() == Some(59) && text.matches("59").count() < are_59 {
        return epochs::leap(time_ns + 1_000_000_000);
    }
    in_range(time_ns, None)
}
