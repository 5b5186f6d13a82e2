//! The user's own workload from end to end: the program is run on files, with real databases.

mod faults;
pub mod ledger;
mod messages;
mod runs;
mod sizes;
mod support;
