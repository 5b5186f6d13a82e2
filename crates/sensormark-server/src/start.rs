//! Bringing a server up: folder, ports, password, the commands before, the server, the commands after, readiness.

use super::folder::RunFolder;
use super::inner::Inner;
use super::managed::ManagedServer;
use super::memory_group::MemoryGroup;
use super::ports::{self, ReservedPorts};
use super::ready::bring_up;
use super::spawn::Surroundings;
use super::user::{User, is_root};
use super::{Shared, random};
use sensormark_store::error::StoreError;
use sensormark_store::server::{Installation, Launch, ServerFolder, ServerOptions, StopSignal};
use sensormark_store::store::Store;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// How often a start is tried with new ports when somebody takes one of them at the last moment.
const ATTEMPTS: u32 = 8;

/// Wishes about how a server is started, beyond what its store gets.
#[derive(Debug, Clone, Default)]
pub struct StartWishes<'a> {
    /// A folder on the disk where the data shall be; a marked folder is made in it. Without it the data is in the state folder.
    pub data: Option<&'a Path>,
    /// Start it so that it can be left running by [`ManagedServer::detach`]: it then does not die with this process.
    pub detachable: bool,
    /// The user that it runs as when sensormark runs as root; without it `nobody`.
    pub user: Option<&'a str>,
}

/// One attempt's failure, and whether ports were taken by others meanwhile.
struct Failure {
    error: StoreError,
    clash: bool,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self {
            error,
            clash: false,
        }
    }
}

/// Starts a server and waits until it is ready.
pub(super) fn start(
    shared: &Arc<Shared>,
    store: &dyn Store,
    options: &ServerOptions,
    wishes: &StartWishes<'_>,
) -> Result<ManagedServer, StoreError> {
    let installation = store.installation()?;
    let user = if is_root() {
        Some(User::find(wishes.user.unwrap_or("nobody"))?)
    } else {
        None
    };
    let mut attempt = 1;
    loop {
        match try_start(
            shared,
            store,
            (&installation, options),
            wishes,
            user.as_ref(),
        ) {
            Err(failure) if failure.clash && attempt < ATTEMPTS => attempt += 1,
            Err(failure) => return Err(failure.error),
            Ok(server) => return Ok(server),
        }
    }
}

fn try_start(
    shared: &Arc<Shared>,
    store: &dyn Store,
    what: (&Installation, &ServerOptions),
    wishes: &StartWishes<'_>,
    user: Option<&User>,
) -> Result<ManagedServer, Failure> {
    let reserved = ReservedPorts::reserve()?;
    let inner = prepare(shared, store, what, wishes, user, &reserved)?;
    // From here on the handle's drop removes everything.
    let server = ManagedServer {
        inner,
        shared: Arc::clone(shared),
    };
    shared.remember(&server.inner)?;
    let begun = Instant::now();
    for command in &server.inner.launch.before {
        server.inner.run_to_end(command)?;
    }
    server.inner.prepared(begun.elapsed());
    reserved.release();
    match bring_up(&server.inner, store, true) {
        Ok(()) => Ok(server),
        Err(error) => {
            server.stop().ok();
            // The server's own processes are gone: whoever holds a port now is somebody else.
            let clash = !ports::taken_lastingly(&server.endpoint().ports).is_empty();
            Err(Failure { error, clash })
        }
    }
}

/// Makes the folder and lets the store write its files there. Nothing is left behind after a failure.
fn prepare(
    shared: &Arc<Shared>,
    store: &dyn Store,
    (installation, options): (&Installation, &ServerOptions),
    wishes: &StartWishes<'_>,
    user: Option<&User>,
    reserved: &ReservedPorts,
) -> Result<Arc<Inner>, StoreError> {
    let description = store.description();
    let password = random::password()?;
    let folder = RunFolder::create(&shared.home, &description.name, wishes.data, user)?;
    let chosen = options.log_folder.as_deref();
    let logs = chosen
        .map(|chosen| folder.add_log_folder(chosen, user))
        .transpose()
        .inspect_err(|_| drop(folder.remove()))?;
    let server_folder = ServerFolder {
        root: folder.server_root(),
        data: folder.data(),
        logs,
        ports: reserved.numbers(),
        password,
        user: user.map(|user| user.name.clone()),
    };
    let launch = launch(
        store,
        (installation, options),
        &server_folder,
        &folder,
        user,
    )
    .inspect_err(|_| drop(folder.remove()))?;
    let group = make_group(&folder, options).inspect_err(|_| drop(folder.remove()))?;
    let surroundings = Surroundings {
        run: folder.owner().run,
        folder: folder.server_root(),
        log: folder.log(),
        user: user.cloned(),
        tied: !wishes.detachable,
        processors: options.processors.clone(),
        memory_group: group.as_ref().map(MemoryGroup::processes_file),
    };
    Ok(Arc::new(Inner::new(
        description.title,
        (folder, group),
        server_folder,
        launch,
        surroundings,
    )))
}

/// Makes the control group that bounds the server's memory, where that is wanted.
fn make_group(
    folder: &RunFolder,
    options: &ServerOptions,
) -> Result<Option<MemoryGroup>, StoreError> {
    let Some(limit_bytes) = options.memory_limit_bytes else {
        return Ok(None);
    };
    let group = MemoryGroup::planned(&folder.owner().run, limit_bytes)?;
    // Before it is made, so that whatever happens next it is removed.
    folder.update(|owner| owner.memory_group = Some(group.folder().to_owned()))?;
    group.make()?;
    Ok(Some(group))
}

fn launch(
    store: &dyn Store,
    (installation, options): (&Installation, &ServerOptions),
    server_folder: &ServerFolder,
    folder: &RunFolder,
    user: Option<&User>,
) -> Result<Launch, StoreError> {
    let mut launch = store.launch(installation, server_folder, options)?;
    launch.start_seconds = options.start_seconds.unwrap_or(launch.start_seconds);
    if let Some(user) = user {
        let parts = [&server_folder.root, &server_folder.data];
        for part in parts.into_iter().chain(&server_folder.logs) {
            user.take_over(part).map_err(|error| {
                super::folder::file_error("give the files to the server's user", part, error)
            })?;
        }
    }
    folder.update(|owner| {
        owner.ports.clone_from(&launch.endpoint.ports);
        owner.stop_by_interrupt = launch.stop == StopSignal::Interrupt;
    })?;
    Ok(launch)
}
