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
    /// How long it was warmed up before anything counted, in seconds, where it runs on a Java virtual machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_seconds: Option<f64>,
    /// The memory budget that it was given, in bytes.
    pub memory_budget_bytes: Option<u64>,
    /// The limit that its memory and the page cache of its files were held to together, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<MemoryLimitRecord>,
    /// The probe that watched its processes, where sensormark did not start it or started it on another host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeRecord>,
    /// What was changed to run it here.
    pub notes: Vec<String>,
}

/// A probe beside a server that sensormark did not start. Neither a path nor an address is in it but the host's name that the user gave.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// The host that it ran on, as the user named it; absent for this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its version of sensormark.
    pub sensormark: String,
    /// How the processes were named: `port:5432`.
    pub processes: String,
    /// How many there were when it began.
    pub count: u64,
    /// The host's kernel.
    pub kernel: String,
    /// Processors of the host.
    pub processors: u64,
    /// Memory of the host, in bytes.
    pub memory_bytes: u64,
    /// The longest time from a phase's end here to the answer that it was marked there, in ns: by no more do the two differ.
    pub longest_round_trip_ns: u64,
    /// What could not be measured, and which privilege or option would help.
    pub missing: Vec<String>,
}

/// A probe beside a process of the client on another host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientProbeRecord {
    /// The role: writer, reader or load.
    pub role: String,
    /// The probe, and its host.
    pub probe: ProbeRecord,
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
