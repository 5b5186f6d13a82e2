//! Where a case's database runs: a server that sensormark starts, one that is there, or a folder of an embedded database.
//!
//! A case opens its deployment, measures on it, and closes it; dropping it stops the server and removes the folders too. What runs on it
//! is not decided here.

use super::failure::TrialFailure;
use super::memory_limit;
use crate::engine::selection::Choice;
use crate::measurement::server::{MemoryLimitRecord, ServerRecord};
use crate::probe::{DiskUsage, ProbeError, ProcessTree, Scope, WireScope, disk_usage};
use sensormark_server::{ManagedServer, ScratchFolder, Supervisor};
use sensormark_store::{
    Administrator, Endpoint, ErrorKind, Plan, ServerOptions, Store, StoreError,
};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a case's database runs.
pub struct Deployment {
    store: Arc<dyn Store>,
    endpoint: Endpoint,
    server: Option<ManagedServer>,
    folder: Option<ScratchFolder>,
    record: Option<ServerRecord>,
}

impl Deployment {
    /// Starts the server, reaches the existing one, or makes the embedded database's folder below `data` (or the supervisor's home).
    ///
    /// # Errors
    /// When it cannot be started, reached or made.
    pub fn open(
        supervisor: &Supervisor,
        choice: &Choice,
        options: &ServerOptions,
        data: Option<&Path>,
    ) -> Result<Self, StoreError> {
        memory_limit::check_choice(choice, options)?;
        let store = Arc::clone(&choice.store);
        if let Some(endpoint) = existing_endpoint(supervisor, choice)? {
            refuse_logs_apart(
                "a server that sensormark did not start keeps its log where it is",
                options,
            )?;
            return Self::existing(store, endpoint);
        }
        if store.description().embedded {
            refuse_logs_apart(
                "an embedded database keeps its log beside its data and has no setting for that",
                options,
            )?;
            let folder = supervisor.scratch(&store.description().name, data)?;
            let mut endpoint = store.endpoint(&folder.path().to_string_lossy())?;
            endpoint.managed = true;
            return Ok(Self {
                store,
                endpoint,
                server: None,
                folder: Some(folder),
                record: None,
            });
        }
        let installation = store.installation()?;
        let server = supervisor.start(store.as_ref(), options, data)?;
        let endpoint = server.endpoint().clone();
        let version = block_on(store.version(&endpoint))?;
        let record = ServerRecord {
            version,
            origin: installation.origin,
            managed: true,
            start_seconds: Some(server.start_duration().as_secs_f64()),
            memory_budget_bytes: Some(options.memory_bytes),
            memory_limit: None,
            notes: server.notes().to_vec(),
        };
        Ok(Self {
            store,
            endpoint,
            server: Some(server),
            folder: None,
            record: Some(record),
        })
    }

    fn existing(store: Arc<dyn Store>, endpoint: Endpoint) -> Result<Self, StoreError> {
        let version = block_on(store.version(&endpoint))?;
        let record = (!store.description().embedded).then(|| ServerRecord {
            version,
            origin: "existing server".to_owned(),
            managed: false,
            start_seconds: None,
            memory_budget_bytes: None,
            memory_limit: None,
            notes: Vec::new(),
        });
        Ok(Self {
            store,
            endpoint,
            server: None,
            folder: None,
            record,
        })
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// How the database is spoken to.
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What is known about the server by now; none for an embedded database.
    pub fn record(&self) -> Option<ServerRecord> {
        let memory = self.server.as_ref().and_then(ManagedServer::memory_use);
        self.record.clone().map(|record| ServerRecord {
            memory_limit: memory.map(MemoryLimitRecord::from),
            ..record
        })
    }

    /// Why a trial was broken off: the memory limit that ended processes of the server, where a client only saw what came of it.
    pub fn cause(&self, failure: TrialFailure) -> TrialFailure {
        let server = self.server.as_ref();
        let lost = server.and_then(ManagedServer::lost_to_memory_limit);
        lost.map_or(failure, TrialFailure::from)
    }

    /// Whether the server still runs.
    ///
    /// # Errors
    /// [`ErrorKind::Crashed`] with the last lines of its log.
    pub fn check(&self) -> Result<(), StoreError> {
        self.server.as_ref().map_or(Ok(()), ManagedServer::check)
    }

    /// Whether sensormark started the server, and so may end it.
    pub const fn is_ours(&self) -> bool {
        self.server.is_some()
    }

    /// Ends the server and all its processes with SIGKILL, as a crash would; its data stay.
    ///
    /// # Errors
    /// When it is not ours to end, or does not end.
    pub fn kill(&self) -> Result<(), StoreError> {
        match self.server.as_ref() {
            Some(server) => server.kill(),
            None => Err(StoreError::new(
                ErrorKind::Unsupported,
                "kill the server",
                "sensormark did not start it",
            )),
        }
    }

    /// Ends the server in good order; its data stay. An embedded database has none to end.
    ///
    /// # Errors
    /// When it does not end.
    pub fn halt(&self) -> Result<(), StoreError> {
        self.server.as_ref().map_or(Ok(()), ManagedServer::halt)
    }

    /// Starts a server that stopped again, on the same data.
    ///
    /// # Errors
    /// When it is not ours to start, or does not start.
    pub fn restart(&self) -> Result<(), StoreError> {
        match self.server.as_ref() {
            Some(server) => server.restart(self.store.as_ref()),
            None => Err(StoreError::new(
                ErrorKind::Unsupported,
                "start the server again",
                "sensormark did not start it",
            )),
        }
    }

    /// The id of the server's root process, which leads its session, where the server is ours.
    pub fn root(&self) -> Option<i32> {
        let server = self.server.as_ref()?;
        Some(i32::try_from(server.process_id()).unwrap_or(i32::MAX))
    }

    /// The server's processes, as far as they are on this machine and ours to watch.
    ///
    /// # Errors
    /// When they cannot be watched.
    pub fn tree(&self) -> Result<Option<ProcessTree>, ProbeError> {
        let Some(root) = self.root() else {
            return Ok(None);
        };
        let wire = self
            .endpoint
            .ports
            .first()
            .map(|&port| WireScope::ServerPort(port));
        ProcessTree::attach("server", root, Scope::Session(root), wire).map(Some)
    }

    /// The folder that holds the data, where it is on this machine and known.
    pub fn data_folder(&self) -> Option<PathBuf> {
        self.server
            .as_ref()
            .map(|server| server.data_folder().to_path_buf())
            .or_else(|| {
                self.folder
                    .as_ref()
                    .map(|folder| folder.path().to_path_buf())
            })
    }

    /// The folders that hold the data, and the logs where they have a folder of their own.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.data_folder().into_iter().chain(self.logs()).collect()
    }

    /// The folder of the server's logs on another disk, where it has one.
    fn logs(&self) -> Option<PathBuf> {
        let server = self.server.as_ref()?;
        server.log_folder().map(Path::to_path_buf)
    }

    /// What data and logs occupy, logs apart; none where the folder is not known.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn disk(&self) -> Result<Option<DiskUsage>, ProbeError> {
        let Some(folder) = self.data_folder() else {
            return Ok(None);
        };
        let mut usage = disk_usage(&folder, |path| {
            self.server
                .as_ref()
                .is_some_and(|server| server.is_log(path))
        })?;
        if let Some(logs) = self.logs() {
            let logs = disk_usage(&logs, |_| true)?;
            usage.allocated_bytes += logs.allocated_bytes;
            usage.apart_bytes += logs.allocated_bytes;
            usage.length_bytes += logs.length_bytes;
            usage.files += logs.files;
        }
        Ok(Some(usage))
    }

    /// Does something with what makes, settles and drops the plan's database.
    ///
    /// # Errors
    /// When the database cannot be reached, or what `work` says.
    pub fn administer<T>(
        &self,
        plan: &Plan,
        work: impl AsyncFnOnce(&mut dyn Administrator) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let done = block_on(async {
            let mut administrator = self.store.administrator(plan).await?;
            work(administrator.as_mut()).await
        });
        done.map_err(|error| self.explained(error))
    }

    /// The failure, as a full disk where the server's log says so and its answer does not.
    fn explained(&self, error: StoreError) -> StoreError {
        let log = self
            .server
            .as_ref()
            .map(|server| server.log_tail(LOG_LINES));
        let told = log.as_deref().and_then(full_disk);
        match told {
            Some(line) if error.kind() != ErrorKind::DiskFull => StoreError::new(
                ErrorKind::DiskFull,
                error.operation(),
                format!(
                    "{}; the server's log says: {line}; make room, or choose another disk with --data",
                    error.context()
                ),
            )
            .with_doubt(error.is_in_doubt())
            .with_source(error),
            _ => error,
        }
    }
}

/// Fails with this reason where logs are to be in a folder of their own.
fn refuse_logs_apart(reason: &str, options: &ServerOptions) -> Result<(), StoreError> {
    match &options.log_folder {
        None => Ok(()),
        Some(_) => Err(StoreError::unsupported(
            "keep logs on a disk of their own",
            format!("{reason}; leave --log-folder or this database out"),
        )),
    }
}

/// Lines at the end of a server's log that a failure may be explained by.
const LOG_LINES: usize = 40;

/// The last line that tells of a full disk, in the words of the C library and of the databases.
fn full_disk(log: &str) -> Option<&str> {
    const WORDS: [&str; 4] = [
        "no space left on device",
        "disk full",
        "disk is full",
        "enospc",
    ];
    let tells = |line: &&str| {
        let line = line.to_ascii_lowercase();
        WORDS.iter().any(|words| line.contains(words))
    };
    log.lines().rev().find(tells).map(str::trim)
}

/// The endpoint that the user named: a URL, or `@RUN` for a server that `sensormark servers start` left running.
///
/// # Errors
/// When the URL is wrong or there is no such server.
pub fn existing_endpoint(
    supervisor: &Supervisor,
    choice: &Choice,
) -> Result<Option<Endpoint>, StoreError> {
    let Some(url) = &choice.url else {
        return Ok(None);
    };
    match url.expose().strip_prefix('@') {
        Some(run) => supervisor.detached_endpoint(run).map(Some),
        None => choice.store.endpoint(url.expose()).map(Some),
    }
}

/// Waits for a store's future on this thread, with what drivers need around it.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime needs an epoll descriptor");
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_found_in_a_log() {
        let log = "LOG:  checkpoint starting\nERROR:  could not write to file \"x\": No space left on device\nLOG:  done";
        assert!(full_disk(log).is_some_and(|line| line.starts_with("ERROR:  could not write")));
        // As programs in Go have it.
        let log =
            "lvl=error msg=\"[500] - \\\"write /data/wal/_00001.wal: no space left on device\\\"\"";
        assert_eq!(full_disk(log), Some(log));
        assert_eq!(full_disk("LOG:  checkpoint complete"), None);
    }
}
