//! What a user says must hold: `p99 of dashboard < 50 ms`, `lost = 0`, `throughput >= 10000`. Read here, and held against a trial's record.
//!
//! A limit on something that was not measured is missed, with the reason: a promise that nobody looked at is not kept.

use super::units::{Quantity, duration_text, quantity, short};
use crate::measurement::latency::{LatencySummary, SAMPLES_BEYOND};
use crate::measurement::names;
use crate::measurement::record::{LimitRecord, LoadRecord, TrialRecord};
use crate::nearest::unknown;
use serde::{Deserialize, Serialize};

/// One limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// As the user wrote it.
    pub text: String,
    /// What is looked at.
    pub what: What,
    /// The query, or "writers" or "load", where it is about one.
    pub of: Option<String>,
    /// How it is compared.
    pub comparison: Comparison,
    /// The bound: ns, bytes, a share, a rate or a count.
    pub bound: f64,
}

/// What a limit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Median latency.
    P50,
    /// 90th percentile of latency.
    P90,
    /// 95th percentile of latency.
    P95,
    /// 99th percentile of latency.
    P99,
    /// 99.9th percentile of latency.
    P999,
    /// The longest latency.
    Slowest,
    /// Mean latency.
    Mean,
    /// Readings a second that were written, or answers a second.
    Throughput,
    /// Acknowledged readings that are not stored.
    Lost,
    /// Readings stored more often than they should be.
    Duplicated,
    /// Readings stored with another value.
    Altered,
    /// Wrong answers.
    WrongAnswers,
    /// Operations that failed.
    Errors,
    /// The share of operations that failed.
    ErrorShare,
    /// Operations that were due and could not start.
    NotStarted,
    /// Disk used after the load, at rest, in bytes.
    Disk,
    /// The same, growth by a stored reading, in bytes.
    DiskPerReading,
}

/// How a figure is compared with its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
}

const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("==", Comparison::Equal),
    ("<", Comparison::Below),
    (">", Comparison::Above),
    ("=", Comparison::Equal),
];

const WORDS: [(&str, What, Quantity); 17] = [
    ("median", What::P50, Quantity::Time),
    ("p50", What::P50, Quantity::Time),
    ("p90", What::P90, Quantity::Time),
    ("p95", What::P95, Quantity::Time),
    ("p99", What::P99, Quantity::Time),
    ("p99.9", What::P999, Quantity::Time),
    ("max", What::Slowest, Quantity::Time),
    ("mean", What::Mean, Quantity::Time),
    ("throughput", What::Throughput, Quantity::Number),
    ("lost", What::Lost, Quantity::Number),
    ("duplicated", What::Duplicated, Quantity::Number),
    ("altered", What::Altered, Quantity::Number),
    ("wrong answers", What::WrongAnswers, Quantity::Number),
    ("errors", What::Errors, Quantity::Number),
    ("not started", What::NotStarted, Quantity::Number),
    ("disk", What::Disk, Quantity::Size),
    ("disk per reading", What::DiskPerReading, Quantity::Size),
];

/// What a limit looks like, for messages.
pub const EXAMPLES: &str =
    "\"p99 of NAME < 50 ms\", \"throughput >= 10000\", \"errors < 0.1 %\" or \"lost = 0\"";

impl Limit {
    /// Reads a limit; `names` are the queries and writers that it may be about.
    ///
    /// # Errors
    /// What is wrong with it, with the nearest right word.
    pub fn parse(text: &str, names: &[String]) -> Result<Self, String> {
        let malformed = || format!("{text:?} is no limit; write it like {EXAMPLES}");
        let found = COMPARISONS
            .iter()
            .filter_map(|(sign, comparison)| Some((text.find(sign)?, *sign, *comparison)))
            .min_by_key(|(place, sign, _)| (*place, std::cmp::Reverse(sign.len())));
        let (place, sign, comparison) = found.ok_or_else(malformed)?;
        let (left, right) = (text[..place].trim(), &text[place + sign.len()..]);
        let (word, of) = match left.split_once(" of ") {
            Some((word, of)) => (word.trim(), Some(of.trim().to_owned())),
            None => (left, None),
        };
        let words = || WORDS.iter().map(|(word, ..)| (*word).to_owned());
        let known = WORDS.iter().find(|(name, ..)| *name == word);
        let (_, what, expected) = *known.ok_or_else(|| unknown("figure", word, words()))?;
        if let Some(of) = &of
            && !names.contains(of)
        {
            return Err(unknown("query or writer", of, names.iter().cloned()));
        }
        if what.is_latency() && of.is_none() {
            return Err(format!(
                "{text:?}: say of what, like \"{word} of {} < 50 ms\"",
                names.last().map_or("load", String::as_str)
            ));
        }
        let (bound, quantity) = quantity(right).ok_or_else(malformed)?;
        let fits = quantity == expected
            || (what == What::Errors && quantity == Quantity::Share)
            || (expected == Quantity::Size && quantity == Quantity::Number);
        if !fits {
            return Err(match expected {
                Quantity::Time => format!("{text:?}: {word} is a length of time, like 50 ms"),
                Quantity::Size => format!("{text:?}: {word} is a size, like 1.5 GB"),
                _ => format!("{text:?}: {word} is a plain number, like 10000"),
            });
        }
        let what = if what == What::Errors && quantity == Quantity::Share {
            What::ErrorShare
        } else {
            what
        };
        Ok(Self {
            text: text.to_owned(),
            what,
            of,
            comparison,
            bound,
        })
    }

    /// Holds the limit against a trial.
    pub fn hold(&self, record: &TrialRecord) -> LimitRecord {
        let (met, measured, words) = match self.measure(record) {
            Ok(value) => (
                self.comparison.holds(value, self.bound),
                Some(value),
                self.words(value),
            ),
            Err(reason) => (false, None, reason),
        };
        LimitRecord {
            text: self.text.clone(),
            measured,
            unit: self.unit().to_owned(),
            words,
            met,
        }
    }

    const fn unit(&self) -> &'static str {
        match self.what {
            _ if self.what.is_latency() => "ns",
            What::Throughput => "1/s",
            What::Disk | What::DiskPerReading => "bytes",
            What::ErrorShare => "share",
            _ => "",
        }
    }

    fn words(&self, value: f64) -> String {
        match self.what {
            _ if self.what.is_latency() => duration_text(value),
            What::Throughput => format!("{} a second", short(value)),
            What::Disk | What::DiskPerReading => format!("{} bytes", short(value)),
            What::ErrorShare => format!("{} %", short(value * 100.0)),
            _ => short(value),
        }
    }

    fn measure(&self, record: &TrialRecord) -> Result<f64, String> {
        if self.what.is_latency() {
            return self.latency(record);
        }
        let missing = || "not measured".to_owned();
        let ledger = record.ledger.as_ref().ok_or_else(missing);
        let answers = record.answers.as_ref();
        match self.what {
            What::Lost => Ok(ledger?.lost as f64),
            What::Duplicated => Ok(ledger?.duplicated as f64),
            What::Altered => Ok(ledger?.altered as f64),
            What::WrongAnswers => Ok(answers.ok_or_else(missing)?.wrong as f64),
            What::Errors => Ok(self.sum(record, LoadRecord::failed)? as f64),
            What::ErrorShare => self.error_share(record),
            What::NotStarted => Ok(self.sum(record, |load| load.not_started)? as f64),
            What::Throughput => self.throughput(record),
            What::Disk => disk(record, names::DISK_SETTLED),
            What::DiskPerReading => {
                let grown = disk(record, names::DISK_SETTLED)? - disk(record, names::DISK_BEFORE)?;
                let loaded = loads(record).find(|load| load.phase == super::LOAD);
                let readings = loaded.map_or(0, LoadRecord::readings);
                if readings == 0 {
                    return Err(missing());
                }
                Ok(grown / readings as f64)
            }
            _ => Err(missing()),
        }
    }

    /// The loads that the limit is about.
    fn loads<'r>(&'r self, record: &'r TrialRecord) -> Result<Vec<&'r LoadRecord>, String> {
        let wanted = |load: &&LoadRecord| self.of.as_ref().is_none_or(|of| load.name == *of);
        let found: Vec<&LoadRecord> = loads(record).filter(wanted).collect();
        if let Some(reason) = found.iter().find_map(|load| load.not_supported.as_ref()) {
            return Err(format!("not supported: {reason}"));
        }
        if found.is_empty() {
            return Err("not measured".to_owned());
        }
        Ok(found)
    }

    fn sum(&self, record: &TrialRecord, of: fn(&LoadRecord) -> u64) -> Result<u64, String> {
        Ok(self.loads(record)?.into_iter().map(of).sum())
    }

    fn error_share(&self, record: &TrialRecord) -> Result<f64, String> {
        let failed = self.sum(record, LoadRecord::failed)?;
        let all = failed + self.sum(record, LoadRecord::operations)?;
        Ok(failed as f64 / all.max(1) as f64)
    }

    /// Of the writers while queries are asked, or else of the load, where it is not said of what.
    fn throughput(&self, record: &TrialRecord) -> Result<f64, String> {
        let found = self.loads(record)?;
        let writing = found.iter().rev().find(|load| load.writes);
        let load = writing.or(found.last()).ok_or("not measured")?;
        let rate = if load.writes {
            load.readings_per_second()
        } else {
            load.operations_per_second()
        };
        rate.ok_or_else(|| "not measured".to_owned())
    }

    fn latency(&self, record: &TrialRecord) -> Result<f64, String> {
        let found = self.loads(record)?;
        let classes = found.iter().flat_map(|load| load.classes.values());
        let class = classes.last().ok_or("not measured")?;
        let summary: &LatencySummary = &class.latency.summary;
        if summary.count == 0 {
            return Err("no operation succeeded".to_owned());
        }
        let (percentile, beyond) = match self.what {
            What::P50 => (summary.p50_ns, 0.5),
            What::P90 => (summary.p90_ns, 0.1),
            What::P95 => (summary.p95_ns, 0.05),
            What::P99 => (summary.p99_ns, 0.01),
            What::P999 => (summary.p999_ns, 0.001),
            What::Slowest => return Ok(summary.max_ns as f64),
            _ => return Ok(summary.mean_ns),
        };
        percentile.map(|ns| ns as f64).ok_or_else(|| {
            format!(
                "too few operations: {}, and it takes {:.0}; measure longer",
                summary.count,
                SAMPLES_BEYOND / beyond
            )
        })
    }
}

impl What {
    const fn is_latency(self) -> bool {
        matches!(
            self,
            Self::P50 | Self::P90 | Self::P95 | Self::P99 | Self::P999 | Self::Slowest | Self::Mean
        )
    }
}

impl Comparison {
    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
            Self::Equal => value == bound,
            Self::AtLeast => value >= bound,
            Self::Above => value > bound,
        }
    }
}

/// The loads whose figures count.
fn loads(record: &TrialRecord) -> impl Iterator<Item = &LoadRecord> {
    record.loads.iter().filter(|load| !load.warm_up)
}

fn disk(record: &TrialRecord, name: &str) -> Result<f64, String> {
    let figure = record.figures.get(name).and_then(|figure| figure.value);
    figure.ok_or_else(|| "the database's disk cannot be seen from here".to_owned())
}
