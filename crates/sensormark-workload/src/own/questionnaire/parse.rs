//! Reading answers: each says what is wrong with the text and what a right one looks like.

use super::answers::{Asked, Loss, Size};
use super::measure::Measure;
use super::text::list;
use crate::own::file::StoreCheck;
use sensormark_data::nearest::unknown;
use sensormark_data::quantity::{Quantity, duration_ns, length_text, quantity};
use sensormark_data::units::round_u64;

/// The most sensors.
const MOST_SENSORS: u32 = 10_000_000;
/// The slowest and the fastest that all sensors may send, in readings a second.
const RATES: std::ops::RangeInclusive<f64> = 0.000_01..=1e7;
/// The largest share that may come late or twice.
pub(super) const MOST_DISORDER: f64 = 0.5;

const ASKED: [(&str, Asked); 4] = [
    ("live", Asked::Live),
    ("history", Asked::History),
    ("dashboards", Asked::Dashboards),
    ("alerts", Asked::Alerts),
];

impl Asked {
    /// Its name, which its query and its limit have too.
    pub fn name(self) -> &'static str {
        let found = ASKED.iter().find(|(_, asked)| *asked == self);
        found.map_or("", |(name, _)| name)
    }
}

fn plain(text: &str) -> String {
    text.replace(['_', ','], "")
}

pub fn sensors(text: &str) -> Result<u32, String> {
    let found = plain(text).parse().ok();
    let fits = found.filter(|count| (1..=MOST_SENSORS).contains(count));
    fits.ok_or_else(|| format!("{text:?} is no number of sensors; write a whole number from 1 to 10,000,000"))
}

/// Whether the sensors together send at a rate that can be measured.
pub fn interval(interval_ns: i64, sensors: u32) -> Result<(), String> {
    let rate = f64::from(sensors) * 1e9 / interval_ns as f64;
    if RATES.contains(&rate) {
        return Ok(());
    }
    let all = if sensors == 1 { "1 sensor sends".to_owned() } else { format!("{sensors} sensors send") };
    Err(format!("{all} {rate} readings a second then; it has to be 0.00001 to 10,000,000"))
}

/// The share of late ones, how late they are where it is said, and the share of those that come twice.
pub fn disorder(text: &str) -> Result<(f64, Option<i64>, f64), String> {
    let wrong = || format!("{text:?} is not understood; write none, or such as: 1 % late, 0.1 % twice");
    let (mut late, mut late_by_ns, mut repeated) = (0.0, None, 0.0);
    if ["none", "no", "0"].contains(&text) {
        return Ok((late, late_by_ns, repeated));
    }
    for part in list(text) {
        let (kind, by) = match part.split_once(" by ") {
            Some((kind, by)) => (kind, Some(by)),
            None => (part, None),
        };
        let (share, word) = kind.rsplit_once(' ').ok_or_else(wrong)?;
        let share = match quantity(share) {
            Some((share, Quantity::Share)) => (share * 1e6).round() / 1e6,
            _ => return Err(wrong()),
        };
        if !(0.0..=MOST_DISORDER).contains(&share) {
            return Err(format!("{part:?}: it has to be 0 to 50 %"));
        }
        match (word, by) {
            ("late", by) => (late, late_by_ns) = (share, by.map(duration_ns).transpose()?),
            ("twice", None) => repeated = share,
            _ => return Err(wrong()),
        }
    }
    Ok((late, late_by_ns, repeated))
}

/// From reading to reading, in ns: a length of time, or a rate in Hz.
pub fn every(text: &str) -> Result<i64, String> {
    let Some(rate) = text.strip_suffix("Hz") else { return duration_ns(text) };
    let rate: Option<f64> = rate.trim().parse().ok();
    let interval = rate.filter(|rate| (1e-9..=1e9).contains(rate)).map(|rate| round_u64(1e9 / rate));
    let interval = interval.and_then(|ns| i64::try_from(ns).ok());
    interval.ok_or_else(|| format!("{text:?} is no rate; write it like 2 Hz or 0.1 Hz"))
}

/// Readings of a write; none for those of a second.
pub fn write_size(text: &str) -> Result<Option<u64>, String> {
    if text == "1s" {
        return Ok(None);
    }
    let found = plain(text).parse().ok().filter(|size| (1..=1_000_000).contains(size));
    let wrong = || format!("{text:?} is no size of a write; write a whole number from 1 to 1,000,000, or 1s");
    found.map(Some).ok_or_else(wrong)
}

/// A length of time that is no shorter than the interval.
pub fn no_shorter(length_ns: i64, interval_ns: i64) -> Result<i64, String> {
    if length_ns >= interval_ns {
        return Ok(length_ns);
    }
    Err(format!(
        "that is shorter than from reading to reading of a sensor, which is {}",
        length_text(interval_ns)
    ))
}

pub fn asked(text: &str) -> Result<Vec<Asked>, String> {
    let mut found = Vec::new();
    for part in list(text) {
        let known = ASKED.iter().find(|(name, _)| *name == part);
        let names = || ASKED.iter().map(|(name, _)| (*name).to_owned());
        let (_, one) = known.ok_or_else(|| unknown("question", part, names()))?;
        if !found.contains(one) {
            found.push(*one);
        }
    }
    if found.is_empty() {
        return Err("name one or more of live, history, dashboards, alerts".to_owned());
    }
    Ok(found)
}

/// Means and thresholds are of numbers.
pub fn needs_number(asked: &[Asked], measures: &[Measure]) -> Result<(), String> {
    let of_numbers = [Asked::Dashboards, Asked::Alerts];
    let needing = asked.iter().find(|one| of_numbers.contains(one));
    match needing {
        Some(one) if !measures.iter().any(Measure::is_number) => Err(format!(
            "{} are about numbers, and the sensors measure none; leave it out, or measure a number too",
            one.name()
        )),
        _ => Ok(()),
    }
}

pub fn loss(text: &str) -> Result<Loss, String> {
    match (text, quantity(text)) {
        ("nothing" | "none" | "0", _) => Ok(Loss::Nothing),
        ("moments", _) => Ok(Loss::Moments),
        (_, Some((share, Quantity::Share))) if (0.0..1.0).contains(&share) => {
            Ok(Loss::Share(text.to_owned()))
        }
        _ => Err(format!(
            "{text:?} is not understood; write nothing, moments, or a share below 100 %, like 0.1 %"
        )),
    }
}

pub fn headroom(text: &str) -> Result<f64, String> {
    let found: Option<f64> = plain(text).parse().ok();
    let fits = found.filter(|times| (1.0..=1e6).contains(times));
    fits.ok_or_else(|| format!("{text:?} is no such number; write 1 or more, like 2 or 1.5"))
}

pub fn size(text: &str) -> Result<Size, String> {
    match quantity(text) {
        Some((bytes, Quantity::Size)) if (1e6..=1e18).contains(&bytes) => {
            Ok(Size { text: text.to_owned(), bytes })
        }
        Some((_, Quantity::Size)) => Err(format!("{text:?}: it has to be 1 MB or more")),
        _ => Err(format!("{text:?} is no size; write a number with its unit, like 512 MiB, 4 GB or 2 TB")),
    }
}

pub fn stores(text: &str, is_store: StoreCheck<'_>) -> Result<Vec<String>, String> {
    let found: Vec<String> = list(text).map(str::to_owned).collect();
    if found.is_empty() {
        return Err("name one or more databases; sensormark list shows all".to_owned());
    }
    found.iter().try_for_each(|one| is_store(one))?;
    Ok(found)
}
