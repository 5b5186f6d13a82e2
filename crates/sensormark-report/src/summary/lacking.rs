//! Who was measured and lacks what others have: a question, or a server whose CPU and memory nobody saw. It has a row of what was measured, and no place in the ranking.

use super::figures::SummaryColumn;
use serde::Serialize;
use std::cmp::Ordering;

/// Somebody who was measured and lacks what others have.
#[derive(Debug, Clone, Serialize)]
pub struct LackingRow {
    /// Its name.
    pub label: String,
    /// Whether a trial of it counts although the machine was busy.
    pub rough: bool,
    /// Its figures, in the order of the columns; null where it was not measured.
    pub figures: Vec<Option<f64>>,
}

/// The best of the first column first; where that is the same, of the next.
pub fn best_first(mut rows: Vec<LackingRow>, columns: &[SummaryColumn]) -> Vec<LackingRow> {
    rows.sort_by(|one, other| {
        one.figures
            .iter()
            .zip(&other.figures)
            .zip(columns)
            .map(|((one, other), column)| match (one, other) {
                (Some(one), Some(other)) if column.more_is_better => other.total_cmp(one),
                (Some(one), Some(other)) => one.total_cmp(other),
                (one, other) => other.is_some().cmp(&one.is_some()),
            })
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    rows
}
