//! The machine-tool workload: a source sends 1,000 samples a second through the kernel's queue to a writer, and a
//! reader finds and sums machine cycles (study 000).
//!
//! It is not the signal itself, which is `dataset::machine_tool`.

pub mod cycle;
pub mod queue;
pub mod source;
