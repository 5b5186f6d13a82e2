//! InfluxDB on this machine: where it is, and how a server of our own is set up and started.
//!
//! Files are written and commands described; nothing is started here, that is the supervisor's.

use crate::config::URL_EXAMPLE;
use sensormark_kit::url::own_server;
use sensormark_server::files::{path_text, write_private};
use sensormark_server::find::{Search, install_advice, program_version};
use sensormark_store::server::{Command, ServerFolder, StopSignal};
use sensormark_store::{ErrorKind, Installation, Launch, ServerOptions, StoreError};
use std::fs;
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
    let [http, udp, ..] = folder.ports;
    let buffer = read_buffer();
    let data = folder.data.join("influxdb");
    let log = folder.log("wal", data.join("wal"));
    let text = configuration((&data, &log), [http, udp], options, buffer)?;
    let file = write_private(folder, "influxdb.conf", &text)?;
    let mut environment = Vec::new();
    if options.profile.is_none() {
        environment.push((
            "GOMEMLIMIT".to_owned(),
            format!("{}MiB", (options.memory_bytes >> 20).max(64)),
        ));
    }
    let server = Command {
        program: installation.path.join(PROGRAM),
        arguments: ["run", "-config"]
            .map(str::to_owned)
            .into_iter()
            .chain([path_text(&file)?])
            .collect(),
        environment,
        ..Command::default()
    };
    let url = format!(
        "influxdb://{USER}:{}@127.0.0.1:{http}/?udp={udp}&udp_database={DATAGRAMS}",
        folder.password.expose()
    );
    Ok(Launch {
        before: Vec::new(),
        server,
        after: Vec::new(),
        endpoint: own_server("influxdb", url, http),
        stop: StopSignal::Terminate,
        start_seconds: 300,
        log_paths: vec!["influxdb/wal".to_owned()],
        notes: notes(options, buffer, folder.logs.is_some()),
    })
}

fn notes(options: &ServerOptions, buffer: u64, logs_apart: bool) -> Vec<String> {
    let mut notes = vec![
        format!(
            "cache-snapshot-write-cold-duration and compact-full-write-cold-duration are {COLD_SECONDS} s (they are 10 minutes and 4 hours as it comes), so that the database comes to rest within a run"
        ),
        "index-version is tsi1, limits of series, tag values and body size are off, flux-enabled is true (which takes about 3 s at each start)".to_owned(),
        "no TLS, loopback only; reporting, monitoring into _internal, continuous queries and retention are off".to_owned(),
        format!("the listener of datagrams has a read buffer of {buffer} bytes and writes batches of 5,000 or every 100 ms into {DATAGRAMS}"),
    ];
    if logs_apart {
        notes.push("the write-ahead log is in the folder for logs (wal-dir)".to_owned());
    }
    if options.profile.is_none() {
        notes.push("half of the memory allowed is cache-max-memory-size, all of it is GOMEMLIMIT, which is soft".to_owned());
    }
    notes
}

/// As much as the kernel allows: it cuts what is over it off in silence.
fn read_buffer() -> u64 {
    let allowed = fs::read_to_string("/proc/sys/net/core/rmem_max").ok();
    let allowed = allowed
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(212_992);
    READ_BUFFER.min(allowed)
}

fn configuration(
    (data, log): (&Path, &Path),
    [http, udp]: [u16; 2],
    options: &ServerOptions,
    buffer: u64,
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
    Ok(format!(
        "reporting-disabled = true\n\
         bind-address = \"127.0.0.1:0\"\n\
         [meta]\n  dir = \"{}\"\n  retention-autocreate = true\n  logging-enabled = false\n\
         [data]\n  dir = \"{}\"\n  wal-dir = \"{}\"\n  index-version = \"tsi1\"\n  wal-fsync-delay = \"0s\"\n{memory}\
         \x20 cache-snapshot-write-cold-duration = \"{COLD_SECONDS}s\"\n  compact-full-write-cold-duration = \"{COLD_SECONDS}s\"\n\
         \x20 max-series-per-database = 0\n  max-values-per-tag = 0\n  query-log-enabled = false\n  trace-logging-enabled = false\n\
         [coordinator]\n  write-timeout = \"60s\"\n  max-concurrent-queries = 0\n  query-timeout = \"0s\"\n  log-queries-after = \"0s\"\n\
         [retention]\n  enabled = false\n\
         [shard-precreation]\n  enabled = false\n\
         [monitor]\n  store-enabled = false\n\
         [http]\n  enabled = true\n  bind-address = \"127.0.0.1:{http}\"\n  flux-enabled = true\n  flux-log-enabled = false\n  auth-enabled = true\n  log-enabled = false\n\
         \x20 write-tracing = false\n  pprof-enabled = false\n  max-row-limit = 0\n  max-body-size = 0\n  max-connection-limit = 0\n  unix-socket-enabled = false\n\
         [subscriber]\n  enabled = false\n\
         [continuous_queries]\n  enabled = false\n\
         [logging]\n  format = \"logfmt\"\n  level = \"warn\"\n  suppress-logo = true\n\
         [[udp]]\n  enabled = true\n  bind-address = \"127.0.0.1:{udp}\"\n  database = \"{DATAGRAMS}\"\n  batch-size = 5000\n\
         \x20 batch-pending = 100\n  batch-timeout = \"100ms\"\n  read-buffer = {buffer}\n  precision = \"n\"\n",
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
        let options = ServerOptions {
            memory_bytes: 64 << 20,
            ..ServerOptions::default()
        };
        let text = configuration(
            (Path::new("/tmp/x"), Path::new("/tmp/x/wal")),
            [4711, 4712],
            &options,
            1_000,
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
            assert!(
                text.lines().any(|other| other.trim() == line),
                "{line} in {text}"
            );
        }
        assert!(
            configuration(
                (Path::new("/tmp/\"x"), Path::new("/tmp/x")),
                [1, 2],
                &options,
                1
            )
            .is_err()
        );
    }
}
