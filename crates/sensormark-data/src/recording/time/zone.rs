//! Zones as times name them: Z, +01:00, CET, [Europe/Berlin].

use super::*;
use jiff::fmt::temporal::DateTimeParser;

// An offset, maybe behind UTC, and a name, of which there is one at least.
pattern!(ZONE, r"^(?:UTC|GMT)?([-+][0-9:]+)?[ \[]*([A-Za-z][\w/+-]*)?\]?$");

/// The zone that stands at the end of a time. An offset counts before a name that follows it.
pub fn read(text: &str) -> Option<TimeZone> {
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    // Names that mean one offset wherever they are used. (CST, IST and BST do not.)
    let offsets = "Z+00 z+00 UTC+00 GMT+00 UT+00 WET+00 WEST+01 CET+01 MEZ+01 CEST+02 MESZ+02 EET+02 EEST+03 EST-05 EDT-04 MST-07 MDT-06 PST-08 PDT-07 CDT-05 AKST-09 AKDT-08 HST-10 MSK+03 SGT+08 HKT+08 JST+09 KST+09 AEST+10 AEDT+11 NZST+12 NZDT+13";
    let zone = |text: &str| DateTimeParser::new().parse_time_zone(text).ok();
    let mut known = offsets.split(' ').filter_map(|known| known.strip_prefix(text));
    if let Some(offset) = known.find(|rest| rest.starts_with(['+', '-'])) {
        return zone(offset);
    }
    let found = ZONE.captures(text.split(" (").next()?)?;
    let part = |part| found.get(part).map_or("", |part| part.as_str());
    let mut offset = part(1).to_owned();
    if offset.find(':').unwrap_or(offset.len()) == 2 {
        offset.insert(1, '0');
    }
    match part(2) {
        _ if !offset.is_empty() => zone(&offset),
        name if name.contains('/') => zone(name),
        _ => None,
    }
}
