//! What kind of deployment was met last: whether it has transactions.
//!
//! The contract asks for capabilities without saying of which server, so the store remembers the one that it spoke to last.

use crate::consistency::LatestWrite;
use mongodb::bson::Document;
use sensormark_store::Capability;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A kind of deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topology {
    /// None was met yet.
    Unknown,
    /// A single server without an operation log.
    Standalone,
    /// A member of a replica set.
    Replicated,
    /// A router of a sharded cluster.
    Sharded,
}

/// The kind that was met last, and what clients of a deployment tell each other.
#[derive(Debug, Default)]
pub(crate) struct Met {
    kind: AtomicU8,
    latest: Mutex<HashMap<String, Arc<LatestWrite>>>,
}

impl Topology {
    /// What a server says of itself.
    pub(crate) fn of(hello: &Document) -> Self {
        if hello.get_str("msg").is_ok_and(|text| text == "isdbgrid") {
            Self::Sharded
        } else if hello.contains_key("setName") || hello.get_bool("isreplicaset").unwrap_or(false) {
            // the latter is a member of a set that is not made yet
            Self::Replicated
        } else {
            Self::Standalone
        }
    }

    /// The kind in words, as the settings show it.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Standalone => "standalone",
            Self::Replicated => "replica set",
            Self::Sharded => "sharded cluster, collections not sharded: all on the database's primary shard",
        }
    }

    /// Whether both of two writes can be kept, or neither.
    pub(crate) fn transactions(self) -> Capability {
        let reason = match self {
            Self::Replicated | Self::Sharded => return Capability::Native,
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
        match self.kind.load(Ordering::Relaxed) {
            0 => Topology::Unknown,
            1 => Topology::Standalone,
            2 => Topology::Replicated,
            _ => Topology::Sharded,
        }
    }

    /// The latest write that clients of the deployment at these hosts know of.
    pub(crate) fn latest_of(&self, hosts: &str) -> Arc<LatestWrite> {
        let mut all = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(hosts.to_owned()).or_default())
    }

    /// Remembers a kind.
    pub(crate) fn remember(&self, topology: Topology) {
        let code = match topology {
            Topology::Unknown => return,
            Topology::Standalone => 1,
            Topology::Replicated => 2,
            Topology::Sharded => 3,
        };
        self.kind.store(code, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::doc;

    #[test]
    fn a_server_says_what_it_is_and_the_store_remembers_it() {
        let met = Met::default();
        assert_eq!(met.last(), Topology::Unknown);
        for (hello, topology, has_transactions) in [
            (doc! { "isWritablePrimary": true }, Topology::Standalone, false),
            (doc! { "setName": "rs0" }, Topology::Replicated, true),
            (doc! { "isreplicaset": true }, Topology::Replicated, true),
            (doc! { "msg": "isdbgrid" }, Topology::Sharded, true),
        ] {
            assert_eq!(Topology::of(&hello), topology);
            met.remember(topology);
            met.remember(Topology::Unknown);
            assert_eq!(met.last(), topology);
            assert_eq!(topology.transactions().is_supported(), has_transactions);
        }
    }
}
