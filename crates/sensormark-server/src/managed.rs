//! The handle of one server: what the pipeline asks of it, from ready to removed.
//!
//! How it comes up is in `start`; its state and the changes of it are in `inner`, and the members of a cluster are in `cluster`.

use super::cluster::Members;
use super::inner::{Inner, Phase};
use super::memory_group::{MemoryGroup, MemoryUse};
use super::process::ProcessIdentity;
use super::shared::Shared;
use rustix::process::Signal;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::ServerFolder;
use sensormark_store::{Endpoint, ServerOptions, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that sensormark started, or a cluster of them. When it is dropped, all its servers are stopped and their folders are removed.
///
/// What it says of a cluster is of all members together. Where only one can be meant (folder, run, process id), it is the first.
pub struct ManagedServer {
    pub(super) servers: Members,
    pub(super) shared: Arc<Shared>,
}

impl ManagedServer {
    /// How long [`ManagedServer::stop`] waits for a stop in good order before it kills.
    pub const STOP_LIMIT: Duration = Duration::from_secs(30);

    /// The handle of servers that are about to be brought up; several are a cluster.
    ///
    /// # Panics
    /// Without any.
    pub(super) fn new(inners: Vec<Arc<Inner>>, shared: &Arc<Shared>, options: &ServerOptions) -> Self {
        Self { servers: Members::new(inners, options), shared: Arc::clone(shared) }
    }

    /// How many servers it is.
    pub fn members(&self) -> usize {
        self.servers.count()
    }

    /// The ids of all members' root processes, in order, without those that are down.
    pub fn process_ids(&self) -> Vec<u32> {
        let inners = self.servers.all();
        let ids = inners.iter().map(|inner| inner.process_id());
        ids.filter(|id| *id != 0).collect()
    }

    /// The folders of all members' data.
    pub fn data_folders(&self) -> Vec<PathBuf> {
        let inners = self.servers.all();
        let data = inners.iter().map(|inner| inner.server_folder.data.clone());
        data.collect()
    }

    /// The folders of all members' logs on another disk, where the user chose one.
    pub fn log_folders(&self) -> Vec<PathBuf> {
        let inners = self.servers.all();
        let logs = inners.iter().filter_map(|inner| {
            let logs = inner.server_folder.logs.as_deref();
            logs.map(Path::to_path_buf)
        });
        logs.collect()
    }

    /// How the server is spoken to.
    pub fn endpoint(&self) -> &Endpoint {
        self.servers.endpoint()
    }

    /// The version that the server stated when it was ready.
    pub fn version(&self) -> String {
        self.servers.first().state().version.clone()
    }

    /// The id of the server's root process; 0 while it is down.
    pub fn process_id(&self) -> u32 {
        self.servers.first().process_id()
    }

    /// All living processes of the server, the root among them.
    pub fn processes(&self) -> Vec<ProcessIdentity> {
        let inners = self.servers.all();
        inners.iter().flat_map(|inner| inner.living()).collect()
    }

    /// The folder of the server's data.
    pub fn data_folder(&self) -> &Path {
        &self.servers.first().server_folder.data
    }

    /// The folder of its logs on another disk, where the user chose one.
    pub fn log_folder(&self) -> Option<&Path> {
        self.servers.first().server_folder.logs.as_deref()
    }

    /// The folder, ports and user that the store was given.
    pub fn folder(&self) -> &ServerFolder {
        &self.servers.first().server_folder
    }

    /// The run's folder: the server's own is in it, and its log.
    pub fn run_folder(&self) -> &Path {
        self.servers.first().folder.path()
    }

    /// The random name of the run, by which `servers stop` finds it.
    pub fn run(&self) -> &str {
        &self.servers.first().surroundings.run
    }

    /// What a reader should know about how it runs here.
    pub fn notes(&self) -> &[String] {
        &self.servers.first().launch.notes
    }

    /// From the start of the server's process until it was ready.
    pub fn start_duration(&self) -> Duration {
        self.servers.first().state().start
    }

    /// How long the commands before the start took (initialising a data folder).
    pub fn prepare_duration(&self) -> Duration {
        self.servers.first().state().prepare
    }

    /// The last lines of the log, with every known secret taken out.
    pub fn log_tail(&self, lines: usize) -> String {
        let inners = self.servers.all();
        let tails: Vec<String> = inners.iter().map(|inner| inner.log_tail(lines)).collect();
        tails.join("\n")
    }

    /// That the disk of its data is full, in words, where its log or the disk itself says so.
    pub fn want_of_space(&self) -> Option<String> {
        self.servers.first().want_of_space()
    }

    /// What its control group says about its memory; none without a memory limit.
    pub fn memory_use(&self) -> Option<MemoryUse> {
        let inners = self.servers.all();
        let groups = inners.iter().filter_map(|inner| inner.group.as_ref());
        groups.map(MemoryGroup::memory_use).reduce(MemoryUse::and)
    }

    /// The error of a server that lost processes to its memory limit since it was last started.
    pub fn lost_to_memory_limit(&self) -> Option<StoreError> {
        let mut inners = self.servers.all().into_iter();
        inners.find_map(|inner| inner.lost_to_memory_limit())
    }

    /// Whether the server runs as it should. Costs a lock, no system call: a watching thread notices an end at once. Only with a memory limit
    /// it costs the reading of a small file of the kernel's.
    ///
    /// # Errors
    /// [`ErrorKind::Crashed`] with how it ended and its last log lines. It says so if the memory limit ended processes of the server.
    /// [`ErrorKind::Unavailable`] while it is down on request.
    pub fn check(&self) -> Result<(), StoreError> {
        for (member, inner) in self.servers.all().iter().enumerate() {
            if !self.servers.is_lost(member) {
                check_one(inner)?;
            }
        }
        Ok(())
    }

    /// Whether the server ended without being asked to.
    pub fn has_crashed(&self) -> bool {
        self.servers.all().iter().any(|inner| {
            let state = inner.state();
            state.phase == Phase::Running && state.exit.is_some()
        })
    }

    /// Calls `listener` once, on the watching thread, when the server ends without being asked to (at once when it
    /// already has), with the text of the error. It must be quick and must not stop the server itself.
    pub fn on_exit(&self, listener: Box<dyn Fn(&str) + Send + Sync>) {
        let listener: Arc<dyn Fn(&str) + Send + Sync> = Arc::from(listener);
        for inner in self.servers.all() {
            let listener = Arc::clone(&listener);
            let exit = {
                let mut state = inner.state();
                match state.exit.filter(|_| state.phase == Phase::Running) {
                    Some(exit) => exit,
                    None => {
                        state.listeners.push(Box::new(move |text| listener(text)));
                        continue;
                    }
                }
            };
            listener(&inner.crash(exit).to_string());
        }
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
        let inners = self.servers.all();
        for inner in &inners {
            inner.kill()?;
        }
        self.servers.all_meant();
        Ok(())
    }

    /// Ends the server in good order and waits for it; the folders stay, so that it can be restarted. The first member of a cluster goes last.
    ///
    /// # Errors
    /// When processes are still there after they were killed, [`ManagedServer::STOP_LIMIT`] later.
    pub fn halt(&self) -> Result<(), StoreError> {
        for inner in self.servers.all().iter().rev() {
            let _guard = inner.lifecycle();
            inner.go_down()?;
            inner.end_process(Self::STOP_LIMIT)?;
        }
        self.servers.all_meant();
        Ok(())
    }

    /// Starts the server again on the same data folder and ports (after a stop in good order if it still runs) and
    /// waits until it is ready. The commands before and after the first start are not run again. Of a cluster, the
    /// store says which member starts first.
    ///
    /// # Errors
    /// As [`super::Supervisor::start`]; the server is then down and its folders are still there.
    pub fn restart(&self, store: &dyn Store) -> Result<(), StoreError> {
        self.halt()?;
        self.servers.start_again(store)
    }

    /// Ends one member, from 0, with SIGKILL, as its machine's loss would; the others run on, and [`ManagedServer::check`] says nothing of its absence.
    ///
    /// # Errors
    /// When there is no such member, or its processes are still there after 20 s.
    pub fn kill_member(&self, member: usize) -> Result<(), StoreError> {
        self.servers.kill(member)
    }

    /// Starts a member again that was killed alone, and waits until it serves.
    ///
    /// # Errors
    /// As [`ManagedServer::restart`].
    pub fn restart_member(&self, member: usize, store: &dyn Store) -> Result<(), StoreError> {
        self.servers.restart(member, store)
    }

    /// Asks the server to stop, waits up to [`ManagedServer::STOP_LIMIT`], kills what is left and removes the folders.
    ///
    /// # Errors
    /// When a process or folder could not be removed.
    pub fn stop(&self) -> Result<(), StoreError> {
        let mut done = Ok(());
        for inner in self.servers.all().iter().rev() {
            done = done.and(self.shared.stop(inner, Self::STOP_LIMIT));
        }
        done
    }
}

/// Whether one server runs as it should.
fn check_one(inner: &Inner) -> Result<(), StoreError> {
    let (phase, exit) = {
        let state = inner.state();
        (state.phase, state.exit)
    };
    match (phase, exit) {
        (Phase::Running, Some(exit)) => Err(inner.crash(exit)),
        (Phase::Running, None) => inner.lost_to_memory_limit().map_or(Ok(()), Err),
        (Phase::Detached, _) => Ok(()),
        _ => Err(StoreError::new(
            ErrorKind::Unavailable,
            format!("check {}", inner.title),
            "it is down because that was asked for",
        )
        .with_doubt(false)),
    }
}

impl Drop for ManagedServer {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::warn!(%error, "a server could not be removed; the next start of sensormark tries again");
        }
    }
}
