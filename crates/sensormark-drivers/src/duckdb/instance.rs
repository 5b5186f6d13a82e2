//! Open databases of this process: one instance for each file, which all sessions and administrators share.
//!
//! DuckDB lets one process write to a file. Inside that process it keeps nobody from opening the file twice, and the two would not know of each
//! other. So files are opened here alone, and closed with their last user, both under one lock. Closing moves the log into the file.

use super::client::{Connection, Database, Said};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Files that are open.
type Files = Option<HashMap<PathBuf, Weak<Instance>>>;

/// An open database.
struct Instance {
    database: Database,
    /// Whether its file was removed under it.
    dropped: AtomicBool,
}

/// One use of an open database, until it is dropped. Connections go before it.
pub(crate) struct Use(Option<Arc<Instance>>);

fn lock() -> MutexGuard<'static, Files> {
    static FILES: Mutex<Files> = Mutex::new(None);
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The instance of a file that is open.
fn known(files: &Files, file: &Path) -> Option<Arc<Instance>> {
    files.as_ref()?.get(file)?.upgrade()
}

impl Use {
    /// Uses the database of this file, which `work` opens where nobody has done so yet.
    pub(crate) fn of(file: &Path, work: impl FnOnce() -> Said<Database>) -> Said<Self> {
        let mut files = lock();
        let instance = match known(&files, file) {
            Some(instance) => instance,
            None => Arc::new(Instance { database: work()?, dropped: AtomicBool::new(false) }),
        };
        files.get_or_insert_default().insert(file.to_owned(), Arc::downgrade(&instance));
        Ok(Self(Some(instance)))
    }

    /// A connection of this use's own.
    pub(crate) fn connect(&self) -> Said<Connection> {
        match &self.0 {
            Some(instance) => Connection::open(&instance.database),
            None => Err("the database is closed".to_owned()),
        }
    }

    /// Whether the file was removed under it.
    pub(crate) fn is_dropped(&self) -> bool {
        self.0.as_ref().is_none_or(|instance| instance.dropped.load(Ordering::Relaxed))
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        // Held until the instance is closed, so that nobody opens the file meanwhile.
        let _files = lock();
        self.0 = None;
    }
}

/// Says that a file is about to be removed. Whoever has its database open learns it, and whoever opens one of this name gets a new one.
pub(crate) fn forget(file: &Path) {
    let mut files = lock();
    if let Some(instance) = known(&files, file) {
        instance.dropped.store(true, Ordering::Relaxed);
        // Closing would write the log of a file that has no name any more. Where this fails, nothing is written after it either.
        let quiet = Connection::open(&instance.database);
        drop(quiet.and_then(|connection| connection.query("PRAGMA disable_checkpoint_on_shutdown")));
    }
    files.get_or_insert_default().remove(file);
}

/// Looks into a file that may be anybody's: through its open database where this process has it open, else by one that `work` opens and that
/// nobody else gets.
pub(crate) fn look<T>(
    file: &Path,
    work: impl FnOnce() -> Said<Database>,
    read: impl FnOnce(&Connection) -> Said<T>,
) -> Said<T> {
    let files = lock();
    // A use as every other: the last one closes the database, under the lock.
    if let Some(instance) = known(&files, file) {
        let used = Use(Some(instance));
        drop(files);
        return read(&used.connect()?);
    }
    let database = work()?;
    read(&Connection::open(&database)?)
}
