//! The engine: issues operations at their instants and takes those instants down.
//!
//! It is not where a workload says what to issue, nor where figures are summed up (`measurement`).

pub mod connection;
pub mod pacing;
pub mod role;
pub mod run;
pub mod scheduling;
pub mod site;
