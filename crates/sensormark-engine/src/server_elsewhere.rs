//! The coordinator's end of a server that sensormark starts on another host. What both say is in [`server_line`](super::server_line).

use super::launcher::Launcher;
use super::placement::SERVER;
use super::role::{Event, RoleError, RoleProcess};
use super::server_line::{ServerAnswer, ServerCommand, ServerTask, StartedServer};
use super::server_probe::ServerProbe;
use sensormark_result::measurement::server::ServerRecord;
use sensormark_result::probe::{DiskUsage, DisturbanceLimits};
use sensormark_store::{Endpoint, ErrorKind, Secret, ServerOptions, StoreError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a server may take to start or stop, beside what its store says: the role there has limits of its own.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long a stop may take that nobody waits for any more.
const STOP: Duration = Duration::from_secs(60);

/// A server on another host. Dropping it stops the server and removes its folder there.
pub struct ServerElsewhere {
    endpoint: Endpoint,
    record: ServerRecord,
    folders: Vec<String>,
    patience: Duration,
    line: Mutex<Line>,
}

/// The line to the role.
struct Line {
    process: RoleProcess,
    /// The id of the server's root process there, while it runs.
    root: Option<i32>,
    /// How the server ended, until it is started again.
    ended: Option<String>,
}

impl ServerElsewhere {
    /// Starts the server of this store by a role where the launcher places it.
    ///
    /// # Errors
    /// When the role or the server cannot be started there.
    pub fn start(launcher: &Launcher, store: &str, options: &ServerOptions) -> Result<Self, StoreError> {
        let task = ServerTask { store: store.to_owned(), options: options.clone() };
        let own = Duration::from_secs(options.start_seconds.unwrap_or(0));
        let patience = PATIENCE.saturating_add(own);
        let process = RoleProcess::start(launcher, SERVER, &task).map_err(|error| lost(&error))?;
        let mut line = Line { process, root: None, ended: None };
        let started = match line.hear(patience)? {
            ServerAnswer::Started(started) => *started,
            other => return Err(line.unexpected(&other)),
        };
        line.done(patience)?;
        let host = launcher.host().unwrap_or("this host");
        let StartedServer { url, label, ports, mut record, folders } = started;
        record
            .notes
            .push(format!("sensormark started it on {host}, where it listens on the address that was named"));
        let folders = folders.iter().map(|path| path.to_string_lossy().into_owned());
        Ok(Self {
            endpoint: Endpoint { url: Secret::new(url), label, managed: true, ports },
            record,
            folders: folders.collect(),
            patience,
            line: Mutex::new(line),
        })
    }

    /// How the server is spoken to.
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What results say about it.
    pub const fn record(&self) -> &ServerRecord {
        &self.record
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the server still runs, and the line to its host is there.
    ///
    /// # Errors
    /// [`ErrorKind::Crashed`], with what the role said last.
    pub fn check(&self) -> Result<(), StoreError> {
        let mut line = self.line();
        if line.ended.is_none()
            && let Err(error) = line.process.listen(Instant::now())
        {
            line.ended = Some(told(&error));
        }
        match &line.ended {
            None => Ok(()),
            Some(why) => Err(crashed(why)),
        }
    }

    /// Ends the server in good order; its data stay.
    ///
    /// # Errors
    /// When it does not end, or its host is lost.
    pub fn halt(&self) -> Result<(), StoreError> {
        self.ask(ServerCommand::Halt)
    }

    /// Starts the server again on the same data.
    ///
    /// # Errors
    /// When it does not start, or its host is lost.
    pub fn restart(&self) -> Result<(), StoreError> {
        self.ask(ServerCommand::Restart)
    }

    /// Ends the server in good order, drops its files from the page cache there, and starts it again.
    ///
    /// # Errors
    /// When it does not end or start, or its host is lost.
    pub fn start_cold(&self) -> Result<(), StoreError> {
        self.ask(ServerCommand::StartCold)
    }

    /// What data and logs occupy.
    ///
    /// # Errors
    /// When the folders cannot be read, or the host is lost.
    pub fn disk(&self) -> Result<Option<DiskUsage>, StoreError> {
        let mut line = self.line();
        line.send(ServerCommand::Disk)?;
        match line.hear(self.patience)? {
            ServerAnswer::Disk(usage) => Ok(usage),
            other => Err(line.unexpected(&other)),
        }
    }

    /// Starts a probe beside the server, by the same launcher.
    ///
    /// # Errors
    /// Why nothing can be watched there.
    pub fn probe(&self, limits: DisturbanceLimits) -> Result<ServerProbe, String> {
        let line = self.line();
        let launcher = line.process.launcher();
        let root = line.root.map(|root| root.to_string());
        let root = root.ok_or("the server on another host does not run, so no probe can watch it")?;
        // Of several ports, the probe counts all connections of the processes.
        let port = match *self.endpoint.ports {
            [port] => Some(port.to_string()),
            _ => None,
        };
        let mut words = vec!["probe", "--pid", &root];
        words.extend(port.iter().flat_map(|port| ["--port", port.as_str()]));
        words.extend(self.folders.iter().flat_map(|one| ["--disk", one.as_str()]));
        let command = launcher.command(&words);
        ServerProbe::start(SERVER, command, launcher.host(), limits)
    }

    /// Has the role do something that changes the server.
    fn ask(&self, command: ServerCommand) -> Result<(), StoreError> {
        let mut line = self.line();
        line.send(command)?;
        line.done(self.patience)?;
        line.ended = None;
        Ok(())
    }
}

impl Drop for ServerElsewhere {
    fn drop(&mut self) {
        let mut line = self.line();
        let stopped = line.send(ServerCommand::Stop).and_then(|()| line.done(STOP));
        if let Err(error) = stopped {
            tracing::debug!(%error, "a server on another host was not stopped in good order; it ends with its line");
        }
    }
}

impl Line {
    fn send(&mut self, command: ServerCommand) -> Result<(), StoreError> {
        self.process.send(&command).map_err(|error| lost(&error))
    }

    /// The next answer.
    fn hear(&mut self, limit: Duration) -> Result<ServerAnswer, StoreError> {
        let deadline = Instant::now() + limit;
        loop {
            // It may have come while the server was looked at.
            if let Some(Event::Answer(answer)) = self.process.take(|event| matches!(event, Event::Answer(_)))
            {
                let understood = serde_json::from_value(answer);
                return understood.map_err(|error| lost(&self.process.implausible(error.to_string())));
            }
            if Instant::now() >= deadline {
                return Err(lost(&self.process.silent(limit)));
            }
            // An end of the server that is told here is followed by the answer.
            match self.process.listen(deadline) {
                Ok(_) => {}
                Err(error @ RoleError::Failed { .. }) => self.ended = Some(told(&error)),
                Err(error) => return Err(lost(&error)),
            }
        }
    }

    /// Waits until it is done.
    fn done(&mut self, limit: Duration) -> Result<(), StoreError> {
        match self.hear(limit)? {
            ServerAnswer::Done(root) => {
                self.root = root;
                Ok(())
            }
            other => Err(self.unexpected(&other)),
        }
    }

    /// The failure that the role answered, with its host; or that it answered what was not asked.
    fn unexpected(&self, answer: &ServerAnswer) -> StoreError {
        match answer {
            ServerAnswer::Failed { kind, operation, context } => {
                let host = self.process.host().unwrap_or("this host");
                StoreError::new(*kind, format!("{operation} on {host}"), context)
            }
            _ => lost(&self.process.implausible("it answered what was not asked")),
        }
    }
}

/// What a role's failure says, with its host.
fn told(error: &RoleError) -> String {
    error.to_string()
}

fn crashed(why: &str) -> StoreError {
    StoreError::new(ErrorKind::Crashed, "watch the server", why)
}

/// That the role cannot be spoken to any more, or never could.
fn lost(error: &RoleError) -> StoreError {
    StoreError::new(ErrorKind::Crashed, "lead the server on another host", error.to_string())
}
