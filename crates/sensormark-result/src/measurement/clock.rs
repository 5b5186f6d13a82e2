//! The clocks of other hosts, as results keep them.

use serde::{Deserialize, Serialize};

/// The share of a figure that clocks may leave open. A figure of which they leave more open is marked.
pub const MARKED_SHARE: f64 = 0.1;

/// How far the monotonic clock of another host was from the coordinator's in one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClockRecord {
    /// The phase.
    pub phase: String,
    /// The host, by the name that its launcher gives it.
    pub host: String,
    /// That host's clock less the coordinator's when the phase began, in ns.
    pub offset_ns: i64,
    /// The offset is not further away than this, in ns: half of the smallest round trip.
    pub uncertainty_ns: u64,
    /// How much faster it went in the phase, in parts per million.
    pub drift_ppm: f64,
}
