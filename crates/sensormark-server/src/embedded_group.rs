//! The control group of an embedded database. It bounds the process in which the database runs with its client, because there is no other: what the database has,
//! the client has not. On a small machine the user's own program shares with it in the same way.

use super::memory_group::{self, MemoryGroup, refused};
use super::scratch::ScratchFolder;
use super::start::make_group;
use super::{control_group, cpu_group};
use sensormark_store::ServerOptions;
use sensormark_store::error::{ErrorKind, StoreError};
use std::sync::atomic::{AtomicU64, Ordering};

/// The group of one embedded database's processes. It is removed when it is dropped, after them.
#[derive(Debug)]
pub struct EmbeddedGroup {
    group: MemoryGroup,
    title: String,
    /// How many processes the kernel had ended when the last one was taken in.
    killed_before: AtomicU64,
}

impl ScratchFolder {
    /// A group for the processes that have the database in this folder open; none without a limit.
    ///
    /// # Errors
    /// Why none can be made.
    pub fn hold(&self, title: &str, options: &ServerOptions) -> Result<Option<EmbeddedGroup>, StoreError> {
        let group = make_group(&self.folder, options)?;
        let killed_before = AtomicU64::new(0);
        Ok(group.map(|group| EmbeddedGroup { group, title: title.to_owned(), killed_before }))
    }
}

impl EmbeddedGroup {
    /// What this process and all beside it in its control groups may take at most, in bytes; none without a limit.
    pub fn own_limit_bytes() -> Option<u64> {
        control_group::own_limit_bytes()
    }

    /// Puts a process into the group.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn take_in(&self, process: u32) -> Result<(), StoreError> {
        self.killed_before.store(self.group.killed_processes(), Ordering::Relaxed);
        for file in cpu_group::files(Some(&self.group)) {
            let failed = |error| refused(format!("cannot write {}: {error}", file.display()));
            std::fs::write(&file, process.to_string()).map_err(failed)?;
        }
        Ok(())
    }

    /// That the kernel ended the process because of the limit, since it was taken in.
    pub fn lost(&self) -> Option<StoreError> {
        let is_lost = self.group.killed_processes() > self.killed_before.load(Ordering::Relaxed);
        let text = || format!("killed by the limit: {}", self.group.explanation());
        is_lost.then(|| StoreError::new(ErrorKind::Crashed, format!("run {}", self.title), text()))
    }

    /// What it is held to and how much of it was used, in words.
    pub fn note(&self, options: &ServerOptions) -> String {
        let used = self.group.memory_use();
        let peak = used.peak_bytes.map(|peak| format!(", of which {} MB were in use at most", peak >> 20));
        let cores = options.cpu_limit_note().map(|note| format!("; {note}"));
        format!(
            "{} and its client are held to {} MB together (--memory-limit){}{}",
            self.title,
            used.limit_bytes >> 20,
            peak.unwrap_or_default(),
            cores.unwrap_or_default()
        )
    }
}

impl Drop for EmbeddedGroup {
    fn drop(&mut self) {
        if let Err(error) = memory_group::remove(self.group.folder()) {
            tracing::warn!(%error, "a control group could not be removed; the next start of sensormark tries again");
        }
    }
}
