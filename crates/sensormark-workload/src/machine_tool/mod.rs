//! The machine-tool workload: a source sends 1,000 samples a second through the kernel's queue to a writer, and a
//! reader finds and sums machine cycles (study 000).
//!
//! The flow: [`source`] → [`queue`] → [`writes`] → database → [`reads`]. The engine runs trials, which [`factory`] makes of it: [`history`] is loaded, then comes a load that is fed over a
//! [`line`], then reads of several questions. What the reader should have found is computed by [`answers`]. The form of records is in [`results`]. It is not
//! the signal itself, which is `dataset::machine_tool`, and knows no database.

mod parameters;

mod source;

pub mod queue;

mod line;

mod writes;

pub mod cycle;

mod read_cycle;

mod fetched;

mod reads;

mod answers;

mod strategies;

mod results;

mod factory;

mod history;

pub use factory::MachineToolWorkload;

/// The workload's name.
pub const NAME: &str = "machine-tool";

/// The family of layouts in which each sample is stored by itself.
const INDIVIDUAL: &str = "individual";

/// The same family, where one request writes the samples of a second of the wall clock: ours, not the study's.
pub const INDIVIDUAL_IN_SECONDS: &str = "individual-in-seconds";

/// The phase and the load of what is loaded before anything is measured.
const HISTORY: &str = "history";

/// The span of one record of the bulk layouts, and of the samples of one write in seconds, in ns: a second.
pub const SPAN_NS: i64 = 1_000_000_000;

/// Whether a layout of this name is written in seconds, a row a sample.
pub fn is_in_seconds(layout_name: &str) -> bool {
    let rest = layout_name.strip_prefix(INDIVIDUAL_IN_SECONDS);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}
