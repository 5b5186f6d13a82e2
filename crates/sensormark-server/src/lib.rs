//! Database servers on this machine: where their programs are ([`find`]), the files that a store writes for one ([`files`]), and the one
//! supervisor that starts, watches, stops and cleans up. A store only describes.
//!
//! The modules in the order of a server's life:
//!
//! - `folder` and `ownership` make a marked and locked folder when [`Supervisor::start`] is called.
//! - `address` says where it listens, `ports` reserves ports, and `random` makes a password.
//! - `spawn` runs the store's commands as an unprivileged `user`.
//! - `start` waits until the server answers (`ready`). Where a store describes it, accounts are made before, in a start on loopback. The result is a [`ManagedServer`] (`managed`, its state in `inner`).
//! - `shared` knows the servers of one supervisor.
//! - `watch` notices its end at once.
//! - `process` tells processes apart by id and start time.
//! - `memory_group` holds a server to a memory limit by a control group of the kernel's, and `control_group` finds where that is.
//! - `failure` says why it ended or did not start, and `cause` sees whether disk or memory ran out.
//! - `orphans` finds what a crash left, and `shared_memory` finds it in the kernel. `scratch` does the same for what is no server.
//! - `runs` knows which runs on servers of others are going on.
//!
//! It knows no database: everything particular comes from the store's [`sensormark_store::server::Launch`].

mod address;
mod cause;
mod control_group;
mod cpu_group;
mod embedded_group;
mod failure;
pub mod files;
pub mod find;
mod folder;
mod group_files;
mod inner;
pub mod java;
mod log;
mod managed;
mod memory_group;
mod orphans;
mod ownership;
mod ports;
mod process;
mod random;
mod ready;
mod runs;
mod runtime;
mod scratch;
mod shared;
mod shared_memory;
mod shortage;
mod spawn;
mod start;
mod user;
mod watch;

use sensormark_store::error::StoreError;
use sensormark_store::server::ServerOptions;
use sensormark_store::store::Store;
use shared::Shared;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub use embedded_group::EmbeddedGroup;
pub use managed::ManagedServer;
pub use memory_group::MemoryUse;
pub use orphans::ServerStatus;
pub use process::ProcessIdentity;
pub use runs::{HeldRun, RunState, forget_held};
pub use runtime::runtime;
pub use scratch::ScratchFolder;
pub use start::StartWishes;

/// How long [`Supervisor::stop_all`] waits for each server's stop in good order.
const HASTE: Duration = Duration::from_secs(5);

/// Whether a server can be held to a memory limit here ([`ServerOptions::memory_limit_bytes`]).
///
/// # Errors
/// [`ErrorKind::Unsupported`](sensormark_store::ErrorKind::Unsupported) with the reason, and what to do.
pub fn check_memory_limit() -> Result<(), StoreError> {
    memory_group::check()
}

/// Starts and stops servers, and cleans up after crashes. A copy is the same supervisor, so a Ctrl-C handler can hold one.
#[derive(Clone)]
pub struct Supervisor {
    shared: Arc<Shared>,
}

impl Supervisor {
    /// A supervisor with this state folder. Without one: `$SENSORMARK_STATE`, else `/var/lib/sensormark` as root (the
    /// unprivileged users that servers run as must be able to enter it), else `$XDG_STATE_HOME/sensormark` or
    /// `~/.local/state/sensormark`.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`](sensormark_store::ErrorKind::Configuration) when the folder cannot be made.
    pub fn new(home: Option<PathBuf>) -> Result<Self, StoreError> {
        folder::state_folder(home).map(Self::at)
    }

    /// A supervisor for a plan: it finds servers that were left running, and makes no state folder, so it cannot start any.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`](sensormark_store::ErrorKind::Configuration) when there is no usual place for the folder.
    pub fn planning() -> Result<Self, StoreError> {
        folder::state_place(None).map(Self::at)
    }

    fn at(home: PathBuf) -> Self {
        Self { shared: Arc::new(Shared::new(home)) }
    }

    /// The state folder.
    pub fn home(&self) -> &Path {
        &self.shared.home
    }

    /// Starts the store's server and waits until it is ready. `data` is a folder on the disk where the data shall be.
    /// This blocks; it may be called inside or outside a runtime.
    ///
    /// # Errors
    /// One error that says what is wrong. Nothing is left behind. The kinds are:
    ///
    /// - [`ErrorKind::NotInstalled`](sensormark_store::ErrorKind::NotInstalled);
    /// - [`ErrorKind::Configuration`](sensormark_store::ErrorKind::Configuration): a folder;
    /// - [`ErrorKind::DiskFull`](sensormark_store::ErrorKind::DiskFull);
    /// - [`ErrorKind::Crashed`](sensormark_store::ErrorKind::Crashed): it ended before it was ready (with its log);
    /// - [`ErrorKind::Timeout`](sensormark_store::ErrorKind::Timeout): it never answered;
    /// - [`ErrorKind::Unavailable`](sensormark_store::ErrorKind::Unavailable): no free port, or sensormark is stopping.
    pub fn start(
        &self,
        store: &dyn Store,
        options: &ServerOptions,
        data: Option<&Path>,
    ) -> Result<ManagedServer, StoreError> {
        let wishes = StartWishes { data, ..StartWishes::default() };
        self.start_with(store, options, &wishes)
    }

    /// [`Supervisor::start`] with further wishes.
    ///
    /// # Errors
    /// As [`Supervisor::start`].
    pub fn start_with(
        &self,
        store: &dyn Store,
        options: &ServerOptions,
        wishes: &StartWishes<'_>,
    ) -> Result<ManagedServer, StoreError> {
        start::start(&self.shared, store, options, wishes)
    }

    /// Stops all servers of this supervisor and removes their folders and those of embedded databases. A start that is under way ends with an error,
    /// and no further start succeeds. For a Ctrl-C handler: it may be called from any thread and more than once.
    pub fn stop_all(&self) {
        let servers = {
            let servers = self.shared.servers();
            self.shared.stopping.store(true, Ordering::SeqCst);
            servers.clone()
        };
        for server in servers {
            if let Err(error) = self.shared.stop(&server, HASTE) {
                tracing::warn!(%error, "a server could not be removed; the next start of sensormark tries again");
            }
        }
        self.remove_scratch_folders();
    }
}
