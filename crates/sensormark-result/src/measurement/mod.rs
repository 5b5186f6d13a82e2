//! What was measured, as it is kept: latencies, trials and runs.
//!
//! Nothing here judges or draws: verdicts are in [`verdict`], intervals in `statistics`, tables in `report`. The parts are:
//!
//! - [`latency`] records operations into histograms.
//! - [`record`] is the result format, whose JSON schema is `docs/reference/result.schema.json`.
//! - [`statements`] and [`server`] are parts of it: what was shown of a layout, and what is known of the server.
//! - [`folder`] writes and reads it; what it writes is [`unbroken`].
//! - [`shared_window`] is the time in which several hosts were at work.
//! - `at_rest` counts what a database held when its disk was measured.
//! - [`disk`] is what the data takes, logs apart.
//! - [`sizes`] is what was found at each size of a trial.
//! - [`rates`] are a load's, over that window or all of its time.

mod at_rest;
pub mod checksums;
pub mod clock;
pub mod disk;
pub mod figure;
pub mod folder;
pub mod latency;
pub mod lifecycle;
mod migration;
pub mod names;
mod past_seconds;
pub mod rates;
pub mod record;
pub mod server;
pub mod shared_window;
pub mod sizes;
pub mod statements;
pub mod unbroken;
pub mod verdict;
pub mod write_size;

pub use folder::{FolderError, ResultsFolder};
pub use latency::{LatencyRecorder, LatencySummary};
pub use record::{
    AnswersRecord, Cache, ClassRecord, Figure, Implementation, LatencyRecord, LedgerRecord, LoadRecord,
    NotMeasured, PhaseRecord, RunRecord, Side, TrialRecord,
};
pub use server::ServerRecord;
pub use verdict::{Reason, ReasonKind, Verdict};
