//! The machine-tool study's score, where the study is reproduced and nowhere else: layouts are ranked by [`crate::cost`].
//!
//! score = (1 − Σ(value / max × weight) / Σ weights) × 100 over the implementations compared. 100 is best. The total is the mean over the phases (write and
//! read). Pure functions: no I/O, no entropy.

mod blocks;
mod board;
mod criterion;
mod table;
#[cfg(test)]
mod tests;

pub use blocks::{BlockScores, Scores, Sides, block_scores};
pub use board::{Board, Standing};
pub use criterion::{Criterion, STUDY_CRITERIA};
pub use table::{Implementation, Phase, SubjectiveTerm, Table};
