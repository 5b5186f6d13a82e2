//! One thing that speaks against a trial, before the judge weighs all of them.

use sensormark_result::measurement::verdict::{Reason, ReasonKind};

/// One thing that speaks against a trial.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What it is.
    pub reason: Reason,
    /// Whether a disturbed host may be the cause.
    pub by_host: bool,
}

impl Finding {
    /// Something that no disturbance of the host explains.
    pub fn certain(kind: ReasonKind, text: impl Into<String>) -> Self {
        Self { reason: Reason::new(kind, text), by_host: false }
    }

    /// Something that a disturbed host explains.
    pub fn perhaps_by_host(kind: ReasonKind, text: impl Into<String>) -> Self {
        Self { by_host: true, ..Self::certain(kind, text) }
    }
}
