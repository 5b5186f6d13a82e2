//! `explain` on servers: what is shown is what the server saw, with its plans.

use crate::existing_server::Running;
use crate::shown::{QUESTIONS, assert_complete, explained, operations};
use crate::support::{Place, read_folder, said};
use std::path::Path;

/// All log files below a folder, together.
fn logs(folder: &Path) -> String {
    let mut text = String::new();
    for path in read_folder(folder) {
        if path.is_dir() {
            text.push_str(&logs(&path));
        } else if path.extension().is_some_and(|ending| ending == "log") {
            text.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()));
        }
    }
    text
}

pub fn postgresql_shows_what_its_own_log_saw() {
    let place = Place::new();
    let server = Running::start(&place);
    server.sql("postgres", "ALTER SYSTEM SET log_statement = 'all'");
    server.sql("postgres", "SELECT pg_reload_conf()");
    let shown = explained(&place, &format!("postgresql:individual={}", server.url));
    assert_complete(&shown[0], true);
    let log = logs(place.path());
    let mut compared = 0;
    for operation in operations(&shown[0]) {
        for statement in operation["statements"].as_array().expect("a list") {
            let text = statement["text"].as_str().expect("a text");
            assert!(log.contains(text), "the server did not see {text}");
            compared += 1;
        }
    }
    assert!(compared > QUESTIONS.len(), "{compared}");
    let left = server.sql("postgres", "SELECT count(*) FROM pg_database WHERE datname LIKE 'sensormark%'");
    assert_eq!(left.trim(), "0");
    let password = server.url.split([':', '@']).nth(2).expect("a password");
    assert!(password.len() > 5, "{password}");
    assert!(!format!("{shown:?}").contains(password), "the password is shown");
}

/// A server that `explain` starts itself, and stops.
fn on_own_server(store: &str, has_plans: bool) {
    let place = Place::new();
    let shown = explained(&place, &format!("{store}:individual"));
    assert_complete(&shown[0], has_plans);
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

/// It had a gigabyte, whatever the file says.
pub fn a_file_says_memory_and_durability() {
    const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");
    let place = Place::new();
    let own = std::fs::read_to_string(OWN).expect("ours");
    let says = "server_memory = \"256 MiB\"\ndurability = \"relaxed\"\n";
    std::fs::write(place.path().join("own.toml"), format!("{says}{own}")).expect("ours");
    let has = |further: &[&str], buffers: &str, commit: &str| {
        let explain = ["explain", "own.toml", "--on=postgresql:individual"];
        let output = place.run(&[&explain[..], further].concat());
        let text = said(&output);
        for setting in [buffers, commit] {
            assert!(text.contains(setting), "{setting}: {text}");
        }
    };
    has(&[], "shared_buffers = 256MB", "synchronous_commit = off");
    let options = ["--server-memory=128", "--durability=durable"];
    has(&options, "shared_buffers = 128MB", "synchronous_commit = on");
}

pub fn mongodb_shows_all() {
    on_own_server("mongodb", true);
}

pub fn influxdb_shows_all() {
    on_own_server("influxdb", true);
}

pub fn cassandra_shows_all_but_plans() {
    on_own_server("cassandra", false);
}

pub fn duckdb_shows_all() {
    on_own_server("duckdb", true);
}

pub fn mariadb_shows_all() {
    on_own_server("mariadb", true);
}

pub fn griddb_shows_all() {
    on_own_server("griddb", true);
}

pub fn questdb_shows_all() {
    on_own_server("questdb", true);
}
