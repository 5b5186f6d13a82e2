//! Noticing the end of a process at the moment it happens, without reaping it.
//!
//! The zombie keeps its process id (and with it the ids of its session and group) from being used again until the rest of
//! its tree is gone.

use super::process::ProcessIdentity;
use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, waitid};
use std::fmt;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Nobody can tell any more.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "ended with exit status {code}"),
            Self::Signal(number) => write!(formatter, "was ended by signal {number}{}", signal_name(*number)),
            Self::Unknown => formatter.write_str("ended"),
        }
    }
}

const fn signal_name(number: i32) -> &'static str {
    match number {
        2 => " (SIGINT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL; the kernel does so, too, when memory is short)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        25 => " (SIGXFSZ)",
        31 => " (SIGSYS)",
        _ => "",
    }
}

/// How a child of this process ended, if it has; it is not reaped.
pub(super) fn poll_exit(child: ProcessIdentity) -> Option<Exit> {
    look(child, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG)
}

/// Calls `notice` from a thread of its own as soon as a child of this process has ended; it is not reaped.
///
/// # Errors
/// When the thread cannot be started.
pub(super) fn on_exit(
    child: ProcessIdentity,
    notice: impl FnOnce(Exit) + Send + 'static,
) -> std::io::Result<()> {
    let watching = std::thread::Builder::new().spawn(move || {
        let exit = look(child, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        notice(exit.unwrap_or(Exit::Unknown));
    });
    watching.map(drop)
}

fn look(child: ProcessIdentity, options: WaitIdOptions) -> Option<Exit> {
    let pid = child.raw()?;
    loop {
        match waitid(WaitId::Pid(pid), options) {
            Ok(Some(status)) => {
                return Some(match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => Exit::Code(code),
                    (None, Some(number)) => Exit::Signal(number),
                    (None, None) => Exit::Unknown,
                });
            }
            Ok(None) => return None,
            Err(Errno::INTR) => {}
            Err(_) => return Some(Exit::Unknown),
        }
    }
}
