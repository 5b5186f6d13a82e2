//! MongoDB on this machine: where it is, how a server of our own is set up, and its first user.
//!
//! It writes files and describes commands; the supervisor starts them. There is no shell of MongoDB's beside the server. So the first user (and, where asked
//! for, the replica set) is made through the driver, when the server is first asked for its version.

use crate::config::{Options, URL_EXAMPLE};
use crate::connection::Link;
use mongodb::bson::doc;
use sensormark_kit::url::own_server;
use sensormark_server::files::{make_private_folder, path_text, write_private};
use sensormark_server::find::{Search, install_advice, program_version};
use sensormark_store::server::{Command, ServerFolder, StopSignal};
use sensormark_store::{ErrorKind, Installation, Launch, Secret, ServerOptions, StoreError};
use std::net::Ipv4Addr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

mod replica_set;

pub(crate) use self::replica_set::{clusters, form_cluster, launch_member, survives_loss};

const PROGRAM: &str = "mongod";
const USER: &str = "sensormark";
const REPLICA_SET: &str = "sm";
/// The profile that makes the server a replica set of one, which transactions need.
const REPLICA_SET_PROFILE: &str = "replica-set";

/// Connections beyond the clients': administrators, checks.
const SPARE_CONNECTIONS: u32 = 50;
/// Connections of a client: one for commands, one on which the driver watches the server.
const CONNECTIONS_PER_CLIENT: u32 = 2;

/// The server found, in the order of places that all stores have.
pub(crate) fn installation() -> Result<Installation, StoreError> {
    let search = Search {
        name: "mongodb",
        title: "MongoDB",
        wanted: "the program mongod",
        inside: &["bin", ""],
        on_path: true,
        packages: ["/usr/local/mongodb/bin", "/opt/mongodb/bin", "/usr/bin"].map(PathBuf::from).to_vec(),
        advice: install_advice("mongodb", URL_EXAMPLE),
    };
    let found = search.find(|folder| folder.join(PROGRAM).is_file().then_some(()))?;
    let folder = found.folder.clone();
    let version = program_version("MongoDB", &folder.join(PROGRAM), "--version")?;
    Ok(found.installation(folder, version))
}

/// Whether the profile makes the server a replica set of one.
fn is_replicated(options: &ServerOptions) -> Result<bool, StoreError> {
    match options.profile.as_deref() {
        None | Some("as-published") => Ok(false),
        Some(REPLICA_SET_PROFILE) => Ok(true),
        Some(other) => Err(StoreError::new(
            ErrorKind::Configuration,
            "configure MongoDB",
            format!(
                "there is no profile {other:?}; there are as-published (MongoDB's own defaults) and \
                     {REPLICA_SET_PROFILE} (a replica set of one, which transactions need)"
            ),
        )),
    }
}

/// Sets up a server of our own in this folder.
pub(crate) fn launch(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<Launch, StoreError> {
    let replicated = is_replicated(options)?;
    let set = if replicated { format!("&replicaSet={REPLICA_SET}") } else { String::new() };
    let mut launch = launch_one(installation, folder, options, (replicated, &set))?;
    if replicated {
        launch.notes.push(
            "a replica set of one member, with an operation log of 990 MB: each write is written twice"
                .to_owned(),
        );
    }
    Ok(launch)
}

/// Sets up one server, by itself or a member of a set; `set` are the options of its URL that say so.
fn launch_one(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
    (replicated, set): (bool, &str),
) -> Result<Launch, StoreError> {
    let data = folder.data.join("mongodb");
    make_private_folder(&data)?;
    let mut notes = notes(folder.address, options);
    notes.extend(move_journal(folder, &data)?);
    let key = if replicated {
        let key = write_private(folder, "mongod.key", &key_text(&folder.password))?;
        Some(path_text(&key)?)
    } else {
        None
    };
    let (address, port) = (folder.address, folder.ports[0]);
    let place = (path_text(&data)?, address, port);
    let text = configuration(&place, options, key.as_deref());
    let file = write_private(folder, "mongod.conf", &text)?;
    let url =
        format!("mongodb://{USER}:{}@{address}:{port}/?authSource=admin{set}", folder.password.expose());
    Ok(Launch {
        before: Vec::new(),
        set_up: None,
        server: Command {
            program: installation.path.join(PROGRAM),
            arguments: vec!["--config".to_owned(), path_text(&file)?],
            ..Command::default()
        },
        after: Vec::new(),
        endpoint: own_server("mongodb", url, port),
        stop: StopSignal::Terminate,
        start_seconds: 60,
        notes,
    })
}

/// Links the journal into the folder for logs, where there is one, as
/// <https://www.mongodb.com/docs/manual/administration/production-notes/> advises; and what a reader should know of it.
fn move_journal(folder: &ServerFolder, data: &Path) -> Result<Option<String>, StoreError> {
    let Some(logs) = &folder.logs else {
        return Ok(None);
    };
    let journal = logs.join("journal");
    make_private_folder(&journal)?;
    symlink(&journal, data.join("journal")).map_err(|error| {
        StoreError::new(
            ErrorKind::Configuration,
            "configure MongoDB",
            format!("a link to the folder for logs cannot be made: {error}"),
        )
        .with_source(error)
    })?;
    let note = "the journal is in the folder for logs, by a symbolic link";
    Ok(Some(note.to_owned()))
}

fn notes(address: Ipv4Addr, options: &ServerOptions) -> Vec<String> {
    let place = if address.is_loopback() {
        "TCP on loopback only"
    } else {
        "TCP on loopback and on the address that was named, with the generated password alone"
    };
    let mut notes = vec![
        format!("no TLS, no compression, {place}; diagnostic data collection and the TTL monitor are off"),
        "the first user is made through the localhost exception right after the start".to_owned(),
    ];
    if options.profile.as_deref() != Some("as-published") {
        notes.push(
            "WiredTiger's cache is the memory allowed (at least 256 MiB); the server takes about 120 MB and 1 MB a connection beside it"
                .to_owned(),
        );
    }
    notes
}

/// The server's configuration: what it takes to run here, and the memory allowed. What is not said is MongoDB's default.
/// With a key of the members it is a replica set.
fn configuration(
    (data, address, port): &(String, Ipv4Addr, u16),
    options: &ServerOptions,
    key: Option<&str>,
) -> String {
    let connections =
        options.clients.saturating_mul(CONNECTIONS_PER_CLIENT).saturating_add(SPARE_CONNECTIONS);
    let cache = if options.profile.as_deref() == Some("as-published") {
        String::new()
    } else {
        let gigabytes = (options.memory_bytes as f64 / (1_u64 << 30) as f64).max(0.25);
        format!("  wiredTiger:\n    engineConfig:\n      cacheSizeGB: {gigabytes:.3}\n")
    };
    let (secret, replication) = key.map_or_else(Default::default, |key| {
        (
            format!("  keyFile: {}\n", quoted(key)),
            format!("replication:\n  replSetName: {REPLICA_SET}\n  oplogSizeMB: 990\n"),
        )
    });
    // The first user is made over loopback: on the address itself nobody comes in without one.
    let bound = if address.is_loopback() {
        address.to_string()
    } else {
        format!("{},{address}", Ipv4Addr::LOCALHOST)
    };
    // A member that is asked to stop would first wait 15 s for clients to notice.
    let quick = key.map_or("", |_| "  shutdownTimeoutMillisForSignaledShutdown: 0\n");
    format!(
        "storage:\n\
         \x20 dbPath: {}\n\
         {cache}\
         net:\n\
         \x20 bindIp: {bound}\n\
         \x20 port: {port}\n\
         \x20 maxIncomingConnections: {connections}\n\
         \x20 unixDomainSocket:\n\
         \x20   enabled: false\n\
         security:\n\
         \x20 authorization: enabled\n\
         {secret}{replication}\
         setParameter:\n\
         \x20 diagnosticDataCollectionEnabled: false\n\
         \x20 ttlMonitorEnabled: false\n\
         {quick}",
        quoted(data)
    )
}

/// A key that the members of a replica set show each other: the password, lengthened to what the server asks for.
fn key_text(password: &Secret) -> String {
    let mut text = password.expose().to_owned();
    while text.len() < 24 {
        text.push('A');
    }
    text.push('\n');
    text
}

/// A scalar of YAML in double quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Asks for the version; a server of our own is set up for work first, as often as needed.
pub(crate) async fn version(
    options: &Options,
    managed: bool,
    timeout: Duration,
) -> Result<(String, crate::topology::Topology), StoreError> {
    // A member of a set that is not made yet has no user; the set's members are set up together.
    let link = if managed && options.is_direct() {
        Link::of(options.anonymous_client(timeout).await?, "admin", timeout)
    } else {
        if managed && options.sole_host().is_some() {
            prepare(options, timeout).await?;
        }
        Link::open(options, "admin", timeout).await?
    };
    let answer = asked(&link).await;
    link.close().await?;
    answer
}

async fn asked(link: &Link) -> Result<(String, crate::topology::Topology), StoreError> {
    let info = link.command("ask MongoDB for its version", doc! { "buildInfo": 1 }).await?;
    let version = info.get_str("version").unwrap_or("unknown").to_owned();
    let hello = link.command("ask MongoDB for its role", doc! { "hello": 1 }).await?;
    Ok((version, crate::topology::Topology::of(&hello)))
}

/// Makes the replica set and the first user of a server of our own, where they are not there yet.
async fn prepare(options: &Options, timeout: Duration) -> Result<(), StoreError> {
    let link = Link::of(options.anonymous_client(timeout).await?, "admin", timeout);
    let prepared = prepare_over(&link, options).await;
    link.close().await?;
    prepared
}

async fn prepare_over(link: &Link, options: &Options) -> Result<(), StoreError> {
    let what = "set up the MongoDB server";
    let mut hello = link.command(what, doc! { "hello": 1 }).await?;
    if let Some((name, host)) = options.replica_set() {
        if hello.get_bool("isreplicaset").unwrap_or(false) {
            let member = doc! { "_id": 0, "host": host };
            let set = doc! { "_id": name, "members": [member] };
            link.command(what, doc! { "replSetInitiate": set }).await?;
            hello = link.command(what, doc! { "hello": 1 }).await?;
        }
        if !hello.get_bool("isWritablePrimary").unwrap_or(false) {
            return Err(StoreError::new(
                ErrorKind::Unavailable,
                what,
                "the replica set has no primary yet; wait a moment",
            ));
        }
    }
    make_user(link, options).await
}

/// Makes the first user, unless it is there.
async fn make_user(link: &Link, options: &Options) -> Result<(), StoreError> {
    let what = "set up the MongoDB server";
    let Some(credential) = options.credential() else {
        return Ok(());
    };
    let user = credential.username.as_deref().unwrap_or(USER);
    let password = credential.password.as_deref().unwrap_or_default();
    let made = link.command(what, doc! { "createUser": user, "pwd": password, "roles": ["root"] }).await;
    match made {
        // Once there is a user, nobody may make one without being one.
        Err(error) if error.kind() != ErrorKind::Authentication => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_says_what_was_asked_for() {
        let options = ServerOptions { memory_bytes: 1 << 30, clients: 160, ..ServerOptions::default() };
        let place = ("/a folder/\"data\"".to_owned(), Ipv4Addr::new(127, 0, 0, 2), 4711);
        let text = configuration(&place, &options, Some("/key"));
        for line in [
            "  port: 4711",
            "  bindIp: 127.0.0.2",
            "  maxIncomingConnections: 370",
            "      cacheSizeGB: 1.000",
            "  dbPath: \"/a folder/\\\"data\\\"\"",
            "  authorization: enabled",
            "  keyFile: \"/key\"",
            "  replSetName: sm",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} in {text}");
        }
        let place = ("/data".to_owned(), Ipv4Addr::new(10, 0, 0, 5), 4711);
        let text = configuration(&place, &options, None);
        assert!(text.contains("  bindIp: 127.0.0.1,10.0.0.5\n"), "{text}");
    }

    #[test]
    fn a_key_is_long_enough() {
        assert!(key_text(&Secret::new("abc")).trim_end().len() >= 6);
    }
}
