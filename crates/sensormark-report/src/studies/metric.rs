//! The vocabulary of figures: what is measured of loads and of whole trials, by the words of a study's file.

use super::*;
use crate::criteria::figure;
use sensormark_store::Shape;

/// All words. Those with a `/` are followed by a name: a role, a criterion, a figure.
pub const WORDS: [&str; 28] = [
    "operations",
    "readings",
    "mean",
    "p50",
    "p99",
    "max",
    "load-average",
    "cpu/",
    "memory/",
    "written",
    "found",
    "criterion/",
    "figure/",
    "phase/",
    "rest/",
    "growth",
    "stored",
    "uncut",
    "rows",
    "planned",
    "exponent",
    "embedded",
    "resident",
    "storage-reads",
    "lost",
    "attempted",
    "part/",
    "score/",
];

/// Which mean fits a figure, and which of two is better.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// So much a second: the geometric mean, and more is better.
    Rate,
    /// A time: the geometric mean, and less is better.
    Time,
    /// What adds up, like space: the arithmetic mean, and less is better.
    Amount,
    /// A count of the first valid trial.
    Count,
}

/// Kinds by their words in a definition.
pub const KINDS: [(&str, Kind); 4] =
    [("rate ", Kind::Rate), ("time ", Kind::Time), ("amount ", Kind::Amount), ("count ", Kind::Count)];

/// The kind of a word's figure and its unit, where a definition does not say them.
pub fn kind(word: &str) -> (Kind, &'static str) {
    match word.split('/').next().unwrap_or_default() {
        "operations" => (Kind::Rate, "1/s"),
        "readings" | "phase" => (Kind::Rate, ""),
        "mean" | "p50" | "p99" | "max" => (Kind::Time, "ms"),
        "cpu" => (Kind::Amount, "%"),
        "memory" => (Kind::Amount, "MB"),
        _ => (Kind::Amount, ""),
    }
}

/// Whether this is a word of the vocabulary.
pub fn is_known(word: &str) -> bool {
    WORDS.iter().any(|known| *known == word || known.ends_with('/') && word.starts_with(known))
}

/// The figure of a trial that a word names, of these loads; none for a word that there is not.
pub fn metric(word: &str, of: &Loads, trial: &TrialRecord, run: &RunRecord) -> Known {
    let (word, name) = word.split_once('/').unwrap_or((word, ""));
    let (done, ledger) = (|| of.first_done(trial), trial.ledger.as_ref());
    let latency = |get: fn(&LatencySummary) -> Option<u64>| {
        let class = done()?.classes.values().find(|class| class.operations > 0)?;
        Some(get(&class.latency.summary)? as f64 / 1e6)
    };
    match word {
        "operations" => of.operations_a_second(trial),
        "readings" => done()?.readings_per_second().filter(|rate| *rate > 0.0),
        "mean" => Some(mean_ns(done()?)? / 1e6),
        "p50" => latency(|one| one.p50_ns),
        "p99" => latency(|one| one.p99_ns),
        "max" => latency(|one| Some(one.max_ns)),
        "load-average" => weighted(&of.over_phases(trial, |totals| Some(totals.host.mean_load))?),
        "cpu" => weighted(&of.over_phases(trial, |totals| {
            let used = totals.roles.get(name)?.cpu_ns as f64 / totals.span_ns as f64;
            Some(used * 100.0 / totals.host.processors.max(1) as f64)
        })?),
        "memory" => {
            // A client's is what is resident, a server's has each page once.
            let bytes = |role: &RoleTotals| {
                if name == "server" { role.end_held_bytes() } else { role.end_resident_bytes }
            };
            let most = of
                .over_phases(trial, |totals| Some(totals.roles.get(name).map_or(0, bytes) as f64))?
                .into_iter()
                .map(|(bytes, _)| bytes / 1e6)
                .reduce(f64::max);
            most.filter(|most| *most > 0.0)
        }
        "written" => Some(done()?.readings() as f64),
        "rows" if trial.implementation.layout.shape == Shape::RowPerReading => {
            Some(of.first(trial)?.readings() as f64)
        }
        "planned" => Some(done()?.planned as f64),
        "found" => done().map(|load| load.readings() as f64 / load.operations() as f64),
        "uncut" => of.all(trial).all(|load| load.operations() > 0 && load.cut.is_none()).then_some(1.0),
        "criterion" => criteria::values(trial, run).get(name).copied(),
        "figure" => figure(trial, name),
        "phase" => figure(trial, &format!("{name}/{}", of.first(trial)?.phase)),
        "rest" => at_rest(trial, name, of.first(trial)?.labels.get("settled")?.as_str()?),
        "part" => ingest_rate::part(trial, name),
        "growth" => disk::growth_bytes(trial),
        "embedded" => trial.implementation.embedded.then_some(0.0),
        // At the end of the measured phase, in units of 1,024 bytes.
        "resident" => Some(
            criteria::measured(trial)?.totals.as_ref()?.roles.get("server")?.end_resident_bytes as f64
                / 1_024.0,
        ),
        "storage-reads" => criteria::storage_read_rate(trial),
        "lost" => Some(ledger?.in_doubt_not_stored as f64),
        "attempted" => Some(ledger?.attempted as f64),
        "stored" => Some(ledger?.stored as f64),
        _ => None,
    }
}

/// The mean of figures, each by its length.
fn weighted(figures: &[(f64, f64)]) -> Known {
    let sum: f64 = figures.iter().map(|(figure, length)| figure * length).sum();
    let length: f64 = figures.iter().map(|(_, length)| length).sum();
    (length > 0.0).then(|| sum / length)
}

/// The mean over classes, each by its operations.
fn mean_ns(load: &LoadRecord) -> Known {
    let means = load
        .classes
        .values()
        .filter(|class| class.operations > 0)
        .map(|class| &class.latency.summary)
        .map(|one| (one.mean_ns, one.count as f64));
    match means.collect_vec()[..] {
        [(mean, _)] => Some(mean),
        ref several => weighted(several),
    }
}

/// A figure of the rest after a load. `seconds` is its length, `disk` the growth of the data folder until then in bytes, and `data` the same without logs. Other
/// names are those of kept figures.
fn at_rest(trial: &TrialRecord, name: &str, rest: &str) -> Known {
    let at = |name: &str| format!("{name}/{rest}");
    let (all, logs) = (at(names::DISK_SETTLED), at(names::DISK_SETTLED_LOGS));
    match name {
        "seconds" => Some(criteria::phase(trial, rest)?.seconds),
        "disk" => Some(figure(trial, &all)? - figure(trial, names::DISK_BEFORE)?),
        "data" => {
            let before = disk::data_bytes(trial, names::DISK_BEFORE, names::DISK_BEFORE_LOGS)?;
            Some(disk::data_bytes(trial, &all, &logs)? - before)
        }
        _ => figure(trial, &at(name)),
    }
}
