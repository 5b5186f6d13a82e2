//! A primary with streaming replicas: what its consistency levels promise, how each member is set up, and when all of them serve.
//!
//! The replicas are copies of the primary's data folder that follow its write-ahead log. Nothing takes over by itself when the primary is lost: PostgreSQL
//! leaves that to programs beside it.

use crate::config::Options;
use crate::connection::Link;
use crate::server::{self, PROGRAM, USER};
use sensormark_kit::url::own_server;
use sensormark_server::files::{path_text, write_private};
use sensormark_store::server::{Command, ServerFolder};
use sensormark_store::{
    Clusters, Consistency, Endpoint, ErrorKind, Installation, Leadership, MemberLaunch, ServerOptions,
    StoreError,
};
use std::path::PathBuf;
use std::time::Duration;

/// What the documentation says of `synchronous_commit`.
const COMMIT_PAGE: &str =
    "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT";
/// What it says of several standbys and of waiting for any of them.
const STANDBY_PAGE: &str =
    "https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION-MULTIPLE-STANDBYS";

/// One of the consistency levels: its name, `synchronous_commit`, and whose word a commit waits for.
struct Level {
    described: Consistency,
    synchronous_commit: &'static str,
    waits: Waits,
    reads_replicas: bool,
}

/// Whose word a commit waits for, besides the primary's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    No,
    One,
    All,
}

const LEVELS: [Level; 4] = [
    Level {
        described: Consistency {
            name: "remote_apply",
            promise: "a commit waits until any one replica has applied it (ANY 1), so a question there would find it; the primary answers all questions",
            link: COMMIT_PAGE,
            relaxed: false,
        },
        synchronous_commit: "remote_apply",
        waits: Waits::One,
        reads_replicas: false,
    },
    Level {
        described: Consistency {
            name: "on",
            promise: "a commit waits until any one replica has it on its disk (ANY 1); the primary answers all questions",
            link: COMMIT_PAGE,
            relaxed: false,
        },
        synchronous_commit: "on",
        waits: Waits::One,
        reads_replicas: false,
    },
    Level {
        described: Consistency {
            name: "local",
            promise: "a commit waits for the primary's own disk alone, and replicas follow when they can; the primary answers all questions",
            link: COMMIT_PAGE,
            relaxed: true,
        },
        synchronous_commit: "local",
        waits: Waits::No,
        reads_replicas: false,
    },
    Level {
        described: Consistency {
            name: "replica_reads",
            promise: "replicas answer all questions, and a commit waits until every replica has applied it, so none misses it; while one replica is lost nothing is committed",
            link: STANDBY_PAGE,
            relaxed: false,
        },
        synchronous_commit: "remote_apply",
        waits: Waits::All,
        reads_replicas: true,
    },
];

/// The clusters that there are.
pub(crate) fn clusters() -> Clusters {
    Clusters {
        members: 2..=5,
        consistencies: LEVELS.map(|level| level.described).to_vec(),
        leadership: Leadership::Fixed,
    }
}

/// Whether a commit at this level waited for a replica.
pub(crate) fn survives_loss(consistency: &str) -> bool {
    let mut levels = LEVELS.iter();
    levels.any(|level| level.described.name == consistency && level.waits != Waits::No)
}

fn level(options: &ServerOptions) -> Result<&'static Level, StoreError> {
    let name = options.cluster.as_ref().map(|one| one.consistency.as_str());
    let level = LEVELS.iter().find(|level| Some(level.described.name) == name);
    level.ok_or_else(|| {
        let text = format!("it has no consistency {:?}", name.unwrap_or_default());
        StoreError::new(ErrorKind::Configuration, "start a cluster", text)
    })
}

/// What a replica calls itself, and what its slot on the primary is called; the primary is member 1.
fn name(member: usize) -> String {
    format!("member_{}", member + 1)
}

/// Sets up one member: the primary, or a copy of it.
pub(crate) fn launch_member(
    installation: &Installation,
    folders: &[ServerFolder],
    member: usize,
    options: &ServerOptions,
) -> Result<MemberLaunch, StoreError> {
    let level = level(options)?;
    let lines = lines(level, folders.len());
    let folder = &folders[member];
    let mut launch = if member == 0 {
        server::launch(installation, folder, options, &lines)?
    } else {
        let copied = copy(installation, &folders[0], folder, member)?;
        server::launch_on(installation, folder, options, copied, &lines)?
    };
    if member == 0 {
        launch.notes.push(format!(
            "a primary with {} streaming replicas on this machine: {}",
            folders.len() - 1,
            level.described.promise
        ));
    }
    Ok(MemberLaunch { launch, rejoin: None, recover: Vec::new() })
}

/// What all members have in their configuration. A replica does not use the first two until it is a primary.
fn lines(level: &Level, members: usize) -> String {
    let replicas: Vec<String> = (1..members).map(name).collect();
    let replicas = replicas.join(", ");
    let standbys = match level.waits {
        Waits::No => String::new(),
        Waits::One => format!("ANY 1 ({replicas})"),
        Waits::All => format!("ANY {} ({replicas})", members - 1),
    };
    // A row that a question on a replica still needs is not removed on the primary, so that no question is cancelled for that.
    format!(
        "synchronous_standby_names = '{standbys}'\nsynchronous_commit = {}\nhot_standby_feedback = on\n",
        level.synchronous_commit
    )
}

/// The command that copies the running primary, and what a reader should know of it. A slot keeps the log that a lost replica has not had yet.
fn copy(
    installation: &Installation,
    primary: &ServerFolder,
    folder: &ServerFolder,
    member: usize,
) -> Result<(Command, Option<String>), StoreError> {
    let line = format!("*:*:*:{USER}:{}\n", folder.password.expose());
    let password = path_text(&write_private(folder, "pgpass", &line)?)?;
    let source = format!(
        "host={} port={} user={USER} sslmode=disable application_name={} passfile='{password}'",
        primary.address,
        primary.ports[0],
        name(member)
    );
    let mut arguments = vec![
        format!("--dbname={source}"),
        format!("--pgdata={}", path_text(&server::data_folder(folder))?),
        "--checkpoint=fast".to_owned(),
        "--wal-method=stream".to_owned(),
        "--create-slot".to_owned(),
        format!("--slot={}", name(member)),
        "--write-recovery-conf".to_owned(),
        "--no-sync".to_owned(),
    ];
    if let Some(logs) = &folder.logs {
        arguments.push(format!("--waldir={}", path_text(&logs.join("pg_wal"))?));
    }
    let command = Command { program: copier(installation)?, arguments, ..Command::default() };
    Ok((command, None))
}

/// The program that copies a running server: beside the program postgres, or beside what that is a link to.
fn copier(installation: &Installation) -> Result<PathBuf, StoreError> {
    let server = std::fs::canonicalize(installation.path.join(PROGRAM));
    let linked = server.ok().and_then(|path| path.parent().map(PathBuf::from));
    let mut folders = std::iter::once(installation.path.clone()).chain(linked);
    let found = folders.find_map(|folder| {
        let program = folder.join("pg_basebackup");
        program.is_file().then_some(program)
    });
    found.ok_or_else(|| {
        StoreError::new(
            ErrorKind::NotInstalled,
            "start a cluster",
            "pg_basebackup is not beside the program postgres; install the package of PostgreSQL's client programs (postgresql-client)",
        )
    })
}

/// How often the primary is asked whether all replicas follow.
const POLL: Duration = Duration::from_millis(50);

/// Waits until all replicas stream from the primary, and gives the endpoint of the whole.
pub(crate) async fn form(members: &[Endpoint], options: &ServerOptions) -> Result<Endpoint, StoreError> {
    let level = level(options)?;
    let Some(primary) = members.first() else {
        return Err(StoreError::unsupported("form a cluster", "it has no members"));
    };
    let parsed = Options::parse(primary.url.expose())?;
    let replicas = i64::try_from(members.len() - 1).unwrap_or(i64::MAX);
    let database = &parsed.maintenance_database;
    let mut link = Link::open(&parsed, database, Duration::from_secs(10)).await?;
    loop {
        let text = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND application_name LIKE 'member%'";
        let asking = link.client.query_one(text, &[]);
        let row = link.wire.run("ask which replicas follow", asking).await?;
        if row.get::<_, i64>(0) >= replicas {
            break;
        }
        tokio::time::sleep(POLL).await;
    }
    link.close().await?;
    let port = primary.ports.first().copied().unwrap_or_default();
    Ok(own_server("postgresql", url(members, level), port))
}

/// The URL of the whole: all hosts, the primary first.
fn url(members: &[Endpoint], level: &Level) -> String {
    let parts = members.iter().filter_map(|member| {
        let (head, rest) = member.url.expose().split_once('@')?;
        let (host, _) = rest.split_once('/')?;
        Some((head, host))
    });
    let (heads, hosts): (Vec<&str>, Vec<&str>) = parts.unzip();
    let reads = if level.reads_replicas { "&reads=replicas" } else { "" };
    format!(
        "{}@{}/postgres?sslmode=disable&target_session_attrs=read-write&synchronous_commit={}{reads}",
        heads.first().copied().unwrap_or_default(),
        hosts.join(","),
        level.synchronous_commit
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Cluster, Secret};
    use std::net::Ipv4Addr;
    use std::path::Path;

    fn folder(root: &Path, member: u8) -> ServerFolder {
        ServerFolder {
            root: root.to_owned(),
            data: root.join("data"),
            logs: None,
            address: Ipv4Addr::new(127, 0, 0, member),
            ports: [4711, 0, 0, 0, 0],
            password: Secret::new("hunter2"),
            user: None,
        }
    }

    #[test]
    fn every_level_but_one_waits_for_a_replica() {
        for level in LEVELS {
            let name = level.described.name;
            assert_eq!(survives_loss(name), name != "local", "{name}");
        }
        assert!(!survives_loss("quorum"));
    }

    #[test]
    fn a_replica_copies_the_primary_without_its_password_on_the_command_line() {
        let roots = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let folders = [folder(roots[0].path(), 1), folder(roots[1].path(), 2)];
        let bin = roots[0].path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join("pg_basebackup"), "").unwrap();
        let installation = Installation { path: bin, version: "15.18".into(), origin: String::new() };
        let options = ServerOptions {
            cluster: Some(Cluster { members: 2, consistency: "remote_apply".into() }),
            ..ServerOptions::default()
        };
        let member = launch_member(&installation, &folders, 1, &options).unwrap();
        assert!(!format!("{:?}", member.launch.before).contains("hunter2"));
        let endpoints = [0, 1].map(|member| {
            let launch = launch_member(&installation, &folders, member, &options).unwrap();
            launch.launch.endpoint
        });
        let text = std::fs::read_to_string(folders[1].join("postgresql.conf")).unwrap();
        for line in [
            "listen_addresses = '127.0.0.2'",
            "synchronous_standby_names = 'ANY 1 (member_2)'",
            "synchronous_commit = remote_apply",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} in {text}");
        }
        let whole = url(&endpoints, &LEVELS[0]);
        assert!(whole.contains("@127.0.0.1:4711,127.0.0.2:4711/postgres?"), "{whole}");
        assert!(Options::parse(&whole).is_ok());
    }
}
