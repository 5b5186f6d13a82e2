//! Data sets: what the sensors say.
//!
//! Every reading of a generated data set is a pure function of the seed, its series, its field and its index. It is the same on every machine and toolchain
//! (ARCHITECTURE.md, rule 4), so that expected answers can be computed without a database. A [`recording`] is somebody's own file instead, and [`export`]
//! writes either as a file. These two do I/O. The generators do none, read no clock and keep no state between calls.
//!
//! It is not where operations or queries are made (that is `workload`).
#![cfg_attr(
    not(test),
    deny(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "these macros panic where the write fails; what is said goes through the command's module output"
    )
)]

pub mod devops;
pub mod elementary;
pub mod export;
pub mod iot_platform;
pub mod machine_tool;
pub mod nearest;
pub mod number;
mod prelude;
pub mod quantity;
pub mod random;
pub mod recording;
pub mod shapes;
mod table;
pub mod units;
