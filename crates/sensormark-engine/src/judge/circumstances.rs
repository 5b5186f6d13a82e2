//! What the judge knows besides the trial: the run, this machine, and what disturbs.

use crate::context::RunContext;
use sensormark_result::probe::{DisturbanceLimits, Limits};
use std::num::NonZero;

/// What the judge knows besides the trial.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances {
    /// Whether the database runs inside the client's process, so that their costs cannot be told apart.
    pub embedded: bool,
    /// How long an operation may take, in ms.
    pub timeout_ms: u64,
    /// Cores of this machine.
    pub cores: usize,
    /// What our processes may use of them.
    pub limits: Limits,
    /// Whether a disturbed host is tolerated.
    pub tolerate_disturbance: bool,
    /// What disturbs.
    pub disturbance: DisturbanceLimits,
}

impl Circumstances {
    /// Those of a run whose database is embedded or not.
    pub fn of(context: &RunContext<'_>, embedded: bool) -> Self {
        Self {
            embedded,
            timeout_ms: context.timeout_ms,
            cores: std::thread::available_parallelism().map_or(1, NonZero::get),
            limits: context.limits,
            tolerate_disturbance: context.disturbed_host.is_tolerated(),
            disturbance: context.disturbance,
        }
    }
}
