//! Lengths of time, sizes and shares as people write them: `250 ms`, `1h30m`, `1.5 GB`, `0.1 %`.

use itertools::Itertools;

/// Units of time and their lengths in ns. A month has 30 days, a year 365.
const TIMES: &str = "ns 1 us 1e3 µs 1e3 ms 1e6 s 1e9 second 1e9 seconds 1e9 m 6e10 min 6e10 minute 6e10 minutes 6e10 h 36e11 hour 36e11 hours 36e11 d 864e11 day 864e11 days 864e11 w 6048e11 week 6048e11 weeks 6048e11 month 2592e12 months 2592e12 y 31536e12 year 31536e12 years 31536e12";

/// Units of size, in bytes.
const SIZES: &str =
    "B 1 bytes 1 kB 1e3 KB 1e3 MB 1e6 GB 1e9 TB 1e12 KiB 1024 MiB 1048576 GiB 1073741824 TiB 1099511627776";

/// The longest length of time: a hundred years, in ns.
const LONGEST_NS: f64 = 3.2e18;

/// A length of time, in ns.
///
/// # Errors
/// What a length looks like.
pub fn duration_ns(text: &str) -> Result<i64, String> {
    let parts = parts(text, TIMES).filter(|parts| !parts.is_empty());
    let sum: Option<f64> = parts.map(|parts| parts.iter().sum());
    let fits = sum.filter(|sum| (1.0..LONGEST_NS).contains(sum));
    #[expect(clippy::cast_possible_truncation, reason = "bounded just before")]
    let whole = fits.map(|sum| sum.round() as i64);
    whole.ok_or_else(|| {
        format!(
            "{text:?} is no length of time; write it like \"10s\", \"250ms\", \"5m\", \"1h30m\" or \"7d\""
        )
    })
}

/// A number with an optional unit of time, size or share: its value in ns, bytes or parts of one, and which of these it was.
pub fn quantity(text: &str) -> Option<(f64, Quantity)> {
    let text = text.trim();
    if let Ok(number) = text.replace(['_', ','], "").parse::<f64>() {
        return number.is_finite().then_some((number, Quantity::Number));
    }
    if let Some(number) = text.strip_suffix('%') {
        let percent: f64 = number.trim().parse().ok()?;
        return Some((percent / 100.0, Quantity::Share));
    }
    if let Some(parts) = parts(text, TIMES) {
        return Some((parts.iter().sum(), Quantity::Time));
    }
    let parts = parts(text, SIZES)?;
    Some((parts.iter().sum(), Quantity::Size))
}

/// What a number is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Without a unit.
    Number,
    /// A length of time, in ns.
    Time,
    /// Bytes.
    Size,
    /// A part of one.
    Share,
}

/// Numbers with units, one after the other, each times its unit.
fn parts(text: &str, units: &str) -> Option<Vec<f64>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = rest[end..].trim_start();
        let end = rest.find(|c: char| c.is_ascii_digit() || c.is_whitespace()).unwrap_or(rest.len());
        let (_, factor) = units.split(' ').tuples().find(|(unit, _)| *unit == &rest[..end])?;
        parts.push(number * factor.parse::<f64>().ok()?);
        rest = rest[end..].trim_start();
    }
    Some(parts)
}

/// A length of time in the largest unit that leaves no more than three places: "1.5 ms".
pub fn duration_text(ns: f64) -> String {
    in_largest(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (0.0, "ns")])
}

/// A size in the largest unit of a thousand that leaves at least one: "1.50 GB".
pub fn size_text(bytes: f64) -> String {
    in_largest(bytes, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (0.0, "bytes")])
}

/// The value in the first unit that is not larger than it.
fn in_largest(value: f64, units: &[(f64, &str)]) -> String {
    let found = units.iter().find(|(one, _)| value.abs() >= *one);
    let (one, unit) = found.copied().unwrap_or_default();
    format!("{} {unit}", short(value / one.max(1.0)))
}

/// A length of time as people write it, in whole units: "1h30m", "250ms".
pub fn length_text(ns: i64) -> String {
    let (mut text, mut rest) = (String::new(), ns);
    for unit in ["d", "h", "m", "s", "ms", "us", "ns"] {
        let one = duration_ns(&format!("1{unit}")).unwrap_or(i64::MAX);
        if rest / one > 0 {
            text.push_str(&format!("{}{unit}", rest / one));
            rest %= one;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// A number with three significant digits, or all of a whole number.
pub fn short(value: f64) -> String {
    if value == value.trunc() || value.abs() >= 1e3 {
        format!("{value:.0}")
    } else if value.abs() >= 100.0 {
        format!("{value:.1}")
    } else if value.abs() >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time() {
        let lengths = [
            ("10s", 10_000_000_000),
            ("250 ms", 250_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5s", 1_500_000_000),
            ("7d", 604_800_000_000_000),
            ("2 minutes 5 seconds", 125_000_000_000),
        ];
        for (text, ns) in lengths {
            assert_eq!(duration_ns(text), Ok(ns), "{text}");
        }
        for wrong in ["", "10", "s", "ten s", "10 parsecs", "0s", "-1s", "1e9d"] {
            assert!(duration_ns(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lengths_and_sizes_are_written_as_they_are_read() {
        for text in ["90d", "5h", "250ms", "35s", "1h30m", "7us", "1us1ns"] {
            let ns = duration_ns(text).expect(text);
            assert_eq!(length_text(ns), text);
        }
        let sizes = [(4.1e9, "4.10 GB"), (2e12, "2 TB"), (1.5e6, "1.50 MB"), (512.0, "512 bytes")];
        for (bytes, text) in sizes {
            assert_eq!(size_text(bytes), text);
        }
        assert_eq!(length_text(0), "0s");
    }

    #[test]
    fn quantities() {
        assert_eq!(quantity("10_000"), Some((10_000.0, Quantity::Number)));
        assert_eq!(quantity("50 ms"), Some((5e7, Quantity::Time)));
        assert_eq!(quantity("1.5 GB"), Some((1.5e9, Quantity::Size)));
        assert_eq!(quantity("5%"), Some((0.05, Quantity::Share)));
        assert_eq!(quantity("fast"), None);
    }
}
