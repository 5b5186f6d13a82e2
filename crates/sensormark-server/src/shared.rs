//! What the handles of one supervisor share: its state folder, and the servers and folders that it has to remove.

use super::folder::RunFolder;
use super::inner::Inner;
use sensormark_store::error::{ErrorKind, StoreError};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// What a supervisor's handles share.
pub(super) struct Shared {
    pub(super) home: PathBuf,
    pub(super) servers: Mutex<Vec<Arc<Inner>>>,
    pub(super) stopping: AtomicBool,
    /// The folders of embedded databases, for [`crate::Supervisor::stop_all`].
    pub(super) scratch: Mutex<Vec<Weak<RunFolder>>>,
}

impl Shared {
    /// Of a supervisor with this state folder, which has no server yet.
    pub(super) fn new(home: PathBuf) -> Self {
        Self {
            home,
            servers: Mutex::new(Vec::new()),
            stopping: AtomicBool::new(false),
            scratch: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn servers(&self) -> MutexGuard<'_, Vec<Arc<Inner>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a server that is being started on the list for [`crate::Supervisor::stop_all`].
    pub(super) fn remember(&self, inner: &Arc<Inner>) -> Result<(), StoreError> {
        let mut servers = self.servers();
        if self.stopping.load(Ordering::SeqCst) {
            return Err(StoreError::new(
                ErrorKind::Unavailable,
                format!("start {}", inner.title),
                "sensormark is stopping",
            )
            .with_doubt(false));
        }
        servers.push(Arc::clone(inner));
        Ok(())
    }

    /// Takes a server off the list that is gone, or left to itself.
    pub(super) fn forget(&self, inner: &Inner) {
        self.servers().retain(|known| !std::ptr::eq(Arc::as_ptr(known), inner));
    }

    /// Stops a server for good, removes its folders, and takes it off the list.
    ///
    /// # Errors
    /// When a process or folder could not be removed.
    pub(super) fn stop(&self, inner: &Inner, grace: Duration) -> Result<(), StoreError> {
        inner.stop(grace)?;
        self.forget(inner);
        Ok(())
    }
}
