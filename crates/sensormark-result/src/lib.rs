//! What was measured, and what follows from it in numbers: records and folders of results, the probes of both sides, the ledger of what was acknowledged, statistics, the cost that ranks, and the machine-tool study's score.
#![cfg_attr(
    not(any(test, feature = "tests")),
    deny(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "these macros panic where the write fails; what is said goes through the command's module output"
    )
)]

pub mod cost;
pub mod ledger;
pub mod measurement;
pub mod probe;
pub mod score;
pub mod spool;
pub mod statistics;
#[cfg(any(test, feature = "tests"))]
#[expect(missing_docs, reason = "for tests alone")]
pub mod tests;
