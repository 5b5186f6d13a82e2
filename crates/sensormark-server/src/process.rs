//! Processes by identity (id and start time), and the tree of processes that belongs to one server.
//!
//! It reads /proc and sends signals; it starts nothing (that is `spawn`). A process id alone is never trusted: ids are
//! used again, so every signal goes to an id *and* the start time that was seen with it.

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use sensormark_store::error::{ErrorKind, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// The variable that every process of a server inherits; its value is the random name of the run.
pub(super) const RUN_VARIABLE: &str = "SENSORMARK_RUN";

/// One process, unmistakably: an id is used again, an id with its start time is not (within one boot).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// The process id.
    pub pid: u32,
    /// When it started, in clock ticks since the boot (field 22 of /proc/PID/stat).
    pub start_ticks: u64,
}

impl ProcessIdentity {
    /// The process that has this id now, zombies included; `None` when there is none.
    pub fn of(pid: u32) -> Option<Self> {
        Entry::read(i32::try_from(pid).ok()?).map(|entry| entry.identity)
    }

    /// Whether exactly this process is still there and has not ended (a zombie has).
    pub fn is_alive(self) -> bool {
        i32::try_from(self.pid)
            .ok()
            .and_then(Entry::read)
            .is_some_and(|entry| entry.identity == self && !entry.ended)
    }

    /// Whether each of its threads is stopped or gone.
    pub(super) fn stands_still(self) -> bool {
        let tasks = i32::try_from(self.pid)
            .ok()
            .and_then(|pid| procfs::process::Process::new(pid).ok()?.tasks().ok());
        let mut states = tasks.into_iter().flatten().filter_map(|task| Some(task.ok()?.stat().ok()?.state));
        states.all(|state| matches!(state, 'T' | 't' | 'Z' | 'X' | 'x'))
    }

    /// The process id in the form of system calls.
    pub(super) fn raw(self) -> Option<Pid> {
        i32::try_from(self.pid).ok().and_then(Pid::from_raw)
    }

    /// Sends a signal to exactly this process; false when it is gone or may not be signalled.
    pub(super) fn signal(self, signal: Signal) -> bool {
        let Some(pid) = self.raw() else { return false };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // The descriptor holds on to one process: compare first, then nothing can come between.
            Ok(descriptor) => self.is_alive() && pidfd_send_signal(&descriptor, signal).is_ok(),
            Err(Errno::NOSYS | Errno::PERM) => {
                self.is_alive() && rustix::process::kill_process(pid, signal).is_ok()
            }
            Err(_) => false,
        }
    }
}

/// One line of the process table.
struct Entry {
    identity: ProcessIdentity,
    parent: u32,
    group: u32,
    session: u32,
    ended: bool,
}

impl Entry {
    fn read(pid: i32) -> Option<Self> {
        let stat = procfs::process::Process::new(pid).ok()?.stat().ok()?;
        Some(Self {
            identity: ProcessIdentity { pid: u32::try_from(stat.pid).ok()?, start_ticks: stat.starttime },
            parent: u32::try_from(stat.ppid).unwrap_or(0),
            group: u32::try_from(stat.pgrp).unwrap_or(0),
            session: u32::try_from(stat.session).unwrap_or(0),
            ended: matches!(stat.state, 'Z' | 'X' | 'x'),
        })
    }

    /// Whether its environment says that it belongs to this run.
    fn bears(&self, run: &str) -> bool {
        let wanted = format!("{RUN_VARIABLE}={run}");
        std::fs::read(format!("/proc/{}/environ", self.identity.pid)).is_ok_and(|environment| {
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
        })
    }
}

fn process_table() -> Vec<Entry> {
    let Ok(folder) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    folder.filter_map(|item| item.ok()?.file_name().to_str()?.parse().ok()).filter_map(Entry::read).collect()
}

/// The living processes of a server: those of `known` that are still the same, their sessions, process groups and descendants. With `run` it also gives
/// whatever bears the run's name in its environment.
///
/// A session or group counts only while its leader is there with the recorded start time (a zombie is enough: its id
/// cannot be used again before it is reaped).
pub(super) fn members(known: &[ProcessIdentity], run: Option<&str>) -> Vec<ProcessIdentity> {
    let table = process_table();
    let own = std::process::id();
    let leaders: HashSet<u32> = table
        .iter()
        .filter(|entry| known.contains(&entry.identity))
        .map(|entry| entry.identity.pid)
        .collect();
    let mut inside: HashSet<u32> = table
        .iter()
        .filter(|entry| {
            leaders.contains(&entry.identity.pid)
                || leaders.contains(&entry.session)
                || leaders.contains(&entry.group)
                || run.is_some_and(|run| entry.bears(run))
        })
        .map(|entry| entry.identity.pid)
        .collect();
    inside.remove(&own);
    loop {
        let before = inside.len();
        for entry in &table {
            if inside.contains(&entry.parent) && entry.identity.pid != own {
                inside.insert(entry.identity.pid);
            }
        }
        if inside.len() == before {
            break;
        }
    }
    table
        .iter()
        .filter(|entry| !entry.ended && inside.contains(&entry.identity.pid))
        .map(|entry| entry.identity)
        .collect()
}

/// Ends the whole tree with SIGKILL and waits until it is gone.
///
/// # Errors
/// The processes that are still there after `limit`.
pub(super) fn kill_tree(
    known: &[ProcessIdentity],
    run: Option<&str>,
    limit: Duration,
) -> Result<(), Vec<ProcessIdentity>> {
    let deadline = Instant::now() + limit;
    let mut seen: Vec<ProcessIdentity> = known.to_vec();
    loop {
        let living = members(&seen, run);
        if living.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(living);
        }
        for process in living {
            process.signal(Signal::KILL);
            if !seen.contains(&process) {
                seen.push(process);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// This process.
///
/// # Errors
/// When /proc does not tell its start time.
pub(super) fn own_identity() -> Result<ProcessIdentity, StoreError> {
    ProcessIdentity::of(std::process::id()).ok_or_else(|| {
        StoreError::new(
            ErrorKind::Configuration,
            "tell this process from others",
            "cannot read /proc/self/stat; sensormark needs Linux with /proc mounted",
        )
    })
}

/// The random id of this boot of the machine.
///
/// # Errors
/// When /proc does not tell it.
pub(super) fn boot_id() -> Result<String, StoreError> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).map_err(
        |error| {
            StoreError::new(
                ErrorKind::Configuration,
                "tell this boot from others",
                "cannot read /proc/sys/kernel/random/boot_id; sensormark needs Linux with /proc mounted",
            )
            .with_source(error)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_needs_the_start_time() {
        let own = own_identity().unwrap();
        assert!(own.is_alive());
        let other = ProcessIdentity { start_ticks: own.start_ticks + 1, ..own };
        assert!(!other.is_alive());
        assert!(!other.signal(Signal::KILL));
    }

    #[test]
    fn a_reused_id_is_not_a_member() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let real = ProcessIdentity::of(child.id()).unwrap();
        let stale = ProcessIdentity { start_ticks: real.start_ticks - 1, ..real };
        assert_eq!(members(&[stale], None), Vec::new());
        kill_tree(&[stale], None, Duration::from_secs(1)).unwrap();
        assert!(real.is_alive());
        assert_eq!(members(&[real], None), vec![real]);
        kill_tree(&[real], None, Duration::from_secs(5)).unwrap();
        assert!(!real.is_alive());
        child.wait().unwrap();
    }
}
