//! Open databases of this process: one instance for each file, which all sessions and administrators share.
//!
//! DuckDB lets one process write to a file. Inside that process it keeps nobody from opening the file twice, and the two would not know of each
//! other. So files are opened here alone, and closed with their last user, both under one lock. Closing moves the log into the file.

use super::client::{Connection, Database, Said};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Files that are open, and how many use each.
type Open = HashMap<PathBuf, (Arc<Instance>, usize)>;

/// An open database.
struct Instance {
    database: Database,
    /// Whether its file was removed under it.
    dropped: AtomicBool,
}

/// One use of an open database, until it is dropped. Connections go before it.
pub(crate) struct Use {
    instance: Option<Arc<Instance>>,
    file: PathBuf,
}

fn open() -> MutexGuard<'static, Open> {
    static OPEN: OnceLock<Mutex<Open>> = OnceLock::new();
    let open = OPEN.get_or_init(Mutex::default);
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Use {
    /// Uses the database of this file, which `work` opens where nobody has done so yet.
    pub(crate) fn of(file: &Path, work: impl FnOnce() -> Said<Database>) -> Said<Self> {
        let mut open = open();
        if !open.contains_key(file) {
            let instance = Instance { database: work()?, dropped: AtomicBool::new(false) };
            open.insert(file.to_owned(), (Arc::new(instance), 0));
        }
        Ok(Self::shared(&mut open, file).unwrap_or_else(|| Self { instance: None, file: file.to_owned() }))
    }

    /// One more use of a database that is open.
    fn shared(open: &mut Open, file: &Path) -> Option<Self> {
        let (instance, users) = open.get_mut(file)?;
        *users += 1;
        Some(Self { instance: Some(Arc::clone(instance)), file: file.to_owned() })
    }

    /// A connection of this use's own.
    pub(crate) fn connect(&self) -> Said<Connection> {
        match &self.instance {
            Some(instance) => Connection::open(&instance.database),
            None => Err("the database is closed".to_owned()),
        }
    }

    /// Whether the file was removed under it.
    pub(crate) fn is_dropped(&self) -> bool {
        self.instance.as_ref().is_none_or(|instance| instance.dropped.load(Ordering::Relaxed))
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        // Held until the instance is closed, so that nobody opens the file meanwhile.
        let mut open = open();
        let Some(instance) = self.instance.take() else {
            return;
        };
        if let Some((known, users)) = open.get_mut(&self.file)
            && Arc::ptr_eq(known, &instance)
        {
            *users -= 1;
            if *users == 0 {
                open.remove(&self.file);
            }
        }
    }
}

/// Says that a file is about to be removed. Whoever has its database open learns it, and whoever opens one of this name gets a new one.
pub(crate) fn forget(file: &Path) {
    if let Some((instance, _)) = open().remove(file) {
        instance.dropped.store(true, Ordering::Relaxed);
        // Closing would write the log of a file that has no name any more. Where this fails, nothing is written after it either.
        let quiet = Connection::open(&instance.database)
            .and_then(|connection| connection.query("PRAGMA disable_checkpoint_on_shutdown"));
        drop(quiet);
    }
}

/// Looks into a file that may be anybody's: through its open database where this process has it open, else by one that `work` opens and that
/// nobody else gets.
pub(crate) fn look<T>(
    file: &Path,
    work: impl FnOnce() -> Said<Database>,
    read: impl FnOnce(&Connection) -> Said<T>,
) -> Said<T> {
    let mut open = open();
    // A use as every other: the last one closes the database, under the lock.
    if let Some(used) = Use::shared(&mut open, file) {
        drop(open);
        let connection = used.connect()?;
        return read(&connection);
    }
    let database = work()?;
    let connection = Connection::open(&database)?;
    read(&connection)
}
