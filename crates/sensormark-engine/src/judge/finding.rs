//! One thing that speaks against a trial, before the judge weighs all of them.

use sensormark_result::measurement::verdict::{Excuse, Reason, ReasonKind};

/// One thing that speaks against a trial.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What it is.
    pub reason: Reason,
    /// Whether a disturbed host may be the cause.
    pub by_host: bool,
}

impl Finding {
    /// Something of this kind.
    pub fn new(kind: ReasonKind, text: impl Into<String>) -> Self {
        Reason::new(kind, text).into()
    }
}

impl From<Reason> for Finding {
    fn from(reason: Reason) -> Self {
        Self { by_host: reason.kind.excuse() > Excuse::Nothing, reason }
    }
}
