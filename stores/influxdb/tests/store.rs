//! What its files say of errors and of a server of our own, without one.

use sensormark_drivers::Fault;
use sensormark_statements::config::Config;
use sensormark_statements::meaning::failure;
use sensormark_store::server::ServerFolder;
use sensormark_store::{ErrorKind, Installation, Launch, Secret, ServerOptions, Store, StoreError};
use sensormark_stores::influxdb;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

fn refused(status: u16, sentence: &str) -> StoreError {
    let config = Config::read([include_str!("../store.toml")].into_iter()).unwrap();
    let code = status.to_string();
    let class = format!("{}xx", &code[..1]);
    let fault =
        Fault::Refused { codes: vec![code, class], text: sentence.to_owned(), source: sentence.into() };
    failure(&config, "write", fault)
}

#[test]
fn what_may_be_stored_in_part_is_in_doubt() {
    for (status, text, in_doubt) in [
        (500, "timeout", true),
        (500, "engine is closed", true),
        (401, "authorization failed", false),
        (404, "database not found: \"x\"", false),
        (413, "Request Entity Too Large", false),
        (500, "engine: cache-max-memory-size exceeded: (1/1)", true),
        (400, "partial write: field type conflict: … dropped=1", true),
        (400, "partial write: unable to parse", true),
        (500, "something", true),
        (400, "error parsing query: found x", false),
    ] {
        assert_eq!(refused(status, text).is_in_doubt(), in_doubt, "{text}");
    }
}

#[test]
fn sentences_have_their_kinds() {
    use ErrorKind::{
        Authentication, Conflict, DiskFull, NotFound, Overload, Rejected, Timeout, TooLarge, Unavailable,
        Unsupported,
    };
    for (status, sentence, kind) in [
        (404, "database not found: \"x\"", NotFound),
        (200, "database not found: x", NotFound),
        (401, "authorization failed", Authentication),
        (413, "Request Entity Too Large", TooLarge),
        (
            400,
            "partial write: field type conflict: input field \"v\" on measurement \"m\" is type float, already exists as type integer dropped=1",
            Conflict,
        ),
        (500, "engine: cache-max-memory-size exceeded: (1/1)", Overload),
        (500, "write x.wal: no space left on device", DiskFull),
        (500, "timeout", Timeout),
        (400, "error parsing query: found x", Rejected),
        (200, "no database", NotFound),
        (
            403,
            "Flux query service disabled. Verify flux-enabled=true in the [http] section of the InfluxDB config.",
            Unsupported,
        ),
        (403, "not authorized to read", Authentication),
        (200, "max-select-point limit exceeed: (5/4)", TooLarge),
        (200, "max-concurrent-queries limit exceeded(2, 1)", Overload),
        (503, "request throttled, queue full", Overload),
        (200, "query-timeout limit exceeded", Timeout),
        (500, "engine is closed", Unavailable),
        (500, "query engine shutdown", Unavailable),
        (
            400,
            "partial write: max-values-per-tag limit exceeded (1/1): measurement=\"m\" tag=\"t\" value=\"v\" dropped=1",
            Overload,
        ),
        (404, "bucket \"sensormark_x\" not found", NotFound),
        (429, "", Overload),
        (502, "Bad Gateway", Unavailable),
    ] {
        assert_eq!(refused(status, sentence).kind(), kind, "{sentence}");
    }
}

fn launched(root: &Path, address: Ipv4Addr, memory_bytes: u64) -> Launch {
    let folder = ServerFolder {
        root: root.to_owned(),
        data: root.join("a \"data\" folder"),
        logs: None,
        address,
        ports: [3, 4, 5, 6, 7],
        password: Secret::new("hunter2"),
        user: None,
    };
    let installation =
        Installation { path: PathBuf::from("/i"), version: "1.8.10".to_owned(), origin: String::new() };
    let options = ServerOptions { memory_bytes, ..ServerOptions::default() };
    influxdb().launch(&installation, &folder, &options).unwrap()
}

#[test]
fn the_configuration_says_what_was_asked_for() {
    let root = tempfile::tempdir().unwrap();
    let launch = launched(root.path(), Ipv4Addr::LOCALHOST, 64 << 20);
    assert!(launch.set_up.is_none());
    assert_eq!(launch.endpoint.ports, [3, 5]);
    let url = launch.endpoint.url.expose();
    assert_eq!(url, "influxdb://sensormark:hunter2@127.0.0.1:3/?udp=4&udp_database=sensormark_udp");
    assert_eq!(launch.server.environment, [("GOMEMLIMIT".to_owned(), "64MiB".to_owned())]);
    let text = std::fs::read_to_string(root.path().join("influxdb.conf")).unwrap();
    for line in [
        "bind-address = \"127.0.0.1:3\"",
        "bind-address = \"127.0.0.1:4\"",
        "cache-max-memory-size = 33554432",
        "wal-fsync-delay = \"0s\"",
        "auth-enabled = true",
    ] {
        assert!(text.lines().any(|other| other.trim() == line), "{line} in {text}");
    }
    let read: toml::Table = toml::from_str(&text).unwrap();
    let data = root.path().join("a \"data\" folder/influxdb/data");
    assert_eq!(read["data"]["dir"].as_str(), data.to_str());
}

/// What a server that others reach is set up with.
#[test]
fn another_address_has_no_datagrams_and_an_account_from_the_start() {
    let root = tempfile::tempdir().unwrap();
    let launch = launched(root.path(), Ipv4Addr::new(10, 0, 0, 5), 1 << 30);
    let url = launch.endpoint.url.expose();
    assert_eq!(url, "influxdb://sensormark:hunter2@10.0.0.5:3/");
    let set_up = launch.set_up.expect("its user is made on loopback");
    let url = set_up.endpoint.url.expose();
    assert_eq!(url, "influxdb://sensormark:hunter2@127.0.0.1:3/");
    let bound = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(root.path().join(name)).unwrap();
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
