//! One reading of every process of the host, from `/proc/PID/stat`, shared by all trees of one sample. It is not a
//! tree: it says who is whose child, and how much CPU each has used since it began, in the kernel's ticks.

use std::collections::HashMap;

use procfs::FromRead;
use procfs::process::Stat;

use super::error::ProbeError;

/// `PF_KTHREAD` of the kernel's `include/linux/sched.h`: the process is a thread of the kernel.
const KERNEL_THREAD: u32 = 0x0020_0000;

/// One process as `/proc/PID/stat` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessRow {
    /// Process id.
    pub pid: i32,
    /// The parent's process id.
    pub parent: i32,
    /// Process group id.
    pub group: i32,
    /// Session id.
    pub session: i32,
    /// When it began, in ticks since boot: with `pid`, what identifies a process.
    pub start_ticks: u64,
    /// CPU time in user mode of the process, its ended threads included.
    pub user_ns: u64,
    /// CPU time in system mode of the process, its ended threads included.
    pub system_ns: u64,
    /// CPU time in user mode of the children that it waited for, and theirs.
    pub children_user_ns: u64,
    /// CPU time in system mode of the children that it waited for, and theirs.
    pub children_system_ns: u64,
    /// Live threads.
    pub threads: u64,
    /// A thread of the kernel, not a program.
    pub is_kernel: bool,
}

impl ProcessRow {
    /// The same process now; `None` when it has ended.
    pub(crate) fn read_again(&self) -> Option<Self> {
        read_row(self.pid).filter(|row| row.start_ticks == self.start_ticks)
    }
}

/// Every process, one read after another.
#[derive(Debug, Clone, Default)]
pub struct ProcessTable {
    rows: HashMap<i32, ProcessRow>,
}

impl ProcessTable {
    /// Reads `/proc`. Processes that end meanwhile are left out.
    ///
    /// # Errors
    /// When `/proc` cannot be listed at all.
    pub fn scan() -> Result<Self, ProbeError> {
        let listing =
            std::fs::read_dir("/proc").map_err(|source| ProbeError::File { path: "/proc".into(), source })?;
        let rows = listing
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(|pid| Some((pid, read_row(pid)?)))
            .collect();
        Ok(Self { rows })
    }

    /// The process with this id.
    #[must_use]
    pub fn get(&self, pid: i32) -> Option<&ProcessRow> {
        self.rows.get(&pid)
    }

    /// All processes, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &ProcessRow> {
        self.rows.values()
    }

    /// CPU time of the kernel's own threads since boot: writeback, compaction, network.
    #[must_use]
    pub fn kernel_threads_ns(&self) -> u64 {
        self.iter().filter(|row| row.is_kernel).map(|row| row.user_ns + row.system_ns).sum()
    }
}

/// Nanoseconds in one tick of the kernel's process times, 10 ms nearly everywhere.
pub(crate) fn tick_ns() -> u64 {
    1_000_000_000 / procfs::ticks_per_second().max(1)
}

fn read_row(pid: i32) -> Option<ProcessRow> {
    let stat = Stat::from_file(format!("/proc/{pid}/stat")).ok()?;
    let tick = tick_ns();
    let signed = |ticks: i64| u64::try_from(ticks).unwrap_or(0) * tick;
    Some(ProcessRow {
        pid,
        parent: stat.ppid,
        group: stat.pgrp,
        session: stat.session,
        start_ticks: stat.starttime,
        user_ns: stat.utime * tick,
        system_ns: stat.stime * tick,
        children_user_ns: signed(stat.cutime),
        children_system_ns: signed(stat.cstime),
        threads: u64::try_from(stat.num_threads).unwrap_or(0),
        is_kernel: stat.flags & KERNEL_THREAD != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_the_table_and_is_no_kernel_thread() {
        let table = ProcessTable::scan().expect("proc");
        let own = i32::try_from(std::process::id()).expect("pid");
        let row = table.get(own).expect("own row");
        assert!(!row.is_kernel && row.threads >= 1 && row.start_ticks > 0);
        assert!(table.get(row.parent).is_some());
    }
}
