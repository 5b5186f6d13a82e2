//! What a user says must hold: `p99 of dashboard < 50 ms`, `lost = 0`, `disk for 90d < 100 GB`. Read here, and held against a trial's record.
//!
//! A limit on something that was not measured is not met, with the reason: a promise that nobody looked at is not kept. The record says too whether that
//! leaves the question open ([`LimitRecord::is_undecided`]). Disk and latency are those of the size that the data will have, projected from the sizes that were
//! measured. A limit is met or missed only where the whole band is on one side, and open where there is no band.

#[cfg(test)]
mod tests;

use sensormark_data::nearest::unknown;
use sensormark_data::number::count_text;
use sensormark_data::quantity::{Quantity, duration_ns, duration_text, quantity, short, size_text};
use sensormark_result::measurement::disk;
use sensormark_result::measurement::latency::{LatencySummary, SAMPLES_BEYOND};
use sensormark_result::measurement::record::{LimitRecord, LoadRecord, TrialRecord};
use sensormark_result::measurement::sizes;
use sensormark_result::statistics::projection::{Band, Open, project, project_disk};
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
    /// Readings that the sensors send in the time that is meant, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_readings: Option<f64>,
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
    /// Their share of the acknowledged ones.
    LostShare,
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
    /// Disk used after the load, at rest, logs apart, in bytes.
    Disk,
    /// Its growth by a stored reading, in bytes.
    DiskPerReading,
    /// The same times the readings of a time, in bytes.
    DiskKept,
    /// The most memory that the database held at the end of a phase, in bytes.
    Memory,
    /// The highest rate that holds the other limits, over the rate of the file's sensors. `run --find-limit` alone looks for it.
    Headroom,
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

const WORDS: [(&str, What, Quantity); 20] = [
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
    (DISK_FOR, What::DiskKept, Quantity::Size),
    ("memory", What::Memory, Quantity::Size),
    ("headroom", What::Headroom, Quantity::Number),
];

/// Before the time of which the disk is meant: `disk for 90d`.
pub const DISK_FOR: &str = "disk for";

/// What is said of a headroom that no rate had.
const NO_RATE_HELD: &str = "no rate held";

/// What a limit looks like; messages show it.
pub const EXAMPLES: &str =
    "\"p99 of NAME < 50 ms\", \"throughput >= 10000\", \"errors < 0.1 %\" or \"lost = 0\"";

impl Limit {
    /// Reads a limit; `names` are the queries and writers that it may be about, `rate` the readings that the sensors send in a second.
    ///
    /// # Errors
    /// What is wrong with it, with the nearest right word.
    pub fn parse(text: &str, names: &[String], rate: f64) -> Result<Self, String> {
        let malformed = || format!("{text:?} is no limit; write it like {EXAMPLES}");
        let found = COMPARISONS
            .iter()
            .filter_map(|(sign, comparison)| Some((text.find(sign)?, *sign, *comparison)))
            .min_by_key(|(place, sign, _)| (*place, std::cmp::Reverse(sign.len())));
        let (place, sign, comparison) = found.ok_or_else(malformed)?;
        let (left, right) = (text[..place].trim(), &text[place + sign.len()..]);
        let (left, kept_readings) = time_meant(text, left, rate)?;
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
        let has_share = matches!(what, What::Errors | What::Lost);
        let fits = quantity == expected
            || (has_share && quantity == Quantity::Share)
            || (expected == Quantity::Size && quantity == Quantity::Number);
        if !fits {
            return Err(match expected {
                Quantity::Time => format!("{text:?}: {word} is a length of time, like 50 ms"),
                Quantity::Size => format!("{text:?}: {word} is a size, like 1.5 GB"),
                _ => format!("{text:?}: {word} is a plain number, like 10000"),
            });
        }
        let what = match (what, quantity) {
            (What::Errors, Quantity::Share) => What::ErrorShare,
            (What::Lost, Quantity::Share) => What::LostShare,
            _ => what,
        };
        Ok(Self { text: text.to_owned(), what, of, comparison, bound, kept_readings })
    }

    /// Holds the limit against a trial, at the size that the data will have where that is known.
    pub fn hold(&self, record: &TrialRecord, size: Option<&YourSize>) -> LimitRecord {
        self.judge(self.measure(record, size))
    }

    /// Holds a limit of headroom against the highest rate that was found; none where no rate held. A search that a busy machine cut short leaves a miss open.
    pub fn hold_headroom(&self, highest: Option<f64>, rate: f64, is_disturbed: bool) -> LimitRecord {
        let found = highest.map(|highest| at(highest / rate));
        let mut held = self.judge(found.ok_or_else(|| Absent::missed(NO_RATE_HELD)));
        held.is_undecided = is_disturbed && !held.met;
        held
    }

    fn judge(&self, figure: Result<Band, Absent>) -> LimitRecord {
        let mut held = LimitRecord {
            text: self.text.clone(),
            measured: None,
            unit: self.unit().to_owned(),
            words: String::new(),
            met: false,
            is_undecided: false,
            needs_readings: None,
        };
        match figure {
            Ok(Band { low, high }) => {
                let sides = [low, high].map(|value| self.comparison.holds(value, self.bound));
                (held.met, held.is_undecided) = (sides == [true; 2], sides[0] != sides[1]);
                held.measured = Some((low + high) / 2.0);
                let (low, high) = (self.words(low), self.words(high));
                held.words = if low == high { low } else { format!("{low} to {high}") };
            }
            Err(Absent { words, is_undecided, needs_readings }) => {
                (held.words, held.is_undecided, held.needs_readings) = (words, is_undecided, needs_readings);
            }
        }
        held
    }

    const fn unit(&self) -> &'static str {
        match self.what {
            _ if self.what.is_latency() => "ns",
            What::Throughput => "1/s",
            What::Disk | What::DiskPerReading | What::DiskKept | What::Memory => "bytes",
            What::ErrorShare | What::LostShare => "share",
            What::Headroom => "times",
            _ => "",
        }
    }

    fn words(&self, value: f64) -> String {
        match (self.unit(), self.what) {
            ("ns", _) => duration_text(value),
            ("1/s", _) => format!("{} a second", short(value)),
            (_, What::DiskKept | What::Memory) => size_text(value),
            ("bytes", _) => format!("{} bytes", short(value)),
            ("share", _) => format!("{} %", short(value * 100.0)),
            ("times", _) => format!("{} times the rate", short(value)),
            _ => short(value),
        }
    }

    fn measure(&self, record: &TrialRecord, size: Option<&YourSize>) -> Result<Band, Absent> {
        if self.what.is_latency() {
            return self.latency(record, size);
        }
        if self.what == What::DiskKept {
            return disk_kept(record, self.kept_readings.ok_or("not measured")?);
        }
        if self.what == What::Memory && size.is_some_and(|size| size.in_proportion) {
            return Err("measured with a part of your memory".into());
        }
        self.plain(record).map(at)
    }

    /// A figure that does not depend on how much data there will be.
    fn plain(&self, record: &TrialRecord) -> Result<f64, Absent> {
        let missing = || Absent::from("not measured");
        let ledger = record.ledger.as_ref().ok_or_else(missing);
        let answers = record.answers.as_ref();
        match self.what {
            What::Lost => Ok(ledger?.lost as f64),
            What::LostShare => {
                let ledger = ledger?;
                Ok(ledger.lost as f64 / ledger.acknowledged.max(1) as f64)
            }
            What::Duplicated => Ok(ledger?.duplicated as f64),
            What::Altered => Ok(ledger?.altered as f64),
            What::WrongAnswers => Ok(answers.ok_or_else(missing)?.wrong as f64),
            What::Errors => Ok(self.sum(record, LoadRecord::failed)? as f64),
            What::ErrorShare => self.error_share(record),
            What::NotStarted => Ok(self.sum(record, |load| load.not_started)? as f64),
            What::Throughput => self.throughput(record),
            What::Disk => seen(disk::at_rest_bytes(record)),
            What::DiskPerReading => seen(disk::of_a_reading_bytes(record)),
            What::Memory => memory(record).ok_or_else(missing),
            _ => Err(missing()),
        }
    }

    /// The loads that the limit is about.
    fn loads<'r>(&'r self, record: &'r TrialRecord) -> Result<Vec<&'r LoadRecord>, Absent> {
        let wanted = |load: &&LoadRecord| self.of.as_ref().is_none_or(|of| load.name == *of);
        let found: Vec<&LoadRecord> = loads(record).filter(wanted).collect();
        if let Some(reason) = found.iter().find_map(|load| load.not_supported.as_ref()) {
            return Err(Absent::missed(format!("not supported: {reason}")));
        }
        if found.is_empty() {
            return Err("not measured".into());
        }
        Ok(found)
    }

    fn sum(&self, record: &TrialRecord, of: fn(&LoadRecord) -> u64) -> Result<u64, Absent> {
        Ok(self.loads(record)?.into_iter().map(of).sum())
    }

    fn error_share(&self, record: &TrialRecord) -> Result<f64, Absent> {
        let failed = self.sum(record, LoadRecord::failed)?;
        let all = failed + self.sum(record, LoadRecord::operations)?;
        Ok(failed as f64 / all.max(1) as f64)
    }

    /// Of the writers while queries are asked, or else of the load, where it is not said of what.
    fn throughput(&self, record: &TrialRecord) -> Result<f64, Absent> {
        let found = self.loads(record)?;
        let writing = found.iter().rev().find(|load| load.writes);
        let load = writing.or(found.last()).ok_or("not measured")?;
        let rate = if load.writes { load.readings_per_second() } else { load.operations_per_second() };
        Ok(rate.ok_or("not measured")?)
    }

    fn latency(&self, record: &TrialRecord, size: Option<&YourSize>) -> Result<Band, Absent> {
        let found = self.loads(record)?;
        let classes = found.iter().flat_map(|load| load.classes.values());
        let summary = &classes.last().ok_or("not measured")?.latency.summary;
        if summary.count == 0 {
            return Err(Absent::missed("no operation succeeded"));
        }
        let too_few = || {
            let needed = SAMPLES_BEYOND / self.what.beyond();
            format!(
                "too few operations: {}, and it takes {needed:.0}; measure longer (--budget or a longer duration)",
                summary.count
            )
        };
        let value = self.what.of(summary).ok_or_else(too_few)?;
        let (Some(size), Some(of)) = (size, &self.of) else { return Ok(at(value)) };
        let points = sizes::latencies(record, of, |summary| self.what.of(summary));
        let projected =
            project(&points, size.readings).map_err(|open| Absent::open(open, record, size.readings))?;
        if size.old.contains(of)
            && let Some(fitting) = sizes::in_memory(record, size.readings)
        {
            return Err(Absent {
                words: format!(
                    "measured in memory, and your {} readings do not fit into it",
                    count_text(size.readings)
                ),
                is_undecided: true,
                needs_readings: Some(fitting),
            });
        }
        Ok(projected)
    }
}

/// The size that the user's data will have.
#[derive(Debug, Clone, PartialEq)]
pub struct YourSize {
    /// Readings.
    pub readings: f64,
    /// Queries about data of any time, which may lie on disk then.
    pub old: Vec<String>,
    /// Whether the database was held to a part of the user's memory.
    pub in_proportion: bool,
}

/// A figure that is known.
const fn at(value: f64) -> Band {
    Band { low: value, high: value }
}

/// Why there is no figure.
struct Absent {
    words: String,
    /// How many readings would tell.
    needs_readings: Option<f64>,
    /// Whether nobody knows, so that another measurement might tell.
    is_undecided: bool,
}

impl Absent {
    /// There is none because the database failed at it.
    fn missed(words: impl Into<String>) -> Self {
        Self { words: words.into(), needs_readings: None, is_undecided: false }
    }

    /// What was measured does not tell what it is at this size.
    fn open(open: Open, record: &TrialRecord, readings: f64) -> Self {
        let measured = record.readings_at_rest().unwrap_or(0) as f64;
        let (words, needs) = (open.words(measured, readings), open.needs(measured));
        Self { words, is_undecided: true, needs_readings: Some(needs) }
    }
}

impl From<String> for Absent {
    fn from(words: String) -> Self {
        Self { words, needs_readings: None, is_undecided: true }
    }
}

impl From<&str> for Absent {
    fn from(words: &str) -> Self {
        Self::from(words.to_owned())
    }
}

/// What is left of `disk for 90d` without its time, and the readings of that time.
fn time_meant<'t>(text: &str, left: &'t str, rate: f64) -> Result<(&'t str, Option<f64>), String> {
    let Some(time) = left.strip_prefix(DISK_FOR) else {
        return Ok((left, None));
    };
    let kept_ns = duration_ns(time.trim())
        .map_err(|why| format!("{text:?}: {why}, as in \"{DISK_FOR} 90d < 100 GB\""))?;
    Ok((&left[..DISK_FOR.len()], Some(rate * kept_ns as f64 / 1e9)))
}

impl What {
    pub(super) const fn is_latency(self) -> bool {
        self as u8 <= Self::Mean as u8
    }

    /// The share of operations that lie beyond the percentile.
    const fn beyond(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P90 => 0.1,
            Self::P95 => 0.05,
            Self::P99 => 0.01,
            _ => 0.001,
        }
    }

    /// The latency, in ns; none where there were too few operations.
    fn of(self, summary: &LatencySummary) -> Option<f64> {
        let percentile = match self {
            Self::P50 => summary.p50_ns,
            Self::P90 => summary.p90_ns,
            Self::P95 => summary.p95_ns,
            Self::P99 => summary.p99_ns,
            Self::P999 => summary.p999_ns,
            Self::Slowest => Some(summary.max_ns),
            _ => return Some(summary.mean_ns),
        };
        percentile.map(|ns| ns as f64)
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

/// Holds the limits of disk again where a version before this one has foretold it from one size. The sensors send at this rate.
pub fn hold_disk(record: &mut TrialRecord, rate: f64) {
    let measured = record.readings_at_rest().unwrap_or(0) as f64;
    let is_of_one = sizes::disk(record).len() < 3;
    let held = record.limits.iter().map(|limit| {
        // A rate may stand at its end.
        let text = limit.text.split(" at ").next().unwrap_or_default();
        let parsed = Limit::parse(text, &[], rate).ok().filter(|_| is_of_one && limit.measured.is_some());
        let parsed = parsed.filter(|parsed| parsed.kept_readings.is_some_and(|kept| kept > measured));
        let again = parsed.map(|parsed| parsed.hold(record, None));
        again.map_or_else(|| limit.clone(), |again| LimitRecord { text: limit.text.clone(), ..again })
    });
    record.limits = held.collect();
}

/// Whether the limit is open because it is of more data than was measured, whatever the rate.
pub fn is_left_open(limit: &LimitRecord) -> bool {
    let is_of_disk = || limit.text.trim_start().starts_with(DISK_FOR);
    limit.needs_readings.is_some() || (limit.is_undecided && is_of_disk())
}

/// The loads whose figures count.
fn loads(record: &TrialRecord) -> impl Iterator<Item = &LoadRecord> {
    record.loads.iter().filter(|load| !load.warm_up)
}

/// A figure of the disk, or that there is none.
fn seen(bytes: Option<f64>) -> Result<f64, Absent> {
    Ok(bytes.ok_or("the database's disk cannot be seen from here")?)
}

/// The disk of so many readings.
fn disk_kept(record: &TrialRecord, readings: f64) -> Result<Band, Absent> {
    seen(disk::at_rest_bytes(record))?;
    let mut points = sizes::disk(record);
    if points.len() < 2 {
        // An earlier version wrote down no sizes.
        let readings = record.readings_at_rest().ok_or("not measured")? as f64;
        let growth = seen(disk::growth_bytes(record))?;
        points = vec![(0.0, 0.0), (readings, growth)];
    }
    let measured = points.last().map_or(0.0, |(readings, _)| *readings);
    project_disk(&points, readings).map_err(|open| match open {
        // One size is no slope.
        Open::TooFew(1, _) => {
            Absent::open(Open::TooFar(measured * sizes::TIMES.pow(2) as f64), record, readings)
        }
        open => Absent::open(open, record, readings),
    })
}

/// The most that the server's processes held at the end of a phase; of an embedded database, the process that it is in.
fn memory(record: &TrialRecord) -> Option<f64> {
    let role = if record.implementation.embedded { "trial" } else { "server" };
    let totals = record.phases.iter().filter_map(|phase| phase.totals.as_ref());
    let held = totals.filter_map(|totals| Some(totals.roles.get(role)?.end_held_bytes()));
    held.max().map(|bytes| bytes as f64)
}
