//! What shows that a store keeps the contract, and what stands in for a database where none is wanted.
//!
//! - [`mod@reference`]: answers computed from readings in memory, the oracle;
//! - [`null`] and [`memory`]: stores without a database, and [`faulty`]: a fault planted in another store.
//!
//! The program has these four too: the null store measures its own ceiling, recordings are answered by the reference, and a fault is planted on request.
//!
//! The feature `suite` (on by default) adds the conformance suite, what every store does, tried on its real server. Only tests have it: the
//! program is built without the feature and what it needs. A store's `tests/conformance.rs` (with `harness = false`) is a few lines:
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use sensormark_conformance::memory::MemoryStore;
//! # use sensormark_store::RepeatedWrite;
//! # #[cfg(feature = "suite")]
//! fn main() {
//! #   let store = MemoryStore::new(RepeatedWrite::KeepsBoth);
//!     sensormark_conformance::main(Arc::new(store));
//! }
//! # #[cfg(not(feature = "suite"))]
//! # fn main() {}
//! ```
//!
//! Every rule of `CONTRACT.md` is a check here, tried on every layout that the store offers for the rule's data sets. Where the
//! server is not installed, or an operation is stated as unsupported, the rule is shown as ignored with the reason.
//! `SENSORMARK_CONFORMANCE_URL` names an existing server to run against. Only databases named sensormark_* are made and dropped there.
//!
//! The suite checks what stores do, not how fast.

pub mod faulty;
pub mod memory;
pub mod null;
pub mod reference;

mod no_database;

#[cfg(feature = "suite")]
pub mod address;
#[cfg(feature = "suite")]
mod check;
#[cfg(feature = "suite")]
mod client;
#[cfg(feature = "suite")]
mod data;
#[cfg(feature = "suite")]
pub mod fuzz;
#[cfg(feature = "suite")]
pub mod pins;
#[cfg(feature = "suite")]
mod place;
#[cfg(feature = "suite")]
mod properties;
#[cfg(feature = "suite")]
mod rule;
#[cfg(feature = "suite")]
mod rules;
#[cfg(feature = "suite")]
mod run;
#[cfg(feature = "suite")]
mod statements;
#[cfg(feature = "suite")]
mod suite;

#[cfg(feature = "suite")]
pub use run::{main, main_in_part, main_in_part_unless_refused, main_in_part_with_pins, rules};
