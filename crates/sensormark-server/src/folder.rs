//! Folders: the state folder, one marked folder for each run in it, and a marked one on the disk that the user chose.
//!
//! It makes, locks, marks and removes folders; what a server writes into its own is the store's business.

use super::files::{create_private, file_error};
use super::ownership::Ownership;
use super::random;
use super::user::{User, is_root};
use sensormark_store::error::{ErrorKind, StoreError};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What a message about the state folder is about.
const MAKE_STATE: &str = "make the state folder";
/// The lock file of a run's folder; its coordinator holds it as long as it lives.
const LOCK: &str = "lock";

/// The marker in a folder on the disk that the user chose; its text is the run's name.
const DATA_MARKER: &str = "sensormark-run";

fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().mode(mode).create(path)?;
    // The mode again: the umask may have taken bits away.
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Where the state folder is, whether or not it is there yet: the one given, `$SENSORMARK_STATE`, or the usual place.
///
/// # Errors
/// [`ErrorKind::Configuration`] when there is no usual place.
pub(super) fn state_place(given: Option<PathBuf>) -> Result<PathBuf, StoreError> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let usual = || {
        if is_root() {
            return Some(PathBuf::from("/var/lib/sensormark"));
        }
        variable("XDG_STATE_HOME")
            .or_else(|| Some(variable("HOME")?.join(".local/state")))
            .map(|folder| folder.join("sensormark"))
    };
    let folder = given.or_else(|| variable("SENSORMARK_STATE")).or_else(usual).ok_or_else(|| {
        StoreError::new(
            ErrorKind::Configuration,
            MAKE_STATE,
            "neither SENSORMARK_STATE, XDG_STATE_HOME nor HOME is set; set SENSORMARK_STATE to a folder",
        )
    })?;
    std::path::absolute(&folder).map_err(|error| file_error(MAKE_STATE, &folder, error))
}

/// The state folder, made where it is not there yet; see [`state_place`].
///
/// # Errors
/// [`ErrorKind::Configuration`] when it cannot be made or there is no usual place.
pub(super) fn state_folder(given: Option<PathBuf>) -> Result<PathBuf, StoreError> {
    let folder = state_place(given)?;
    if !folder.is_dir() {
        if let Some(parent) = folder.parent() {
            std::fs::create_dir_all(parent).map_err(|error| file_error(MAKE_STATE, parent, error))?;
        }
        let mode = if is_root() { 0o755 } else { 0o700 };
        match make_folder(&folder, mode) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(file_error(MAKE_STATE, &folder, error));
            }
            _ => {}
        }
    }
    Ok(folder)
}

/// The folder of one run, made, marked and locked by this process.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
    owner: Mutex<Ownership>,
    /// Held as long as this value lives.
    _lock: File,
}

impl RunFolder {
    /// Makes the folder of a new run below the state folder, and a marked one below `data` if given.
    ///
    /// # Errors
    /// When something cannot be made; nothing is left behind then.
    pub(super) fn create(
        home: &Path,
        purpose: &str,
        data: Option<&Path>,
        user: Option<&User>,
    ) -> Result<Self, StoreError> {
        let run = random::run_name()?;
        let path = home.join(format!("{purpose}-{run}"));
        let operation = "make the server's folder";
        make_folder(&path, 0o711).map_err(|error| file_error(operation, &path, error))?;
        let made = Self::fill(&path, &run, purpose).and_then(|folder| {
            if let Some(data) = data {
                folder.add_data_folder(data, user)?;
            }
            for part in [folder.server_root(), folder.data()] {
                make_folder(&part, 0o700).map_err(|error| file_error(operation, &part, error))?;
                if let Some(user) = user {
                    user.take_over(&part).map_err(|error| file_error(operation, &part, error))?;
                    user.check_access(&part)?;
                }
            }
            Ok(folder)
        });
        made.inspect_err(|_| {
            if let Some(owner) = Ownership::read(&path) {
                remove_chosen_folders(&owner).ok();
            }
            std::fs::remove_dir_all(&path).ok();
        })
    }

    fn fill(path: &Path, run: &str, purpose: &str) -> Result<Self, StoreError> {
        let owner = Ownership::ours(run, purpose)?;
        let failed = |error| file_error("mark the server's folder", path, error);
        owner.write(path).map_err(failed)?;
        let lock = create_private(&path.join(LOCK)).map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(Self { path: path.to_owned(), owner: Mutex::new(owner), _lock: lock })
    }

    fn add_data_folder(&self, chosen: &Path, user: Option<&User>) -> Result<(), StoreError> {
        self.add_chosen_folder(("data", ""), chosen, user, |owner, folder| {
            owner.data_folder = Some(folder);
        })
    }

    /// Makes a marked folder for logs on the disk that the user chose.
    ///
    /// # Errors
    /// When it cannot be made or the server's user cannot write it.
    pub(super) fn add_log_folder(&self, chosen: &Path, user: Option<&User>) -> Result<PathBuf, StoreError> {
        self.add_chosen_folder(("logs", "-logs"), chosen, user, |owner, folder| {
            owner.log_folder = Some(folder);
        })?;
        let logs = self.owner().log_folder.unwrap_or_default().join("logs");
        let failed = |error| file_error("make a folder for the logs", &logs, error);
        make_folder(&logs, 0o700).map_err(failed)?;
        if let Some(user) = user {
            user.take_over(&logs).map_err(failed)?;
            user.check_access(&logs)?;
        }
        Ok(logs)
    }

    /// Makes a marked folder for something on the disk that the user chose; `note` writes it down.
    fn add_chosen_folder(
        &self,
        (purpose, ending): (&str, &str),
        chosen: &Path,
        user: Option<&User>,
        note: impl FnOnce(&mut Ownership, PathBuf),
    ) -> Result<(), StoreError> {
        let operation = &format!("make a folder for the {purpose}");
        let chosen = chosen.canonicalize().map_err(|error| file_error(operation, chosen, error))?;
        let run = self.owner().run;
        let folder = chosen.join(format!("sensormark-{run}{ending}"));
        // Written down before it is made, so that a crash in between leaves nothing unknown.
        self.update(|owner| note(owner, folder.clone()))?;
        let failed = |error| file_error(operation, &folder, error);
        make_folder(&folder, 0o711).map_err(failed)?;
        std::fs::write(folder.join(DATA_MARKER), &run).map_err(failed).inspect_err(|_| {
            std::fs::remove_dir_all(&folder).ok();
        })?;
        // Before anything is put there: the user's own folders may be closed to the server's user.
        user.map_or(Ok(()), |user| user.check_entry(&folder))
    }

    /// The run's folder itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that belongs to the server.
    pub(super) fn server_root(&self) -> PathBuf {
        self.path.join("server")
    }

    /// The folder for the server's data.
    pub(super) fn data(&self) -> PathBuf {
        self.owner().data_folder.map_or_else(|| self.server_root().join("data"), |folder| folder.join("data"))
    }

    /// What the server prints goes here.
    pub(super) fn log(&self) -> PathBuf {
        self.path.join("server.log")
    }

    /// What is written down about the run.
    pub(super) fn owner(&self) -> Ownership {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes what is written down about the run.
    ///
    /// # Errors
    /// When the file cannot be written; the change is then kept in memory alone.
    pub(super) fn update(&self, change: impl FnOnce(&mut Ownership)) -> Result<(), StoreError> {
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut owner);
        owner.write(&self.path).map_err(|error| file_error("write the ownership file", &self.path, error))
    }

    /// Removes the folders on chosen disks and the run's folder. Nothing there is fine.
    ///
    /// # Errors
    /// What could not be removed.
    pub(super) fn remove(&self) -> Result<(), StoreError> {
        remove(&self.path, &self.owner())
    }
}

/// Removes a run's folders on chosen disks and then the run's folder.
///
/// # Errors
/// What could not be removed; the run's folder stays as long as one of the others does.
pub(super) fn remove(path: &Path, owner: &Ownership) -> Result<(), StoreError> {
    remove_chosen_folders(owner)?;
    remove_folder(path)
}

/// Removes the marked folders on the disks that the user chose, only if they bear this run's marker (or are empty).
fn remove_chosen_folders(owner: &Ownership) -> Result<(), StoreError> {
    for folder in [&owner.data_folder, &owner.log_folder].into_iter().flatten() {
        let marker = std::fs::read_to_string(folder.join(DATA_MARKER));
        if marker.is_ok_and(|run| run == owner.run) {
            remove_folder(folder)?;
        } else {
            // Made but not yet marked when the machine stopped: only an empty folder goes.
            std::fs::remove_dir(folder).ok();
        }
    }
    Ok(())
}

/// Removes a folder with everything in it; a process that is just ending may still add a file, so a few times.
fn remove_folder(path: &Path) -> Result<(), StoreError> {
    let mut failure = None;
    for _ in 0..5 {
        match std::fs::remove_dir_all(path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.exists() => {
                return Ok(());
            }
            Err(error) => failure = Some(error),
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    failure.map_or(Ok(()), |error| Err(file_error("remove the server's folder", path, error)))
}

/// A run's folder that was found, made by whichever process.
pub(super) struct FoundRun {
    /// The folder.
    pub path: PathBuf,
    /// What its ownership file says.
    pub owner: Ownership,
}

impl FoundRun {
    /// All runs below the state folder that belong to this user. Folders without our marker are not among them.
    pub(super) fn all(home: &Path) -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir(home) else {
            return Vec::new();
        };
        let own_user = rustix::process::geteuid().as_raw();
        let mut found: Vec<Self> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let about = path.symlink_metadata().ok()?;
                // Somebody else's file must not direct our signals and removals.
                if !about.is_dir() || about.uid() != own_user {
                    return None;
                }
                let owner = Ownership::read(&path)?;
                let named = path.file_name()?.to_str()?.ends_with(&owner.run);
                (named && owner.run.len() == 16).then_some(Self { path, owner })
            })
            .collect();
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }

    /// Takes the run's lock; `None` while its coordinator (or another cleaner) holds it.
    pub(super) fn try_lock(&self) -> Option<File> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.path.join(LOCK))
            .ok()?;
        match file.try_lock() {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
        }
    }
}
