//! Where a case's database runs: a server that sensormark starts, here or on another host, one that is there, or a folder of an embedded database.
//!
//! A case opens its deployment, measures on it, and closes it; dropping it stops the server and removes the folders too. What runs on it
//! is not decided here.

use super::failure::TrialFailure;
use super::launcher::Launcher;
use super::memory_limit;
use super::server_elsewhere::ServerElsewhere;
use crate::selection::Choice;
use sensormark_result::measurement::server::{MemoryLimitRecord, ServerRecord};
use sensormark_result::probe::{DiskUsage, ProbeError, ProcessTree, Scope, WireScope, disk_usage};
use sensormark_server::{EmbeddedGroup, ManagedServer, ScratchFolder, Supervisor};
use sensormark_store::{Administrator, Endpoint, ErrorKind, Plan, ServerOptions, Store, StoreError};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where a case's database runs.
pub struct Deployment {
    store: Arc<dyn Store>,
    endpoint: Endpoint,
    server: Option<ManagedServer>,
    /// A server that sensormark started on another host.
    elsewhere: Option<ServerElsewhere>,
    /// What bounds the processes of an embedded database.
    held: Option<EmbeddedGroup>,
    folder: Option<ScratchFolder>,
    record: Option<ServerRecord>,
    /// What tells the server from others of its store in the same run.
    name: Option<String>,
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
            refuse_logs_apart("a server that sensormark did not start keeps its log where it is", options)?;
            return Self::existing(choice, endpoint);
        }
        if store.description().embedded {
            refuse_logs_apart(
                "an embedded database keeps its log beside its data and has no setting for that",
                options,
            )?;
            let folder = supervisor.scratch(&store.description().name, data)?;
            let mut endpoint = store.endpoint(&folder.path().to_string_lossy())?;
            endpoint.managed = true;
            let held = folder.hold(&store.description().title, options)?;
            return Ok(Self { held, folder: Some(folder), ..Self::bare(choice, endpoint) });
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
            warm_up_seconds: None,
            memory_budget_bytes: Some(options.memory_bytes),
            memory_limit: None,
            probe: None,
            notes: server.notes().iter().cloned().chain(options.cpu_limit_note()).collect(),
        };
        Ok(Self { server: Some(server), record: Some(record), ..Self::bare(choice, endpoint) })
    }

    /// That it is reached so, and nothing more.
    fn bare(choice: &Choice, endpoint: Endpoint) -> Self {
        Self {
            store: Arc::clone(&choice.store),
            endpoint,
            server: None,
            elsewhere: None,
            held: None,
            folder: None,
            record: None,
            name: choice.server.clone(),
        }
    }

    /// Starts the server on another host, by a role there.
    ///
    /// # Errors
    /// When the role or the server cannot be started there.
    pub fn elsewhere_by(
        launcher: &Launcher,
        choice: &Choice,
        options: &ServerOptions,
    ) -> Result<Self, StoreError> {
        let server = ServerElsewhere::start(launcher, &choice.store.description().name, options)?;
        let (record, endpoint) = (Some(server.record().clone()), server.endpoint().clone());
        Ok(Self { record, elsewhere: Some(server), ..Self::bare(choice, endpoint) })
    }

    fn existing(choice: &Choice, endpoint: Endpoint) -> Result<Self, StoreError> {
        let store = Arc::clone(&choice.store);
        let version = block_on(store.version(&endpoint))?;
        let record = (!store.description().embedded).then(|| ServerRecord {
            version,
            origin: "existing server".to_owned(),
            managed: false,
            start_seconds: None,
            warm_up_seconds: None,
            memory_budget_bytes: None,
            memory_limit: None,
            probe: None,
            notes: Vec::new(),
        });
        Ok(Self { record, ..Self::bare(choice, endpoint) })
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// The store. Its handle may outlive the deployment.
    pub(super) fn shared_store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// What tells the server from others of its store in the same run; none where there are no others.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// How the database is spoken to.
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Says how long the server was warmed up.
    pub(super) fn note_warm_up(&mut self, took: Duration) {
        if let Some(record) = &mut self.record {
            record.warm_up_seconds = Some(took.as_secs_f64());
        }
    }

    /// What is known about the server by now; none for an embedded database.
    pub fn record(&self) -> Option<ServerRecord> {
        let memory = self.server.as_ref().and_then(ManagedServer::memory_use);
        self.record
            .clone()
            .map(|record| ServerRecord { memory_limit: memory.map(MemoryLimitRecord::from), ..record })
    }

    /// What bounds the processes of an embedded database; none without a limit.
    pub(super) const fn held(&self) -> Option<&EmbeddedGroup> {
        self.held.as_ref()
    }

    /// Why a trial was broken off: the memory limit that ended processes of the server, where a client only saw what came of it.
    pub fn cause(&self, failure: TrialFailure) -> TrialFailure {
        let server = self.server.as_ref();
        let lost = server.and_then(ManagedServer::lost_to_memory_limit);
        let lost = lost.or_else(|| self.held.as_ref().and_then(EmbeddedGroup::lost));
        lost.map_or(failure, TrialFailure::from)
    }

    /// Whether the server still runs.
    ///
    /// # Errors
    /// [`ErrorKind::Crashed`] with the last lines of its log.
    pub fn check(&self) -> Result<(), StoreError> {
        if let Some(server) = &self.elsewhere {
            return server.check();
        }
        self.server.as_ref().map_or(Ok(()), ManagedServer::check)
    }

    /// Whether it is a server that sensormark did not start.
    pub fn is_existing(&self) -> bool {
        !self.is_ours() && !self.store.description().embedded
    }

    /// The server, where sensormark started it on another host.
    pub(super) const fn elsewhere(&self) -> Option<&ServerElsewhere> {
        self.elsewhere.as_ref()
    }

    /// The server, where sensormark started it on this host.
    pub(super) const fn managed(&self) -> Option<&ManagedServer> {
        self.server.as_ref()
    }

    /// Whether server or folder are the user's: nothing of it goes with this process.
    pub const fn is_the_users(&self) -> bool {
        !self.is_ours() && self.folder.is_none()
    }

    /// Whether sensormark started the server, here or on another host, and so may end it and start it again.
    pub const fn is_ours(&self) -> bool {
        self.server.is_some() || self.elsewhere.is_some()
    }

    /// Ends the server and all its processes with SIGKILL, as a crash would; its data stay.
    ///
    /// # Errors
    /// When it is not ours to end, or does not end.
    pub fn kill(&self) -> Result<(), StoreError> {
        match self.server.as_ref() {
            Some(server) => server.kill(),
            None => Err(not_ours("kill the server")),
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
        match (&self.server, &self.elsewhere) {
            (Some(server), _) => server.restart(self.store.as_ref()),
            (None, Some(server)) => server.restart(),
            (None, None) => Err(not_ours("start the server again")),
        }
    }

    /// The id of the root process of a server of ours that runs here. It leads its session.
    pub fn root(&self) -> Option<i32> {
        let id = self.server.as_ref().map(ManagedServer::process_id);
        id.filter(|id| *id != 0).map(|id| i32::try_from(id).unwrap_or(i32::MAX))
    }

    /// The server's processes, as far as they are on this machine and ours to watch.
    ///
    /// # Errors
    /// When they cannot be watched.
    pub fn tree(&self) -> Result<Option<ProcessTree>, ProbeError> {
        let wire = WireScope::of_server(&self.endpoint.ports);
        let tree = self.root().map(|root| ProcessTree::attach("server", root, Scope::Session(root), wire));
        tree.transpose()
    }

    /// The folder that holds the data, where it is on this machine and known.
    pub fn data_folder(&self) -> Option<PathBuf> {
        self.server
            .as_ref()
            .map(|server| server.data_folder().to_path_buf())
            .or_else(|| self.folder.as_ref().map(|folder| folder.path().to_path_buf()))
    }

    /// The folders that hold the data, and the logs where they have a folder of their own.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.data_folder().into_iter().chain(self.log_folder()).collect()
    }

    /// The folder of the server's logs on another disk, where it has one.
    fn log_folder(&self) -> Option<PathBuf> {
        self.server.as_ref()?.log_folder().map(Path::to_path_buf)
    }

    /// What data and logs occupy, logs apart; none where the folder is not known.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn disk(&self) -> Result<Option<DiskUsage>, TrialFailure> {
        if let Some(server) = &self.elsewhere {
            return Ok(server.disk()?);
        }
        let known = self.store.description().logs;
        let mut whole: Option<DiskUsage> = None;
        let data = self.data_folder().map(|folder| (folder, false));
        let logs = self.log_folder().map(|folder| (folder, true));
        for (folder, is_all_logs) in data.into_iter().chain(logs) {
            let usage = disk_usage(&folder, |path| is_all_logs || known.holds(path))?;
            let apart_bytes = if is_all_logs { usage.allocated_bytes } else { usage.apart_bytes };
            let sum = whole.get_or_insert_default();
            sum.allocated_bytes += usage.allocated_bytes;
            sum.apart_bytes += apart_bytes;
            sum.length_bytes += usage.length_bytes;
            sum.files += usage.files;
        }
        Ok(whole)
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

    /// The failure, as a full disk where the server's log or the disk says so and its answer does not.
    fn explained(&self, error: StoreError) -> StoreError {
        if error.kind() == ErrorKind::DiskFull {
            return error;
        }
        let server = self.server.as_ref();
        match server.and_then(ManagedServer::want_of_space) {
            Some(why) => StoreError::new(
                ErrorKind::DiskFull,
                error.operation(),
                format!("{why}; make room, or choose another disk with --data: {}", error.context()),
            )
            .with_doubt(error.is_in_doubt())
            .with_source(error),
            None => error,
        }
    }
}

/// That something cannot be done because the server is not ours.
fn not_ours(operation: &str) -> StoreError {
    StoreError::new(ErrorKind::Unsupported, operation, "it is not a server that sensormark started")
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

/// The endpoint that the user named: a URL, or `@RUN` for a server that `sensormark servers start` left running.
///
/// # Errors
/// When the URL is wrong or there is no such server.
pub fn existing_endpoint(supervisor: &Supervisor, choice: &Choice) -> Result<Option<Endpoint>, StoreError> {
    let Some(url) = &choice.url else {
        return Ok(None);
    };
    match url.expose().strip_prefix('@') {
        Some(run) => supervisor.detached_endpoint(run).map(Some),
        None => choice.store.endpoint(url.expose()).map(Some),
    }
}

/// Why nothing can be waited for: input and output of this process cannot be prepared.
pub(super) fn no_runtime(operation: &str, error: std::io::Error) -> StoreError {
    let text = format!(
        "input and output cannot be prepared: {error}; raise the limit of open files (ulimit -n) or of processes (ulimit -u)"
    );
    StoreError::new(ErrorKind::Overload, operation, text).with_source(error).with_doubt(false)
}

/// Waits for a store's future on this thread, with what drivers need around it.
///
/// # Errors
/// The future's, or [`ErrorKind::Overload`] where this process may not open what waiting takes.
pub fn block_on<T, E: From<StoreError>>(future: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let runtime = sensormark_server::runtime().map_err(|error| no_runtime("reach the database", error))?;
    tokio::task::LocalSet::new().block_on(&runtime, future)
}
