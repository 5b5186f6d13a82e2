//! InfluxDB on this machine: where it is, and how a server of our own is set up and started.
//!
//! Files are written and commands described; nothing is started here, that is the supervisor's.

mod accounts;

pub(crate) use self::accounts::complete as complete_accounts;

use crate::config::URL_EXAMPLE;
use sensormark_kit::url::own_server;
use sensormark_server::files::{path_text, write_private};
use sensormark_server::find::{Search, install_advice, program_version};
use sensormark_store::server::{Command, ServerFolder, SetUp, StopSignal};
use sensormark_store::{Endpoint, ErrorKind, Installation, Launch, ServerOptions, StoreError};
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

const PROGRAM: &str = "influxd";
const USER: &str = "sensormark";

/// The database into which the listener of datagrams of a server of our own writes.
const DATAGRAMS: &str = "sensormark_udp";

/// After how many seconds without writes a shard is written out, and compacted in full.
pub(crate) const COLD_SECONDS: u64 = 5;

/// The read buffer that the listener of datagrams asks for where the kernel allows as much.
const READ_BUFFER: u64 = 32 << 20;

/// The server found, in the order of places that all stores have.
pub(crate) fn installation() -> Result<Installation, StoreError> {
    let search = Search {
        name: "influxdb",
        title: "InfluxDB",
        wanted: "the program influxd",
        inside: &["bin", "usr/bin", ""],
        on_path: true,
        packages: vec![PathBuf::from("/usr/bin")],
        advice: install_advice("influxdb", URL_EXAMPLE),
    };
    let found = search.find(|folder| folder.join(PROGRAM).is_file().then_some(()))?;
    let folder = found.folder.clone();
    let version = program_version("InfluxDB", &folder.join(PROGRAM), "version")?;
    if !version.starts_with("1.") {
        return Err(StoreError::new(
            ErrorKind::NotInstalled,
            "find InfluxDB",
            format!(
                "{version} cannot be started by sensormark, which knows 1.8; install that one with `sensormark install-servers influxdb`"
            ),
        ));
    }
    Ok(found.installation(folder, version))
}

/// Sets up a server of our own in this folder.
pub(crate) fn launch(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<Launch, StoreError> {
    if let Some(profile) = &options.profile
        && profile != "as-published"
    {
        return Err(StoreError::new(
            ErrorKind::Configuration,
            "configure InfluxDB",
            format!(
                "there is no profile {profile:?}; the only one is as-published (InfluxDB's own limits of memory)"
            ),
        ));
    }
    let address = folder.address;
    let listener = Listener::new(folder);
    // InfluxDB makes its first user only while it listens, and by whoever comes first. Before it listens to others, ours is made.
    let set_up = if address.is_loopback() {
        None
    } else {
        let url = url(folder, Ipv4Addr::LOCALHOST, None);
        let file = ("set-up.conf", Ipv4Addr::LOCALHOST, None);
        Some(Box::new(SetUp {
            server: server(installation, folder, options, file)?,
            endpoint: own_server("influxdb", url, folder.ports[0]),
        }))
    };
    let file = ("influxdb.conf", address, listener);
    Ok(Launch {
        before: Vec::new(),
        set_up,
        server: server(installation, folder, options, file)?,
        after: Vec::new(),
        endpoint: Endpoint {
            // The second is where backups are made.
            ports: vec![folder.ports[0], folder.ports[2]],
            ..own_server("influxdb", url(folder, address, listener), folder.ports[0])
        },
        stop: StopSignal::Terminate,
        start_seconds: 300,
        notes: notes(options, listener, folder.logs.is_some()),
    })
}

/// The listener of datagrams. It asks for no password, so there is one on loopback alone.
#[derive(Debug, Clone, Copy)]
struct Listener {
    port: u16,
    buffer: u64,
}

impl Listener {
    fn new(folder: &ServerFolder) -> Option<Self> {
        let [_, port, ..] = folder.ports;
        let listener = Self { port, buffer: read_buffer() };
        folder.address.is_loopback().then_some(listener)
    }
}

/// How the server is spoken to on this address.
fn url(folder: &ServerFolder, address: Ipv4Addr, listener: Option<Listener>) -> String {
    let question = listener
        .map_or_else(String::new, |Listener { port, .. }| format!("?udp={port}&udp_database={DATAGRAMS}"));
    let (password, port) = (folder.password.expose(), folder.ports[0]);
    format!("influxdb://{USER}:{password}@{address}:{port}/{question}")
}

/// The server with a configuration of this name, on this address.
fn server(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
    (name, address, listener): (&str, Ipv4Addr, Option<Listener>),
) -> Result<Command, StoreError> {
    let data = folder.data.join("influxdb");
    let log = folder.log("wal", data.join("wal"));
    let place = (address, folder.ports[0], folder.ports[2]);
    let text = configuration((&data, &log), place, options, listener)?;
    let file = write_private(folder, name, &text)?;
    let mut environment = Vec::new();
    if options.profile.is_none() {
        environment.push(("GOMEMLIMIT".to_owned(), format!("{}MiB", (options.memory_bytes >> 20).max(64))));
    }
    Ok(Command {
        program: installation.path.join(PROGRAM),
        arguments: ["run", "-config"].map(str::to_owned).into_iter().chain([path_text(&file)?]).collect(),
        environment,
        ..Command::default()
    })
}

fn notes(options: &ServerOptions, listener: Option<Listener>, logs_apart: bool) -> Vec<String> {
    let place = if listener.is_some() {
        "loopback only"
    } else {
        "HTTP on the address that was named, with the generated password alone; without it /ping, /health, /metrics and /debug/vars show the server's counters, and no readings"
    };
    let mut notes = vec![
        format!(
            "cache-snapshot-write-cold-duration and compact-full-write-cold-duration are {COLD_SECONDS} s (they are 10 minutes and 4 hours as it comes), so that the database comes to rest within a run"
        ),
        "index-version is tsi1, limits of series, tag values and body size are off, flux-enabled is true (which takes about 3 s at each start)".to_owned(),
        format!("no TLS, {place}; reporting, monitoring into _internal, continuous queries and retention are off"),
        match listener {
            Some(Listener { buffer, .. }) => format!("the listener of datagrams has a read buffer of {buffer} bytes and writes batches of 5,000 or every 100 ms into {DATAGRAMS}"),
            None => "no listener of datagrams, which ask for no password; the user was made in a start before, on loopback".to_owned(),
        },
    ];
    if logs_apart {
        notes.push("the write-ahead log is in the folder for logs (wal-dir)".to_owned());
    }
    if options.profile.is_none() {
        notes.push(
            "half of the memory allowed is cache-max-memory-size, all of it is GOMEMLIMIT, which is soft"
                .to_owned(),
        );
    }
    notes
}

/// As much as the kernel allows: it cuts what is over it off in silence.
fn read_buffer() -> u64 {
    let allowed = fs::read_to_string("/proc/sys/net/core/rmem_max").ok();
    let allowed = allowed.and_then(|text| text.trim().parse().ok()).unwrap_or(212_992);
    READ_BUFFER.min(allowed)
}

fn configuration(
    (data, log): (&Path, &Path),
    (address, http, rpc): (Ipv4Addr, u16, u16),
    options: &ServerOptions,
    listener: Option<Listener>,
) -> Result<String, StoreError> {
    let place = |path: &Path| -> Result<String, StoreError> {
        let text = path_text(path)?;
        if text.contains(['"', '\\', '\n']) {
            return Err(StoreError::new(
                ErrorKind::Configuration,
                "configure InfluxDB",
                "the folder's name holds quotes or backslashes; choose another",
            ));
        }
        Ok(text)
    };
    let memory = if options.profile.is_none() {
        let half = (options.memory_bytes / 2).max(32 << 20);
        format!("  cache-max-memory-size = {half}\n")
    } else {
        String::new()
    };
    let datagrams = listener.map_or_else(String::new, |Listener { port, buffer }| {
        format!(
            "[[udp]]\n  enabled = true\n  bind-address = \"{address}:{port}\"\n  database = \"{DATAGRAMS}\"\n  batch-size = 5000\n\
             \x20 batch-pending = 100\n  batch-timeout = \"100ms\"\n  read-buffer = {buffer}\n  precision = \"n\"\n"
        )
    });
    Ok(format!(
        "reporting-disabled = true\n\
         bind-address = \"127.0.0.1:{rpc}\"\n\
         [meta]\n  dir = \"{}\"\n  retention-autocreate = true\n  logging-enabled = false\n\
         [data]\n  dir = \"{}\"\n  wal-dir = \"{}\"\n  index-version = \"tsi1\"\n  wal-fsync-delay = \"0s\"\n{memory}\
         \x20 cache-snapshot-write-cold-duration = \"{COLD_SECONDS}s\"\n  compact-full-write-cold-duration = \"{COLD_SECONDS}s\"\n\
         \x20 max-series-per-database = 0\n  max-values-per-tag = 0\n  query-log-enabled = false\n  trace-logging-enabled = false\n\
         [coordinator]\n  write-timeout = \"60s\"\n  max-concurrent-queries = 0\n  query-timeout = \"0s\"\n  log-queries-after = \"0s\"\n\
         [retention]\n  enabled = false\n\
         [shard-precreation]\n  enabled = false\n\
         [monitor]\n  store-enabled = false\n\
         [http]\n  enabled = true\n  bind-address = \"{address}:{http}\"\n  flux-enabled = true\n  flux-log-enabled = false\n  auth-enabled = true\n  log-enabled = false\n\
         \x20 write-tracing = false\n  pprof-enabled = false\n  max-row-limit = 0\n  max-body-size = 0\n  max-connection-limit = 0\n  unix-socket-enabled = false\n\
         [subscriber]\n  enabled = false\n\
         [continuous_queries]\n  enabled = false\n\
         [logging]\n  format = \"logfmt\"\n  level = \"warn\"\n  suppress-logo = true\n\
         {datagrams}",
        place(&data.join("meta"))?,
        place(&data.join("data"))?,
        place(log)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_says_what_was_asked_for() {
        let options = ServerOptions { memory_bytes: 64 << 20, ..ServerOptions::default() };
        let text = configuration(
            (Path::new("/tmp/x"), Path::new("/tmp/x/wal")),
            (Ipv4Addr::LOCALHOST, 4711, 4713),
            &options,
            Some(Listener { port: 4712, buffer: 1_000 }),
        )
        .unwrap();
        for line in [
            "bind-address = \"127.0.0.1:4711\"",
            "bind-address = \"127.0.0.1:4712\"",
            "cache-max-memory-size = 33554432",
            "wal-fsync-delay = \"0s\"",
            "read-buffer = 1000",
            "auth-enabled = true",
        ] {
            assert!(text.lines().any(|other| other.trim() == line), "{line} in {text}");
        }
        assert!(
            configuration(
                (Path::new("/tmp/\"x"), Path::new("/tmp/x")),
                (Ipv4Addr::LOCALHOST, 1, 2),
                &options,
                None
            )
            .is_err()
        );
    }

    /// What a server that others reach is set up with.
    #[test]
    fn another_address_has_no_datagrams_and_an_account_from_the_start() {
        let root = tempfile::tempdir().unwrap();
        let folder = ServerFolder {
            root: root.path().to_owned(),
            data: root.path().join("data"),
            logs: None,
            address: Ipv4Addr::new(10, 0, 0, 5),
            ports: [3, 4, 5, 6, 7],
            password: sensormark_store::Secret::new("hunter2"),
            user: None,
        };
        let installation =
            Installation { path: PathBuf::from("/i"), version: "1.8.10".to_owned(), origin: String::new() };
        let launch = launch(&installation, &folder, &ServerOptions::default()).unwrap();
        let url = launch.endpoint.url.expose();
        assert_eq!(url, "influxdb://sensormark:hunter2@10.0.0.5:3/");
        let set_up = launch.set_up.expect("its user is made on loopback");
        let url = set_up.endpoint.url.expose();
        assert_eq!(url, "influxdb://sensormark:hunter2@127.0.0.1:3/");
        let bound = |name: &str| -> Vec<String> {
            let text = fs::read_to_string(root.path().join(name)).unwrap();
            let lines = text.lines().map(str::trim);
            let bound = lines.filter(|line| line.starts_with("bind-address"));
            bound.map(str::to_owned).collect()
        };
        let rpc = "bind-address = \"127.0.0.1:5\"";
        let http = |address: &str| format!("bind-address = \"{address}:3\"");
        assert_eq!(bound("influxdb.conf"), [rpc, &http("10.0.0.5")]);
        assert_eq!(bound("set-up.conf"), [rpc, &http("127.0.0.1")]);
        let arguments = &set_up.server.arguments;
        assert!(arguments[2].ends_with("set-up.conf"), "{arguments:?}");
        let told = launch.notes.join("\n");
        assert!(told.contains("no listener of datagrams"), "{told}");
    }
}
