//! The server on this machine, and how one of our own is configured and started.
//!
//! It writes files and says what to run; the supervisor runs it. The server listens on 127.0.0.1, or on the address that the user named. Its first account has a
//! known password until [`open_own`] replaces it, right after the first start. That start is on 127.0.0.1 in any case.

use sensormark_kit::url::own_server;
use sensormark_server::files::write_private;
use sensormark_store::server::{Command, ServerFolder, SetUp, StopSignal};
use sensormark_store::{ErrorKind, Installation, Launch, ServerOptions, StoreError};
use std::net::Ipv4Addr;
use std::path::Path;

mod find;

mod memory;

mod java;

mod configuration;

mod accounts;

mod nodetool;

mod ring;

pub(crate) use self::accounts::open_own;
pub(crate) use self::find::installation;
pub(crate) use self::nodetool::nodetool;
pub(crate) use self::ring::{clusters, form_cluster, launch_member, survives_loss};

use self::configuration::{LOGGING, Place, configuration};
use self::find::{find_java, jar};
use self::java::{arguments, management_port};
use self::memory::{LEAST_HEAP, Memory};

/// The file that a server is configured by.
const CONFIGURATION: &str = "cassandra.yaml";

/// What a reader should know of a server that other hosts reach.
const ELSEWHERE: [&str; 2] = [
    "no TLS; the native protocol is on the address that was named, with the generated password alone. The account was made in a start before, on loopback, where the storage port stays",
    "management (JMX) has no password, so it stays on loopback and nothing is flushed before disk is measured: what is in memtables shows as commit log, and tables are sized in whole MiB",
];

/// How to start a server in this folder.
pub(crate) fn launch(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<Launch, StoreError> {
    launch_by((&find_java()?, installation), folder, options)
}

/// As [`launch`], by this Java.
fn launch_by(
    programs: (&Path, &Installation),
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<Launch, StoreError> {
    let start = |folder: &ServerFolder, file: &'static str, further: &str| {
        launch_one(programs, folder, options, (Place::ALONE, file, further))
    };
    if folder.address.is_loopback() {
        let jmx = management_port(folder, Place::ALONE);
        return start(folder, CONFIGURATION, &format!("jmx={jmx}"));
    }
    // Nobody else can be the first to come in with the password that everybody knows.
    let first = ServerFolder { address: Ipv4Addr::LOCALHOST, ..folder.clone() };
    let first = start(&first, "set-up.yaml", "")?;
    let mut launch = start(folder, CONFIGURATION, "")?;
    launch.set_up = Some(Box::new(SetUp { server: first.server, endpoint: first.endpoint }));
    Ok(launch)
}

/// How to start one server, by itself or a member of a cluster, by a configuration in this file; `further` are the options of its URL.
fn launch_one(
    (java, installation): (&Path, &Installation),
    folder: &ServerFolder,
    options: &ServerOptions,
    (place, file, further): (Place, &str, &str),
) -> Result<Launch, StoreError> {
    let memory = Memory::new(options)?;
    let agent = jar(&installation.path, "jamm-").ok_or_else(|| {
        StoreError::new(
            ErrorKind::NotInstalled,
            "find jamm",
            format!("its jar is not in {}", installation.path.display()),
        )
    })?;
    let yaml = configuration(folder, options.durability, &memory, place)?;
    write_private(folder, file, &yaml)?;
    write_private(folder, "logback.xml", LOGGING)?;
    Ok(Launch {
        before: Vec::new(),
        set_up: None,
        server: Command {
            program: java.to_owned(),
            arguments: arguments(&installation.path, &agent, folder, &memory, (place, file)),
            ..Command::default()
        },
        after: Vec::new(),
        endpoint: own_server(
            "cassandra",
            format!(
                "cassandra://sensormark:{}@{}:{}/?{further}",
                folder.password.expose(),
                folder.address,
                folder.ports[0]
            ),
            folder.ports[0],
        ),
        stop: StopSignal::Terminate,
        // 10 s on an idle machine; after a crash on a busy one, minutes
        start_seconds: 300,
        notes: notes(&memory, options.profile.is_some(), folder, place),
    })
}

fn notes(memory: &Memory, as_published: bool, folder: &ServerFolder, place: Place) -> Vec<String> {
    let nodes = if place.members > 1 {
        format!(
            "{} nodes with one token each, hints for nodes that are away, roles known for an hour (2 s as they come), no snapshots",
            place.members
        )
    } else {
        "one node with one token, gc_grace_seconds 0 on tables of readings, no snapshots".to_owned()
    };
    let mut notes = vec![
        format!(
            "heap {} MiB ({}), direct memory up to {} MiB, memtables {} MiB of the heap, commit log up to {} MiB; Java itself takes 200 to 300 MiB beside them",
            memory.heap,
            if as_published {
                "Cassandra's own quarter of the machine's memory"
            } else if memory.heap > LEAST_HEAP {
                "the memory asked for"
            } else {
                "the least that Cassandra runs with"
            },
            memory.direct,
            memory.memtable,
            memory.log
        ),
        "batch_size_fail_threshold 16 MiB (50 KiB as it comes), for batches of 1,000 readings".to_owned(),
        "request time-outs of 60 s and 120 s (2 to 10 s as they come): the client's own end a request first"
            .to_owned(),
        nodes,
    ];
    if folder.address.is_loopback() {
        notes.push("management (JMX) listens on loopback without a password, for nodetool flush".to_owned());
    } else {
        notes.extend(ELSEWHERE.map(str::to_owned));
    }
    if folder.logs.is_some() {
        notes.push("the commit log is in the folder for logs (commitlog_directory)".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::memory::own_heap;
    use super::*;
    use sensormark_store::server::machine_memory_bytes;
    use sensormark_store::{Durability, Secret};

    fn folder(root: &Path) -> ServerFolder {
        ServerFolder {
            root: root.to_owned(),
            data: root.join("data"),
            logs: None,
            address: std::net::Ipv4Addr::LOCALHOST,
            ports: [3, 4, 5, 6, 7],
            password: Secret::new("hunter2"),
            user: None,
        }
    }

    #[test]
    fn no_file_and_no_argument_holds_the_password() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder(root.path());
        let memory = Memory::new(&ServerOptions::default()).unwrap();
        let yaml = configuration(&folder, Durability::Durable, &memory, Place::ALONE).unwrap();
        assert!(yaml.contains("commitlog_sync: batch\n"));
        assert!(yaml.contains("commitlog_total_space: 1024MiB\n"));
        assert!(!yaml.contains("commitlog_sync_period"));
        assert!(!yaml.contains("hunter2"));
        let arguments = arguments(
            Path::new("/j"),
            Path::new("/j/jamm-1.jar"),
            &folder,
            &memory,
            (Place::ALONE, CONFIGURATION),
        );
        assert!(arguments.iter().all(|argument| !argument.contains("hunter2")));
        assert!(arguments.contains(&"-Xmx1024M".to_owned()));
    }

    #[test]
    fn only_the_native_protocol_is_on_another_address() {
        let root = tempfile::tempdir().unwrap();
        let mut folder = folder(root.path());
        folder.address = Ipv4Addr::new(10, 0, 0, 5);
        std::fs::write(root.path().join("jamm-1.jar"), "").unwrap();
        let installation =
            Installation { path: root.path().to_owned(), version: "5.0.6".to_owned(), origin: String::new() };
        let programs = (Path::new("/j/java"), &installation);
        let launch = launch_by(programs, &folder, &ServerOptions::default()).unwrap();
        let url = launch.endpoint.url.expose();
        assert_eq!(url, "cassandra://sensormark:hunter2@10.0.0.5:3/?");
        let set_up = launch.set_up.expect("its account is made on loopback");
        let url = set_up.endpoint.url.expose();
        assert_eq!(url, "cassandra://sensormark:hunter2@127.0.0.1:3/?");
        let addresses = |name: &str| -> Vec<String> {
            let text = std::fs::read_to_string(root.path().join(name)).unwrap();
            let lines = text.lines().filter(|line| line.contains("_address:"));
            lines.map(str::to_owned).collect()
        };
        let listen = "listen_address: 127.0.0.1";
        let expected = [listen, "rpc_address: 10.0.0.5"];
        assert_eq!(addresses("cassandra.yaml"), expected);
        let expected = [listen, "rpc_address: 127.0.0.1"];
        assert_eq!(addresses("set-up.yaml"), expected);
        let file = |arguments: &[String], name: &str| {
            let ends = |argument: &String| argument.ends_with(name);
            arguments.iter().filter(|argument| ends(argument)).count()
        };
        assert_eq!(file(&set_up.server.arguments, "/set-up.yaml"), 1);
        assert_eq!(file(&launch.server.arguments, "/cassandra.yaml"), 1);
        let told = launch.notes.join("\n");
        assert!(told.contains("nothing is flushed"), "{told}");
    }

    #[test]
    fn members_share_the_ring_alike() {
        let root = tempfile::tempdir().unwrap();
        let mut folder = folder(root.path());
        folder.address = std::net::Ipv4Addr::new(127, 0, 0, 3);
        let memory = Memory::new(&ServerOptions::default()).unwrap();
        let place = Place { member: 2, members: 3 };
        let yaml = configuration(&folder, Durability::Default, &memory, place).unwrap();
        for line in [
            "initial_token: \"3074457345618258602\"",
            "listen_address: 127.0.0.3",
            "auto_bootstrap: true",
            "hinted_handoff_enabled: true",
            "roles_validity: 1h",
            "credentials_validity: 1h",
            "      - seeds: \"127.0.0.1:4\"",
        ] {
            assert!(yaml.lines().any(|other| other == line), "{line} in {yaml}");
        }
        assert_eq!(management_port(&folder, place), 7);
    }

    #[test]
    fn as_published_it_divides_the_machines_memory_as_it_comes() {
        let options = ServerOptions { profile: Some("as-published".to_owned()), ..ServerOptions::default() };
        let memory = Memory::new(&options).unwrap();
        assert_eq!(memory.heap, own_heap(machine_memory_bytes() >> 20));
        assert_eq!(memory.log, 8_192);
        let heaps = [1_024, 3_000, 16_384, 65_536].map(own_heap);
        assert_eq!(heaps, [512, 1_024, 4_096, 8_192]);
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let profile = ServerOptions { profile: Some("fast".to_owned()), ..ServerOptions::default() };
        let error = Memory::new(&profile).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        let memory = Memory::new(&ServerOptions::default()).unwrap();
        let folder = folder(root.path());
        let error = configuration(&folder, Durability::Unacknowledged, &memory, Place::ALONE);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
