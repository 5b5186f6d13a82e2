//! The sensormark pipeline, in the order in which data flows: data set, workload, engine, ledger, measurement, probe,
//! statistics, score, report.
//!
//! It sees databases through the contract alone (crate `sensormark-store`); only the command names stores.

#![cfg_attr(
    not(test),
    deny(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "these macros panic where the write fails; what is said goes through the command's module output"
    )
)]

// In the order that data flows; the blank lines keep rustfmt from sorting by name.
pub mod dataset;

pub mod workload;

pub mod engine;

pub mod ledger;

pub mod measurement;

pub mod probe;

pub mod statistics;

pub mod score;

pub mod report;

pub mod nearest;

pub mod quantity;

pub mod spool;

pub mod studies;

pub mod units;
