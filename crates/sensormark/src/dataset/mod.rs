//! Data sets: what the sensors say.
//!
//! Every reading is a pure function of the seed, its series, its field and its index, the same on every
//! machine and toolchain (ARCHITECTURE.md, rule 4), so that expected answers can be had without a database.
//!
//! It is not where operations or queries are made (that is `workload`), and nothing here does I/O, reads a
//! clock or keeps state between calls.

pub mod elementary;
pub mod machine_tool;
pub mod random;
pub mod recording;
