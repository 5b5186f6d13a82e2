//! What is not a server but must be cleaned up like one: folders of embedded databases.

use super::Supervisor;
use super::files::file_error;
use super::folder::RunFolder;
use sensormark_store::error::{ErrorKind, StoreError};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

/// A marked folder for an embedded database. When it is dropped, it is removed with everything in it; after a crash
/// [`Supervisor::clean_orphans`] does that.
#[derive(Debug)]
pub struct ScratchFolder {
    pub(super) folder: Arc<RunFolder>,
    data: PathBuf,
}

impl ScratchFolder {
    /// The folder for the database's files.
    pub fn path(&self) -> &Path {
        &self.data
    }

    /// Lets other users through it, to what lies deeper.
    ///
    /// # Errors
    /// When its mode cannot be changed.
    pub fn let_others_through(&self) -> Result<(), StoreError> {
        for folder in [self.data.as_path()].into_iter().chain(self.data.parent()) {
            std::fs::set_permissions(folder, PermissionsExt::from_mode(0o711))
                .map_err(|error| file_error("open a folder to others", folder, error))?;
        }
        Ok(())
    }

    /// Removes it now.
    ///
    /// # Errors
    /// What could not be removed.
    pub fn remove(&self) -> Result<(), StoreError> {
        self.folder.remove()
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!(%error, "a folder could not be removed; the next start of sensormark tries again");
        }
    }
}

impl Supervisor {
    /// A marked folder for an embedded database of this store, in `data` (a folder on the disk that the user chose) if given.
    ///
    /// # Errors
    /// When it cannot be made; nothing is left behind.
    pub fn scratch(&self, store: &str, data: Option<&Path>) -> Result<ScratchFolder, StoreError> {
        let folder = Arc::new(RunFolder::create(self.home(), store, data, None)?);
        let mut known = self.scratch_folders();
        if self.shared.stopping.load(Ordering::SeqCst) {
            folder.remove()?;
            return Err(StoreError::new(
                ErrorKind::Unavailable,
                "make a folder for an embedded database",
                "sensormark is stopping",
            ));
        }
        known.retain(|folder| folder.strong_count() > 0);
        known.push(Arc::downgrade(&folder));
        drop(known);
        let data = folder.data();
        Ok(ScratchFolder { folder, data })
    }

    /// Removes the folders of embedded databases that are there.
    pub(super) fn remove_scratch_folders(&self) {
        let folders = std::mem::take(&mut *self.scratch_folders());
        for folder in folders.iter().filter_map(Weak::upgrade) {
            if let Err(error) = folder.remove() {
                tracing::warn!(%error, "a folder could not be removed; the next start of sensormark tries again");
            }
        }
    }

    fn scratch_folders(&self) -> MutexGuard<'_, Vec<Weak<RunFolder>>> {
        self.shared.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
