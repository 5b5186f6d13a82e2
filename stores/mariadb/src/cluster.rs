//! A Galera cluster: what its consistency levels promise, how each member is set up, who starts first after all were down, and when all of them serve.
//!
//! Every member has all data. The first one makes the cluster, and the others get their copy of it (rsync). All of Galera's own ports are free ports on each
//! member's loopback address. <https://mariadb.com/kb/en/galera-cluster/>

use crate::config::Options;
use crate::connection::Link;
use crate::members::standing;
use crate::server::{self, base_folder};
use sensormark_kit::url::own_server;
use sensormark_server::files::{path_text, write_private};
use sensormark_store::server::{Command, Launch, ServerFolder};
use sensormark_store::{
    Clusters, Consistency, Endpoint, ErrorKind, Installation, Leadership, MemberLaunch, ServerOptions,
    StoreError,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

mod position;

use position::{grants_first_start, position, recovered};

const OPERATION: &str = "start a Galera cluster";

/// What MariaDB's documentation says of waiting for the writes of other members.
const SYNC_WAIT_PAGE: &str = "https://mariadb.com/kb/en/galera-cluster-system-variables/#wsrep_sync_wait";
/// What it says of replication.
const REPLICATION_PAGE: &str = "https://mariadb.com/kb/en/about-galera-replication/";

/// The file that says how a member starts this time.
const START: &str = "start.cnf";
/// Where a member that was down writes how far its data goes.
const RECOVERED: &str = "recovered.log";

/// A consistency level, and the options of the URL that give it.
struct Level {
    described: Consistency,
    options: &'static str,
}

const LEVELS: [Level; 3] = [
    Level {
        described: Consistency {
            name: "causal",
            promise: "a commit waits until every member has received its rows; one member takes all writes and answers all questions, each after what was committed before (wsrep_sync_wait = 1)",
            link: SYNC_WAIT_PAGE,
            relaxed: true,
        },
        options: "&wsrep_sync_wait=1",
    },
    Level {
        described: Consistency {
            name: "local",
            promise: "as causal, but questions do not wait (wsrep_sync_wait = 0): after the loss of that member, the next one may for a moment answer without rows that it has yet to apply",
            link: REPLICATION_PAGE,
            relaxed: true,
        },
        options: "&wsrep_sync_wait=0",
    },
    Level {
        described: Consistency {
            name: "replica_reads",
            promise: "as causal, but the members that take no writes answer all questions, each after it has applied what was committed before (wsrep_sync_wait = 1)",
            link: SYNC_WAIT_PAGE,
            relaxed: true,
        },
        options: "&wsrep_sync_wait=1&reads=replicas",
    },
];

/// The clusters that there are. Two members are none: the loss of one leaves no majority.
///
/// # Errors
/// What the server that is installed lacks for it.
pub(crate) fn clusters() -> Result<Clusters, String> {
    if let Ok(found) = server::installation() {
        provider(&base_folder(&found.path)).map_err(|error| error.context().to_owned())?;
    }
    Ok(Clusters {
        members: 3..=5,
        consistencies: LEVELS.iter().map(|level| level.described).collect(),
        leadership: Leadership::None,
    })
}

/// Whether every member has received a write that was acknowledged at this level. All levels differ in what reads wait for: a commit waits for every member in
/// each of them. <https://mariadb.com/kb/en/about-galera-replication/>
pub(crate) fn survives_loss(consistency: &str) -> bool {
    LEVELS.iter().any(|level| level.described.name == consistency)
}

fn level(options: &ServerOptions) -> Result<&'static Level, StoreError> {
    let name = options.cluster.as_ref().map(|one| one.consistency.as_str());
    let mut levels = LEVELS.iter();
    let level = levels.find(|level| Some(level.described.name) == name);
    level.ok_or_else(|| {
        let text = format!("it has no consistency {:?}", name.unwrap_or_default());
        StoreError::new(ErrorKind::Configuration, OPERATION, text)
    })
}

/// Galera's library. What copies a member has to be there, too.
fn provider(base: &Path) -> Result<PathBuf, StoreError> {
    let missing = |text: &str| StoreError::new(ErrorKind::NotInstalled, OPERATION, text);
    let folders = ["lib/galera", "lib/galera-4", "lib64/galera-4", "lib64/galera", "lib"];
    let places = [base, Path::new("/usr"), Path::new("/usr/local")];
    let mut files =
        places.iter().flat_map(|place| folders.map(|folder| place.join(folder).join("libgalera_smm.so")));
    let library = files.find(|file| file.is_file()).ok_or_else(|| {
        missing("Galera's library (libgalera_smm.so) is not there; install the package galera-4")
    })?;
    let bin = base.join("bin");
    let folders = [&bin, Path::new("/usr/local/bin"), Path::new("/usr/bin")];
    for (program, package) in [("wsrep_sst_rsync", "mariadb-server"), ("rsync", "rsync"), ("lsof", "lsof")] {
        if !folders.iter().any(|folder| folder.join(program).is_file()) {
            return Err(missing(&format!(
                "{program}, which members need to copy each other, is not there; install the package {package}"
            )));
        }
    }
    Ok(library)
}

/// What a member calls itself.
fn name(member: usize) -> String {
    format!("member_{}", member + 1)
}

/// Galera's own ports on each member's address, besides the server's: of the group, of a copy's missing rows (IST), and of a copy (SST).
const fn ports(folder: &ServerFolder) -> [u16; 3] {
    let [_, group, missing_rows, copy, _] = folder.ports;
    [group, missing_rows, copy]
}

/// The cache of rows for members that were lost for a while, in bytes. It is a part of a member's memory: an eighth, from 16 MiB to the 128 MiB that Galera
/// comes with.
fn cache_bytes(options: &ServerOptions) -> u64 {
    (options.memory_bytes / 8).clamp(16 << 20, 128 << 20)
}

/// Sets up one member: the first, which makes the cluster, or one that gets its copy.
pub(crate) fn launch_member(
    installation: &Installation,
    folders: &[ServerFolder],
    member: usize,
    options: &ServerOptions,
) -> Result<MemberLaunch, StoreError> {
    let level = level(options)?;
    let library = provider(&base_folder(&installation.path))?;
    let folder = &folders[member];
    if folder.logs.is_some() {
        return Err(StoreError::unsupported(
            OPERATION,
            "members copy each other by rsync, which does not follow the redo log to another folder; leave the folder for logs out",
        ));
    }
    let cache = options.profile.is_none().then(|| cache_bytes(options));
    let mut rest = options.clone();
    rest.memory_bytes -= cache.unwrap_or_default().min(rest.memory_bytes);
    let lines = lines(folders, member, (&library, cache))?;
    let (mut launch, init) = server::launch_with(installation, folder, &rest, &lines)?;
    let start = if member == 0 {
        format!("[mariadbd]\nwsrep_new_cluster=1\ninit_file={}\n", path_text(&init)?)
    } else {
        launch.before.clear();
        String::new()
    };
    write_private(folder, START, &start)?;
    let [group, missing_rows, copy] = ports(folder);
    launch.endpoint.ports.extend([group, missing_rows, copy]);
    if member == 0 {
        launch.notes.push(format!(
            "a Galera cluster of {} members on this machine: {}",
            folders.len(),
            level.described.promise
        ));
        launch.notes.extend(cache.map(|bytes| {
            format!(
                "of each member's memory {} MiB are gcache.size, the rows kept for members that were lost for a while",
                bytes >> 20
            )
        }));
    }
    Ok(MemberLaunch { recover: vec![recover(folder, &launch)], launch, rejoin: None })
}

/// The lines of a member's configuration that make it one.
fn lines(
    folders: &[ServerFolder],
    member: usize,
    (library, cache): (&Path, Option<u64>),
) -> Result<String, StoreError> {
    let folder = &folders[member];
    let (address, [group, missing_rows, copy]) = (folder.address, ports(folder));
    let members = folders.iter().map(|one| format!("{}:{group}", one.address));
    let members: Vec<String> = members.collect();
    // Members that take no writes are copied before the first, which does. The comma at the end allows any other.
    let donors = (0..folders.len()).rev().filter(|donor| *donor != member);
    let donors: Vec<String> = donors.map(name).collect();
    let cache = cache.map_or_else(String::new, |bytes| format!("gcache.size={bytes};"));
    let mut text = String::new();
    let mut set = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name}={value}");
    };
    set("binlog_format", &"ROW");
    set("innodb_autoinc_lock_mode", &2);
    set("wsrep_on", &"ON");
    set("wsrep_provider", &path_text(library)?);
    // Who does not know the name cannot join, so another user of the machine gets no copy.
    set("wsrep_cluster_name", &folder.password.expose());
    set("wsrep_cluster_address", &format!("gcomm://{}", members.join(",")));
    set("wsrep_node_name", &name(member));
    set("wsrep_node_address", &address);
    set("wsrep_node_incoming_address", &format!("{address}:{}", folder.ports[0]));
    set("wsrep_sst_method", &"rsync");
    set("wsrep_sst_receive_address", &format!("{address}:{copy}"));
    set("wsrep_sst_donor", &format!("{},", donors.join(",")));
    // After all were down, sensormark says who starts first (pc.recovery=no): Galera would have each wait for all others.
    set(
        "wsrep_provider_options",
        &format!(
            "\"base_host={address};base_port={group};gmcast.listen_addr=tcp://{address}:{group};ist.recv_addr={address}:{missing_rows};{cache}pc.recovery=no\""
        ),
    );
    let start = path_text(&folder.join(START))?;
    let _ = writeln!(text, "!include {start}");
    Ok(text)
}

/// The command by which a member that was down says how far its data goes.
/// <https://mariadb.com/kb/en/galera-cluster-recovery/>
fn recover(folder: &ServerFolder, launch: &Launch) -> Command {
    let mut command = launch.server.clone();
    let log = folder.join(RECOVERED);
    command.arguments.extend([
        "--wsrep-recover".to_owned(),
        format!("--log-error={}", log.display()),
        // The list of cached pages stays the server's.
        "--innodb-buffer-pool-dump-at-shutdown=OFF".to_owned(),
    ]);
    command
}

/// Says where each member's data ends. Where all were down, the one that has most of it makes the cluster again and comes first; else its rows could be lost.
pub(crate) fn start_again(folders: &[ServerFolder], down: &[usize]) -> Result<Vec<usize>, StoreError> {
    let mut order = down.to_vec();
    let mut positions = Vec::new();
    for member in down {
        let log = folders[*member].join(RECOVERED);
        let text = std::fs::read(&log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        positions.push((*member, recovered(&text).map(str::to_owned)));
        std::fs::remove_file(&log).ok();
    }
    let first = (down.len() == folders.len()).then(|| most_advanced(&positions));
    let first = first.transpose()?;
    for (member, position) in positions {
        let mut text = "[mariadbd]\n".to_owned();
        if let Some(position) = position {
            let _ = writeln!(text, "wsrep_start_position={position}");
        }
        if first == Some(member) {
            text.push_str("wsrep_new_cluster=1\n");
            let state = folders[member].data.join("grastate.dat");
            let kept = std::fs::read_to_string(&state).unwrap_or_default();
            write_private(&folders[member], &path_text(&state)?, &grants_first_start(&kept))?;
        }
        write_private(&folders[member], START, &text)?;
    }
    order.sort_by_key(|member| (Some(*member) != first, *member));
    Ok(order)
}

/// The member whose data goes farthest, the first of those that are equal.
fn most_advanced(positions: &[(usize, Option<String>)]) -> Result<usize, StoreError> {
    let known = positions.iter().filter_map(|(member, text)| {
        let (_, number) = position(text.as_deref()?)?;
        Some((number, std::cmp::Reverse(*member)))
    });
    let best = known.max().map(|(_, std::cmp::Reverse(member))| member);
    best.ok_or_else(|| {
        StoreError::new(
            ErrorKind::Crashed,
            OPERATION,
            "no member knows how far its data goes, so none can make the cluster again; look into their logs",
        )
    })
}

/// How often members are asked whether they serve.
const POLL: Duration = Duration::from_millis(50);
/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until all members have what the others have, and gives the endpoint of the whole.
pub(crate) async fn form(members: &[Endpoint], options: &ServerOptions) -> Result<Endpoint, StoreError> {
    let level = level(options)?;
    for member in members {
        let parsed = Options::parse(member.url.expose())?;
        while !serves(&parsed, members.len()).await {
            tokio::time::sleep(POLL).await;
        }
    }
    let port = members.first().and_then(|one| one.ports.first().copied());
    Ok(own_server("mariadb", url(members, level), port.unwrap_or_default()))
}

/// Whether a member serves among all. One that has just started may not answer yet; the supervisor ends what takes too long.
async fn serves(member: &Options, all: usize) -> bool {
    let Ok(mut link) = Link::open(member, 0, None, PATIENCE).await else {
        return false;
    };
    let found = standing(&mut link).await;
    link.close().await.ok();
    found.is_ok_and(|found| found.serves() && found.size == all)
}

/// The URL of the whole: all hosts in order.
fn url(members: &[Endpoint], level: &Level) -> String {
    let parts = members.iter().filter_map(|member| {
        let (head, rest) = member.url.expose().split_once('@')?;
        let (host, _) = rest.split_once('/')?;
        Some((head, host))
    });
    let (heads, hosts): (Vec<&str>, Vec<&str>) = parts.unzip();
    format!(
        "{}@{}/?ssl-mode=disabled{}",
        heads.first().copied().unwrap_or_default(),
        hosts.join(","),
        level.options
    )
}

#[cfg(test)]
mod tests;
