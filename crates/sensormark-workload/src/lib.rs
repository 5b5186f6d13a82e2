//! Workloads: what is asked of a store, and what the right answers are.
//!
//! One folder a workload. A workload turns data sets into operations and expected answers; it knows no store.
//!
//! It is not where operations are issued or timed: that is `engine`.
#![cfg_attr(
    not(test),
    deny(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "these macros panic where the write fails; what is said goes through the command's module output"
    )
)]

pub mod checked;

pub mod durability;

pub mod machine_tool;

pub mod own;

pub mod replay;

pub mod shipped;

#[cfg(test)]
mod tests;
