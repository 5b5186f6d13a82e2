//! How a server is started and stopped: the commands that a store describes, and the supervisor runs.

use crate::endpoint::{Endpoint, Secret};
use std::path::PathBuf;

/// How to start a server: what the supervisor runs, in order, as the folder's user.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Commands that run to their end before the server starts (initialising a data folder).
    pub before: Vec<Command>,
    /// A start before the first one, where there must be one. See [`SetUp`].
    pub set_up: Option<Box<SetUp>>,
    /// The server itself; it stays in the foreground, and best logs to standard error, from where messages quote it.
    pub server: Command,
    /// Commands that run once, for example to set a password. They run after the first of the endpoint's ports (a TCP port) answers, before the first
    /// [`crate::Store::version`]. May be empty.
    pub after: Vec<Command>,
    /// How the server is spoken to.
    pub endpoint: Endpoint,
    /// How it is asked to stop.
    pub stop: StopSignal,
    /// How long it may take to answer, in seconds; each command before and after may take as long.
    pub start_seconds: u64,
    /// What a reader should know: settings that were changed to run here ("binary log off").
    pub notes: Vec<String>,
}

/// The server as it listens on loopback alone until its first account is made. A store describes this for an address that other hosts reach, if its server
/// makes accounts only while it listens: nobody else can come in first. The supervisor starts it, waits for [`crate::Store::version`], which makes the account,
/// and stops it in good order. Only then the server starts on its address.
#[derive(Debug, Clone)]
pub struct SetUp {
    /// The server, with the same data.
    pub server: Command,
    /// How it is spoken to on loopback.
    pub endpoint: Endpoint,
}

/// One command: never through a shell; secrets in `environment` or `input`, never in `arguments`.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables added to a minimal environment (PATH, LANG=C.UTF-8, HOME and TMPDIR=the folder).
    pub environment: Vec<(String, String)>,
    /// Text for its standard input.
    pub input: Option<Secret>,
}

/// The signal that asks a server to stop in good order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGTERM.
    Terminate,
    /// SIGINT (PostgreSQL's fast shutdown).
    Interrupt,
}
