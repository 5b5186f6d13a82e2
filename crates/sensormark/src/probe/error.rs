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
    Find(#[from] super::processes::FindError),
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
}

impl ProbeError {
    /// Makes a function that wraps a failure to read `what`.
    pub(crate) fn proc(what: &'static str) -> impl FnOnce(procfs::ProcError) -> Self {
        move |source| Self::Proc { what, source }
    }
}
