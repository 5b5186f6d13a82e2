//! What the files say without a server: meanings of errors, and how a server is started.

use sensormark_drivers::Fault;
use sensormark_statements::files::Files;
use sensormark_statements::meaning::failure;
use sensormark_statements::server::launch;
use sensormark_store::server::ServerFolder;
use sensormark_store::{ErrorKind, Installation, Secret, ServerOptions, StoreError};
use std::net::Ipv4Addr;
use std::path::Path;

const FILES: (&str, &str) = (include_str!("../store.toml"), include_str!("../statements.tql"));

/// What numbers of the server become, with their classes: a kind, and whether a write is in doubt.
fn becomes(codes: &[&str], text: &str) -> (ErrorKind, bool) {
    let files = Files::read(&[FILES]).expect("the files are right");
    let codes = codes.iter().map(|code| (*code).to_owned()).collect();
    let source = Box::new(std::io::Error::other("the client's"));
    let error = failure(&files.config, "ask", Fault::Refused { codes, text: text.to_owned(), source });
    (error.kind(), error.is_in_doubt())
}

#[test]
fn numbers_are_told_apart() {
    for (code, expected) in [
        ("10005", (ErrorKind::Authentication, false)),
        ("10014", (ErrorKind::Timeout, true)),
        ("10016", (ErrorKind::NotFound, false)),
        ("10017", (ErrorKind::Conflict, false)),
        ("10053", (ErrorKind::Configuration, false)),
        ("10064", (ErrorKind::Overload, false)),
        ("60028", (ErrorKind::NotFound, false)),
        ("60166", (ErrorKind::Overload, false)),
        ("8000x", (ErrorKind::Crashed, true)),
        ("1043", (ErrorKind::Overload, false)),
        ("130031", (ErrorKind::Overload, false)),
        ("140004", (ErrorKind::TooLarge, false)),
        ("140028", (ErrorKind::Unavailable, true)),
        ("140028-silent", (ErrorKind::Timeout, true)),
        ("140029", (ErrorKind::Timeout, true)),
        ("1510xx", (ErrorKind::Rejected, false)),
        ("999999", (ErrorKind::Rejected, false)),
        ("ABNORMAL", (ErrorKind::Crashed, true)),
    ] {
        assert_eq!(becomes(&[code], ""), expected, "{code}");
    }
}

#[test]
fn the_first_number_that_says_something_decides() {
    assert_eq!(becomes(&["140027", "10016"], "").0, ErrorKind::NotFound);
    assert_eq!(becomes(&["80007", "8000x"], "write failed: No space left on device").0, ErrorKind::DiskFull);
    assert_eq!(becomes(&["ABNORMAL"], "No space left on device").0, ErrorKind::DiskFull);
}

/// What is written for a server of this version.
fn files(root: &Path, version: &str, logs: bool) -> Result<[String; 3], StoreError> {
    let config = Files::read(&[FILES]).expect("the files are right").config;
    let folder = ServerFolder {
        root: root.to_owned(),
        data: root.join("data"),
        logs: logs.then(|| root.join("logs")),
        address: Ipv4Addr::LOCALHOST,
        ports: [3, 4, 5, 6, 7],
        password: Secret::new("admin"),
        user: None,
    };
    let path = root.join("bin");
    let installation = Installation { path, version: version.to_owned(), origin: String::new() };
    let launched = launch(&config, &installation, &folder, &ServerOptions::default())?;
    let url = "griddb://admin:admin@127.0.0.1:3/sensormark?rest=4";
    assert_eq!((launched.endpoint.url.expose(), &launched.endpoint.ports[..]), (url, &[3][..]));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).expect("it was written");
    Ok(["gs_node.json", "gs_cluster.json", "password"].map(read))
}

#[test]
fn an_older_server_is_told_nothing_of_sql() {
    let root = tempfile::tempdir().expect("a folder");
    for (version, has_sql) in [("4.3.0-36424", false), ("5.9.0-44056", true)] {
        let [node, cluster, _] = files(root.path(), version, false).expect("it is launched");
        for text in [&node, &cluster] {
            let read: serde_json::Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(read.to_string().contains("sql"), has_sql, "{text}");
            assert!(read.to_string().contains("transaction"));
        }
        assert_eq!(node.contains("transactionLogPath"), has_sql);
    }
}

#[test]
fn an_older_server_keeps_its_logs_beside_its_data() {
    let root = tempfile::tempdir().expect("a folder");
    let refused = files(root.path(), "4.3.0", true).expect_err("it cannot");
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    let [node, ..] = files(root.path(), "5.9.0", true).expect("it is launched");
    assert!(node.contains("logs/txnlog"));
}

#[test]
fn passwords_are_kept_as_griddb_keeps_them() {
    let root = tempfile::tempdir().expect("a folder");
    let [_, _, password] = files(root.path(), "5.9.0", false).expect("it is launched");
    let digest = "8c6976e5b5410415bde908bd4dee15dfb167a9c873fc4bb8a81f6f2ab448a918";
    assert_eq!(password, format!("admin,{digest}"));
}
