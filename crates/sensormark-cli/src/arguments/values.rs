//! Lengths of time and sizes, as people write them: with a unit, or as a number in the unit that the option says.

use sensormark_data::quantity::{Quantity, duration_ns, quantity};
use std::time::Duration;

/// Bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

/// The largest size: a petabyte.
const LARGEST_BYTES: f64 = 1e15;
/// The bytes of a number without a unit.
const MIB: f64 = 1_048_576.0;
const GB: f64 = 1e9;

/// An operation's time limit in ms, at least one.
pub fn milliseconds(limit: Duration) -> u64 {
    u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// A seed.
///
/// # Errors
/// What a seed looks like.
pub fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse();
    seed.map_err(|_| "a seed is a whole number from 0 to 18446744073709551615".to_owned())
}

/// A size of memory; a number alone is of MiB.
///
/// # Errors
/// What a size looks like.
pub fn size(text: &str) -> Result<Size, String> {
    bytes(text, MIB, "1GB, 512MiB, or a number of MiB")
}

/// A size of a disk; a number alone is of GB.
///
/// # Errors
/// What a size looks like.
pub fn disk(text: &str) -> Result<Size, String> {
    bytes(text, GB, "500GB, 2TB, or a number of GB")
}

fn bytes(text: &str, unit: f64, examples: &str) -> Result<Size, String> {
    let bytes = match quantity(text) {
        Some((number, Quantity::Number)) => Some(number * unit),
        Some((bytes, Quantity::Size)) => Some(bytes),
        _ => None,
    };
    let bytes = bytes.filter(|bytes| (1.0..=LARGEST_BYTES).contains(bytes));
    bytes
        .map(|bytes| Size(sensormark_data::units::round_u64(bytes)))
        .ok_or_else(|| format!("a size is over 0 and is written like {examples}"))
}

/// Cores, in thousandths.
///
/// # Errors
/// What a number of cores looks like.
pub fn millicores(text: &str) -> Result<u32, String> {
    let cores = text.parse().ok().filter(|cores: &f64| (0.01..=4_096.0).contains(cores));
    let millicores =
        cores.and_then(|cores| u32::try_from(sensormark_data::units::round_u64(cores * 1e3)).ok());
    millicores.ok_or_else(|| "a number of cores is from 0.01 to 4096: 0.5, 2".to_owned())
}

/// A length of time; a number alone is of seconds.
///
/// # Errors
/// What a length of time looks like.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "a length of time is over 0 and is written like 500ms, 10s, 1h30m, or a number of seconds";
    let text = match text.parse::<f64>() {
        Ok(seconds) => format!("{seconds}s"),
        Err(_) => text.to_owned(),
    };
    let ns = duration_ns(&text).map_err(|_| wrong())?;
    Ok(Duration::from_nanos(ns.unsigned_abs()))
}

/// An age: a length of time, or none at all.
///
/// # Errors
/// What a length of time looks like.
pub fn age(text: &str) -> Result<Duration, String> {
    match text {
        "0" | "0s" => Ok(Duration::ZERO),
        _ => time(text),
    }
}

/// A length of time in whole seconds, one or more.
///
/// # Errors
/// What it looks like.
pub fn whole_seconds(text: &str) -> Result<u64, String> {
    let seconds = time(text)?.as_secs_f64().round();
    match sensormark_data::units::round_u64(seconds) {
        0 => Err("it has to be one second or more".to_owned()),
        seconds => Ok(seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_or_those_of_their_option() {
        for (text, bytes) in [
            ("1024", 1_073_741_824),
            ("1GB", 1_000_000_000),
            ("512 MiB", 536_870_912),
            ("1.5GiB", 1_610_612_736),
        ] {
            assert_eq!(size(text), Ok(Size(bytes)), "{text}");
        }
        for wrong in ["", "x", "-1", "1.5", "1e3"] {
            assert!(seed(wrong).is_err_and(|why| why.contains("whole number")));
        }
        assert_eq!(disk("500"), Ok(Size(500_000_000_000)));
        assert_eq!(disk("2TB"), Ok(Size(2_000_000_000_000)));
        for wrong in ["", "much", "0", "-1", "10s", "5%", "1e9TB", "NaN"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn cores_are_numbers() {
        assert_eq!([millicores("0.5"), millicores("2")], [Ok(500), Ok(2_000)]);
        for wrong in ["", "half", "0", "-1", "5000", "NaN"] {
            assert!(millicores(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lengths_of_time_have_units_or_are_seconds() {
        assert_eq!(time("10"), Ok(Duration::from_secs(10)));
        assert_eq!(time("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("1h30m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(whole_seconds("2m"), Ok(120));
        for wrong in ["", "soon", "0", "-3", "5GB", "inf"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert!(whole_seconds("100ms").is_err());
        assert_eq!(age("0s"), Ok(Duration::ZERO));
        assert_eq!(age("7d"), Ok(Duration::from_secs(604_800)));
        assert!(age("-1s").is_err());
    }
}
