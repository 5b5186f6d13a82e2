//! What processes and threads have read from storage and written to it, as the kernel counts it.

use super::exited_processes::Counters;
use super::threads::ThreadCounters;
use procfs::FromRead;
use procfs::process::Io;

/// What a process has read and written; `None` when it is not permitted (then `true` as well), or when the process has just ended.
pub(super) fn storage_of_process(pid: i32) -> (Option<Counters>, bool) {
    match Io::from_file(format!("/proc/{pid}/io")) {
        Ok(io) => {
            let counters = Counters {
                read_bytes: io.read_bytes,
                written_bytes: io.write_bytes,
                cancelled_bytes: io.cancelled_write_bytes,
                ..Counters::default()
            };
            (Some(counters), false)
        }
        Err(error) => (None, is_denied(&error)),
    }
}

fn is_denied(error: &procfs::ProcError) -> bool {
    match error {
        procfs::ProcError::PermissionDenied(_) => true,
        procfs::ProcError::Io(cause, _) => cause.kind() == std::io::ErrorKind::PermissionDenied,
        _ => false,
    }
}

/// What these threads have read and written.
pub(super) fn storage_of_threads(threads: &ThreadCounters) -> Counters {
    Counters {
        read_bytes: threads.read_bytes,
        written_bytes: threads.written_bytes,
        cancelled_bytes: threads.cancelled_bytes,
        ..Counters::default()
    }
}

/// The same without processor time.
pub(super) fn storage_only(counters: Counters) -> Counters {
    Counters { cpu_ns: 0, user_ns: 0, system_ns: 0, ..counters }
}
