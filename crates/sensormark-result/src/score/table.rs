//! One phase's costs, ready to be weighed: complete, lower is better, nothing missing. Combined with the other phase by `Board`.

use super::criterion::{Criterion, STUDY_CRITERIA};
use std::collections::BTreeMap;

/// A phase of the study, by the place of its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Writing.
    Write = 0,
    /// Reading.
    Read = 1,
}

/// What was measured of one implementation in one phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Implementation {
    /// Store, layout and reading strategy, as the study's table has it: "MariaDB bulk".
    pub name: String,
    /// Values by criterion id, in the criterion's unit. One that was not measured is absent, never 0.
    pub values: BTreeMap<String, f64>,
}

/// What becomes of the difficulty, where every implementation has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectiveTerm {
    /// Like any other: what the study's formula says.
    InSum,
    /// Its weight stays in the divisor, its value adds nothing: what the study's printed read scores come from.
    InDivisorOnly,
}

/// A criterion as it is weighed.
#[derive(Debug, Clone, PartialEq)]
struct Column {
    id: &'static str,
    weight: f64,
    in_sum: bool,
}

/// An implementation's costs, one a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) costs: Vec<f64>,
}

/// One phase of the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

impl Table {
    /// The table of a phase. Who lacks a value of a criterion with a weight is no part of it. A difficulty that not everybody has is left out of both sums.
    #[must_use]
    pub fn new(phase: Phase, field: &[Implementation], subjective: SubjectiveTerm) -> Self {
        let weight = |criterion: &Criterion| criterion.weights[phase as usize];
        let mut criteria: Vec<Criterion> =
            STUDY_CRITERIA.into_iter().filter(|criterion| weight(criterion) > 0.0).collect();
        let has = |one: &Implementation, criterion: &Criterion| {
            one.values.get(criterion.id).is_some_and(|value| value.is_finite() && *value >= 0.0)
        };
        let has_all = |one: &&Implementation| {
            criteria.iter().all(|criterion| criterion.is_subjective() || has(one, criterion))
        };
        let scored: Vec<&Implementation> = field.iter().filter(has_all).collect();
        criteria.retain(|criterion| scored.iter().all(|one| has(one, criterion)));
        let column = |criterion: &Criterion| Column {
            id: criterion.id,
            weight: weight(criterion),
            in_sum: !criterion.is_subjective() || subjective == SubjectiveTerm::InSum,
        };
        let mut table = Self { columns: criteria.iter().map(column).collect(), rows: Vec::new() };
        let row =
            |one: &&Implementation| Some(Row { name: one.name.clone(), costs: table.costs(&one.values)? });
        table.rows = scored.iter().filter_map(row).collect();
        table
    }

    /// The costs among these values, one a column; none where one is missing.
    #[must_use]
    pub fn costs(&self, values: &BTreeMap<String, f64>) -> Option<Vec<f64>> {
        self.columns.iter().map(|column| values.get(column.id).copied()).collect()
    }

    /// The score of these costs in percent, 100 best, by the maxima of these rows: (1 − Σ(share × weight) / Σ weights) × 100. A column that is 0 for all of them
    /// adds nothing. Costs above every row's can score below 0.
    pub(super) fn score(&self, costs: &[f64], rows: &[usize]) -> f64 {
        let share = |(column, cost): (usize, &f64)| {
            let maximum = rows.iter().map(|row| self.rows[*row].costs[column]).fold(0.0, f64::max);
            let is_shared = self.columns[column].in_sum && maximum > 0.0;
            if is_shared { cost / maximum * self.columns[column].weight } else { 0.0 }
        };
        let cost: f64 = costs.iter().enumerate().map(share).sum();
        (1.0 - cost / self.columns.iter().map(|column| column.weight).sum::<f64>()) * 100.0
    }

    /// The score of each row among all rows of this table.
    #[must_use]
    pub fn scores(&self) -> Vec<f64> {
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        self.rows.iter().map(|row| self.score(&row.costs, &rows)).collect()
    }
}
