//! Which runs on servers of others are going on: an empty file for each in the state folder, locked as long as the run lives.
//!
//! The kernel takes the lock back however a run ends, so no process id has to be trusted. What a run left in a database is found by its owner's mark, which is the file's
//! name. Looking into databases is not done here.

use super::Supervisor;
use super::files::create_private;
use super::files::file_error;
use sensormark_store::error::StoreError;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// The folder of these files below the state folder.
const FOLDER: &str = "runs";

/// After this time a run that ended is forgotten. Its databases are then old enough to be told by their age.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);

/// The files of this process's runs.
static HELD: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn held() -> MutexGuard<'static, Vec<PathBuf>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What this machine knows of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// It is going on.
    Live,
    /// It ended without saying so: it was killed, or the machine went down.
    Ended,
    /// Nothing: it ended in good order, or it was of another machine, user or state folder.
    Unknown,
}

/// A run that is going on. When it is dropped, the run has ended in good order.
#[derive(Debug)]
pub struct HeldRun {
    path: PathBuf,
    /// Held as long as this value lives.
    _lock: File,
}

impl Drop for HeldRun {
    fn drop(&mut self) {
        held().retain(|path| *path != self.path);
        forget(&self.path);
    }
}

/// Writes down that this process's runs have ended in good order. For a process that ends at once and has left nothing in a database.
pub fn forget_held() {
    for path in held().drain(..) {
        forget(&path);
    }
}

/// Removes a run's file, and the folder where it was the last.
fn forget(path: &Path) {
    std::fs::remove_file(path).ok();
    if let Some(folder) = path.parent() {
        // Fails, as it should, while other runs have files there.
        std::fs::remove_dir(folder).ok();
    }
}

/// Whether a text from a database can be a file's name here.
fn is_name(owner: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=40).contains(&owner.len()) && owner.bytes().all(fits)
}

/// What the lock of a run's file says.
fn state_of(path: &Path) -> RunState {
    let Ok(file) = File::open(path) else {
        return RunState::Unknown;
    };
    match file.try_lock() {
        Ok(()) => RunState::Ended,
        Err(TryLockError::WouldBlock) => RunState::Live,
        // Where it cannot be told, nothing is taken away.
        Err(TryLockError::Error(_)) => RunState::Live,
    }
}

impl Supervisor {
    fn run_file(&self, owner: &str) -> Option<PathBuf> {
        is_name(owner).then(|| self.home().join(FOLDER).join(owner))
    }

    /// Writes down that a run with this owner's mark is going on, until the value is dropped. Before it makes a database.
    ///
    /// # Errors
    /// When that cannot be written down.
    pub fn hold_run(&self, owner: &str) -> Result<HeldRun, StoreError> {
        let folder = self.home().join(FOLDER);
        let failed = |error| file_error("write down that the run is going on", &folder, error);
        let path = self
            .run_file(owner)
            .ok_or_else(|| failed(std::io::Error::other(format!("{owner:?} is no owner's mark"))))?;
        self.forget_old_runs();
        // Another run that ends may remove the empty folder between the two steps.
        let make = || {
            std::fs::create_dir_all(&folder)?;
            create_private(&path)
        };
        let lock = make().or_else(|_| make()).map_err(failed)?;
        lock.lock().map_err(failed)?;
        held().push(path.clone());
        Ok(HeldRun { path, _lock: lock })
    }

    /// What this machine knows of the run with this owner's mark.
    pub fn run_state(&self, owner: &str) -> RunState {
        self.run_file(owner).map_or(RunState::Unknown, |path| state_of(&path))
    }

    /// Forgets runs that ended long ago.
    fn forget_old_runs(&self) {
        let entries = std::fs::read_dir(self.home().join(FOLDER));
        for entry in entries.into_iter().flatten().flatten() {
            let made = entry.metadata().and_then(|about| about.modified());
            let age = made.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
            if age.is_some_and(|age| age > KEPT) && state_of(&entry.path()) == RunState::Ended {
                forget(&entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_lives_as_long_as_its_lock() {
        let home = tempfile::tempdir().unwrap();
        let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
        assert_eq!(supervisor.run_state("0abc"), RunState::Unknown);
        let held = supervisor.hold_run("0abc").unwrap();
        assert_eq!(supervisor.run_state("0abc"), RunState::Live);
        drop(held);
        assert_eq!(supervisor.run_state("0abc"), RunState::Unknown);
        assert!(!home.path().join(FOLDER).exists(), "nothing stays");
        // As a killed process leaves it.
        std::fs::create_dir(home.path().join(FOLDER)).unwrap();
        std::fs::write(home.path().join(FOLDER).join("0abc"), "").unwrap();
        assert_eq!(supervisor.run_state("0abc"), RunState::Ended);
    }

    #[test]
    fn a_process_that_ends_at_once_forgets_its_runs() {
        let home = tempfile::tempdir().unwrap();
        let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
        let one = supervisor.hold_run("0abd").unwrap();
        // As `forget_held`, but of this test's run alone.
        let mine: Vec<PathBuf> = held().extract_if(.., |path| *path == one.path).collect();
        mine.iter().for_each(|path| forget(path));
        assert_eq!((mine.len(), supervisor.run_state("0abd")), (1, RunState::Unknown));
        assert!(!home.path().join(FOLDER).exists(), "nothing stays");
    }

    #[test]
    fn a_mark_from_a_database_is_no_path() {
        let home = tempfile::tempdir().unwrap();
        let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
        for owner in ["", "..", "../x", "a/b", "/etc/passwd", "A"] {
            assert!(supervisor.hold_run(owner).is_err(), "{owner}");
            assert_eq!(supervisor.run_state(owner), RunState::Unknown, "{owner}");
        }
    }
}
