//! The server on this machine, and how one of our own is configured and started.
//!
//! It writes files and says what to run; the supervisor runs it. The server listens on 127.0.0.1 alone. Its first account has a known
//! password until [`set_up_accounts`] replaces it, right after the start.

use crate::config::Options;
use crate::connection::Link;
use sensormark_kit::url::own_server;
use sensormark_server::files::write_private;
use sensormark_store::server::{Command, ServerFolder, StopSignal};
use sensormark_store::{
    ErrorKind, Installation, Launch, Secret, ServerOptions, StoreError, Typical,
};
use std::time::Duration;

mod find;

mod memory;

mod java;

mod configuration;

mod nodetool;

mod ring;

pub(crate) use self::find::installation;
pub(crate) use self::nodetool::nodetool;
pub(crate) use self::ring::{clusters, form_cluster, launch_member, survives_loss};

use self::configuration::{LOGGING, Place, configuration};
use self::find::{find_java, jar};
use self::java::{arguments, management_port};
use self::memory::{LEAST_HEAP, Memory};

/// From the kept result sensor-operations (`docs/results`, 2026-11-23, two processors).
pub const TYPICAL: Typical = Typical {
    // 4.3 s until it answers, with the files before it.
    start_seconds: 5.5,
    // 3.6 to 4.3 s until it answers.
    restart_seconds: 4.3,
    // A trial took 20 s besides its phases: start, stop and 18 resets.
    stop_seconds: 2.0,
    // 0.9 s.
    settle_seconds: 0.9,
    // See above.
    reset_seconds: 0.5,
    // 10,000 single writes in 2.06 s.
    write_us: 205.0,
    // 100,000 readings of one field in 0.85 s, later in 0.08 s.
    value_us: 1.0,
    // 10,000 single reads in 1.93 s.
    question_us: 195.0,
    // 100,000 readings of ranges in 0.31 s, later in 0.05 s.
    scan_us: 1.0,
    // 16 clients write 6 times as fast as one.
    clients_served: 5.0,
    // Three segments of the commit log, 32 MB each.
    empty_bytes: 100 << 20,
    // 4 MB for 100,000 readings.
    reading_bytes: 60,
};

/// How to start a server in this folder.
pub(crate) fn launch(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<Launch, StoreError> {
    let jmx = management_port(folder, Place::ALONE);
    let further = format!("jmx={jmx}");
    launch_one(installation, folder, options, (Place::ALONE, &further))
}

/// How to start one server, by itself or a member of a cluster; `further` are the options of its URL.
fn launch_one(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
    (place, further): (Place, &str),
) -> Result<Launch, StoreError> {
    let memory = Memory::new(options)?;
    let java = find_java()?;
    let agent = jar(&installation.path, "jamm-").ok_or_else(|| {
        StoreError::new(
            ErrorKind::NotInstalled,
            "find jamm",
            format!("its jar is not in {}", installation.path.display()),
        )
    })?;
    let yaml = configuration(folder, options.durability, &memory, place)?;
    write_private(folder, "cassandra.yaml", &yaml)?;
    write_private(folder, "logback.xml", LOGGING)?;
    Ok(Launch {
        before: Vec::new(),
        server: Command {
            program: java,
            arguments: arguments(&installation.path, &agent, folder, &memory, place),
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
        log_paths: vec!["commitlog".to_owned()],
        notes: notes(
            &memory,
            options.profile.is_some(),
            folder.logs.is_some(),
            place,
        ),
    })
}

fn notes(memory: &Memory, as_published: bool, logs_apart: bool, place: Place) -> Vec<String> {
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
        "batch_size_fail_threshold 16 MiB (50 KiB as it comes), for batches of 1,000 readings"
            .to_owned(),
        "request time-outs of 60 s and 120 s (2 to 10 s as they come): the client's own end a request first"
            .to_owned(),
        nodes,
        "management (JMX) listens on loopback without a password, for nodetool flush".to_owned(),
    ];
    if logs_apart {
        notes.push("the commit log is in the folder for logs (commitlog_directory)".to_owned());
    }
    notes
}

/// Replaces the server's first account, whose password is known, by our own.
pub(crate) async fn set_up_accounts(
    options: &Options,
    patience: Duration,
) -> Result<(), StoreError> {
    let Some((user, password)) = &options.user else {
        return Ok(());
    };
    let mut first = options.clone();
    first.user = Some(("cassandra".to_owned(), Secret::new("cassandra")));
    let link = Link::open(&first, patience).await?;
    // the generated password is of letters and digits
    let create = format!(
        "CREATE ROLE IF NOT EXISTS {user} WITH PASSWORD = '{}' AND LOGIN = true AND SUPERUSER = true",
        password.expose()
    );
    link.run("set up an account", &create).await?;
    drop(link);
    let link = Link::open(options, patience).await?;
    link.run("remove the first account", "DROP ROLE IF EXISTS cassandra")
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::memory::own_heap;
    use super::*;
    use sensormark_store::Durability;
    use sensormark_store::server::machine_memory_bytes;
    use std::path::Path;

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
            Place::ALONE,
        );
        assert!(
            arguments
                .iter()
                .all(|argument| !argument.contains("hunter2"))
        );
        assert!(arguments.contains(&"-Xmx1024M".to_owned()));
    }

    #[test]
    fn members_share_the_ring_alike() {
        let root = tempfile::tempdir().unwrap();
        let mut folder = folder(root.path());
        folder.address = std::net::Ipv4Addr::new(127, 0, 0, 3);
        let memory = Memory::new(&ServerOptions::default()).unwrap();
        let place = Place {
            member: 2,
            members: 3,
        };
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
        let options = ServerOptions {
            profile: Some("as-published".to_owned()),
            ..ServerOptions::default()
        };
        let memory = Memory::new(&options).unwrap();
        assert_eq!(memory.heap, own_heap(machine_memory_bytes() >> 20));
        assert_eq!(memory.log, 8_192);
        let heaps = [1_024, 3_000, 16_384, 65_536].map(own_heap);
        assert_eq!(heaps, [512, 1_024, 4_096, 8_192]);
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let profile = ServerOptions {
            profile: Some("fast".to_owned()),
            ..ServerOptions::default()
        };
        let error = Memory::new(&profile).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        let memory = Memory::new(&ServerOptions::default()).unwrap();
        let folder = folder(root.path());
        let error = configuration(&folder, Durability::Unacknowledged, &memory, Place::ALONE);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
