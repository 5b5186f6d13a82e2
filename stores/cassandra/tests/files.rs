//! What the files say without a server: meanings of errors, and how a server is started.

use sensormark_drivers::Fault;
use sensormark_statements::FileStore;
use sensormark_statements::files::Files;
use sensormark_statements::meaning::failure;
use sensormark_store::server::{ServerFolder, machine_memory_bytes};
use sensormark_store::{
    Durability, ErrorKind, Installation, Launch, Secret, ServerOptions, Store, StoreError,
};
use std::net::Ipv4Addr;
use std::path::Path;

const FILES: (&str, &str) = (include_str!("../store.toml"), include_str!("../statements.cql"));

/// What an error of the server becomes: its kind, and whether a write is in doubt.
fn becomes(code: &str, message: &str) -> (ErrorKind, bool) {
    let files = Files::read(&[FILES]).expect("the files are right");
    let fault = Fault::Refused {
        codes: vec![code.to_owned()],
        text: message.to_owned(),
        source: Box::new(std::io::Error::other("the crate's")),
    };
    let error = failure(&files.config, "try", fault);
    assert!(error.context().contains("; "), "no next step: {error}");
    (error.kind(), error.is_in_doubt())
}

#[test]
fn what_the_server_says_is_told_apart_by_its_code() {
    for (code, expected) in [
        ("AuthenticationError", (ErrorKind::Authentication, false)),
        ("Unauthorized", (ErrorKind::Authentication, false)),
        ("Overloaded", (ErrorKind::Overload, false)),
        ("IsBootstrapping", (ErrorKind::Unavailable, false)),
        ("ConfigError", (ErrorKind::Configuration, false)),
        ("SyntaxError", (ErrorKind::Rejected, false)),
        ("Invalid", (ErrorKind::Rejected, false)),
        ("ServerError", (ErrorKind::Rejected, true)),
        ("ProtocolError", (ErrorKind::Protocol, false)),
        ("Unavailable", (ErrorKind::Unavailable, false)),
        ("ReadTimeout", (ErrorKind::Timeout, false)),
        ("WriteTimeout", (ErrorKind::Timeout, true)),
        ("WriteFailure", (ErrorKind::Rejected, true)),
    ] {
        assert_eq!(becomes(code, "something"), expected, "{code}");
    }
}

#[test]
fn what_shares_a_code_is_told_apart_by_its_words() {
    for (message, expected) in [
        ("Batch too large", (ErrorKind::TooLarge, false)),
        (
            "Rejected an oversized mutation (20000013/16777216) for keyspace: k. Top keys are: t.5",
            (ErrorKind::TooLarge, false),
        ),
        ("table r_values does not exist", (ErrorKind::NotFound, false)),
        ("unconfigured table r_values", (ErrorKind::NotFound, false)),
        ("Keyspace 'k' does not exist", (ErrorKind::NotFound, false)),
        (
            "org.apache.cassandra.io.FSWriteError: java.io.IOException: No space left on device",
            (ErrorKind::DiskFull, true),
        ),
        ("java.io.IOException: failed to write the commit log", (ErrorKind::DiskFull, true)),
        ("Server is shutting down", (ErrorKind::Unavailable, true)),
        (
            "Operation failed - received 0 responses and 1 failures: READ_TOO_MANY_TOMBSTONES",
            (ErrorKind::Rejected, false),
        ),
    ] {
        for code in ["Invalid", "ServerError"] {
            assert_eq!(becomes(code, message), expected, "{message}");
        }
    }
    let message = "Request is too big: length 300000000 exceeds maximum allowed length 16777216";
    assert_eq!(becomes("ProtocolError", message), (ErrorKind::TooLarge, false));
}

fn folder(root: &Path) -> ServerFolder {
    ServerFolder {
        root: root.to_owned(),
        data: root.join("data"),
        logs: None,
        address: Ipv4Addr::LOCALHOST,
        ports: [3, 4, 5, 6, 7],
        password: Secret::new("hunter2"),
        user: None,
    }
}

/// How a server is started; none where there is no Java for it.
fn launch(
    store: &FileStore,
    folder: &ServerFolder,
    options: &ServerOptions,
) -> Option<Result<Launch, StoreError>> {
    std::fs::write(folder.root.join("jamm-1.jar"), "").expect("a file");
    let jar = folder.root.join("cassandra-all-5.0.6.jar");
    let installation = Installation { path: jar, version: "5.0.6".to_owned(), origin: String::new() };
    match store.launch(&installation, folder, options) {
        Err(error) if error.kind() == ErrorKind::NotInstalled => None,
        launched => Some(launched),
    }
}

fn read(root: &Path, name: &str) -> String {
    std::fs::read_to_string(root.join(name)).expect("it was written")
}

#[test]
fn no_file_and_no_argument_holds_the_password() {
    let (root, store) = (tempfile::tempdir().expect("a folder"), sensormark_stores::cassandra());
    let options = ServerOptions { durability: Durability::Durable, ..ServerOptions::default() };
    let Some(launched) = launch(&store, &folder(root.path()), &options) else { return };
    let launched = launched.expect("it can be started");
    let yaml = read(root.path(), "cassandra.yaml");
    assert!(yaml.contains("commitlog_sync: batch\n"));
    assert!(yaml.contains("commitlog_total_space: 1024MiB\n"));
    assert!(!yaml.contains("commitlog_sync_period"));
    assert!(!yaml.contains("hunter2"));
    let arguments = &launched.server.arguments;
    assert!(arguments.iter().all(|argument| !argument.contains("hunter2")));
    assert!(arguments.contains(&"-Xmx1024M".to_owned()));
    assert_eq!(launched.endpoint.url.expose(), "cassandra://sensormark:hunter2@127.0.0.1:3/?jmx=5");
    assert_eq!(launched.endpoint.ports, [3]);
}

#[test]
fn only_the_native_protocol_is_on_another_address() {
    let (root, store) = (tempfile::tempdir().expect("a folder"), sensormark_stores::cassandra());
    let folder = ServerFolder { address: Ipv4Addr::new(10, 0, 0, 5), ..folder(root.path()) };
    let Some(launched) = launch(&store, &folder, &ServerOptions::default()) else { return };
    let launched = launched.expect("it can be started");
    assert_eq!(launched.endpoint.url.expose(), "cassandra://sensormark:hunter2@10.0.0.5:3/?");
    let set_up = launched.set_up.expect("its account is made on loopback");
    assert_eq!(set_up.endpoint.url.expose(), "cassandra://sensormark:hunter2@127.0.0.1:3/?");
    let addresses = |name: &str| -> Vec<String> {
        let text = read(root.path(), name);
        text.lines().filter(|line| line.contains("_address:")).map(str::to_owned).collect()
    };
    let listen = "listen_address: 127.0.0.1";
    assert_eq!(addresses("cassandra.yaml"), [listen, "rpc_address: 10.0.0.5"]);
    assert_eq!(addresses("set-up.yaml"), [listen, "rpc_address: 127.0.0.1"]);
    let ends = |arguments: &[String], name: &str| arguments.iter().any(|argument| argument.ends_with(name));
    assert!(ends(&set_up.server.arguments, "/set-up.yaml"));
    assert!(ends(&launched.server.arguments, "/cassandra.yaml"));
    assert!(launched.notes.join("\n").contains("nothing is flushed"), "{:?}", launched.notes);
}

#[test]
fn as_published_it_divides_the_machines_memory_as_it_comes() {
    let (root, store) = (tempfile::tempdir().expect("a folder"), sensormark_stores::cassandra());
    let profile = |name: &str| ServerOptions { profile: Some(name.to_owned()), ..ServerOptions::default() };
    let Some(launched) = launch(&store, &folder(root.path()), &profile("as-published")) else { return };
    let machine = machine_memory_bytes() >> 20;
    let heap = (machine / 2).min(1_024).max((machine / 4).min(8_192));
    assert!(launched.expect("it can be started").server.arguments.contains(&format!("-Xmx{heap}M")));
    assert!(read(root.path(), "cassandra.yaml").contains("commitlog_total_space: 8192MiB\n"));
    let refused = launch(&store, &folder(root.path()), &profile("fast")).expect("there is a Java");
    assert_eq!(refused.err().map(|error| error.kind()), Some(ErrorKind::Configuration));
}
