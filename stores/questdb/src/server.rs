//! The server on this machine, and how one of our own is configured and started.
//!
//! All settings are variables of its environment, the password among them: <https://questdb.com/docs/configuration/overview/>. Nothing is started
//! here, that is the supervisor's.

use crate::config::URL_EXAMPLE;
use sensormark_kit::url::own_server;
use sensormark_server::files::path_text;
use sensormark_server::find::{Search, install_advice};
use sensormark_server::java::find_java;
use sensormark_store::server::{Command, ServerFolder, StopSignal};
use sensormark_store::{Durability, Endpoint, ErrorKind, Installation, Launch, ServerOptions, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

const USER: &str = "sensormark";

/// Connections beyond the clients: administrator and checks.
const SPARE_CONNECTIONS: u32 = 13;

/// The smallest heap, in MiB. With 256, a server of some hundred tables and as many connections ran out of it, and ended.
const LEAST_HEAP: u64 = 512;

/// The smallest limit of memory outside the heap, in MiB.
const LEAST_OUTSIDE: u64 = 512;

/// The server's jar, in the order of places that all stores have.
pub(crate) fn installation() -> Result<Installation, StoreError> {
    let search = Search {
        name: "questdb",
        title: "the QuestDB server",
        wanted: "its jar",
        inside: &["lib", "bin", ""],
        on_path: false,
        packages: ["/opt/questdb/bin", "/usr/local/questdb/bin"].map(PathBuf::from).to_vec(),
        advice: install_advice("questdb", URL_EXAMPLE),
    };
    let found = search.find(jar)?;
    java()?;
    let (jar, version) = found.what.clone();
    Ok(found.installation(jar, version))
}

/// The newest jar in a folder, and the version in its name.
fn jar(folder: &Path) -> Option<(PathBuf, String)> {
    let version = |path: PathBuf| {
        let stem = path.file_name()?.to_str()?.strip_suffix(".jar")?;
        let version = stem.strip_prefix("questdb-")?.to_owned();
        version.starts_with(|first: char| first.is_ascii_digit()).then_some((path, version))
    };
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.filter_map(|entry| version(entry.path())).max()
}

fn java() -> Result<PathBuf, StoreError> {
    find_java("QuestDB", "Java 17 or later", |version| version >= 17)
}

/// How the memory asked for is divided, in MiB. A quarter is for the heap. The rest is for what QuestDB keeps outside it, which is nearly all that it works
/// with. <https://questdb.com/docs/getting-started/capacity-planning/>
struct Memory {
    heap: u64,
    outside: u64,
}

impl Memory {
    fn new(options: &ServerOptions) -> Result<Option<Self>, StoreError> {
        let all = options.memory_bytes >> 20;
        let heap = (all / 4).max(LEAST_HEAP);
        match options.profile.as_deref() {
            None => Ok(Some(Self { heap, outside: all.saturating_sub(heap).max(LEAST_OUTSIDE) })),
            Some("as-published") => Ok(None),
            Some(other) => Err(StoreError::new(
                ErrorKind::Configuration,
                "configure a QuestDB server",
                format!(
                    "there is no profile {other:?}; the only one is as-published (QuestDB's own division of memory)"
                ),
            )),
        }
    }
}

/// Sets up a server of our own in this folder.
pub(crate) fn launch(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<Launch, StoreError> {
    if folder.logs.is_some() {
        return Err(StoreError::unsupported(
            "keep the write-ahead log apart",
            "QuestDB keeps a table's write-ahead log in the table's own folder; leave out the folder for logs",
        ));
    }
    let memory = Memory::new(options)?;
    let (pg, http) = (folder.ports[0], folder.ports[1]);
    let mut arguments: Vec<String> = [
        "--add-exports=java.base/jdk.internal.math=io.questdb",
        "--add-exports=java.base/jdk.internal.vm=io.questdb",
        "-XX:+UseParallelGC",
        "-XX:+ExitOnOutOfMemoryError",
    ]
    .map(str::to_owned)
    .to_vec();
    arguments.push(format!("-Djava.io.tmpdir={}", path_text(&folder.root)?));
    arguments.extend(memory.iter().map(|memory| format!("-Xmx{}m", memory.heap)));
    arguments.extend([
        "-p".to_owned(),
        path_text(&installation.path)?,
        "-m".to_owned(),
        "io.questdb/io.questdb.ServerMain".to_owned(),
        "-d".to_owned(),
        path_text(&folder.data)?,
    ]);
    let url = format!("questdb://{USER}:{}@{}:{pg}/?http={http}", folder.password.expose(), folder.address);
    Ok(Launch {
        before: Vec::new(),
        set_up: None,
        server: Command {
            program: java()?,
            arguments,
            environment: environment(folder, options, memory.as_ref())?,
            ..Command::default()
        },
        after: Vec::new(),
        endpoint: Endpoint { ports: vec![pg, http], ..own_server("questdb", url, pg) },
        stop: StopSignal::Terminate,
        start_seconds: 120,
        notes: notes(folder, memory.as_ref()),
    })
}

fn notes(folder: &ServerFolder, memory: Option<&Memory>) -> Vec<String> {
    let memory = match memory {
        Some(Memory { heap, outside }) => format!(
            "heap up to {heap} MiB, memory outside it up to {outside} MiB (ram.usage.limit.bytes); Java itself takes 100 to 200 MiB beside them"
        ),
        None => "memory as QuestDB comes".to_owned(),
    };
    let place = if folder.address.is_loopback() {
        "no TLS, HTTP and PostgreSQL's protocol on loopback only"
    } else {
        "no TLS, HTTP and PostgreSQL's protocol on the address that was named, with the generated password alone; without it the server shows its console's pages, its settings and its warnings, and no readings"
    };
    vec![
        memory,
        place.to_owned(),
        "a write is acknowledged when it is in the write-ahead log and shows when it is applied; a question waits until all shows that was acknowledged before it, and the wait is a part of its time".to_owned(),
        "lines make no tables and columns by themselves (line.auto.create.new.tables and .columns off), no telemetry, idle connections stay open for a day, a question may take an hour: the client's own end comes first".to_owned(),
        "a writer that nobody uses closes within 3 s (cairo.inactive.writer.ttl and cairo.wal.inactive.writer.ttl 2 s, cairo.idle.check.interval 1 s; 10, 2 and 5 minutes as it comes), so that the disk figure has nothing of the 16 MiB a column that it allocates ahead".to_owned(),
        "applied write-ahead logs are removed after 1 s (cairo.wal.purge.interval; 30 s as it comes), so that the disk figure has none".to_owned(),
    ]
}

/// The server's settings: what it takes to run here, the durability class, and the memory allowed. What is not said is QuestDB's default.
fn environment(
    folder: &ServerFolder,
    options: &ServerOptions,
    memory: Option<&Memory>,
) -> Result<Vec<(String, String)>, StoreError> {
    const DAY_MS: &str = "86400000";
    let mode = match options.durability {
        Durability::Durable => "sync",
        Durability::Default | Durability::Relaxed => "nosync",
        Durability::Unacknowledged => {
            return Err(StoreError::unsupported(
                "configure a QuestDB server",
                "lines over HTTP are acknowledged; use another durability class",
            ));
        }
    };
    let connections = options.clients.saturating_add(SPARE_CONNECTIONS).to_string();
    let (pg, http) = (folder.ports[0], folder.ports[1]);
    let at = |port: u16| format!("{}:{port}", folder.address);
    let (pg, http) = (at(pg), at(http));
    let password = folder.password.expose();
    let settings = [
        ("PG_NET_BIND_TO", pg.as_str()),
        ("HTTP_BIND_TO", http.as_str()),
        ("HTTP_MIN_ENABLED", "false"),
        ("LINE_TCP_ENABLED", "false"),
        ("TELEMETRY_ENABLED", "false"),
        ("PG_USER", USER),
        ("PG_PASSWORD", password),
        ("HTTP_USER", USER),
        ("HTTP_PASSWORD", password),
        ("PG_NET_CONNECTION_LIMIT", &connections),
        ("HTTP_NET_CONNECTION_LIMIT", &connections),
        ("PG_NET_CONNECTION_TIMEOUT", DAY_MS),
        ("HTTP_NET_CONNECTION_TIMEOUT", DAY_MS),
        ("QUERY_TIMEOUT_SEC", "3600"),
        ("LINE_AUTO_CREATE_NEW_TABLES", "false"),
        ("LINE_AUTO_CREATE_NEW_COLUMNS", "false"),
        ("CAIRO_COMMIT_MODE", mode),
        ("CAIRO_WAL_PURGE_INTERVAL", "1000"),
        ("CAIRO_INACTIVE_WRITER_TTL", "2000"),
        ("CAIRO_WAL_INACTIVE_WRITER_TTL", "2000"),
        ("CAIRO_IDLE_CHECK_INTERVAL", "1000"),
        ("LOG_W_STDOUT_LEVEL", "ERROR,CRITICAL,ADVISORY"),
    ];
    let named = |(name, value): (&str, &str)| (format!("QDB_{name}"), value.to_owned());
    let mut environment: Vec<(String, String)> = settings.into_iter().map(named).collect();
    if let Some(memory) = memory {
        let bytes = (memory.outside << 20).to_string();
        environment.push(named(("RAM_USAGE_LIMIT_BYTES", &bytes)));
    }
    Ok(environment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::Secret;
    use std::net::Ipv4Addr;

    fn folder(root: &Path, address: Ipv4Addr) -> ServerFolder {
        ServerFolder {
            root: root.to_owned(),
            data: root.join("data"),
            logs: None,
            address,
            ports: [3, 4, 5, 6, 7],
            password: Secret::new("hunter2"),
            user: None,
        }
    }

    fn installed() -> Installation {
        Installation {
            path: PathBuf::from("/q/questdb-9.3.4.jar"),
            version: "9.3.4".to_owned(),
            origin: String::new(),
        }
    }

    #[test]
    fn another_address_is_everywhere() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder(root.path(), Ipv4Addr::new(10, 0, 0, 5));
        let Ok(launch) = launch(&installed(), &folder, &ServerOptions::default()) else {
            // Java is not here.
            assert!(java().is_err());
            return;
        };
        let url = launch.endpoint.url.expose();
        assert_eq!(url, "questdb://sensormark:hunter2@10.0.0.5:3/?http=4");
        let environment = &launch.server.environment;
        let bound = environment.iter().filter(|(name, _)| name.ends_with("_BIND_TO"));
        let bound: Vec<&str> = bound.map(|(_, value)| value.as_str()).collect();
        assert_eq!(bound, ["10.0.0.5:3", "10.0.0.5:4"]);
        assert!(launch.set_up.is_none());
    }

    #[test]
    fn the_password_is_in_the_environment_alone() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder(root.path(), Ipv4Addr::LOCALHOST);
        let installation = installed();
        let options = ServerOptions {
            memory_bytes: 2 << 30,
            durability: Durability::Durable,
            ..ServerOptions::default()
        };
        let Ok(launch) = launch(&installation, &folder, &options) else {
            // Java is not here.
            assert!(java().is_err());
            return;
        };
        let shows = |text: &String| text.contains("hunter2");
        assert!(!launch.server.arguments.iter().any(shows));
        assert!(launch.server.arguments.contains(&"-Xmx512m".to_owned()));
        let value = |name: &str| {
            let mut found = launch.server.environment.iter();
            found.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
        };
        assert_eq!(value("QDB_CAIRO_COMMIT_MODE"), Some("sync"));
        assert_eq!(value("QDB_RAM_USAGE_LIMIT_BYTES"), Some("1610612736"));
        assert_eq!(value("QDB_HTTP_BIND_TO"), Some("127.0.0.1:4"));
    }
}
