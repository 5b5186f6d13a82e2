//! The study's score: many criteria weighed into one number, and how much that number depends on the weights.
//!
//! score = (1 − Σ(value / max × weight) / Σ weights) × 100 over the implementations compared. 100 is best. The total is the mean over the phases (write and
//! read). The formula is the machine-tool study's (`studies/machine-tool.toml`). Criteria and weights are data, not code.
//!
//! Pure functions: no I/O, no entropy. It is no statistics: it takes means, and says nothing about chance; see
//! [`crate::statistics`] for that.
//!
//! The flow: [`Criterion`]s and [`Weights`] + [`Implementation`]s → [`prepare`] → [`Table`] (one a phase) →
//! [`Board`] → [`Board::standings`], [`Board::leave_one_out`], [`Board::win_shares`], [`Board::smallest_change`],
//! [`Board::ranks_by_criterion`].

mod board;
mod criterion;
mod error;
mod prepare;
mod sensitivity;
mod table;
#[cfg(test)]
mod tests;
mod weights;

pub use board::{Board, LeftOut, Standing, competition_ranks};
pub use criterion::{Better, Criterion, Side, cost_criteria, study_criteria};
pub use error::ScoreError;
pub use prepare::{Implementation, Options, SubjectiveTerm, prepare};
pub use sensitivity::{CriterionRanks, WeightChange, WinShare};
pub use table::{Column, Row, Table, Unscored};
pub use weights::Weights;
