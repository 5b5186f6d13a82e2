//! The server on this machine: where it is, and how one of our own is configured and started.
//!
//! It writes files and says what to run; the supervisor runs it. gsserver listens on every interface whatever its configuration says. So sensormark starts one
//! only where nobody else can come in ([`isolation`]), or where the user allows it.

mod isolation;

use crate::client;
use sensormark_kit::url::own_server;
use sensormark_server::files::{make_private_folder, write_private};
use sensormark_server::find::{Search, stated_version};
use sensormark_store::server::{Command, ServerFolder, StopSignal};
use sensormark_store::{Durability, ErrorKind, Installation, Launch, ServerOptions, StoreError};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The name of our own clusters.
const CLUSTER: &str = "sensormark";

/// The user of our own servers, who exists from the start.
const USER: &str = "admin";

/// How to get what is missing.
const HOW: &str = "no registry has it; install GridDB's own packages, griddb and griddb-c-client";

fn not_installed(what: &str) -> StoreError {
    StoreError::new(ErrorKind::NotInstalled, "find GridDB", format!("{what}; {HOW}"))
}

/// The server found, in the order of places that all stores have, and the C client. `$GS_HOME` is a package's own variable.
pub(crate) fn installation() -> Result<Installation, StoreError> {
    let own = std::env::var_os("GS_HOME").map(|home| PathBuf::from(home).join("bin"));
    let search = Search {
        name: "griddb",
        title: "GridDB",
        wanted: "the program gsserver",
        inside: &["bin", ""],
        on_path: true,
        packages: own.into_iter().chain(["/usr/bin".into()]).collect(),
        advice: HOW.to_owned(),
    };
    let found = search.find(|folder| {
        let program = folder.join("gsserver");
        program.is_file().then_some(program)
    })?;
    client()?;
    let program = found.what.clone();
    let version = version(&program)?;
    Ok(found.installation(program, version))
}

/// The C client, or how to get it.
pub(crate) fn client() -> Result<&'static client::Library, StoreError> {
    client::library().map_err(|error| {
        not_installed(&format!("GridDB's C client (libgridstore.so) cannot be loaded ({error})"))
    })
}

/// The version that the program states.
fn version(program: &Path) -> Result<String, StoreError> {
    let text = stated_version(program, &["--version"]).map_err(|error| {
        let text = format!("gsserver does not run: {error}");
        not_installed(&text).with_source(error)
    })?;
    let line = text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()));
    let line = line.ok_or_else(|| not_installed("gsserver does not state its version"))?;
    Ok(line.trim().trim_start_matches("GridDB version ").to_owned())
}

/// The ports of a node.
struct Ports {
    transaction: u16,
    system: u16,
    cluster: u16,
    sync: u16,
    sql: u16,
}

impl Ports {
    const fn new(folder: &ServerFolder) -> Self {
        let [transaction, system, cluster, sync, sql] = folder.ports;
        Self { transaction, system, cluster, sync, sql }
    }
}

fn check_profile(options: &ServerOptions) -> Result<(), StoreError> {
    match options.profile.as_deref() {
        None | Some("as-published") => Ok(()),
        Some(other) => Err(StoreError::new(
            ErrorKind::Configuration,
            "configure a GridDB server",
            format!("there is no profile {other:?} of settings for GridDB; there is as-published"),
        )),
    }
}

/// storeMemoryLimit in MB: the study's, or the memory allowed.
fn memory(options: &ServerOptions) -> u64 {
    if options.profile.is_some() { 1_024 } else { (options.memory_bytes >> 20).max(128) }
}

/// How to start a server in this folder.
pub(crate) fn launch(
    installation: &Installation,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Result<Launch, StoreError> {
    let exposed = isolation::check()?;
    check_profile(options)?;
    let ports = Ports::new(folder);
    let published = options.profile.is_some();
    let memory = memory(options);
    let write_mode = log_write_mode(options.durability)?;
    let make = |name: &str| make_private_folder(&folder.join(name));
    ["conf", "log"].into_iter().try_for_each(make)?;
    let mut node = node(folder, &ports, options, memory, write_mode);
    let mut cluster = cluster(&ports);
    let older = is_before_five(&installation.version);
    if older {
        leave_out_sql(&mut node, &mut cluster);
    }
    let further = log_note(folder, older)?.into_iter().chain(exposed).collect();
    write_private(folder, "conf/gs_node.json", &format!("{node:#}\n"))?;
    write_private(folder, "conf/gs_cluster.json", &format!("{cluster:#}\n"))?;
    let digest = hexadecimal(&Sha256::digest(folder.password.expose().as_bytes()));
    write_private(folder, "conf/password", &format!("{USER},{digest}\n"))?;
    Ok(Launch {
        before: Vec::new(),
        set_up: None,
        server: Command {
            program: installation.path.clone(),
            arguments: vec!["--conf".to_owned(), folder.join("conf").display().to_string()],
            environment: vec![
                ("GS_HOME".to_owned(), folder.root.display().to_string()),
                ("GS_LOG".to_owned(), folder.join("log").display().to_string()),
            ],
            input: None,
        },
        after: Vec::new(),
        endpoint: own_server(
            "griddb",
            format!(
                "griddb://{USER}:{}@127.0.0.1:{}/{CLUSTER}?rest={}",
                folder.password.expose(),
                ports.transaction,
                ports.system
            ),
            ports.transaction,
        ),
        stop: StopSignal::Terminate,
        start_seconds: 120,
        notes: notes(memory, write_mode, published, further),
    })
}

/// What a reader should know of a folder for logs.
fn log_note(folder: &ServerFolder, older: bool) -> Result<Option<String>, StoreError> {
    if folder.logs.is_none() {
        return Ok(None);
    }
    if older {
        return Err(StoreError::unsupported(
            "configure a GridDB server",
            "GridDB before version 5 keeps its logs beside its data; leave --log-folder out",
        ));
    }
    let note = "transaction logs are in the folder for logs (transactionLogPath)";
    Ok(Some(note.to_owned()))
}

/// logWriteMode for a durability class.
pub(crate) fn log_write_mode(durability: Durability) -> Result<u32, StoreError> {
    match durability {
        Durability::Durable => Ok(0),
        Durability::Default | Durability::Relaxed => Ok(1),
        Durability::Unacknowledged => Err(StoreError::unsupported(
            "choose a durability class",
            "GridDB acknowledges every write; with default the acknowledgement does not wait for the disk",
        )),
    }
}

fn notes(memory: u64, write_mode: u32, published: bool, further: Vec<String>) -> Vec<String> {
    let flush = if write_mode == 0 {
        "logWriteMode 0: each commit waits for the log on disk"
    } else {
        "logWriteMode 1, as it comes: the log is flushed every second from the server's own memory"
    };
    let mut notes = vec![
        format!(
            "storeMemoryLimit {memory} MB (the memory asked for); connections, queries and SQL take more beside it"
        ),
        flush.to_owned(),
        "one node, fixed list, no copies; periodic checkpoints as they come (300 s)".to_owned(),
    ];
    if published {
        notes.push("as published: storeMemoryLimit 1024 MB, concurrency 4".to_owned());
    }
    notes.extend(further);
    notes
}

/// The node's configuration.
fn node(
    folder: &ServerFolder,
    ports: &Ports,
    options: &ServerOptions,
    memory: u64,
    write_mode: u32,
) -> Value {
    let data = |name: &str| folder.data.join(name).display().to_string();
    let service = |port: u16| json!({"serviceAddress": "127.0.0.1", "servicePort": port});
    let connections = options.clients.saturating_mul(2).saturating_add(100).clamp(5_000, 65_536);
    let mut transaction = service(ports.transaction);
    transaction["connectionLimit"] = connections.into();
    let mut system = service(ports.system);
    system["eventLogPath"] = folder.join("log").display().to_string().into();
    let mut sql = service(ports.sql);
    sql["storeSwapFilePath"] = data("swap").into();
    sql["storeMemoryLimit"] = "128MB".into();
    sql["workMemoryLimit"] = "32MB".into();
    sql["workCacheMemory"] = "32MB".into();
    json!({
        "dataStore": {
            "dbPath": data("data"),
            "transactionLogPath": folder.log("txnlog", folder.data.join("txnlog")).display().to_string(),
            "backupPath": data("backup"),
            "syncTempPath": data("sync"),
            "storeMemoryLimit": format!("{memory}MB"),
            "storeCompressionMode": "NO_COMPRESSION",
            "concurrency": 4,
            "logWriteMode": write_mode,
            "persistencyMode": "NORMAL",
            "affinityGroupSize": 4
        },
        "checkpoint": {"checkpointInterval": "300s"},
        "cluster": service(ports.cluster),
        "sync": service(ports.sync),
        "system": system,
        "transaction": transaction,
        "sql": sql,
        "trace": {"default": "LEVEL_ERROR", "outputType": "OUTPUT_ROTATION_FILES"}
    })
}

/// The cluster's configuration: a fixed list of this one node.
fn cluster(ports: &Ports) -> Value {
    let address = |port: u16| json!({"address": "127.0.0.1", "port": port});
    json!({
        "dataStore": {"partitionNum": 128, "storeBlockSize": "64KB"},
        "cluster": {
            "clusterName": CLUSTER,
            "replicationNum": 1,
            "notificationInterval": "5s",
            "heartbeatInterval": "5s",
            "loadbalanceCheckInterval": "180s",
            "notificationMember": [{
                "cluster": address(ports.cluster),
                "sync": address(ports.sync),
                "system": address(ports.system),
                "transaction": address(ports.transaction),
                "sql": address(ports.sql)
            }]
        },
        "sync": {"timeoutInterval": "30s"},
        "transaction": {"replicationMode": 0, "replicationTimeoutInterval": "10s"}
    })
}

/// Whether a version is 4 or older: these have no SQL, keep logs beside data, and refuse settings of either.
fn is_before_five(version: &str) -> bool {
    let major = version.split('.').next().unwrap_or_default();
    major.parse::<u32>().is_ok_and(|major| major < 5)
}

/// Takes out what a server without SQL does not know.
fn leave_out_sql(node: &mut Value, cluster: &mut Value) {
    let mut take = |at: &str, name: &str| {
        let parts = [node.pointer_mut(at), cluster.pointer_mut(at)];
        for part in parts.into_iter().flatten() {
            part.as_object_mut().map(|part| part.remove(name));
        }
    };
    take("", "sql");
    take("/dataStore", "transactionLogPath");
    take("/cluster/notificationMember/0", "sql");
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_server_is_told_nothing_of_sql() {
        assert!(is_before_five("4.3.0-36424 CE") && !is_before_five("5.9.0-44056 CE"));
        let ports = Ports { transaction: 1, system: 2, cluster: 3, sync: 4, sql: 5 };
        let mut node = json!({"sql": 1, "dataStore": {"transactionLogPath": 2, "dbPath": 3}});
        let mut cluster = cluster(&ports);
        leave_out_sql(&mut node, &mut cluster);
        assert_eq!(node, json!({"dataStore": {"dbPath": 3}}));
        assert!(!cluster.to_string().contains("sql"));
        assert!(cluster.to_string().contains("transaction"));
    }

    #[test]
    fn passwords_are_kept_as_griddb_keeps_them() {
        let digest = hexadecimal(&Sha256::digest(b"admin"));
        assert_eq!(digest, "8c6976e5b5410415bde908bd4dee15dfb167a9c873fc4bb8a81f6f2ab448a918");
    }
}
