//! The numbers behind the scales, and what must hold among them.

use crate::growth::{CHECK_ONE_IN, most_question_seconds};
use sensormark_data::devops::{INTERVAL_NS, TICK_LIMIT, TICKS_AN_HOUR, Walk};
use sensormark_data::units::round_u64;
use sensormark_engine::operations::ENDLESS;
use sensormark_engine::parameter::{any, at_least, check_each, list, over, over_up_to, words};
use sensormark_engine::parameters;
use std::time::Duration;

/// Families of layouts by their names here.
pub const LAYOUTS: [&str; 2] = ["individual", "buckets"];

/// Hours of data at each size, each four times the one before.
const GROWN: [f64; 6] = [4.0, 16.0, 64.0, 256.0, 1_024.0, 4_096.0];

parameters! {
    /// Every number of a run.
    pub struct Parameters {
        /// hosts that report, 101 values each every 10 s
        hosts: u32, Plain, at_least(1.0) => 10, 100, 100, 100;
        /// hours of data that are loaded and asked about
        hours: f64, Hours, over(0.0) => 1.0, 1.0, 6.0, 24.0;
        /// the data then goes on to these hours, with the most workers, and everything is asked at each; the budget says how many are reached
        #[serde(deserialize_with = "list")]
        more_hours: Vec<f64>, Hours, over(0.0) => GROWN.to_vec(), GROWN.to_vec(), vec![24.0], vec![48.0, 72.0, 96.0];
        /// so long questions are asked while data come, after the first load; 0: never
        #[serde(default)]
        live_seconds: f64, Seconds, at_least(0.0) => 3.0, 10.0, 30.0, 60.0;
        /// data then come so many times as fast as hosts report
        #[serde(default)]
        live_speed: f64, Plain, at_least(0.0) => 100.0;
        /// what walks do at their bounds: clamped (as published) or reflected
        walk: Walk, Plain, words(&["clamped", "reflected"]) => Walk::Clamped;
        /// clients that load, each number into an empty database
        #[serde(deserialize_with = "list")]
        workers: Vec<u32>, Plain, at_least(1.0) => vec![4], vec![1, 4, 16], vec![1, 2, 4, 8, 16], vec![1, 2, 4, 8, 16];
        /// readings in a write; 0: what the store's documentation advises
        batch: u64, Plain, any() => 0;
        /// so many times the advised readings are in a write
        #[serde(default = "once")]
        batch_times: f64, Plain, over_up_to(0.0, 1_000.0) => once();
        /// questions of each kind and number of clients
        queries: u64, Plain, at_least(1.0) => 200, 400, 1_000, 1_000;
        /// clients that ask; numbers between the first and last ask the study's question alone
        #[serde(deserialize_with = "list")]
        clients: Vec<u32>, Plain, at_least(1.0) => vec![1, 4], vec![1, 4, 16], vec![1, 4, 16], vec![1, 2, 4, 8, 16];
        /// window of 1 and several hosts' maxima and of busy hosts, min
        short_minutes: u64, Minutes, at_least(1.0) => 15, 15, 60, 60;
        /// window of 1 host's maxima, the long one, min
        long_minutes: u64, Minutes, at_least(1.0) => 45, 45, 300, 720;
        /// hosts of the question about several
        several_hosts: u32, Plain, at_least(1.0) => 8;
        /// window of the means of all hosts, min
        mean_minutes: u64, Minutes, at_least(1.0) => 45, 45, 300, 1_440;
        /// a mean is of so many minutes
        mean_step_minutes: u64, Minutes, at_least(1.0) => 10, 10, 60, 60;
        /// a host is busy when usage_user is over this, percent
        threshold: f64, Percent, over_up_to(0.0, 100.0) => 90.0;
        /// one of so many answers is compared in full; every one's length is
        check_one_in: u64, Plain, at_least(1.0) => 1, 20, 20, 20;
        /// a load is cut after this, s; 0: never
        load_seconds: f64, Seconds, at_least(0.0) => 60.0, 60.0, 300.0, 0.0;
        /// questions of one kind are cut after this, s; 0: never
        query_seconds: f64, Seconds, at_least(0.0) => 5.0, 20.0, 60.0, 0.0;
        /// families of layouts: individual, buckets
        #[serde(deserialize_with = "list")]
        layouts: Vec<String>, Plain, words(&LAYOUTS) =>
vec![LAYOUTS[0].to_owned()];
        /// how often everything is measured
        repetitions: u32, Plain, at_least(1.0) => 1, 5, 3, 1;
    }
}

/// A write is as large as it is advised to be, in results of earlier versions too.
const fn once() -> f64 {
    1.0
}

impl Parameters {
    /// Ticks in some hours.
    fn ticks_in(hours: f64) -> u64 {
        round_u64(hours * TICKS_AN_HOUR as f64)
    }

    /// Asks each question for no longer than a trial's budget has time.
    pub fn fit(&mut self, budget: Duration) {
        let most = most_question_seconds(budget);
        // 0 is without an end, which somebody has asked for.
        if self.query_seconds > most {
            self.query_seconds = most;
        }
    }

    /// The numbers at the sizes that the data grow to: questions are asked until their time is over, so that all databases are asked for as long.
    #[must_use]
    pub fn for_growth(&self) -> Self {
        let mut grown = self.clone();
        if self.query_seconds > 0.0 {
            (grown.queries, grown.check_one_in) = (ENDLESS, self.check_one_in.max(CHECK_ONE_IN.get()));
        }
        grown
    }

    /// Ticks that are loaded at first.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        Self::ticks_in(self.hours)
    }

    /// Ticks that come while questions are asked.
    #[must_use]
    pub fn live_ticks(&self) -> u64 {
        round_u64(self.live_seconds * self.live_speed / TICK_SECONDS)
    }

    /// Ticks at the ends of the further spans.
    #[must_use]
    pub fn more_ticks(&self) -> Vec<u64> {
        self.more_hours.iter().map(|hours| Self::ticks_in(*hours)).collect()
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
        check_each(Self::TABLE, self)?;
        if self.threshold >= 100.0 {
            return Err(format!("threshold is {}; no host's usage is over 100 percent", self.threshold));
        }
        self.check_lists()?;
        self.check_spans()
    }

    fn check_lists(&self) -> Result<(), String> {
        for (name, numbers) in [("workers", &self.workers), ("clients", &self.clients)] {
            if numbers.is_empty() {
                return Err(format!("{name} needs at least one number"));
            }
            if numbers.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(format!("{name} is {numbers:?}; write them ascending"));
            }
        }
        if self.layouts.is_empty() {
            return Err("layouts is empty; there are individual and buckets".to_owned());
        }
        Ok(())
    }

    /// Checks how much data is loaded at first, all that generating it depends on.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check_data(&self) -> Result<(), String> {
        let hours = self.hours;
        if (LEAST_TICKS..TICK_LIMIT).contains(&Self::ticks_in(hours)) {
            return Ok(());
        }
        Err(span_of(hours))
    }

    fn check_spans(&self) -> Result<(), String> {
        self.check_data()?;
        let mut before = self.ticks() + self.live_ticks();
        for &hours in &self.more_hours {
            let ticks = Self::ticks_in(hours);
            if ticks >= TICK_LIMIT {
                return Err(span_of(hours));
            }
            if ticks <= before {
                return Err(format!(
                    "more_hours is {:?} after hours = {} and what comes live; each span is longer than the one before",
                    self.more_hours, self.hours
                ));
            }
            before = ticks;
        }
        Ok(())
    }
}

/// Seconds from tick to tick.
const TICK_SECONDS: f64 = INTERVAL_NS as f64 / 1e9;
/// Ticks in 5 minutes.
const LEAST_TICKS: u64 = 30;

fn span_of(hours: f64) -> String {
    format!("{hours} hours of data; it must be at least 5 minutes (0.0834) and under 300 years")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_engine::adjust::adjust;
    use sensormark_engine::scale::Scale;

    fn set(settings: &[&str]) -> Result<Parameters, String> {
        let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
        let quick = Parameters::of(Scale::Quick);
        let adjusted = adjust(&quick, &settings, Parameters::TABLE)?;
        adjusted.check().map(|()| adjusted)
    }

    #[test]
    fn every_preset_is_sound() {
        for scale in Scale::ALL {
            Parameters::of(scale).check().unwrap();
        }
    }

    #[test]
    fn lengths_of_time_have_units() {
        let numbers = set(&["hours=90m", "more_hours=2h, 1d", "short_minutes=10m"]).unwrap();
        assert_eq!((numbers.hours, numbers.short_minutes), (1.5, 10));
        assert_eq!(numbers.more_hours, [2.0, 24.0]);
        assert_eq!(set(&["threshold=75%"]).unwrap().threshold, 75.0);
        let typed = set(&["load_seconds=0", "query_seconds=1500ms"]).unwrap();
        assert_eq!((typed.load_seconds, typed.query_seconds), (0.0, 1.5));
    }

    #[test]
    fn lists_of_earlier_results_are_read() {
        let mut stored = serde_json::to_value(Parameters::of(Scale::Quick)).unwrap();
        stored["workers"] = "1,16".into();
        stored["clients"] = 3.into();
        let read: Parameters = serde_json::from_value(stored).unwrap();
        assert_eq!((read.workers, read.clients), (vec![1, 16], vec![3]));
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
            ("hours=1GB", "a length of time like 90s"),
            ("short_minutes=90s", "in whole minutes, and 90s is 1.5"),
            ("hosts=10s", "a whole number without a unit"),
            ("more_hours=1", "each span is longer"),
            ("workers=4,1", "ascending"),
            ("workers=", "at least one number"),
            ("workers=a", "write commas between them"),
            ("workers=4,4", "named twice"),
            ("layouts=bucket", "did you mean buckets?"),
            ("walk=mirrored", "mirrored"),
            ("threshold=100", "over 100 percent"),
            ("threshold=101", "over 0, and 100 at most"),
            ("query_seconds=-1", "query_seconds is -1"),
            ("querys=3", "did you mean queries?"),
        ] {
            let text = set(&[setting]).unwrap_err();
            assert!(text.contains(words), "{setting}: {text}");
            assert!(!text.contains('\n'), "{setting}: {text}");
        }
    }
}
