//! Billing: meters report once an hour, each report updates its meter and is kept, and at the month's end everybody gets a bill. After Fixstars, "Benchmarking
//! a Sensor Billing Application using GridDB and MariaDB" (2018).
//!
//! The flow: [`parameters`] say how much, `dataset::billing` says what meters read. Clients issue [`ingest`] and [`bills`], and [`factory`] has the trial's steps.
//!
//! How an implementation goes through it, with one number of devices after the other:
//!
//! | phase | what happens |
//! | --- | --- |
//! | ingest-N | with `ingest_devices`: so many, by themselves, for the rate alone |
//! | ingest-N | devices are added up to N, each client on one device at a time, in closed loop |
//! | settled-N | the database comes to rest |
//! | extract-N | every device gets its bill of one month; `bills.csv` is written |
//! | history-N, tail-N, settled-N, bills-N | the same at each further size, history in bulk and the last hours one by one; bills for a time |
//!
//! Bills are compared with the generator's, all of them, to the cent; readings and meters are counted and compared at the end.

pub mod bills;
pub mod factory;
pub mod history;
pub mod ingest;
pub mod parameters;

#[cfg(test)]
mod tests;

pub use factory::BillingWorkload;
pub use parameters::Parameters;

/// The workload's name.
pub const NAME: &str = "billing";
/// The name of the family of layouts.
pub const FAMILY: &str = "reading";
/// The value of the label `operation` of loading phases, and their load's name.
pub const INGEST: &str = "ingest";
/// The load that brings history in bulk, where the data grow.
pub const HISTORY: &str = "history";
/// The value of the label `operation` of billing phases, and their load's name.
pub const EXTRACT: &str = "extract";
/// The label that says what a phase does.
pub const OPERATION: &str = "operation";
/// The label that says how many devices there are after a phase.
pub const DEVICES: &str = "devices";
/// The label of a loading phase whose devices are not billed.
pub const ALONE: &str = "alone";
/// The file that the application makes of bills.
pub const BILLS_FILE: &str = "bills.csv";
