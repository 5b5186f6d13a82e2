//! What kind of deployment was met last: whether it has transactions.
//!
//! The contract asks for capabilities without saying of which server, so the store remembers the one that it spoke to last.

use mongodb::bson::Document;
use sensormark_store::Capability;
use std::sync::atomic::{AtomicU8, Ordering};

/// A kind of deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topology {
    /// None was met yet.
    Unknown,
    /// A single server without an operation log.
    Standalone,
    /// A replica set or a sharded cluster.
    Replicated,
}

/// The kind that was met last.
#[derive(Debug, Default)]
pub(crate) struct Met(AtomicU8);

impl Topology {
    /// What a server says of itself.
    pub(crate) fn of(hello: &Document) -> Self {
        let sharded = hello.get_str("msg").is_ok_and(|text| text == "isdbgrid");
        if sharded || hello.contains_key("setName") {
            Self::Replicated
        } else {
            Self::Standalone
        }
    }

    /// Whether both of two writes can be kept, or neither.
    pub(crate) fn transactions(self) -> Capability {
        let reason = match self {
            Self::Replicated => return Capability::Native,
            Self::Standalone => {
                "transactions need a replica set or a sharded cluster; this is a standalone server: \
                 use the profile replica-set or the URL of a replica set"
            }
            Self::Unknown => {
                "transactions need a replica set or a sharded cluster, and no server was met yet"
            }
        };
        Capability::Unsupported(reason.to_owned())
    }
}

impl Met {
    /// The kind that was met last.
    pub(crate) fn last(&self) -> Topology {
        match self.0.load(Ordering::Relaxed) {
            0 => Topology::Unknown,
            1 => Topology::Standalone,
            _ => Topology::Replicated,
        }
    }

    /// Remembers a kind.
    pub(crate) fn remember(&self, topology: Topology) {
        let code = match topology {
            Topology::Unknown => return,
            Topology::Standalone => 1,
            Topology::Replicated => 2,
        };
        self.0.store(code, Ordering::Relaxed);
    }
}
