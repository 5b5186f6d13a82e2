//! What a result says about the server that a trial ran against.

use sensormark_server::MemoryUse;
use serde::{Deserialize, Serialize};

/// The server that a trial ran against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// What the server says about its version.
    pub version: String,
    /// Where the program came from; "existing server" for one that was there.
    pub origin: String,
    /// Whether sensormark started it.
    pub managed: bool,
    /// How long it took to start, in seconds.
    pub start_seconds: Option<f64>,
    /// The memory budget that it was given, in bytes.
    pub memory_budget_bytes: Option<u64>,
    /// The limit that its memory and the page cache of its files were held to together, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<MemoryLimitRecord>,
    /// What was changed to run it here.
    pub notes: Vec<String>,
}

/// A server's memory limit, and what came of it by the end of the trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLimitRecord {
    /// The limit, in bytes.
    pub limit_bytes: u64,
    /// The most that processes and page cache took at once since the server was made, in bytes, where the kernel keeps it.
    pub peak_bytes: Option<u64>,
    /// How often the limit was reached since the server was made, so that the kernel had to take pages back.
    pub limit_reached: Option<u64>,
    /// How many processes of the server the kernel ended because it could not take enough back.
    pub killed_processes: u64,
}

impl From<MemoryUse> for MemoryLimitRecord {
    fn from(seen: MemoryUse) -> Self {
        Self {
            limit_bytes: seen.limit_bytes,
            peak_bytes: seen.peak_bytes,
            limit_reached: seen.limit_reached,
            killed_processes: seen.killed_processes,
        }
    }
}
