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
    pairs: Vec<Pair>,
    regressions: Vec<String>,
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
        let mut regressions = pairs
            .iter()
            .filter(|pair| pair.change == Change::Worse)
            .map(|pair| format!("{}: {}", pair.figure.implementation, pair.figure.name))
            .collect_vec();
        regressions.extend(lost.iter().map(|label| format!("{label}: no longer valid")));
        let mut document = tables::document(first, second, &pairs, &lost, threshold);
        if let Some(section) = environments::section([first, second]) {
            document.section(section);
        }
        Ok(Self::of(pairs, document, regressions))
    }

    /// Compares the implementations of one run with the one that leads its ranking, paired by repetition.
    ///
    /// # Errors
    /// A run without a valid trial, or with those of one implementation alone.
    pub fn in_turns(field: &Field) -> Result<Self, CompareError> {
        let (leader, pairs) = in_turns::pairs(field)?;
        let document = in_turns::document(field, &leader, &pairs);
        Ok(Self::of(pairs, document, vec![]))
    }

    fn of(pairs: Vec<Pair>, mut document: Document, regressions: Vec<String>) -> Self {
        document.neutralise();
        Self { document, pairs, regressions }
    }

    /// What it says, without a format.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// What became worse: figures, and implementations that are not valid any more.
    pub fn regressions(&self) -> &[String] {
        &self.regressions
    }

    /// Figures in which no change was found and one of this size would not have been, the bluntest first: 0.1 is 10 %.
    pub fn blunter_than(&self, change: f64) -> Vec<Blunt> {
        let same = self.pairs.iter().filter(|pair| pair.change == Change::NotFound);
        let blunt = same.filter_map(|Pair { figure, detectable, .. }| {
            let name = format!("{}, {}", figure.implementation, figure.name);
            Some(Blunt { name, detectable: detectable.filter(|size| *size > change + 1e-9)? })
        });
        blunt.sorted_by(|one, other| other.detectable.total_cmp(&one.detectable)).collect()
    }

    /// How many figures could be tested.
    pub fn tested(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.change.is_tested()).count()
    }

    /// Of how many figures nothing is decided, because the host was disturbed.
    pub fn disturbed(&self) -> usize {
        tables::count(&self.pairs, Change::Disturbed)
    }

    /// What it comes to, in at most 15 words.
    pub fn headline(&self) -> String {
        let count = |change| tables::count(&self.pairs, change);
        let (better, worse) = (count(Change::Better), count(Change::Worse));
        let same = count(Change::NotFound);
        let figures = counted(same, "figure");
        match (better + worse, same) {
            (0, 0) if self.disturbed() > 0 => {
                "Nothing is decided: other programs used the machine.".to_owned()
            }
            (0, 0) => "Nothing is tested: that takes three valid repetitions in both runs.".to_owned(),
            (0, _) => format!("No change found in {figures}."),
            (_, 0) => format!("{worse} worse, {better} better."),
            _ => format!("{worse} worse, {better} better; no change found in {figures}."),
        }
    }
}

/// Implementations with valid trials in the first run that were measured in the second and have none there.
fn lost(first: &Field, second: &Field) -> Vec<String> {
    let labels = |field: &Field, valid: bool| -> BTreeSet<String> {
        field
            .all()
            .filter(|(_, arm)| !valid || field.valid_of(arm).next().is_some())
            .map(|(side, arm)| figures::name(side, arm))
            .collect()
    };
    let (was, measured, is) = (labels(first, true), labels(second, false), labels(second, true));
    was.into_iter().filter(|label| measured.contains(label) && !is.contains(label)).collect()
}
