//! Means that are kept when readings go: then the file is of a life, in which readings become old and go.

use super::answers::Answers;
use super::measure::Measure;
use super::text::list;
use sensormark_data::quantity::length_text;
use sensormark_data::units::round_u64;
use serde_json::{Value, json};

/// Readings are written for so many times as long as they are kept, in rounds of such a part of that.
const KEPT_TIMES: i64 = 2;
const ROUNDS_KEPT: i64 = 8;
/// The most readings of such a life, which this rate writes in minutes.
const MOST_READINGS: f64 = 500_000.0;
const LIFE_RATE: f64 = 5_000.0;
/// A window holds so many readings at least, where they have to be rarer.
const LEAST_IN_WINDOW: i64 = 4;

/// What is kept when readings go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Means {
    /// The window of a rollup, in ns.
    every_ns: i64,
    /// Whether old readings are compressed before they go.
    compressed: bool,
}

/// What is kept of these measures; nothing where none.
pub fn means(text: &str, measures: &[Measure]) -> Result<Option<Means>, String> {
    let parts: Vec<&str> = list(text).collect();
    let every_ns = match parts.as_slice() {
        ["none"] => return Ok(None),
        ["hour"] | ["hour", "compressed"] => 3_600_000_000_000,
        ["day"] | ["day", "compressed"] => 86_400_000_000_000,
        _ => {
            let right = "write none, hour or day, or such as: day, compressed";
            return Err(format!("{text:?} is not understood; {right}"));
        }
    };
    match measures.iter().any(Measure::is_number) {
        true => Ok(Some(Means { every_ns, compressed: parts.len() > 1 })),
        false => Err("means are of numbers, and the sensors measure none; write none".to_owned()),
    }
}

impl Answers {
    /// The same with no more readings than a life can have: rarer ones, and of fewer sensors where a window would hold too few.
    pub(super) fn fitted(&self) -> Self {
        let Some(means) = self.means else { return self.clone() };
        let span_ns = self.keep_ns as f64 * KEPT_TIMES as f64;
        let rarer_ns = round_u64(span_ns * f64::from(self.sensors) / MOST_READINGS).cast_signed();
        let rarer_ns = rarer_ns.min(means.every_ns / LEAST_IN_WINDOW) / 1_000_000_000 * 1_000_000_000;
        let interval_ns = self.interval_ns.max(rarer_ns);
        let most = round_u64(MOST_READINGS * interval_ns as f64 / span_ns).max(1);
        let sensors = self.sensors.min(u32::try_from(most).unwrap_or(u32::MAX));
        Self { sensors, interval_ns, reach_ns: self.reach_ns.max(interval_ns), ..self.clone() }
    }

    /// Readings a second: the sensors', or those of a life.
    pub(super) fn writing_rate(&self) -> f64 {
        self.means.map_or(self.readings_per_second().max(0.001), |_| LIFE_RATE)
    }

    /// What happens to readings as they become old; nothing where they stay.
    pub(super) fn life(&self) -> Option<Value> {
        let means = self.means?;
        let [duration, every, half] =
            [self.keep_ns * KEPT_TIMES, self.keep_ns / ROUNDS_KEPT, self.keep_ns / 2].map(length_text);
        let window = length_text(means.every_ns);
        let compressed = means.compressed;
        Some(
            json!({ "duration": duration, "every": every, "window": window, "compressed": compressed, "half": half }),
        )
    }
}
