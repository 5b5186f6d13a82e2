//! PostgreSQL on this machine: where it is, and how a server of our own is set up and started.
//!
//! Files are written and commands described; nothing is started here, that is the supervisor's.

use crate::config::URL_EXAMPLE;
use sensormark_kit::url::own_server;
use sensormark_server::files::{path_text, write_private};
use sensormark_server::find::{Search, install_advice, program_version};
use sensormark_store::server::{Command, ServerFolder, StopSignal};
use sensormark_store::{ErrorKind, Installation, Launch, ServerOptions, StoreError, Typical};
use std::fs;
use std::path::{Path, PathBuf};

/// From the kept result sensor-operations (`docs/results`, 2026-11-23, two processors), where nothing else is said.
pub const TYPICAL: Typical = Typical {
    // machine-tool at `quick`, same day: 1.06 s with initdb and the database.
    start_seconds: 1.0,
    // 0.1 s, without initdb.
    restart_seconds: 0.1,
    // The same: 1.19 s with the stop of the server before.
    stop_seconds: 0.15,
    // 0.1 s; up to 1.8 s after devops.
    settle_seconds: 0.3,
    // A trial with 18 resets.
    reset_seconds: 0.05,
    // 10,000 single writes of one client in 1.39 s, in another repetition 1.29 s.
    write_us: 133.0,
    // 100,000 readings of one field in 0.196 s; devops at `quick` 427,680 values in 0.203 s.
    value_us: 0.5,
    // 10,000 single reads in 0.57 s.
    question_us: 57.0,
    // devops at `quick`: 200 means, each over 2,700 readings, in 0.51 s.
    scan_us: 0.8,
    // 16 clients write 3.7 times as fast as one.
    clients_served: 3.5,
    // Before anything was written.
    empty_bytes: 42 << 20,
    // A row and its place in an index.
    reading_bytes: 120,
};

pub(crate) const PROGRAM: &str = "postgres";
pub(crate) const USER: &str = "sensormark";
const PASSWORD_FILE: &str = "password";

/// Connections beyond the clients: administrator, checks, and those that the server keeps for superusers.
const SPARE_CONNECTIONS: u32 = 13;

/// The server found, in the order of places that all stores have.
pub(crate) fn installation() -> Result<Installation, StoreError> {
    let search = Search {
        name: "postgresql",
        title: "PostgreSQL",
        wanted: "the programs postgres and initdb",
        inside: &["bin", ""],
        on_path: true,
        packages: newest_package().into_iter().chain(USUAL_PLACES.map(PathBuf::from)).collect(),
        advice: install_advice("postgresql", URL_EXAMPLE),
    };
    let found = search.find(|folder| is_complete(folder).then_some(()))?;
    let folder = found.folder.clone();
    let version = program_version("PostgreSQL", &folder.join(PROGRAM), "--version")?;
    Ok(found.installation(folder, version))
}

const USUAL_PLACES: [&str; 3] =
    ["/usr/local/pgsql/bin", "/usr/pgsql/bin", "/opt/homebrew/opt/postgresql/bin"];

fn is_complete(folder: &Path) -> bool {
    [PROGRAM, "initdb"].iter().all(|program| folder.join(program).is_file())
}

/// The newest of the versions that Debian and Ubuntu install side by side.
fn newest_package() -> Option<PathBuf> {
    let version = |folder: &PathBuf| -> u32 {
        folder.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap_or_default()
    };
    fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|folder| is_complete(&folder.join("bin")))
        .max_by_key(version)
        .map(|folder| folder.join("bin"))
}

/// Sets up a server of our own in this folder, with further lines of configuration.
pub(crate) fn launch(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
    lines: &str,
) -> Result<Launch, StoreError> {
    let data = data_folder(folder);
    let password = write_private(folder, PASSWORD_FILE, &format!("{}\n", folder.password.expose()))?;
    let initialised = initialise(installation, folder, &data, &password)?;
    launch_on(installation, folder, options, initialised, lines)
}

/// Where the server's own data folder is.
pub(crate) fn data_folder(folder: &ServerFolder) -> PathBuf {
    folder.data.join("postgresql")
}

/// A launch on a data folder that the first command makes (with what a reader should know of it), and with further lines of configuration.
pub(crate) fn launch_on(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
    (initialise, further): (Command, Option<String>),
    lines: &str,
) -> Result<Launch, StoreError> {
    let data = data_folder(folder);
    let configuration = write_private(
        folder,
        "postgresql.conf",
        &(configuration(&installation.version, folder, options)? + &access(folder)? + lines),
    )?;
    let server = Command {
        program: installation.path.join(PROGRAM),
        arguments: vec![
            "-D".to_owned(),
            path_text(&data)?,
            "-c".to_owned(),
            format!("config_file={}", path_text(&configuration)?),
        ],
        ..Command::default()
    };
    let port = folder.ports[0];
    let url = format!(
        "postgresql://{USER}:{}@{}:{port}/postgres?sslmode=disable",
        folder.password.expose(),
        folder.address
    );
    Ok(Launch {
        before: vec![initialise],
        set_up: None,
        server,
        after: Vec::new(),
        endpoint: own_server("postgresql", url, port),
        stop: StopSignal::Interrupt,
        start_seconds: 120,
        notes: notes(folder, options).into_iter().chain(further).collect(),
    })
}

/// Who may come in, where other hosts reach the address: whoever has the password. What initdb writes lets loopback addresses in alone.
fn access(folder: &ServerFolder) -> Result<String, StoreError> {
    if folder.address.is_loopback() {
        return Ok(String::new());
    }
    let file = write_private(folder, "pg_hba.conf", "host all all all scram-sha-256\n")?;
    let path = path_text(&file)?.replace('\'', "''");
    Ok(format!("hba_file = '{path}'\n"))
}

fn notes(folder: &ServerFolder, options: &ServerOptions) -> Vec<String> {
    let place = if folder.address.is_loopback() {
        "TCP on loopback only"
    } else {
        "TCP on the address that was named, with the generated password alone (scram-sha-256)"
    };
    let mut notes =
        vec![format!("no TLS, {place}; the data folder was initialised without waiting for the disk")];
    if options.profile.is_none() {
        notes.push("shared_buffers and effective_cache_size are the memory allowed, max_wal_size as much (96 MB to 1 GB); all else is PostgreSQL's default".to_owned());
    }
    notes
}

/// The command that makes the data folder, and what a reader should know of it.
fn initialise(
    installation: &Installation,
    folder: &ServerFolder,
    data: &Path,
    password: &Path,
) -> Result<(Command, Option<String>), StoreError> {
    let mut command = Command {
        program: installation.path.join("initdb"),
        arguments: vec![
            "--pgdata".to_owned(),
            path_text(data)?,
            format!("--username={USER}"),
            format!("--pwfile={}", path_text(password)?),
            "--auth=scram-sha-256".to_owned(),
            "--encoding=UTF8".to_owned(),
            "--locale=C".to_owned(),
            "--no-sync".to_owned(),
            "--no-instructions".to_owned(),
        ],
        ..Command::default()
    };
    let Some(logs) = &folder.logs else {
        return Ok((command, None));
    };
    let wal = path_text(&logs.join("pg_wal"))?;
    command.arguments.push(format!("--waldir={wal}"));
    let note = "the write-ahead log is in the folder for logs (initdb --waldir)";
    Ok((command, Some(note.to_owned())))
}

/// The server's configuration: what it takes to run here, and the memory allowed. What is not said is PostgreSQL's default.
fn configuration(
    version: &str,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<String, StoreError> {
    let (address, port) = (folder.address, folder.ports[0]);
    let connections = options.clients.saturating_add(SPARE_CONNECTIONS);
    let memory = match options.profile.as_deref() {
        None => {
            let kilobytes = (options.memory_bytes / 1024).max(128);
            let log = options.log_bytes() >> 20;
            format!(
                "shared_buffers = {kilobytes}kB\neffective_cache_size = {kilobytes}kB\nmax_wal_size = {log}MB\n"
            )
        }
        Some("as-published") => String::new(),
        Some(other) => {
            return Err(StoreError::new(
                ErrorKind::Configuration,
                "configure PostgreSQL",
                format!(
                    "there is no profile {other:?}; the only one is as-published (PostgreSQL's defaults)"
                ),
            ));
        }
    };
    let release: u32 = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or_default();
    // After a crash, one call in place of one for every file; of Linux, since release 14.
    let recovery =
        if release >= 14 && cfg!(target_os = "linux") { "recovery_init_sync_method = syncfs\n" } else { "" };
    Ok(format!(
        "listen_addresses = '{address}'\n\
         port = {port}\n\
         unix_socket_directories = ''\n\
         max_connections = {connections}\n\
         {memory}\
         {recovery}\
         fsync = on\n\
         full_page_writes = on\n\
         ssl = off\n\
         log_destination = 'stderr'\n\
         logging_collector = off\n\
         log_timezone = 'UTC'\n\
         timezone = 'UTC'\n\
         lc_messages = 'C'\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_says_what_was_asked_for() {
        let options = ServerOptions { memory_bytes: 64 << 20, clients: 160, ..ServerOptions::default() };
        let folder = ServerFolder {
            root: PathBuf::new(),
            data: PathBuf::new(),
            logs: None,
            address: std::net::Ipv4Addr::LOCALHOST,
            ports: [4711, 0, 0, 0, 0],
            password: sensormark_store::Secret::new("hunter2"),
            user: None,
        };
        let text = configuration("15.18", &folder, &options).unwrap();
        for line in [
            "port = 4711",
            "max_connections = 173",
            "shared_buffers = 65536kB",
            "max_wal_size = 96MB",
            "fsync = on",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} in {text}");
        }
        assert_eq!(access(&folder).unwrap(), "");
        let unknown = ServerOptions { profile: Some("fast".into()), ..options };
        assert_eq!(configuration("15.18", &folder, &unknown).unwrap_err().kind(), ErrorKind::Configuration);
    }

    #[test]
    fn other_hosts_come_in_with_the_password_alone() {
        let root = tempfile::tempdir().unwrap();
        let folder = ServerFolder {
            root: root.path().to_path_buf(),
            data: root.path().join("data"),
            logs: None,
            address: std::net::Ipv4Addr::new(10, 0, 0, 5),
            ports: [4711, 0, 0, 0, 0],
            password: sensormark_store::Secret::new("hunter2"),
            user: None,
        };
        let line = access(&folder).unwrap();
        assert!(line.starts_with("hba_file = '") && line.ends_with("pg_hba.conf'\n"));
        let rules = fs::read_to_string(root.path().join("pg_hba.conf")).unwrap();
        assert_eq!(rules, "host all all all scram-sha-256\n");
        let told = notes(&folder, &ServerOptions::default()).join("\n");
        assert!(told.contains("with the generated password alone"), "{told}");
    }
}
