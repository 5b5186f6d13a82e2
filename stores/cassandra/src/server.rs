//! The server on this machine, and how one of our own is configured and started.
//!
//! It writes files and says what to run; the supervisor runs it. The server listens on 127.0.0.1 alone. Its first account has a known
//! password until [`set_up_accounts`] replaces it, right after the start.

use crate::config::Options;
use crate::connection::Link;
use sensormark_kit::url::own_server;
use sensormark_server::files::write_private;
use sensormark_store::server::{Command, ServerFolder, StopSignal, machine_memory_bytes};
use sensormark_store::{
    ErrorKind, Installation, Launch, Secret, ServerOptions, StoreError, Typical,
};
use std::time::Duration;

mod find;

mod java;

mod configuration;

mod nodetool;

pub(crate) use self::find::installation;
pub(crate) use self::nodetool::nodetool;

use self::configuration::{LOGGING, configuration};
use self::find::{find_java, jar};
use self::java::arguments;

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

/// How the memory asked for is divided, in MiB.
struct Memory {
    heap: u64,
    direct: u64,
    memtable: u64,
    /// What the commit log may fill before memtables are written out.
    log: u64,
}

/// The smallest heap that Cassandra works with, in MiB.
const LEAST_HEAP: u64 = 384;

/// What the commit log may fill as Cassandra comes, on a disk of 32 GiB or more, in MiB.
const LOG_AS_PUBLISHED: u64 = 8_192;

impl Memory {
    fn new(options: &ServerOptions) -> Result<Self, StoreError> {
        let divided = |heap: u64, log: u64| Self {
            heap,
            direct: (heap / 2).max(128),
            memtable: heap / 4,
            log,
        };
        match options.profile.as_deref() {
            None => Ok(divided(
                (options.memory_bytes >> 20).max(LEAST_HEAP),
                options.log_bytes() >> 20,
            )),
            Some("as-published") => Ok(divided(
                own_heap(machine_memory_bytes() >> 20),
                LOG_AS_PUBLISHED,
            )),
            Some(other) => Err(StoreError::new(
                ErrorKind::Configuration,
                "configure a Cassandra server",
                format!(
                    "there is no profile {other:?} of settings for Cassandra; the only one is as-published (Cassandra's own division of the machine's memory)"
                ),
            )),
        }
    }
}

/// The heap that Cassandra gives itself on a machine with so much memory, in MiB, by the rule of its `cassandra-env.sh`. It is the larger of two: a quarter
/// of the memory up to 8 GiB, and half of it up to 1 GiB.
/// <https://cassandra.apache.org/doc/latest/cassandra/managing/configuration/cass_env_sh_file.html>
fn own_heap(machine: u64) -> u64 {
    (machine / 2).min(1_024).max((machine / 4).min(8_192))
}

/// How to start a server in this folder.
pub(crate) fn launch(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
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
    let yaml = configuration(folder, options.durability, &memory)?;
    write_private(folder, "cassandra.yaml", &yaml)?;
    write_private(folder, "logback.xml", LOGGING)?;
    let jmx = folder.ports[2];
    Ok(Launch {
        before: Vec::new(),
        server: Command {
            program: java,
            arguments: arguments(&installation.path, &agent, folder, &memory),
            ..Command::default()
        },
        after: Vec::new(),
        endpoint: own_server(
            "cassandra",
            format!(
                "cassandra://sensormark:{}@127.0.0.1:{}/?jmx={jmx}",
                folder.password.expose(),
                folder.ports[0]
            ),
            folder.ports[0],
        ),
        stop: StopSignal::Terminate,
        // 10 s on an idle machine; after a crash on a busy one, minutes
        start_seconds: 300,
        log_paths: vec!["commitlog".to_owned()],
        notes: notes(&memory, options.profile.is_some(), folder.logs.is_some()),
    })
}

fn notes(memory: &Memory, as_published: bool, logs_apart: bool) -> Vec<String> {
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
        "one node with one token, gc_grace_seconds 0 on tables of readings, no snapshots"
            .to_owned(),
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
    use super::*;
    use sensormark_store::Durability;
    use std::path::Path;

    fn folder(root: &Path) -> ServerFolder {
        ServerFolder {
            root: root.to_owned(),
            data: root.join("data"),
            logs: None,
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
        let yaml = configuration(&folder, Durability::Durable, &memory).unwrap();
        assert!(yaml.contains("commitlog_sync: batch\n"));
        assert!(yaml.contains("commitlog_total_space: 1024MiB\n"));
        assert!(!yaml.contains("commitlog_sync_period"));
        assert!(!yaml.contains("hunter2"));
        let arguments = arguments(
            Path::new("/j"),
            Path::new("/j/jamm-1.jar"),
            &folder,
            &memory,
        );
        assert!(
            arguments
                .iter()
                .all(|argument| !argument.contains("hunter2"))
        );
        assert!(arguments.contains(&"-Xmx1024M".to_owned()));
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
        let error = configuration(&folder(root.path()), Durability::Unacknowledged, &memory);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
