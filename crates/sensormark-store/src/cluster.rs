//! Clusters that sensormark starts: what a store offers, what a user asks for, and what one member of it is.
//!
//! A store describes; the supervisor starts the members in their order and stops them. It runs these steps:
//!
//! 1. Each member gets a folder and an address of its own (127.0.0.1, 127.0.0.2, …). Ports and password are the same for all.
//! 2. [`crate::Store::launch_member`] writes each member's files. It sees the folders of all.
//! 3. One member starts after the other: first its commands run, then its server. It is up when [`crate::Store::version`] answers at its endpoint.
//! 4. The supervisor calls [`crate::Store::form_cluster`]. It joins the members, waits until all of them serve, and gives the endpoint of the whole.
//!
//! What a session needs of the consistency level is in that endpoint's URL, in parts that users may write, too. Before a restart, members run
//! [`MemberLaunch::recover`], and [`crate::Store::start_again`] says who starts first. Steps 3 (without the commands) and 4 then come again.

use crate::launch::{Command, Launch};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The cluster that a case is measured on. It is part of the identity of a result, as the durability class is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cluster {
    /// How many servers it has.
    pub members: u32,
    /// The consistency level: one of [`Clusters::consistencies`].
    pub consistency: String,
}

impl Cluster {
    /// What labels say: "3 members, `remote_apply`" without the quotes.
    pub fn label(&self) -> String {
        format!("{} members, {}", self.members, self.consistency)
    }

    /// The same in the names of files: "3-remote_apply".
    pub fn file_name(&self) -> String {
        format!("{}-{}", self.members, self.consistency)
    }
}

/// What a user asked for: a cluster of so many members, at a consistency level or at each store's default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterWish {
    /// How many servers.
    pub members: u32,
    /// The consistency level's name; the store's default when it is not said.
    pub consistency: Option<String>,
}

/// What an acknowledgement or an answer promises in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consistency {
    /// Its name on the command line and in results: the database's own word, in lower case, with `_` and no space, comma or dot.
    pub name: &'static str,
    /// What is promised, in one sentence without a full stop.
    pub promise: &'static str,
    /// The page of the database's documentation that says so.
    pub link: &'static str,
    /// Whether it can be had together with [`crate::Durability::Relaxed`].
    pub relaxed: bool,
}

/// Who takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leadership {
    /// The first member, as long as it lives: without it nothing is written until it is started again.
    Fixed,
    /// The first member when the cluster is formed; when it is lost, the others choose another by themselves.
    Elected,
    /// Every member.
    None,
}

/// The clusters that sensormark can start of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clusters {
    /// The fewest and the most members.
    pub members: RangeInclusive<u32>,
    /// The consistency levels; the first is the default.
    pub consistencies: Vec<Consistency>,
    /// Who takes writes.
    pub leadership: Leadership,
}

/// Why a store starts no clusters, unless it says otherwise.
pub const ONE_SERVER: &str = "sensormark starts one server of it alone";

/// How to start one member of a cluster.
#[derive(Debug, Clone)]
pub struct MemberLaunch {
    /// As for a server alone. Commands before it run when all members before it are ready. Its endpoint is this member's own.
    pub launch: Launch,
    /// The server's command where it alone was lost and the others still run; the launch's own when it is not said. When all were down, each is
    /// started by its launch again.
    pub rejoin: Option<Command>,
    /// Commands that run to their end when the member was down, before [`crate::Store::start_again`] is asked.
    pub recover: Vec<Command>,
}
