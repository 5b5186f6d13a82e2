//! Why a trial was broken off, and what that says about it.

use super::role::RoleError;
use sensormark_result::measurement::verdict::{Reason, ReasonKind};
use sensormark_result::probe::ProbeError;
use sensormark_store::{ErrorKind, StoreError};

/// Why a trial was broken off.
#[derive(Debug, thiserror::Error)]
pub enum TrialFailure {
    /// A process of ours failed.
    #[error(transparent)]
    Role(#[from] RoleError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The probe failed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// A size takes far longer than the budget has time for.
    #[error("the budget is spent")]
    OutOfTime,
    /// Something of the system's failed.
    #[error("{0}")]
    System(String),
}

impl TrialFailure {
    /// What the failure says about the trial.
    pub fn reason(&self) -> Reason {
        let kind = match self {
            Self::Role(RoleError::Interrupted) => ReasonKind::Interrupted,
            Self::Role(RoleError::Silent { .. }) => ReasonKind::Hung,
            Self::Role(RoleError::Failed { unreachable: true, .. }) => ReasonKind::Unreachable,
            Self::Store(error) => match error.kind() {
                ErrorKind::Crashed => ReasonKind::ServerCrashed,
                ErrorKind::Unavailable
                | ErrorKind::Timeout
                | ErrorKind::Authentication
                | ErrorKind::NotInstalled => ReasonKind::Unreachable,
                _ => ReasonKind::ClientFailed,
            },
            _ => ReasonKind::ClientFailed,
        };
        Reason::new(kind, self.to_string())
    }
}
