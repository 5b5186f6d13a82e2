//! Two runs side by side: what changed from the first to the second, by how much, and whether that is more than noise.
//!
//! The runs were not measured in turns, so repetitions are not paired: Welch's test on logarithms, Holm-corrected over all figures of
//! both. A figure that differs significantly and by more than the threshold is better or worse; the others are ties. With fewer
//! than three repetitions on either side nothing is tested, and the report says so. `figures` takes the figures, `tables` says them.

mod figures;
mod tables;

use super::field::Field;
use super::sensor_operations;
use super::tables::{Document, Section};
use crate::statistics::{Better, SIGNIFICANCE, UnpairedComparison, compare_unpaired, holm};
use figures::{Figure, figures};
use std::collections::BTreeSet;

/// Why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// They are of different workloads.
    #[error(
        "the first run is of {first}, the second of {second}: only runs of one workload can be compared"
    )]
    Workloads {
        /// The first's.
        first: String,
        /// The second's.
        second: String,
    },
    /// Nothing was measured in both.
    #[error("no implementation has valid trials in both runs, so there is nothing to compare")]
    NothingInCommon,
}

/// What became of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Significantly better, by more than the threshold.
    Better,
    /// Significantly worse, by more than the threshold.
    Worse,
    /// The data cannot tell them apart, or they differ by less than the threshold.
    Tie,
    /// Too few repetitions for a test.
    Untested,
}

/// A figure of both runs.
#[derive(Debug, Clone, PartialEq)]
struct Pair {
    figure: Figure,
    second: Vec<f64>,
    compared: Option<UnpairedComparison>,
    change: Change,
}

/// Two runs compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    document: Document,
    regressions: Vec<String>,
    tested: usize,
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
        let mut regressions: Vec<String> = worse
            .map(|pair| format!("{}: {}", pair.figure.implementation, pair.figure.name))
            .collect();
        regressions.extend(lost.iter().map(|label| format!("{label}: no longer valid")));
        let mut document = tables::document(first, second, &pairs, &lost, threshold);
        if let Some(table) = sensor_operations::physical_and_virtual([first, second]) {
            let mut section = Section::new("environments", "Physical and virtual");
            section.table(table);
            document.section(section);
        }
        document.neutralise();
        Ok(Self {
            document,
            regressions,
            tested: pairs
                .iter()
                .filter(|pair| pair.change != Change::Untested)
                .count(),
        })
    }

    /// What it says, without a format.
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// What became worse: figures, and implementations that are not valid any more.
    pub fn regressions(&self) -> &[String] {
        &self.regressions
    }

    /// How many figures could be tested.
    pub const fn tested(&self) -> usize {
        self.tested
    }
}

fn pairs(first: &Field, second: &Field, threshold: f64) -> Vec<Pair> {
    let mut others = figures(second);
    let mut pairs: Vec<Pair> = Vec::new();
    for figure in figures(first) {
        let same = |other: &Figure| other.is_same(&figure);
        let Some(place) = others.iter().position(same) else {
            continue;
        };
        let second = others.swap_remove(place).values;
        let compared = compare_unpaired(&figure.values, &second).ok();
        pairs.push(Pair {
            figure,
            second,
            compared,
            change: Change::Untested,
        });
    }
    let tested: Vec<usize> = (0..pairs.len())
        .filter(|place| p_value(&pairs[*place]).is_some())
        .collect();
    let p_values: Vec<f64> = tested
        .iter()
        .filter_map(|place| p_value(&pairs[*place]))
        .collect();
    for (place, p) in tested.into_iter().zip(holm(&p_values)) {
        let pair = &mut pairs[place];
        let ratio = pair.compared.map_or(1.0, |compared| compared.ratio);
        pair.change = change(ratio, p, pair.figure.better, threshold);
    }
    pairs
}

fn p_value(pair: &Pair) -> Option<f64> {
    pair.compared?.p_value
}

fn change(ratio: f64, p: f64, better: Better, threshold: f64) -> Change {
    let far = ratio.ln().abs() > (1.0 + threshold).ln();
    let improved = (ratio < 1.0) == (better == Better::Lower);
    match (p < SIGNIFICANCE && far, improved) {
        (false, _) => Change::Tie,
        (true, true) => Change::Better,
        (true, false) => Change::Worse,
    }
}

/// Implementations with valid trials in the first run that were measured in the second and have none there.
fn lost(first: &Field, second: &Field) -> Vec<String> {
    let labels = |field: &Field, valid: bool| -> BTreeSet<String> {
        let arms = field.all();
        let fits = arms.filter(|(_, arm)| !valid || field.valid_of(arm).next().is_some());
        fits.map(|(side, arm)| figures::name(side, arm)).collect()
    };
    let (was, measured, is) = (
        labels(first, true),
        labels(second, false),
        labels(second, true),
    );
    was.into_iter()
        .filter(|label| measured.contains(label) && !is.contains(label))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_when_it_is_significant_and_large_enough() {
        let of = |ratio, p, better| change(ratio, p, better, 0.01);
        assert_eq!(of(1.2, 0.001, Better::Lower), Change::Worse);
        assert_eq!(of(0.8, 0.001, Better::Lower), Change::Better);
        assert_eq!(of(1.2, 0.001, Better::Higher), Change::Better);
        assert_eq!(of(0.8, 0.001, Better::Higher), Change::Worse);
        assert_eq!(of(1.2, 0.2, Better::Lower), Change::Tie);
        assert_eq!(of(1.005, 0.001, Better::Lower), Change::Tie);
        assert_eq!(of(0.995, 0.001, Better::Higher), Change::Tie);
    }
}
