//! Bringing a server up: folder, ports, password, the commands before, the server, the commands after, readiness.

use super::address;
use super::cpu_group;
use super::folder::RunFolder;
use super::inner::Inner;
use super::managed::ManagedServer;
use super::memory_group::{self, MemoryGroup};
use super::ports::{self, ReservedPorts};
use super::random;
use super::ready::{bring_up, set_up};
use super::shared::Shared;
use super::spawn::Surroundings;
use super::user::{User, is_root};
use sensormark_store::error::StoreError;
use sensormark_store::server::{Installation, Launch, ServerFolder, ServerOptions, StopSignal};
use sensormark_store::store::Store;
use std::net::Ipv4Addr;
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
        Self { error, clash: false }
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
    let user = if is_root() { Some(User::find(wishes.user.unwrap_or("nobody"))?) } else { None };
    let mut attempt = 1;
    loop {
        match try_start(shared, store, (&installation, options), wishes, user.as_ref()) {
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
    let own = address::address(store, what.1)?;
    // Some servers listen on 127.0.0.1 too, or first.
    let beside = Some(Ipv4Addr::LOCALHOST).filter(|beside| *beside != own);
    let addresses: Vec<Ipv4Addr> = std::iter::once(own).chain(beside).collect();
    let reserved = ReservedPorts::reserve(&addresses)?;
    let inner = prepare(shared, store, what, wishes, user, (own, &reserved))?;
    // From here on the handle's drop removes everything.
    let server = ManagedServer { inner, shared: Arc::clone(shared) };
    let inner = &server.inner;
    shared.remember(inner)?;
    if let Err(error) = start_first(inner, store, reserved) {
        server.stop().ok();
        // The server's own processes are gone: whoever holds a port now is somebody else.
        let ports = &inner.launch.endpoint.ports;
        let clash = addresses.iter().any(|address| !ports::taken_lastingly(*address, ports).is_empty());
        return Err(Failure { error, clash });
    }
    Ok(server)
}

/// Runs the commands before a server's first start, has its accounts made on loopback where it describes that, and brings it up.
fn start_first(inner: &Arc<Inner>, store: &dyn Store, mut reserved: ReservedPorts) -> Result<(), StoreError> {
    let begun = Instant::now();
    for command in &inner.launch.before {
        inner.run_to_end(command)?;
    }
    reserved.release_others();
    if let Some(described) = &inner.launch.set_up {
        set_up(inner, store, described, ManagedServer::STOP_LIMIT)?;
    }
    inner.prepared(begun.elapsed());
    reserved.release();
    bring_up(inner, store, true)
}

/// Makes the server's folder and lets the store write its files there. Nothing is left behind after a failure.
fn prepare(
    shared: &Arc<Shared>,
    store: &dyn Store,
    (installation, options): (&Installation, &ServerOptions),
    wishes: &StartWishes<'_>,
    user: Option<&User>,
    (address, reserved): (Ipv4Addr, &ReservedPorts),
) -> Result<Arc<Inner>, StoreError> {
    let description = store.description();
    let password = random::password()?;
    let folder = RunFolder::create(&shared.home, &description.name, wishes.data, user)?;
    let prepared = (|| {
        let chosen = options.log_folder.as_deref();
        let logs = chosen.map(|chosen| folder.add_log_folder(chosen, user)).transpose()?;
        let server_folder = ServerFolder {
            root: folder.server_root(),
            data: folder.data(),
            logs,
            address,
            ports: reserved.numbers(),
            password,
            user: user.map(|user| user.name.clone()),
        };
        let mut launch = store.launch(installation, &server_folder, options)?;
        launch.start_seconds = options.start_seconds.unwrap_or(launch.start_seconds);
        take_over(&folder, &server_folder, &launch, user)?;
        Ok((server_folder, launch, make_group(&folder, options)?))
    })();
    let (server_folder, launch, group) = prepared.inspect_err(|_| {
        if let Some(group) = folder.owner().memory_group {
            memory_group::remove(&group).ok();
        }
        folder.remove().ok();
    })?;
    let surroundings = Surroundings {
        run: folder.owner().run,
        folder: folder.server_root(),
        log: folder.log(),
        user: user.cloned(),
        tied: !wishes.detachable,
        processors: options.processors.clone(),
        groups: cpu_group::files(group.as_ref()),
    };
    Ok(Arc::new(Inner::new(description.title.clone(), (folder, group), server_folder, launch, surroundings)))
}

/// Makes the control group that bounds the server's memory, where that is wanted.
pub(super) fn make_group(
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
    cpu_group::hold(&group, options)?;
    Ok(Some(group))
}

/// Gives what the store wrote to the user that the server runs as, and writes down what is known of it.
fn take_over(
    folder: &RunFolder,
    server_folder: &ServerFolder,
    launch: &Launch,
    user: Option<&User>,
) -> Result<(), StoreError> {
    if let Some(user) = user {
        user.take_over_all(server_folder)?;
    }
    folder.update(|owner| {
        owner.ports.clone_from(&launch.endpoint.ports);
        owner.stop_by_interrupt = launch.stop == StopSignal::Interrupt;
    })
}
