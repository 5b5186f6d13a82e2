//! One phase's costs, ready to be weighed: complete, lower is better, nothing missing. Made by `prepare`; combined
//! with other phases by `Board`.

use serde::{Deserialize, Serialize};

/// A criterion as it is weighed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The criterion's id, or of two that were added up the resource's: `cpu`.
    pub id: String,
    /// What a person reads.
    pub name: String,
    /// Unit of the costs.
    pub unit: String,
    /// Weight above 0; of two that were added up, the sum.
    pub weight: f64,
    /// False where the weight stands in the divisor alone and the cost counts as 0
    /// ([`super::SubjectiveTerm::InDivisorOnly`]).
    pub in_sum: bool,
}

/// An implementation's costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The implementation.
    pub name: String,
    /// One cost a column, finite, 0 or more, lower is better.
    pub costs: Vec<f64>,
}

/// An implementation that has no score, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unscored {
    /// The implementation.
    pub name: String,
    /// One sentence.
    pub reason: String,
}

/// One phase of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The phase: `write`, `read`.
    pub phase: String,
    /// What is weighed.
    pub columns: Vec<Column>,
    /// Who is compared.
    pub rows: Vec<Row>,
    /// Implementations without a score in this phase, and why.
    pub unscored: Vec<Unscored>,
    /// What a reader must know of how the table was made, as sentences.
    pub notes: Vec<String>,
}

impl Table {
    /// The weights of the columns, in their order.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        self.columns.iter().map(|column| column.weight).collect()
    }

    /// cost / column's maximum over `rows` (indices), 0 to 1: one line for each of `rows`. A column that is 0 for
    /// all of them, or that is not in the sum, is 0.
    #[must_use]
    pub fn shares(&self, rows: &[usize]) -> Vec<Vec<f64>> {
        rows.iter().map(|row| self.shares_of(&self.rows[*row].costs, rows)).collect()
    }

    /// The same of costs that need not be a row's: above 1 where they exceed every one of `rows`.
    ///
    /// # Panics
    /// When there is not one cost a column.
    #[must_use]
    pub fn shares_of(&self, costs: &[f64], rows: &[usize]) -> Vec<f64> {
        assert_eq!(costs.len(), self.columns.len(), "one cost a column");
        let share = |(column, cost): (usize, &f64)| {
            let maximum = rows.iter().map(|row| self.rows[*row].costs[column]).fold(0.0, f64::max);
            if self.columns[column].in_sum && maximum > 0.0 { cost / maximum } else { 0.0 }
        };
        costs.iter().enumerate().map(share).collect()
    }

    /// The score of each row among all rows of this table, in percent, 100 best, with the table's own weights.
    #[must_use]
    pub fn scores(&self) -> Vec<f64> {
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        let weights = self.weights();
        self.shares(&rows).iter().map(|shares| score(shares, &weights)).collect()
    }
}

/// (1 − Σ(share × weight) / Σ weights) × 100. The weights' sum is above 0.
pub(super) fn score(shares: &[f64], weights: &[f64]) -> f64 {
    let cost: f64 = shares.iter().zip(weights).map(|(share, weight)| share * weight).sum();
    (1.0 - cost / weights.iter().sum::<f64>()) * 100.0
}
