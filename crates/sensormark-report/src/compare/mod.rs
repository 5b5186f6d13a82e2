//! Two runs side by side: what changed from the first to the second, by how much, and whether that is more than noise.
//!
//! The runs were not measured in turns, so repetitions are not paired. The test is Welch's on logarithms, of a change beyond the threshold. It leaves room
//! for runs that vary as a whole, and Holm's method corrects it over all figures of both. A figure that passes is better or worse; of the others it is
//! said how small a change would have been found.
//!
//! With fewer than three repetitions on either side nothing is tested. Where a disturbed host was tolerated nothing is decided.
//!
//! The implementations of one run did take turns: `in_turns` pairs them by repetition.
//!
//! `figures` takes the figures, `origin` knows which servers were unlike, and `pairs` tests what both runs have. `tables` makes the sections, and `forest` the ratios in them.

mod error;
mod figures;
mod forest;
mod in_turns;
mod origin;
mod pairs;
mod tables;

use crate::{prelude::*, studies::environments};
pub use error::CompareError;
pub use pairs::Change;
use pairs::{Pair, pairs};

/// Two runs compared.
#[derive(Debug, PartialEq)]
pub struct Comparison {
    document: Document,
    headline: String,
    regressions: Vec<String>,
    blunt: Vec<Blunt>,
    tested: usize,
    disturbed: usize,
}

/// A figure in which no change was found, and how large one would have been seen.
#[derive(Debug, PartialEq)]
pub struct Blunt {
    /// Implementation and figure.
    pub name: String,
    /// The smallest change that would have been found in about four of five cases: 0.1 is 10 %.
    pub detectable: f64,
}

impl Comparison {
    /// Compares the second run with the first; a change of less than `threshold` (0.01 is 1 %) is a tie.
    ///
    /// # Errors
    /// Runs of different workloads, or without an implementation in common.
    pub fn new(first: &Field, second: &Field, threshold: f64) -> Result<Self, CompareError> {
        if first.run.workload != second.run.workload {
            return Err(CompareError::Workloads {
                first: first.run.workload.clone(),
                second: second.run.workload.clone(),
            });
        }
        let pairs = pairs(first, second, threshold);
        if pairs.is_empty() {
            return Err(CompareError::NothingInCommon);
        }
        let lost = lost(first, second);
        let worse = pairs.iter().filter(|pair| pair.change == Change::Worse);
        let mut regressions =
            worse.map(|pair| format!("{}: {}", pair.figure.implementation, pair.figure.name)).collect_vec();
        regressions.extend(lost.iter().map(|label| format!("{label}: no longer valid")));
        let mut document = tables::document(first, second, &pairs, &lost, threshold);
        if let Some(section) = environments::section([first, second]) {
            document.section(section);
        }
        Ok(Self::of(&pairs, document, regressions))
    }

    /// Compares the implementations of one run with the one that leads its ranking, paired by repetition.
    ///
    /// # Errors
    /// A run without a valid trial, or with those of one implementation alone.
    pub fn in_turns(field: &Field) -> Result<Self, CompareError> {
        let (leader, pairs) = in_turns::pairs(field)?;
        let document = in_turns::document(field, &leader, &pairs);
        Ok(Self::of(&pairs, document, vec![]))
    }

    fn of(pairs: &[Pair], mut document: Document, regressions: Vec<String>) -> Self {
        document.neutralise();
        Self {
            document,
            headline: headline(pairs),
            regressions,
            blunt: blunt(pairs),
            tested: pairs.iter().filter(|pair| pair.change.is_tested()).count(),
            disturbed: tables::count(pairs, Change::Disturbed),
        }
    }

    /// What it says, without a format.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// What became worse: figures, and implementations that are not valid any more.
    pub fn regressions(&self) -> &[String] {
        &self.regressions
    }

    /// What it comes to, in one short sentence.
    pub fn headline(&self) -> &str {
        &self.headline
    }

    /// Figures in which a change of this size would not have been found, the bluntest first: 0.1 is 10 %.
    pub fn blunter_than(&self, change: f64) -> &[Blunt] {
        let end = self.blunt.partition_point(|blunt| blunt.detectable > change + 1e-9);
        &self.blunt[..end]
    }

    /// How many figures could be tested.
    pub fn tested(&self) -> usize {
        self.tested
    }

    /// Of how many figures nothing is decided, because the host was disturbed.
    pub fn disturbed(&self) -> usize {
        self.disturbed
    }
}

/// Figures in which no change was found, the bluntest first.
fn blunt(pairs: &[Pair]) -> Vec<Blunt> {
    let same = pairs.iter().filter(|pair| pair.change == Change::NotFound);
    let blunt = same.filter_map(|Pair { figure, detectable, .. }| {
        let name = format!("{}, {}", figure.implementation, figure.name);
        Some(Blunt { name, detectable: (*detectable)? })
    });
    blunt.sorted_by(|one, other| other.detectable.total_cmp(&one.detectable)).collect()
}

/// What a comparison comes to, in at most 15 words.
fn headline(pairs: &[Pair]) -> String {
    let count = |change| tables::count(pairs, change);
    let (better, worse) = (count(Change::Better), count(Change::Worse));
    let same = count(Change::NotFound);
    match (better + worse, same) {
        (0, 0) if count(Change::Disturbed) > 0 => {
            "Nothing is decided: other programs used the machine.".to_owned()
        }
        (0, 0) => "Nothing is tested: that takes three valid repetitions in both runs.".to_owned(),
        (0, same) => format!("No change found in {}.", counted(same, "figure")),
        (_, 0) => format!("{worse} worse, {better} better."),
        (_, same) => {
            format!("{worse} worse, {better} better; no change found in {}.", counted(same, "figure"))
        }
    }
}

/// Implementations with valid trials in the first run that were measured in the second and have none there.
fn lost(first: &Field, second: &Field) -> Vec<String> {
    let labels = |field: &Field, valid: bool| -> BTreeSet<String> {
        let arms = field.all();
        let fits = arms.filter(|(_, arm)| !valid || field.valid_of(arm).next().is_some());
        fits.map(|(side, arm)| figures::name(side, arm)).collect()
    };
    let (was, measured, is) = (labels(first, true), labels(second, false), labels(second, true));
    was.into_iter().filter(|label| measured.contains(label) && !is.contains(label)).collect()
}
