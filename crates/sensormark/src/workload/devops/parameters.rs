//! The numbers behind the scales, and what must hold among them.

use crate::dataset::devops::{TICK_LIMIT, TICKS_AN_HOUR, Walk};
use crate::engine::scale::Scale;
use crate::nearest::unknown;
use crate::units::round_u64;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::Display;
use std::str::FromStr;

/// Families of layouts by their names here.
pub const LAYOUTS: [&str; 2] = ["individual", "buckets"];

/// Every number of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Hosts that report.
    pub hosts: u32,
    /// Hours of data that are loaded.
    pub hours: f64,
    /// Further spans, ascending: the data goes on to these, with the most workers, after everything was asked.
    #[serde(deserialize_with = "list")]
    pub more_hours: Vec<f64>,
    /// What bounded walks do at their bounds.
    pub walk: Walk,
    /// Workers that load, one empty database for each number.
    #[serde(deserialize_with = "list")]
    pub workers: Vec<u32>,
    /// Readings in a write; 0 for what the store's documentation advises for the table.
    pub batch: u64,
    /// So many times the readings that are advised are in a write: for sweeps.
    #[serde(default = "once")]
    pub batch_times: f64,
    /// Questions of a kind and number of clients.
    pub queries: u64,
    /// Clients that ask: the first and last number ask everything, those between the study's question alone.
    #[serde(deserialize_with = "list")]
    pub clients: Vec<u32>,
    /// Length of a short window, minutes.
    pub short_minutes: u64,
    /// Length of a long window, minutes.
    pub long_minutes: u64,
    /// Hosts of the question about several.
    pub several_hosts: u32,
    /// Length of the window of means, minutes.
    pub mean_minutes: u64,
    /// A mean covers so many minutes.
    pub mean_step_minutes: u64,
    /// The threshold of busy hosts, percent.
    pub threshold: f64,
    /// One of so many answers is compared in full; every one's length is.
    pub check_one_in: u64,
    /// A load is cut after so many seconds; 0 for never.
    pub load_seconds: f64,
    /// So are questions of a kind.
    pub query_seconds: f64,
    /// Families of layouts.
    #[serde(deserialize_with = "list")]
    pub layouts: Vec<String>,
    /// How often everything is measured.
    pub repetitions: u32,
}

/// A write is as large as it is advised to be, in results of earlier versions too.
const fn once() -> f64 {
    1.0
}

/// A list as JSON has it, as `1,4,16`, or one value.
fn list<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + FromStr<Err: Display>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written<T> {
        Many(Vec<T>),
        One(T),
        Text(String),
    }
    let wrong = |text: &str| {
        serde::de::Error::custom(format!(
            "{text:?} does not fit; write numbers with commas between them, as in 1,4,16"
        ))
    };
    let split = |text: &str| {
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let parts = parts.map(|part| part.parse().map_err(|_| wrong(text)));
        parts.collect::<Result<Vec<T>, D::Error>>()
    };
    match Written::<serde_json::Value>::deserialize(from)? {
        Written::Many(values) => {
            let parts = values.into_iter().map(|value| {
                let shown = value.to_string();
                let text = value.as_str().map_or(shown, str::to_owned);
                text.parse().map_err(|_| wrong(&text))
            });
            parts.collect()
        }
        Written::One(serde_json::Value::String(text)) | Written::Text(text) => split(&text),
        Written::One(value) => split(&value.to_string()),
    }
}

impl Parameters {
    /// The numbers of the smallest scale, which the others change.
    fn quick() -> Self {
        Self {
            hosts: 10,
            hours: 1.0,
            more_hours: vec![2.0],
            walk: Walk::Clamped,
            workers: vec![1, 4],
            batch: 0,
            batch_times: once(),
            queries: 200,
            clients: vec![1, 4],
            short_minutes: 15,
            long_minutes: 45,
            several_hosts: 8,
            mean_minutes: 45,
            mean_step_minutes: 10,
            threshold: 90.0,
            check_one_in: 1,
            load_seconds: 60.0,
            query_seconds: 5.0,
            layouts: vec![LAYOUTS[0].to_owned()],
            repetitions: 1,
        }
    }

    /// The numbers of a scale.
    #[must_use]
    pub fn preset(scale: Scale) -> Self {
        let quick = Self::quick();
        match scale {
            Scale::Quick => quick,
            Scale::Firm => Self {
                hosts: 100,
                workers: vec![1, 4, 16],
                queries: 400,
                clients: vec![1, 4, 16],
                check_one_in: 20,
                query_seconds: 20.0,
                repetitions: 5,
                ..quick
            },
            Scale::Standard => Self {
                hosts: 100,
                hours: 6.0,
                more_hours: Vec::new(),
                workers: vec![1, 2, 4, 8, 16],
                queries: 1_000,
                clients: vec![1, 4, 16],
                short_minutes: 60,
                long_minutes: 300,
                mean_minutes: 300,
                mean_step_minutes: 60,
                check_one_in: 20,
                load_seconds: 300.0,
                query_seconds: 60.0,
                repetitions: 3,
                ..quick
            },
            Scale::Study => Self {
                hosts: 100,
                hours: 24.0,
                more_hours: vec![48.0, 72.0, 96.0],
                workers: vec![1, 2, 4, 8, 16],
                queries: 1_000,
                clients: vec![1, 2, 4, 8, 16],
                short_minutes: 60,
                long_minutes: 720,
                mean_minutes: 1_440,
                mean_step_minutes: 60,
                check_one_in: 20,
                load_seconds: 0.0,
                query_seconds: 0.0,
                ..quick
            },
        }
    }

    /// What each number means, by its name.
    #[must_use]
    pub const fn documentation() -> &'static [(&'static str, &'static str)] {
        &[
            ("hosts", "hosts that report, 101 values each every 10 s"),
            ("hours", "hours of data that are loaded and asked about"),
            (
                "more_hours",
                "the data then goes on to these hours, with the most workers (growth)",
            ),
            (
                "walk",
                "what walks do at their bounds: clamped (as published) or reflected",
            ),
            (
                "workers",
                "clients that load, each number into an empty database",
            ),
            (
                "batch",
                "readings in a write; 0: what the store's documentation advises",
            ),
            (
                "batch_times",
                "so many times the advised readings are in a write",
            ),
            ("queries", "questions of each kind and number of clients"),
            (
                "clients",
                "clients that ask; numbers between the first and last ask the study's question alone",
            ),
            (
                "short_minutes",
                "window of 1 and several hosts' maxima and of busy hosts, min",
            ),
            (
                "long_minutes",
                "window of 1 host's maxima, the long one, min",
            ),
            ("several_hosts", "hosts of the question about several"),
            ("mean_minutes", "window of the means of all hosts, min"),
            ("mean_step_minutes", "a mean is of so many minutes"),
            (
                "threshold",
                "a host is busy when usage_user is over this, percent",
            ),
            (
                "check_one_in",
                "one of so many answers is compared in full; every one's length is",
            ),
            ("load_seconds", "a load is cut after this, s; 0: never"),
            (
                "query_seconds",
                "questions of one kind are cut after this, s; 0: never",
            ),
            ("layouts", "families of layouts: individual, buckets"),
            ("repetitions", "how often everything is measured"),
        ]
    }

    /// Ticks in some hours.
    fn ticks_in(hours: f64) -> u64 {
        round_u64(hours * TICKS_AN_HOUR as f64)
    }

    /// Ticks that are loaded at first.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        Self::ticks_in(self.hours)
    }

    /// Ticks at the ends of the further spans.
    #[must_use]
    pub fn more_ticks(&self) -> Vec<u64> {
        self.more_hours
            .iter()
            .map(|hours| Self::ticks_in(*hours))
            .collect()
    }

    /// The most workers.
    #[must_use]
    pub fn most_workers(&self) -> u32 {
        self.workers.iter().copied().max().unwrap_or(1)
    }

    /// Checks that the numbers make sense together.
    ///
    /// # Errors
    /// What does not, in words.
    pub fn check(&self) -> Result<(), String> {
        let over_zero = [
            ("hosts", f64::from(self.hosts)),
            ("queries", self.queries as f64),
            ("short_minutes", self.short_minutes as f64),
            ("long_minutes", self.long_minutes as f64),
            ("several_hosts", f64::from(self.several_hosts)),
            ("mean_minutes", self.mean_minutes as f64),
            ("mean_step_minutes", self.mean_step_minutes as f64),
            ("check_one_in", self.check_one_in as f64),
            ("repetitions", f64::from(self.repetitions)),
        ];
        if let Some((name, _)) = over_zero.iter().find(|(_, value)| *value < 1.0) {
            return Err(format!("{name} is 0; it must be at least 1"));
        }
        if !(self.batch_times > 0.0 && self.batch_times <= 1_000.0) {
            return Err(format!(
                "batch_times is {}; it must be over 0, and 1,000 at most",
                self.batch_times
            ));
        }
        for (name, value) in [
            ("load_seconds", self.load_seconds),
            ("query_seconds", self.query_seconds),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(format!(
                    "{name} is {value}; it must be 0 (never cut) or more"
                ));
            }
        }
        if !(self.threshold > 0.0 && self.threshold < 100.0) {
            return Err(format!(
                "threshold is {}; usage lies between 0 and 100 percent",
                self.threshold
            ));
        }
        self.check_lists()?;
        self.check_spans()
    }

    fn check_lists(&self) -> Result<(), String> {
        for (name, numbers) in [("workers", &self.workers), ("clients", &self.clients)] {
            if numbers.is_empty() || numbers.contains(&0) {
                return Err(format!("{name} needs at least one number, each 1 or more"));
            }
            if numbers.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(format!("{name} is {numbers:?}; write them ascending"));
            }
        }
        let known = |name: &&String| !LAYOUTS.contains(&name.as_str());
        if let Some(name) = self.layouts.iter().find(known) {
            let names = LAYOUTS.iter().map(|name| (*name).to_owned());
            return Err(unknown("family of layouts", name, names));
        }
        if self.layouts.is_empty() {
            return Err("layouts is empty; there are individual and buckets".to_owned());
        }
        Ok(())
    }

    fn check_spans(&self) -> Result<(), String> {
        let mut before = 0;
        for hours in std::iter::once(&self.hours).chain(&self.more_hours) {
            let ticks = Self::ticks_in(*hours);
            if !hours.is_finite() || !(30..TICK_LIMIT).contains(&ticks) {
                return Err(format!(
                    "{hours} hours of data; it must be at least 5 minutes (0.0834) and under 300 years"
                ));
            }
            if ticks <= before {
                return Err(format!(
                    "more_hours is {:?} after hours = {}; each span is longer than the one before",
                    self.more_hours, self.hours
                ));
            }
            before = ticks;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::scale::adjust;

    fn set(settings: &[&str]) -> Result<Parameters, String> {
        let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
        let adjusted = adjust(&Parameters::preset(Scale::Quick), &settings)?;
        adjusted.check().map(|()| adjusted)
    }

    #[test]
    fn every_number_is_documented_and_every_preset_is_sound() {
        for scale in [Scale::Quick, Scale::Standard, Scale::Study] {
            let preset = Parameters::preset(scale);
            preset.check().unwrap();
            let object = serde_json::to_value(&preset).unwrap();
            for name in object.as_object().unwrap().keys() {
                let documented = Parameters::documentation().iter();
                assert_eq!(documented.filter(|(of, _)| of == name).count(), 1, "{name}");
            }
        }
    }

    #[test]
    fn lists_are_written_in_every_usual_way() {
        for text in ["workers=1,4,16", "workers=[1,4,16]", "workers=1, 4, 16"] {
            assert_eq!(set(&[text]).unwrap().workers, [1, 4, 16], "{text}");
        }
        assert_eq!(set(&["workers=3"]).unwrap().workers, [3]);
        assert_eq!(set(&["more_hours="]).unwrap().more_hours, [0.0; 0]);
        assert_eq!(set(&["layouts=buckets"]).unwrap().layouts, ["buckets"]);
        assert_eq!(set(&["walk=reflected"]).unwrap().walk, Walk::Reflected);
    }

    #[test]
    fn what_makes_no_sense_is_said_in_one_line() {
        for (setting, words) in [
            ("hosts=0", "hosts is 0"),
            ("hours=0.01", "at least 5 minutes"),
            ("more_hours=1", "each span is longer"),
            ("workers=4,1", "ascending"),
            ("workers=", "at least one number"),
            ("workers=a", "write numbers with commas"),
            ("layouts=bucket", "did you mean buckets?"),
            ("walk=mirrored", "mirrored"),
            ("threshold=100", "between 0 and 100"),
            ("query_seconds=-1", "query_seconds is -1"),
            ("querys=3", "did you mean queries?"),
        ] {
            let text = set(&[setting]).unwrap_err();
            assert!(text.contains(words), "{setting}: {text}");
            assert!(!text.contains('\n'), "{setting}: {text}");
        }
    }
}
