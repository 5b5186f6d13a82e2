//! Why no score table could be made at all. Not why one implementation has no score: that is `Unscored`.

use thiserror::Error;

/// Criteria, weights or values that make no table.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ScoreError {
    /// The text is no TOML of the shape that is due.
    #[error("{what} cannot be read: {message}")]
    Malformed {
        /// Which text.
        what: &'static str,
        /// The parser's words, with line and column.
        message: String,
    },
    /// The weights have no such phase.
    #[error("no weights for phase {phase:?}: add a table [{phase}] to the weights")]
    NoPhase {
        /// The phase.
        phase: String,
    },
    /// A weight is negative, infinite or not a number.
    #[error("the weight of {criterion:?} is {weight}: a weight is a finite number, 0 or more")]
    BadWeight {
        /// The criterion.
        criterion: String,
        /// Its weight.
        weight: f64,
    },
    /// A criterion has no weight.
    #[error("criterion {criterion:?} has no weight: give it one, or 0 to leave it out")]
    NoWeight {
        /// The criterion.
        criterion: String,
    },
    /// A weight names a criterion that does not exist.
    #[error("there is no criterion {criterion:?}, which a weight is given for")]
    UnknownCriterion {
        /// The name.
        criterion: String,
    },
    /// The weights of the criteria that are left add up to 0.
    #[error("no criterion has a weight above 0 that can be used")]
    NothingWeighed,
    /// The criteria of one resource on client and server cannot be added up.
    #[error("{first:?} and {second:?} cannot be added up: their units or directions differ")]
    NotAddable {
        /// The criterion on one side.
        first: String,
        /// The criterion on the other.
        second: String,
    },
    /// Two implementations or criteria have one name.
    #[error("{name:?} is given twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A contestant names a row that a table does not have.
    #[error("no row {row:?} in phase {phase:?}")]
    NoRow {
        /// The row's name.
        row: String,
        /// The phase.
        phase: String,
    },
    /// Nobody is there to be compared.
    #[error("no implementation has a score in every phase")]
    NoContestant,
}
