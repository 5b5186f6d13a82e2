//! The handle of one server: what the pipeline asks of it, from ready to removed.
//!
//! How it comes up is in `start`; its state and the changes of it are in `inner`.

use super::inner::{Inner, Phase};
use super::memory_group::{MemoryGroup, MemoryUse};
use super::process::ProcessIdentity;
use super::ready::bring_up_again;
use super::shared::Shared;
use rustix::process::Signal;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::ServerFolder;
use sensormark_store::{Endpoint, Store};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that sensormark started. When it is dropped, it is stopped and its folders are removed.
pub struct ManagedServer {
    pub(super) inner: Arc<Inner>,
    pub(super) shared: Arc<Shared>,
}

impl ManagedServer {
    /// How long [`ManagedServer::stop`] waits for a stop in good order before it kills.
    pub const STOP_LIMIT: Duration = Duration::from_secs(30);

    /// How the server is spoken to.
    pub fn endpoint(&self) -> &Endpoint {
        &self.inner.launch.endpoint
    }

    /// The version that the server stated when it was ready.
    pub fn version(&self) -> String {
        self.inner.state().version.clone()
    }

    /// The id of the server's root process; 0 while it is down.
    pub fn process_id(&self) -> u32 {
        self.inner.process_id()
    }

    /// All living processes of the server, the root among them.
    pub fn processes(&self) -> Vec<ProcessIdentity> {
        self.inner.living()
    }

    /// The folder of the server's data.
    pub fn data_folder(&self) -> &Path {
        &self.inner.server_folder.data
    }

    /// The folder of its logs on another disk, where the user chose one.
    pub fn log_folder(&self) -> Option<&Path> {
        self.inner.server_folder.logs.as_deref()
    }

    /// The folder, ports and user that the store was given.
    pub fn folder(&self) -> &ServerFolder {
        &self.inner.server_folder
    }

    /// The run's folder: the server's own is in it, and its log.
    pub fn run_folder(&self) -> &Path {
        self.inner.folder.path()
    }

    /// The random name of the run, by which `servers stop` finds it.
    pub fn run(&self) -> &str {
        &self.inner.surroundings.run
    }

    /// What a reader should know about how it runs here.
    pub fn notes(&self) -> &[String] {
        &self.inner.launch.notes
    }

    /// From the start of the server's process until it was ready.
    pub fn start_duration(&self) -> Duration {
        self.inner.state().start
    }

    /// How long the commands before the start took (initialising a data folder).
    pub fn prepare_duration(&self) -> Duration {
        self.inner.state().prepare
    }

    /// The last lines of the log, with every known secret taken out.
    pub fn log_tail(&self, lines: usize) -> String {
        self.inner.log_tail(lines)
    }

    /// That the disk of its data is full, in words, where its log or the disk itself says so.
    pub fn want_of_space(&self) -> Option<String> {
        self.inner.want_of_space()
    }

    /// What its control group says about its memory; none without a memory limit.
    pub fn memory_use(&self) -> Option<MemoryUse> {
        self.inner.group.as_ref().map(MemoryGroup::memory_use)
    }

    /// The error of a server that lost processes to its memory limit since it was last started.
    pub fn lost_to_memory_limit(&self) -> Option<StoreError> {
        self.inner.lost_to_memory_limit()
    }

    /// Whether the server runs as it should. Costs a lock, no system call: a watching thread notices an end at once. Only with a memory limit
    /// it costs the reading of a small file of the kernel's.
    ///
    /// # Errors
    /// [`ErrorKind::Crashed`] with how it ended and its last log lines. It says so if the memory limit ended processes of the server.
    /// [`ErrorKind::Unavailable`] while it is down on request.
    pub fn check(&self) -> Result<(), StoreError> {
        let (phase, exit) = {
            let state = self.inner.state();
            (state.phase, state.exit)
        };
        match (phase, exit) {
            (Phase::Running, Some(exit)) => Err(self.inner.crash(exit)),
            (Phase::Running, None) => self.inner.lost_to_memory_limit().map_or(Ok(()), Err),
            (Phase::Detached, _) => Ok(()),
            _ => Err(StoreError::new(
                ErrorKind::Unavailable,
                format!("check {}", self.inner.title),
                "it is down because that was asked for",
            )
            .with_doubt(false)),
        }
    }

    /// Whether the server ended without being asked to.
    pub fn has_crashed(&self) -> bool {
        let state = self.inner.state();
        state.phase == Phase::Running && state.exit.is_some()
    }

    /// Calls `listener` once, on the watching thread, when the server ends without being asked to (at once when it
    /// already has), with the text of the error. It must be quick and must not stop the server itself.
    pub fn on_exit(&self, listener: Box<dyn Fn(&str) + Send + Sync>) {
        let exit = {
            let mut state = self.inner.state();
            match state.exit.filter(|_| state.phase == Phase::Running) {
                Some(exit) => exit,
                None => return state.listeners.push(listener),
            }
        };
        listener(&self.inner.crash(exit).to_string());
    }

    /// How long [`ManagedServer::pause`] waits for threads to stand still.
    const PAUSE_LIMIT: Duration = Duration::from_secs(10);

    /// Stops all processes of the server where they are (SIGSTOP), until [`ManagedServer::resume`]. It returns when all stand still. One thread of a process
    /// takes the signal when it next runs, and until then the others go on. On a busy machine that is long enough for an answer.
    pub fn pause(&self) {
        let processes = self.processes();
        for process in &processes {
            process.signal(Signal::STOP);
        }
        let deadline = Instant::now() + Self::PAUSE_LIMIT;
        while !processes.iter().all(|process| process.stands_still()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets paused processes go on (SIGCONT).
    pub fn resume(&self) {
        for process in self.processes() {
            process.signal(Signal::CONT);
        }
    }

    /// Ends the whole tree with SIGKILL, as a crash would; the folders stay, so that it can be restarted.
    ///
    /// # Errors
    /// When processes are still there after 20 s.
    pub fn kill(&self) -> Result<(), StoreError> {
        self.inner.kill()
    }

    /// Ends the server in good order and waits for it; the folders stay, so that it can be restarted.
    ///
    /// # Errors
    /// When processes are still there after they were killed, [`ManagedServer::STOP_LIMIT`] later.
    pub fn halt(&self) -> Result<(), StoreError> {
        let _guard = self.inner.lifecycle();
        self.inner.go_down()?;
        self.inner.end_process(Self::STOP_LIMIT)
    }

    /// Starts the server again on the same data folder and ports (after a stop in good order if it still runs) and
    /// waits until it is ready. The commands before and after the first start are not run again.
    ///
    /// # Errors
    /// As [`super::Supervisor::start`]; the server is then down and its folders are still there.
    pub fn restart(&self, store: &dyn Store) -> Result<(), StoreError> {
        self.halt()?;
        bring_up_again(&self.inner, store)
    }

    /// Asks the server to stop, waits up to [`ManagedServer::STOP_LIMIT`], kills what is left and removes the folders.
    ///
    /// # Errors
    /// When a process or folder could not be removed.
    pub fn stop(&self) -> Result<(), StoreError> {
        self.shared.stop(&self.inner, Self::STOP_LIMIT)
    }
}

impl Drop for ManagedServer {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::warn!(%error, "a server could not be removed; the next start of sensormark tries again");
        }
    }
}
