//! The ownership file: what is written down in each run's folder, so that a later sensormark can clean up after a crash.
//!
//! The file is also the marker: a folder without it is never touched. It holds no secret.

use super::process::{self, ProcessIdentity};
use sensormark_store::error::StoreError;
use sensormark_store::server::StopSignal;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file's name in a run's folder.
pub(super) const FILE: &str = "sensormark-owner.json";

/// Who made a run's folder, and what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ownership {
    /// Always [`Ownership::MADE_BY`].
    pub made_by: String,
    /// The run's random name, also in the environment of its processes.
    pub run: String,
    /// The store's name, or what else the folder is for.
    pub purpose: String,
    /// The process that made it and looks after it.
    pub coordinator: ProcessIdentity,
    /// The boot within which process ids and start times mean anything.
    pub boot_id: String,
    /// When it was made, in seconds since 1970.
    pub since_unix_s: u64,
    /// The marked folder on the disk that the user chose, if any.
    pub data_folder: Option<PathBuf>,
    /// The marked folder for logs on another disk that the user chose, if any.
    #[serde(default)]
    pub log_folder: Option<PathBuf>,
    /// The control group that bounds the server's memory, if any; written down before it is made.
    #[serde(default)]
    pub memory_group: Option<PathBuf>,
    /// The server's ports on 127.0.0.1.
    pub ports: Vec<u16>,
    /// The server's root process, once it was started.
    pub server: Option<ProcessIdentity>,
    /// All processes that were seen, the root among them.
    pub processes: Vec<ProcessIdentity>,
    /// Whether the server is stopped with SIGINT (else SIGTERM).
    pub stop_by_interrupt: bool,
    /// Whether it is meant to outlive its coordinator.
    pub detached: bool,
}

impl Ownership {
    /// What the marker says.
    pub(super) const MADE_BY: &str = "sensormark";

    /// Ownership by this process.
    ///
    /// # Errors
    /// When /proc cannot be read.
    pub(super) fn ours(run: &str, purpose: &str) -> Result<Self, StoreError> {
        let boot_id = process::boot_id()?;
        Ok(Self {
            made_by: Self::MADE_BY.to_owned(),
            run: run.to_owned(),
            purpose: purpose.to_owned(),
            coordinator: process::own_identity()?,
            boot_id,
            since_unix_s: std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
            data_folder: None,
            log_folder: None,
            memory_group: None,
            ports: Vec::new(),
            server: None,
            processes: Vec::new(),
            stop_by_interrupt: false,
            detached: false,
        })
    }

    /// Reads the file of a run's folder; `None` when it is not there or is not ours.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read(folder.join(FILE)).ok()?;
        serde_json::from_slice::<Self>(&text).ok().filter(|owner| owner.made_by == Self::MADE_BY)
    }

    /// Replaces the file of a run's folder as a whole, on disk before it returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        super::files::replace_private(&folder.join(FILE), &text)
    }

    /// The signal that asks the server to stop.
    pub(super) const fn stop_signal(&self) -> StopSignal {
        if self.stop_by_interrupt { StopSignal::Interrupt } else { StopSignal::Terminate }
    }

    /// Whether the recorded processes belong to the present boot.
    pub(super) fn is_of_this_boot(&self) -> bool {
        process::boot_id().is_ok_and(|boot| boot == self.boot_id)
    }

    /// Whether the process that made the folder still runs.
    pub(super) fn is_coordinator_alive(&self) -> bool {
        self.is_of_this_boot() && self.coordinator.is_alive()
    }

    /// Whether the server's root process still runs.
    pub(super) fn is_server_alive(&self) -> bool {
        self.is_of_this_boot() && self.server.is_some_and(ProcessIdentity::is_alive)
    }

    /// The recorded processes as far as they can still mean the same: none after a reboot.
    pub(super) fn known_processes(&self) -> Vec<ProcessIdentity> {
        if self.is_of_this_boot() { self.processes.clone() } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_comes_back_and_a_foreign_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut owner = Ownership::ours("0123", "test").unwrap();
        owner.write(folder.path()).unwrap();
        assert_eq!(Ownership::read(folder.path()), Some(owner.clone()));
        assert!(owner.is_coordinator_alive());
        owner.boot_id = "another boot".into();
        owner.processes.push(owner.coordinator);
        assert!(!owner.is_coordinator_alive());
        assert_eq!(owner.known_processes(), Vec::new());
        owner.made_by = "somebody else".into();
        owner.write(folder.path()).unwrap();
        assert_eq!(Ownership::read(folder.path()), None);
    }
}
