//! What can go wrong when the kernel's figures are read. It is not the place for verdicts. A figure that cannot be read is `None` in a sample, with a note.
//! Only what leaves nothing to measure is an error.

use std::path::PathBuf;

/// Why the probe has nothing to give.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The root of a process tree was not there when the probe was attached.
    #[error("no process {pid} to watch as the {role}; it ended, or was never started: see its log")]
    NoSuchProcess {
        /// The process id that was asked for.
        pid: i32,
        /// The role that it was to be watched as.
        role: String,
    },
    /// The proc filesystem could not be read.
    #[error("cannot read {what} from /proc; is it mounted, and is this Linux?")]
    Proc {
        /// What was being read.
        what: &'static str,
        /// The cause.
        #[source]
        source: procfs::ProcError,
    },
    /// A file or folder could not be read.
    #[error("cannot read {path}", path = path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The kernel did not answer a question about sockets.
    #[error("cannot ask the kernel about TCP connections (sock_diag): {what}")]
    Sockets {
        /// What failed.
        what: String,
    },
    /// There are no processes of that name.
    #[error(transparent)]
    Find(#[from] FindError),
    /// What the probe watched is gone.
    #[error("the processes of {processes} have ended")]
    ServerEnded {
        /// How they were named.
        processes: String,
    },
    /// The sampling thread is gone.
    #[error("the sampling thread has ended; its last message is in the log")]
    SamplerGone,
    /// A thread could not be started.
    #[error("cannot start the sampling thread")]
    Thread(#[source] std::io::Error),
    /// Older samples were put into a file without a name, and cannot be read again.
    #[error(
        "samples were put into a file in {}, which cannot be read again: check that disk, or set TMPDIR to a folder on another one",
        std::env::temp_dir().display()
    )]
    PutAway(#[source] std::io::Error),
}

impl ProbeError {
    /// Makes a function that wraps a failure to read `what`.
    pub(crate) fn proc(what: &'static str) -> impl FnOnce(procfs::ProcError) -> Self {
        move |source| Self::Proc { what, source }
    }
}

/// Why no processes were found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// The text names no processes.
    #[error("{text:?} names no processes: write pid:NUMBER, unit:NAME, container:NAME or port:NUMBER")]
    Unreadable {
        /// What was given.
        text: String,
    },
    /// There is no such process.
    #[error(
        "there is no process {pid} on this machine; a server's process id is in its log or its .pid file, or name it with --port"
    )]
    NoProcess {
        /// The process id.
        pid: i32,
    },
    /// The unit has no process.
    #[error(
        "no process belongs to the unit {unit}; systemctl list-units --type=service shows those that run"
    )]
    NoUnit {
        /// The unit with its suffix.
        unit: String,
    },
    /// The container has no process here.
    #[error("no process on this machine belongs to the container {container}: {why}")]
    NoContainer {
        /// What was given.
        container: String,
        /// What was tried.
        why: String,
    },
    /// Nobody listens on the port.
    #[error(
        "nobody listens on TCP port {port} on this machine; is the server there, and is it not in a container (then use --container)?"
    )]
    NobodyListens {
        /// The port.
        port: u16,
    },
    /// Somebody does, and who it is may not be seen.
    #[error(
        "who listens on TCP port {port} may not be seen: it is a process of the user {user}. Start the probe as root or as that user, or name the process with --pid"
    )]
    Hidden {
        /// The port.
        port: u16,
        /// The user's name or number.
        user: String,
    },
    /// Several programs do.
    #[error("several processes listen on TCP port {port}: {listed}; name one with --pid")]
    Several {
        /// The port.
        port: u16,
        /// They, with their ids.
        listed: String,
    },
    /// The server is in a container.
    #[error(
        "TCP port {port} is passed on to a container by docker-proxy; name the container with --container"
    )]
    Passed {
        /// The port.
        port: u16,
    },
    /// The table of processes or of sockets could not be read.
    #[error("cannot look for processes: {0}")]
    Unlisted(String),
}
