//! Memory of one process, from `/proc/PID/status`, and its proportional set size, from `smaps_rollup`. It is not a
//! sum: a tree adds anonymous pages up and counts shared ones once.

use procfs::FromRead;
use procfs::process::Status;

/// What one process holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProcessMemory {
    /// Pages of its own (`RssAnon`).
    pub anonymous_bytes: u64,
    /// Pages of files and of shared memory that it has touched (`RssFile` + `RssShmem`).
    pub shared_bytes: u64,
    /// Pages of its own that are swapped out (`VmSwap`).
    pub swapped_bytes: u64,
    /// Most that it ever held (`VmHWM`).
    pub high_water_bytes: u64,
}

/// Bit of `SIGCHLD` (17) in the signal masks of `status`.
const CHILD_SIGNAL_BIT: u64 = 1 << 16;

/// The memory of `pid`, and whether it ignores `SIGCHLD`, so that its children's figures vanish with them.
pub(crate) fn read(pid: i32) -> Option<(ProcessMemory, bool)> {
    let status = Status::from_file(format!("/proc/{pid}/status")).ok()?;
    let bytes = |kibibytes: Option<u64>| kibibytes.unwrap_or(0) * 1024;
    let memory = ProcessMemory {
        anonymous_bytes: bytes(status.rssanon),
        shared_bytes: bytes(status.rssfile) + bytes(status.rssshmem),
        swapped_bytes: bytes(status.vmswap),
        high_water_bytes: bytes(status.vmhwm),
    };
    Some((memory, status.sigign & CHILD_SIGNAL_BIT != 0))
}

/// That a process of another user's may not be looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotPermitted;

/// The proportional set size of `pid` in bytes: each shared page divided by the number of its users. None when the process has ended.
/// The kernel walks all page tables for it, which costs milliseconds of CPU a process, so it is read at the ends of phases only.
pub(crate) fn proportional_bytes(pid: i32) -> Result<Option<u64>, NotPermitted> {
    match std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(text) => Ok(proportional_of(&text)),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Err(NotPermitted),
        Err(_) => Ok(None),
    }
}

fn proportional_of(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_there_and_below_its_high_water() {
        let own = i32::try_from(std::process::id()).expect("pid");
        let (memory, _) = read(own).expect("status");
        assert!(memory.anonymous_bytes > 0);
        assert!(memory.anonymous_bytes + memory.shared_bytes <= memory.high_water_bytes * 2);
        assert!(proportional_bytes(own).expect("ours").is_some_and(|bytes| bytes > 0));
    }
}
