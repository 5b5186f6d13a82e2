//! The command that has a writer or a reader begin.

use serde::{Deserialize, Serialize};

/// The command that starts the writer, or a phase of the reader.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Start {
    /// When sample 0 (or the first read) is due, in ns of CLOCK_MONOTONIC.
    pub start_ns: u64,
}
