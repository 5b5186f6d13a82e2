//! Zones as times name them: Z, +01:00, CET, [Europe/Berlin].

use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{TimeZone, offset};

/// Abbreviations that mean one offset wherever they are used, in hours. (CST, IST and BST do not.)
const OFFSETS: [(&str, i8); 14] = [
    ("WET", 0),
    ("WEST", 1),
    ("CET", 1),
    ("MEZ", 1),
    ("CEST", 2),
    ("MESZ", 2),
    ("EET", 2),
    ("EEST", 3),
    ("EST", -5),
    ("EDT", -4),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
];

/// The zone that stands at the end of a time. An offset counts before a name that follows it.
pub(super) fn read(text: &str) -> Option<TimeZone> {
    if matches!(text, "Z" | "z" | "UTC" | "GMT" | "UT") {
        return Some(TimeZone::UTC);
    }
    if let Some((_, hours)) = OFFSETS.iter().find(|(name, _)| *name == text) {
        return Some(TimeZone::fixed(offset(*hours)));
    }
    let (first, name) = text.split_at(text.find([' ', '[', '(']).unwrap_or(text.len()));
    let name = name.trim_matches([' ', '[', ']', '(', ')']);
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphabetic() || b"/_+-0123456789".contains(&byte));
    if !is_name || name.starts_with(['+', '-']) {
        return None;
    }
    let plain = ["UTC", "GMT"].into_iter().find_map(|name| first.strip_prefix(name)).unwrap_or(first);
    if plain.starts_with(['+', '-']) {
        return DateTimeParser::new().parse_time_zone(plain).ok();
    }
    match (first, name) {
        ("", name) if name.contains('/') => TimeZone::get(name).ok(),
        (first, "") if first.contains('/') => TimeZone::get(first).ok(),
        _ => None,
    }
}
