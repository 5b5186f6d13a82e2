//! What the coordinator and the server's role say to each other. The ends of that line are `server_elsewhere` and
//! `server_role`.

use sensormark_result::measurement::server::ServerRecord;
use sensormark_result::probe::DiskUsage;
use sensormark_store::{ErrorKind, ServerOptions, StoreError};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which server the role starts.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServerTask {
    /// The store's name.
    pub store: String,
    /// What the user asked for.
    pub options: ServerOptions,
}

/// What the coordinator wants of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerCommand {
    /// End it in good order; its data stay.
    Halt,
    /// Start it again on the same data.
    Restart,
    /// End it in good order, drop its files from the page cache, and start it again.
    StartCold,
    /// Say what data and logs occupy.
    Disk,
    /// End it, and remove its folder.
    Stop,
}

/// A server that has started. It goes only through the role's pipe, because it holds the secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct StartedServer {
    /// The endpoint's URL with its secret.
    pub url: String,
    /// The endpoint without it.
    pub label: String,
    /// The ports of its connections.
    pub ports: Vec<u16>,
    /// What results say about it.
    pub record: ServerRecord,
    /// The folders of its data and logs there.
    pub folders: Vec<PathBuf>,
}

/// What the role answers.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerAnswer {
    /// The server has started for the first time.
    Started(Box<StartedServer>),
    /// It is done. The id of the server's root process, where it runs.
    Done(Option<i32>),
    /// The space of data and logs.
    Disk(Option<DiskUsage>),
    /// It is not done.
    Failed {
        /// What kind of failure it was.
        kind: ErrorKind,
        /// What was being done.
        operation: String,
        /// What happened.
        context: String,
    },
}

impl ServerAnswer {
    /// What went wrong.
    pub fn of(error: &StoreError) -> Self {
        Self::Failed {
            kind: error.kind(),
            operation: error.operation().to_owned(),
            context: error.context().to_owned(),
        }
    }
}
