//! The server on this machine: where it is, and how one of our own is configured and started.
//!
//! It writes files and says what to run; the supervisor runs it. The server listens on one address alone, its socket file lies in the scratch
//! folder, and nobody gets in without the generated password.

use crate::config::URL_EXAMPLE;
use sensormark_kit::url::own_server;
use sensormark_server::files::write_private;
use sensormark_server::find::{Search, install_advice, stated_version};
use sensormark_store::server::{Command, StopSignal};
use sensormark_store::{
    Durability, ErrorKind, Installation, Launch, ServerOptions, StoreError, server::ServerFolder,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Names of the server's program, newest first.
const PROGRAMS: [&str; 2] = ["mariadbd", "mysqld"];

/// The longest path that a socket file may have.
const LONGEST_SOCKET_PATH: usize = 100;

/// The server found, in the order of places that all stores have.
pub(crate) fn installation() -> Result<Installation, StoreError> {
    let packages =
        ["/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/mysql/bin", "/opt/mariadb/bin"];
    let search = Search {
        name: "mariadb",
        title: "the MariaDB server",
        wanted: "the program mariadbd",
        inside: &["bin", "sbin", "libexec", ""],
        on_path: true,
        packages: packages.map(PathBuf::from).to_vec(),
        advice: install_advice("mariadb", URL_EXAMPLE),
    };
    let found = search.find(|folder| {
        PROGRAMS.iter().find_map(|name| {
            let program = folder.join(name);
            version_of(&program).map(|version| (program, version))
        })
    })?;
    let (program, version) = found.what.clone();
    Ok(found.installation(program, version))
}

/// The version that a program states, when it is there and is a MariaDB server.
fn version_of(program: &Path) -> Option<String> {
    if !program.is_file() {
        return None;
    }
    let text = stated_version(program, &["--no-defaults", "--version"]).ok()?;
    let version = text.split_whitespace().skip_while(|word| *word != "Ver").nth(1)?;
    version.contains("MariaDB").then(|| version.to_owned())
}

/// The folder that holds bin and share: a parent of the program's.
pub(crate) fn base_folder(program: &Path) -> PathBuf {
    let folder = program.parent().unwrap_or(Path::new("/"));
    match folder.file_name().and_then(|name| name.to_str()) {
        Some("bin" | "sbin" | "libexec") => folder.parent().unwrap_or(folder).to_owned(),
        _ => folder.to_owned(),
    }
}

fn setup_program(base: &Path) -> Result<PathBuf, StoreError> {
    let candidates = [
        "bin/mariadb-install-db",
        "scripts/mariadb-install-db",
        "bin/mysql_install_db",
        "scripts/mysql_install_db",
    ];
    let found = candidates.iter().map(|name| base.join(name)).find(|program| program.is_file());
    found.ok_or_else(|| {
        StoreError::new(
            ErrorKind::NotInstalled,
            "find mariadb-install-db",
            format!("it is not below {}; install the whole mariadb-server package", base.display()),
        )
    })
}

/// How to start a server in this folder.
pub(crate) fn launch(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<Launch, StoreError> {
    let (mut launch, init) = launch_with(installation, folder, options, "")?;
    launch.server.arguments.push(format!("--init-file={}", init.display()));
    Ok(launch)
}

/// The same with further lines in its configuration, and without the file of statements for its first start, which is written, too.
pub(crate) fn launch_with(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
    lines: &str,
) -> Result<(Launch, PathBuf), StoreError> {
    let base = base_folder(&installation.path);
    let setup = setup_program(&base)?;
    let (mut configuration, mut notes) = configuration(&base, folder, options)?;
    configuration.push_str(lines);
    let file = write_private(folder, "my.cnf", &configuration)?;
    let init = write_private(folder, "init.sql", &accounts(folder))?;
    if !folder.address.is_loopback() {
        let place = "no TLS, TCP on the address that was named, with the generated password alone";
        notes.push(place.to_owned());
    }
    notes.push("binary log off (skip-log-bin): commits are flushed to the redo log alone".to_owned());
    let defaults = format!("--defaults-file={}", file.display());
    let environment =
        vec![("LC_ALL".to_owned(), "C".to_owned()), ("TMPDIR".to_owned(), folder.root.display().to_string())];
    let launch = Launch {
        before: vec![Command {
            program: setup,
            arguments: vec![
                defaults.clone(),
                "--auth-root-authentication-method=normal".to_owned(),
                "--skip-test-db".to_owned(),
                "--skip-name-resolve".to_owned(),
                "--force".to_owned(),
            ],
            environment: environment.clone(),
            input: None,
        }],
        set_up: None,
        server: Command {
            program: installation.path.clone(),
            arguments: vec![defaults],
            environment,
            input: None,
        },
        after: Vec::new(),
        endpoint: own_server(
            "mariadb",
            format!(
                "mariadb://sensormark:{}@{}:{}/?ssl-mode=disabled",
                folder.password.expose(),
                folder.address,
                folder.ports[0]
            ),
            folder.ports[0],
        ),
        stop: StopSignal::Terminate,
        start_seconds: 120,
        notes,
    };
    Ok((launch, init))
}

/// Who may come in: one user with the generated password, and root (which has none after the installation) no longer.
fn accounts(folder: &ServerFolder) -> String {
    let mut text = String::new();
    let other = (!folder.address.is_loopback()).then_some("%");
    for host in ["127.0.0.1", "localhost"].into_iter().chain(other) {
        let user = format!("'sensormark'@'{host}'");
        let password = folder.password.expose();
        text.push_str(&format!("CREATE USER IF NOT EXISTS {user} IDENTIFIED BY '{password}';\n"));
        text.push_str(&format!("GRANT ALL PRIVILEGES ON *.* TO {user} WITH GRANT OPTION;\n"));
    }
    text.push_str("DELETE FROM mysql.global_priv WHERE User <> 'sensormark' AND User <> 'mariadb.sys';\nFLUSH PRIVILEGES;\n");
    text
}

/// The configuration file, and what a reader should know of it.
fn configuration(
    base: &Path,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<(String, Vec<String>), StoreError> {
    let flush = match options.durability {
        Durability::Default | Durability::Durable => 1,
        Durability::Relaxed => 2,
        Durability::Unacknowledged => {
            return Err(StoreError::unsupported(
                "configure a MariaDB server",
                "MariaDB acknowledges every statement",
            ));
        }
    };
    let connections = options.clients.saturating_add(20).max(151);
    let mut text = String::from("[mariadbd]\n");
    let mut notes = Vec::new();
    let mut set = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name}={value}");
    };
    let socket = folder.join("s.sock").display().to_string();
    set("basedir", &base.display());
    set("datadir", &folder.data.display());
    set("tmpdir", &folder.root.display());
    if socket.len() <= LONGEST_SOCKET_PATH {
        set("socket", &socket);
    } else {
        set("socket", &format!("@sensormark-mariadb-{}", folder.ports[0]));
    }
    set("pid-file", &folder.join("pid").display());
    set("log-error", &folder.join("error.log").display());
    set("port", &folder.ports[0]);
    set("bind-address", &folder.address);
    set("skip-name-resolve", &1);
    set("skip-log-bin", &1);
    set("local-infile", &1);
    set("character-set-server", &"utf8mb4");
    set("collation-server", &"utf8mb4_bin");
    set("default-time-zone", &"+00:00");
    set("max_allowed_packet", &"64M");
    set("innodb_flush_log_at_trx_commit", &flush);
    if let Some(logs) = &folder.logs {
        set("innodb_log_group_home_dir", &logs.display());
        notes.push(
            "the redo log is in the folder for logs (innodb_log_group_home_dir); Aria's log of system tables stays with the data"
                .to_owned(),
        );
    }
    apply_profile(options, connections, &mut set, &mut notes)?;
    Ok((text, notes))
}

/// Settings of memory and connections: by the budget, or as the server comes.
fn apply_profile(
    options: &ServerOptions,
    connections: u32,
    set: &mut dyn FnMut(&str, &dyn std::fmt::Display),
    notes: &mut Vec<String>,
) -> Result<(), StoreError> {
    match options.profile.as_deref() {
        None => {
            let mebibytes = (options.memory_bytes >> 20).max(16);
            let log = options.log_bytes() >> 20;
            set("max_connections", &connections);
            set("thread_cache_size", &connections.min(16_384));
            set("innodb_buffer_pool_size", &format!("{mebibytes}M"));
            set("innodb_log_file_size", &format!("{log}M"));
            set("performance_schema", &"OFF");
            notes.push(format!(
                "buffer pool {mebibytes} MiB (the memory asked for; the server takes about 100 MiB and up to 1 MiB a connection beside it), redo log {log} MiB"
            ));
        }
        Some("as-published") => {
            set("max_connections", &connections.max(320));
            notes.push("settings as the server comes with, but for at least 320 connections".to_owned());
        }
        Some(other) => {
            return Err(StoreError::new(
                ErrorKind::Configuration,
                "configure a MariaDB server",
                format!("there is no profile {other:?} of settings; the only one is as-published"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    fn folder(root: &Path) -> ServerFolder {
        ServerFolder {
            root: root.to_owned(),
            data: root.join("data"),
            logs: None,
            address: std::net::Ipv4Addr::LOCALHOST,
            ports: [3, 4, 5, 6, 7],
            password: sensormark_store::Secret::new("hunter2"),
            user: None,
        }
    }

    #[test]
    fn secrets_are_in_one_private_file_alone() {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().join("usr");
        fs::create_dir_all(base.join("bin")).unwrap();
        fs::write(base.join("bin/mariadb-install-db"), "").unwrap();
        let installation = Installation {
            path: base.join("sbin/mariadbd"),
            version: "10.11".to_owned(),
            origin: String::new(),
        };
        let folder = folder(root.path());
        let launch = launch(&installation, &folder, &ServerOptions::default()).unwrap();
        for command in launch.before.iter().chain([&launch.server]) {
            assert!(!format!("{command:?}").contains("hunter2"));
        }
        let configuration = fs::read_to_string(folder.join("my.cnf")).unwrap();
        assert!(!configuration.contains("hunter2"));
        assert!(configuration.contains("innodb_buffer_pool_size=1024M\n"));
        assert!(configuration.contains("innodb_log_file_size=1024M\n"));
        let init = fs::metadata(folder.join("init.sql")).unwrap();
        assert_eq!(init.mode() & 0o777, 0o600);
        assert!(launch.notes.iter().any(|note| note.contains("binary log off")));
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder(root.path());
        let profile = ServerOptions { profile: Some("fast".to_owned()), ..ServerOptions::default() };
        let error = configuration(Path::new("/usr"), &folder, &profile).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        let nothing = ServerOptions { durability: Durability::Unacknowledged, ..ServerOptions::default() };
        let error = configuration(Path::new("/usr"), &folder, &nothing).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
