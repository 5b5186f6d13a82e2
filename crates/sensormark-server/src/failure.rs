//! The message when a server does not start or does not stay. It has the end of the server's log without secrets. It names the cause where that can be seen (a
//! full disk, a memory limit, a Java server's heap).
//!
//! When that is said is decided in `inner`, `start` and `managed`.

use super::cause;
use super::control_group;
use super::inner::{Inner, Phase};
use super::log;
use super::memory_group::MemoryGroup;
use super::shortage::Shortage;
use super::watch::Exit;
use sensormark_store::error::{ErrorKind, StoreError};
use std::time::Duration;

/// How many log lines an error shows.
const ERROR_LINES: usize = 15;

/// How many log lines are searched for a cause: a program may say much after it.
const TOLD_LINES: usize = 400;

/// The signal that the kernel ends processes with when there is no memory.
const SIGKILL: i32 = 9;

/// How long the end of a process that the kernel killed may take to be noticed.
const EXIT_LIMIT: Duration = Duration::from_millis(200);

impl Inner {
    /// The log's end without secrets.
    pub(super) fn log_tail(&self, lines: usize) -> String {
        let mut secrets = vec![self.launch.endpoint.url.clone(), self.server_folder.password.clone()];
        let commands = self.launch.before.iter().chain(&self.launch.after).chain([&self.launch.server]);
        secrets.extend(commands.filter_map(|command| command.input.clone()));
        log::tail(&self.folder.log(), &self.server_folder.root, lines, &secrets)
    }

    /// A failure of the start, which begins with its cause where that can be seen, and ends with the log's end. A full disk has a kind of its own.
    pub(super) fn failure(&self, kind: ErrorKind, what: &str) -> StoreError {
        let operation = format!("start {}", self.title);
        let log = show(&self.log_tail(ERROR_LINES));
        let waits = || self.standstill().filter(|_| kind == ErrorKind::Timeout);
        if let Some(why) = self.want_of_memory().or_else(waits) {
            let text = format!("{why}. {what}. {log}");
            return StoreError::new(kind, operation, text).with_doubt(false);
        }
        if let Some(why) = self.want_of_space() {
            let text = format!("{why}; free some, or choose a folder on another disk. {what}. {log}");
            return StoreError::new(ErrorKind::DiskFull, operation, text);
        }
        StoreError::new(kind, operation, format!("{what}. {log}")).with_doubt(false)
    }

    /// An end that nobody asked for. A server that maps its files into memory dies of a full disk by a signal, without a word of it.
    pub(super) fn crash(&self, exit: Exit) -> StoreError {
        let what = format!("the server {exit} without being asked to");
        let cause = self.want_of_memory().or_else(|| self.want_of_space());
        let what = cause.map_or_else(|| what.clone(), |why| format!("{why}: {what}"));
        let text = format!("{what}. {}", show(&self.log_tail(ERROR_LINES)));
        StoreError::new(ErrorKind::Crashed, format!("run {}", self.title), text)
    }

    /// What befell a server that lost processes to its memory limit since it was last started. It need not have ended: PostgreSQL starts others
    /// in their place, and its clients lose their connections.
    pub(super) fn lost_to_memory_limit(&self) -> Option<StoreError> {
        let why = self.reached_limit()?;
        // The kernel counts what it ends before the end is noticed.
        self.wait_for_exit(EXIT_LIMIT);
        let exit = self.exit();
        if let Some(exit) = exit.filter(|_| self.phase() == Phase::Running) {
            return Some(self.crash(exit));
        }
        let text = format!("the server lost processes: {why}. {}", show(&self.log_tail(ERROR_LINES)));
        let operation = format!("run {}", self.title);
        Some(StoreError::new(ErrorKind::Crashed, operation, text))
    }

    /// How many of its processes the kernel has ended for want of memory.
    pub(super) fn killed_processes(&self) -> u64 {
        self.group.as_ref().map_or(0, MemoryGroup::killed_processes)
    }

    /// Whether the kernel ended processes since the start because of the memory limit, in words.
    fn reached_limit(&self) -> Option<String> {
        let group = self.group.as_ref()?;
        let before = self.state().killed_before;
        (group.killed_processes() > before).then(|| group.explanation())
    }

    /// How short of memory the server's own group is, and sensormark's.
    pub(super) fn shortages(&self) -> [Option<Shortage>; 2] {
        let own = self.group.as_ref().and_then(MemoryGroup::shortage);
        [own, control_group::own_shortage()]
    }

    /// Whether the server has only waited for memory since it was started, in words. The kernel ends nothing then.
    fn standstill(&self) -> Option<String> {
        let before = self.state().short_before;
        let now = self.shortages();
        let stands = |at: usize| {
            let pair = now[at].zip(before[at]);
            pair.is_some_and(|(now, before)| now.is_standstill_since(before))
        };
        if stands(0) {
            return self.group.as_ref().map(MemoryGroup::standstill);
        }
        stands(1).then(cause::standstill)
    }

    /// Whether it ended for want of memory, in words: by its own limit, by that of sensormark's group, by the machine's, or as its log says.
    fn want_of_memory(&self) -> Option<String> {
        let limit = self.reached_limit();
        limit
            .or_else(|| {
                let (before, exit) = {
                    let state = self.state();
                    (state.kills_before, state.exit)
                };
                before.since(matches!(exit, Some(Exit::Signal(SIGKILL))))
            })
            .or_else(|| {
                let log = self.log_tail(TOLD_LINES);
                cause::full_heap(&log, &self.launch.server.arguments).or_else(|| {
                    let line = cause::no_memory_line(&log)?;
                    Some(format!("there is not enough memory ({line}); free some, or lower --server-memory"))
                })
            })
    }

    /// Whether the disk is full, in words. Some commands remove what they wrote before they end, so the log counts too.
    pub(super) fn want_of_space(&self) -> Option<String> {
        let folder = self.server_folder.data.display();
        let log = self.log_tail(TOLD_LINES);
        if let Some(line) = cause::full_disk_line(&log) {
            return Some(format!("the disk is full: there is no space below {folder} ({line})"));
        }
        cause::is_full(&self.server_folder.data)
            .then(|| format!("the disk is full: there is no space below {folder}"))
    }
}

fn show(tail: &str) -> String {
    if tail.is_empty() {
        "It printed nothing.".to_owned()
    } else {
        format!("The last lines of its log:\n{tail}")
    }
}
