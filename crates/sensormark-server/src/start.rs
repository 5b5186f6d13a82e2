//! Bringing a server up, or the members of a cluster one after another: folder, ports, password, the commands before, the server, the commands after, readiness.

use super::address;
use super::cpu_group;
use super::folder::RunFolder;
use super::inner::Inner;
use super::managed::ManagedServer;
use super::memory_group::{self, MemoryGroup};
use super::ports::{self, ReservedPorts};
use super::random;
use super::ready::{Start, bring_up, set_up};
use super::shared::Shared;
use super::spawn::Surroundings;
use super::user::{User, is_root};
use sensormark_store::cluster::MemberLaunch;
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
    let (_, options) = what;
    let mut addresses = address::addresses(store, options)?;
    let members = addresses.len();
    addresses.extend(address::beside(&addresses));
    let mut reserved = ReservedPorts::reserve(&addresses)?;
    let mut beside = reserved.split_off(members);
    let inners = prepare(shared, store, what, wishes, user, &reserved)?;
    // From here on the handle's drop removes everything.
    let mut server = ManagedServer::new(inners, shared, &options.of_one_member());
    let inners = server.servers.all();
    for inner in &inners {
        shared.remember(inner)?;
    }
    for (inner, reserved) in inners.iter().zip(reserved) {
        let ports = inner.launch.endpoint.ports.clone();
        let beside = beside.pop();
        let own = [Some(reserved.address()), beside.as_ref().map(ReservedPorts::address)];
        if let Err(error) = start_first(inner, store, (reserved, beside)) {
            server.stop().ok();
            // The server's own processes are gone: whoever holds a port now is somebody else.
            let mut own = own.into_iter().flatten();
            let clash = own.any(|address| !ports::taken_lastingly(address, &ports).is_empty());
            return Err(Failure { error, clash });
        }
    }
    server.servers.form(store)?;
    Ok(server)
}

/// Runs the commands before a server's first start, has its accounts made on loopback where it describes that, and brings it up.
fn start_first(
    inner: &Arc<Inner>,
    store: &dyn Store,
    (reserved, beside): (ReservedPorts, Option<ReservedPorts>),
) -> Result<(), StoreError> {
    let begun = Instant::now();
    for command in &inner.launch.before {
        inner.run_to_end(command)?;
    }
    if let Some(beside) = beside {
        beside.release();
    }
    if let Some(described) = &inner.launch.set_up {
        set_up(inner, store, described, ManagedServer::STOP_LIMIT)?;
    }
    inner.prepared(begun.elapsed());
    reserved.release();
    bring_up(inner, store, Start::First)
}

/// The folder of one server, before its store has written there.
struct Place {
    folder: RunFolder,
    server_folder: ServerFolder,
}

/// Makes the folder of each member and lets the store write its files there. Nothing is left behind after a failure.
fn prepare(
    shared: &Arc<Shared>,
    store: &dyn Store,
    (installation, options): (&Installation, &ServerOptions),
    wishes: &StartWishes<'_>,
    user: Option<&User>,
    reserved: &[ReservedPorts],
) -> Result<Vec<Arc<Inner>>, StoreError> {
    let title = store.description().title;
    let mut places = Vec::new();
    let launches = make_places(shared, store, options, wishes, user, reserved, &mut places)
        .and_then(|()| launches(store, (installation, options), &places, user));
    let launches = launches.inspect_err(|_| {
        for Place { folder, .. } in &places {
            if let Some(group) = folder.owner().memory_group {
                memory_group::remove(&group).ok();
            }
            folder.remove().ok();
        }
    })?;
    let single = places.len() == 1;
    let members = places.into_iter().zip(launches).enumerate();
    let inners = members.map(|(number, (place, (launch, group)))| {
        let Place { folder, server_folder } = place;
        let surroundings = Surroundings {
            run: folder.owner().run,
            folder: folder.server_root(),
            log: folder.log(),
            user: user.cloned(),
            tied: !wishes.detachable,
            processors: options.processors.clone(),
            groups: cpu_group::files(group.as_ref()),
        };
        let title = if single { title.clone() } else { format!("member {} of {title}", number + 1) };
        let files = (folder, group);
        Arc::new(Inner::new(title, files, server_folder, launch, surroundings))
    });
    Ok(inners.collect())
}

/// Makes the folders of all members. Those that are made are in `places` after a failure, too.
fn make_places(
    shared: &Arc<Shared>,
    store: &dyn Store,
    options: &ServerOptions,
    wishes: &StartWishes<'_>,
    user: Option<&User>,
    reserved: &[ReservedPorts],
    places: &mut Vec<Place>,
) -> Result<(), StoreError> {
    let password = random::password()?;
    for reserved in reserved {
        let name = store.description().name;
        let folder = RunFolder::create(&shared.home, &name, wishes.data, user)?;
        let chosen = options.log_folder.as_deref();
        let logs = chosen
            .map(|chosen| folder.add_log_folder(chosen, user))
            .transpose()
            .inspect_err(|_| drop(folder.remove()))?;
        let server_folder = ServerFolder {
            root: folder.server_root(),
            data: folder.data(),
            logs,
            address: reserved.address(),
            ports: reserved.numbers(),
            password: password.clone(),
            user: user.map(|user| user.name.clone()),
        };
        places.push(Place { folder, server_folder });
    }
    Ok(())
}

/// What the store says about each member, and the control group that bounds its memory.
fn launches(
    store: &dyn Store,
    (installation, options): (&Installation, &ServerOptions),
    places: &[Place],
    user: Option<&User>,
) -> Result<Vec<(MemberLaunch, Option<MemoryGroup>)>, StoreError> {
    let all: Vec<ServerFolder> = places.iter().map(|place| place.server_folder.clone()).collect();
    let options = options.of_one_member();
    let members = places.iter().enumerate();
    let launches = members.map(|(member, place)| {
        let mut launch = match options.cluster {
            Some(_) => store.launch_member(installation, &all, member, &options)?,
            None => MemberLaunch {
                launch: store.launch(installation, &place.server_folder, &options)?,
                rejoin: None,
                recover: Vec::new(),
            },
        };
        let seconds = options.start_seconds;
        launch.launch.start_seconds = seconds.unwrap_or(launch.launch.start_seconds);
        take_over(place, &launch.launch, user)?;
        let group = make_group(&place.folder, &options)?;
        Ok((launch, group))
    });
    launches.collect()
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
fn take_over(place: &Place, launch: &Launch, user: Option<&User>) -> Result<(), StoreError> {
    if let Some(user) = user {
        user.take_over_all(&place.server_folder)?;
    }
    place.folder.update(|owner| {
        owner.ports.clone_from(&launch.endpoint.ports);
        owner.stop_by_interrupt = launch.stop == StopSignal::Interrupt;
    })
}
