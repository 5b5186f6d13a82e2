//! What the report says of workloads that are made of phases of loads: their costs an operation, and their tables.
//!
//! The work of a phase is the same for everybody, and most phases run as fast as the database lets them; so what an operation costs is
//! compared here, where machine-tool's steady rate lets costs a second be compared. Nothing here names a workload.

mod costs;
mod tables;

pub use costs::{Comparable, costs};
pub use tables::sections;
