//! Arguments about clusters, of every command that starts databases to measure or show them.

use clap::Args;
use sensormark_store::ClusterWish;

/// Arguments about clusters.
#[derive(Debug, Args)]
pub struct ClusterArguments {
    /// Start a cluster of so many servers on this machine, on 127.0.0.1, 127.0.0.2 and so on. No store offers one, and the refusal says why
    #[arg(hide = true, long, value_name = "MEMBERS", value_parser = clap::value_parser!(u32).range(2..=9))]
    pub cluster: Option<u32>,
    /// What an acknowledgement or an answer of the cluster promises, in the database's own word [default: its first]
    #[arg(hide = true, long, value_name = "LEVEL", requires = "cluster")]
    pub consistency: Option<String>,
}

impl ClusterArguments {
    /// The cluster that is asked for, if any.
    pub fn wish(&self) -> Option<ClusterWish> {
        self.cluster.map(|members| ClusterWish { members, consistency: self.consistency.clone() })
    }
}
