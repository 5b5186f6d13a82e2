//! What was measured, and what follows from it in numbers: records and folders of results, the probes of both sides, the ledger of what was acknowledged, statistics, and the score.
#![cfg_attr(
    not(any(test, feature = "tests")),
    deny(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "these macros panic where the write fails; what is said goes through the command's module output"
    )
)]

pub mod ledger;
pub mod measurement;
pub mod probe;
pub mod score;
pub mod spool;
pub mod statistics;
#[cfg(any(test, feature = "tests"))]
#[expect(missing_docs, reason = "for tests alone")]
pub mod tests;
