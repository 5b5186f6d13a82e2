//! What earlier runs left behind, and servers that were left running on purpose.
//!
//! Everything is found by the ownership files in the state folder. A signal goes only to a process whose id, start time and boot are those written down, or
//! that bears the run's random name in its environment. A folder is removed only if it has our marker.

use super::files::file_error;
use super::folder::{self, FoundRun};
use super::memory_group;
use super::ownership::Ownership;
use super::process::{self, ProcessIdentity};
use super::shared_memory;
use super::{ManagedServer, Supervisor};
use rustix::process::Signal;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::StopSignal;
use sensormark_store::{Endpoint, Secret};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// How long the processes of an orphan may take to vanish after SIGKILL.
const KILL_LIMIT: Duration = Duration::from_secs(20);

/// Where a server that was left running keeps how to speak to it; only its owner can read the file.
const ENDPOINT_FILE: &str = "endpoint.json";

/// A server that is known from the state folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    /// The store's name.
    pub store: String,
    /// The random name of the run.
    pub run: String,
    /// The id of the server's root process.
    pub process_id: u32,
    /// Whether that process is there.
    pub running: bool,
    /// Its ports on 127.0.0.1.
    pub ports: Vec<u16>,
    /// The run's folder.
    pub folder: PathBuf,
    /// The marked folder on the disk that the user chose, if any.
    pub data_folder: Option<PathBuf>,
    /// When it was made.
    pub since: SystemTime,
    /// Whether it was left running on purpose.
    pub detached: bool,
    /// The process that looks after it, or did.
    pub coordinator: u32,
    /// Whether that process is there.
    pub coordinator_running: bool,
}

/// The endpoint in its file.
#[derive(Serialize, Deserialize)]
struct StoredEndpoint {
    url: String,
    label: String,
    ports: Vec<u16>,
}

impl Supervisor {
    /// Cleans up after runs whose coordinator is gone: ends their servers and removes their folders. It returns what was done, a line each. Servers that were
    /// left running on purpose stay.
    pub fn clean_orphans(&self) -> Vec<String> {
        FoundRun::all(self.home()).iter().filter_map(clean).collect()
    }

    /// What [`Supervisor::clean_orphans`] would clean up, a line each.
    pub fn orphans(&self) -> Vec<String> {
        let found = FoundRun::all(self.home());
        let orphans = found.iter().filter(|found| is_orphan(&found.owner));
        orphans
            .filter_map(|found| {
                let _lock = found.try_lock()?;
                Some(format!("{}, {}", name(&found.owner), found.path.display()))
            })
            .collect()
    }

    /// The servers that are known from the state folder, running or left behind.
    pub fn status(&self) -> Vec<ServerStatus> {
        FoundRun::all(self.home()).into_iter().filter_map(status_of).collect()
    }

    /// Stops a server that was left running (or orphaned), given its run's name, and removes its folders.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::Conflict`] when another running sensormark looks after it; or what could not be removed.
    pub fn stop_run(&self, run: &str) -> Result<(), StoreError> {
        let found = self.find_run(run)?;
        let refuse = |text: String| Err(StoreError::new(ErrorKind::Conflict, "stop a server", text));
        let owner = &found.owner;
        if !owner.detached && owner.is_coordinator_alive() {
            let pid = owner.coordinator.pid;
            return refuse(format!("process {pid} is using it; stop that process (Ctrl-C)"));
        }
        let Some(_lock) = found.try_lock() else {
            return refuse("another sensormark is using or removing it; try again".to_owned());
        };
        if let Some(server) = owner.server.filter(|_| owner.is_server_alive()) {
            server.signal(match owner.stop_signal() {
                StopSignal::Terminate => Signal::TERM,
                StopSignal::Interrupt => Signal::INT,
            });
            let deadline = Instant::now() + ManagedServer::STOP_LIMIT;
            while server.is_alive() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        end_processes(owner)?;
        folder::remove(&found.path, owner)
    }

    /// How to speak to a server that was left running.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is none of this name, or it was not left running.
    pub fn detached_endpoint(&self, run: &str) -> Result<Endpoint, StoreError> {
        let found = self.find_run(run)?;
        let stored = std::fs::read(found.path.join(ENDPOINT_FILE))
            .ok()
            .and_then(|text| serde_json::from_slice::<StoredEndpoint>(&text).ok())
            .ok_or_else(|| {
                let text = format!("the server {run} was not left running; see `sensormark servers status`");
                StoreError::new(ErrorKind::NotFound, "find a server", text)
            })?;
        Ok(Endpoint { url: Secret::new(stored.url), label: stored.label, managed: true, ports: stored.ports })
    }

    fn find_run(&self, run: &str) -> Result<FoundRun, StoreError> {
        FoundRun::all(self.home()).into_iter().find(|found| found.owner.run == run).ok_or_else(|| {
            let text =
                format!("there is no server {run} in the state folder; see `sensormark servers status`");
            StoreError::new(ErrorKind::NotFound, "find a server", text)
        })
    }
}

impl ManagedServer {
    /// Leaves the server running when this process ends, until [`Supervisor::stop_run`]; gives its run's name.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] unless it was started with [`super::StartWishes::detachable`]; the error of
    /// [`ManagedServer::check`] when it does not run; or why it cannot be written down. The server is stopped then.
    pub fn detach(self) -> Result<String, StoreError> {
        self.check()?;
        let endpoint = self.endpoint();
        let stored = StoredEndpoint {
            url: endpoint.url.expose().to_owned(),
            label: endpoint.label.clone(),
            ports: endpoint.ports.clone(),
        };
        let path = self.inner.folder.path().join(ENDPOINT_FILE);
        serde_json::to_vec_pretty(&stored)
            .map_err(std::io::Error::from)
            .and_then(|text| super::files::replace_private(&path, &text))
            .map_err(|error| file_error("leave the server running", &path, error))?;
        self.inner.detach()?;
        self.shared.forget(&self.inner);
        Ok(self.run().to_owned())
    }
}

/// Ends what is left of a run's processes, removes their control group, and says how many that were.
fn end_processes(owner: &Ownership) -> Result<usize, StoreError> {
    let known = owner.known_processes();
    let living = process::members(&known, Some(&owner.run)).len();
    process::kill_tree(&known, Some(&owner.run), KILL_LIMIT).map_err(|left| {
        let pids: Vec<u32> = left.iter().map(|process| process.pid).collect();
        let text = format!(
            "processes {pids:?} are still there after SIGKILL; see what they wait for (ps -o stat,wchan)"
        );
        StoreError::new(ErrorKind::Timeout, "end the processes of a server", text)
    })?;
    shared_memory::remove_left_by(&known);
    if let Some(group) = &owner.memory_group {
        memory_group::remove(group)?;
    }
    Ok(living)
}

/// Whether nobody looks after it any more, and nobody left it running on purpose.
fn is_orphan(owner: &Ownership) -> bool {
    !(owner.is_coordinator_alive() || owner.detached && owner.is_server_alive())
}

fn name(owner: &Ownership) -> String {
    let pid = owner.coordinator.pid;
    format!("{} {} (left by process {pid})", owner.purpose, owner.run)
}

/// Cleans one run if it is an orphan, and says what was done.
fn clean(found: &FoundRun) -> Option<String> {
    let owner = &found.owner;
    if !is_orphan(owner) {
        return None;
    }
    let _lock = found.try_lock()?;
    let name = name(owner);
    let ended = match end_processes(owner) {
        Ok(ended) => ended,
        Err(error) => return Some(format!("{name}: left alone: {error}")),
    };
    let mut told = vec![match ended {
        0 => "no process was left".to_owned(),
        1 => "ended 1 process".to_owned(),
        several => format!("ended {several} processes"),
    }];
    told.push(match folder::remove(&found.path, owner) {
        Ok(()) => "removed its folders".to_owned(),
        Err(error) => format!("could not remove its folders: {error}"),
    });
    Some(format!("{name}: {}", told.join(", ")))
}

fn status_of(found: FoundRun) -> Option<ServerStatus> {
    let owner = found.owner;
    let server: ProcessIdentity = owner.server?;
    Some(ServerStatus {
        process_id: server.pid,
        running: owner.is_server_alive(),
        coordinator: owner.coordinator.pid,
        coordinator_running: owner.is_coordinator_alive(),
        since: SystemTime::UNIX_EPOCH + Duration::from_secs(owner.since_unix_s),
        store: owner.purpose,
        run: owner.run,
        ports: owner.ports,
        folder: found.path,
        data_folder: owner.data_folder,
        detached: owner.detached,
    })
}
