//! The message when a server does not start or does not stay. It has the end of the server's log without secrets. It names the cause where that can be seen (a
//! full disk, a memory limit).
//!
//! When that is said is decided in `inner`, `start` and `managed`.

use super::inner::{Inner, Phase};
use super::log;
use super::memory_group::MemoryGroup;
use super::watch::Exit;
use sensormark_store::error::{ErrorKind, StoreError};
use std::path::Path;
use std::time::Duration;

/// How many log lines an error shows.
const ERROR_LINES: usize = 15;

/// How long the end of a process that the kernel killed may take to be noticed.
const EXIT_LIMIT: Duration = Duration::from_millis(200);

impl Inner {
    /// The log's end without secrets.
    pub(super) fn log_tail(&self, lines: usize) -> String {
        let mut secrets = vec![
            self.launch.endpoint.url.clone(),
            self.server_folder.password.clone(),
        ];
        let commands = self
            .launch
            .before
            .iter()
            .chain(&self.launch.after)
            .chain([&self.launch.server]);
        secrets.extend(commands.filter_map(|command| command.input.clone()));
        log::tail(
            &self.folder.log(),
            &self.server_folder.root,
            lines,
            &secrets,
        )
    }

    /// A failure of the start, with the log's end. A full disk has a kind of its own.
    pub(super) fn failure(&self, kind: ErrorKind, what: &str) -> StoreError {
        let tail = self.log_tail(ERROR_LINES);
        let operation = format!("start {}", self.title);
        if let Some(why) = self.want_of_memory() {
            let text = format!("{what}: {why}. {}", show(&tail));
            return StoreError::new(kind, operation, text).with_doubt(false);
        }
        if log::says_disk_full(&tail) || is_full(&self.server_folder.data) {
            let text = format!("{what}, {}. {}", self.want_of_space(), show(&tail));
            return StoreError::new(ErrorKind::DiskFull, operation, text);
        }
        StoreError::new(kind, operation, format!("{what}. {}", show(&tail))).with_doubt(false)
    }

    /// An end that nobody asked for. A server that maps its files into memory dies of a full disk by a signal, without a word of it.
    pub(super) fn crash(&self, exit: Exit) -> StoreError {
        let mut what = format!("the server {exit} without being asked to");
        if let Some(why) = self.want_of_memory() {
            what = format!("{what}: {why}");
        } else if is_full(&self.server_folder.data) {
            what = format!("{what}: the disk is full, {}", self.want_of_space());
        }
        let text = format!("{what}. {}", show(&self.log_tail(ERROR_LINES)));
        StoreError::new(ErrorKind::Crashed, format!("run {}", self.title), text)
    }

    /// What befell a server that lost processes to its memory limit since it was last started. It need not have ended: PostgreSQL starts others
    /// in their place, and its clients lose their connections.
    pub(super) fn lost_to_memory_limit(&self) -> Option<StoreError> {
        let why = self.want_of_memory()?;
        // The kernel counts what it ends before the end is noticed.
        self.wait_for_exit(EXIT_LIMIT);
        let exit = self.exit();
        if let Some(exit) = exit.filter(|_| self.phase() == Phase::Running) {
            return Some(self.crash(exit));
        }
        let text = format!(
            "the server lost processes: {why}. {}",
            show(&self.log_tail(ERROR_LINES))
        );
        let operation = format!("run {}", self.title);
        Some(StoreError::new(ErrorKind::Crashed, operation, text))
    }

    /// How many of its processes the kernel has ended for want of memory.
    pub(super) fn killed_processes(&self) -> u64 {
        self.group.as_ref().map_or(0, MemoryGroup::killed_processes)
    }

    /// Whether the kernel ended processes since the start because of the memory limit, in words.
    fn want_of_memory(&self) -> Option<String> {
        let group = self.group.as_ref()?;
        let before = self.state().killed_before;
        (group.killed_processes() > before).then(|| group.explanation())
    }

    fn want_of_space(&self) -> String {
        format!(
            "for want of space below {}; free some, or choose a folder on another disk",
            self.server_folder.data.display()
        )
    }
}

/// Whether the disk of a folder has less room than any server writes at once.
fn is_full(folder: &Path) -> bool {
    const ROOM_BYTES: u64 = 1 << 20;
    rustix::fs::statvfs(folder)
        .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < ROOM_BYTES)
}

fn show(tail: &str) -> String {
    if tail.is_empty() {
        "It printed nothing.".to_owned()
    } else {
        format!("The last lines of its log:\n{tail}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file system of the kernel's own has no room at all.
    #[test]
    fn a_full_disk_is_seen() {
        assert!(is_full(Path::new("/proc")));
        assert!(!is_full(&std::env::temp_dir()));
        assert!(!is_full(Path::new("/not/there")));
    }
}
