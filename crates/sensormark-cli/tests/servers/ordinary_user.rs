//! A user with no more rights than `docs/how-to/existing-server.md` asks for measures a whole run. What it may not do is left out, and said.

use crate::existing_server::Running;
use crate::support::{Place, errors, held_against, said};
use std::process::{Command, Output};

const OURS: &str = "SELECT count(*) FROM pg_database WHERE datname LIKE 'sensormark%'";

/// The server's URL for another user, with the password "secret".
fn url_of(server: &Running<'_>, user: &str) -> String {
    let (_, host) = server.url.rsplit_once('@').expect("a user");
    let (scheme, _) = server.url.split_once("://").expect("a scheme");
    format!("{scheme}://{user}:secret@{host}")
}

/// What was said, without the lines that a terminal makes of it.
fn flat(output: &Output) -> String {
    let text = said(output);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A short run on a server.
fn run(place: &Place, on: &str, further: &[&str]) -> Output {
    place.short(&[&["--on", on], further].concat())
}

pub fn of_postgresql() {
    let place = Place::new();
    let server = Running::start(&place);
    server.sql("postgres", "CREATE ROLE plain LOGIN CREATEDB PASSWORD 'secret'");
    server.sql("postgres", "ALTER ROLE plain SET search_path = app");
    server.sql("postgres", "ALTER ROLE plain SET statement_timeout = '2s'");
    let on = format!("postgresql={}", url_of(&server, "plain"));
    let output = run(&place, &on, &[]);
    let text = flat(&output);
    let trials = place.trials();
    assert!(trials.len() >= 4, "{text}");
    for trial in &trials {
        let against = held_against(trial);
        assert!(against.is_empty(), "{} {against:?}: {text}", trial["name"]);
    }
    assert!(text.contains("no CHECKPOINT before the disk was measured"), "{text}");
    assert_eq!(server.sql("postgres", OURS), "0\n", "nothing is left behind");
    // A right that is needed is named by the server's own error.
    server.sql("postgres", "ALTER ROLE plain NOCREATEDB");
    let refused = Place::new();
    let text = flat(&run(&refused, &on, &[]));
    assert!(text.contains("permission denied to create database"), "{text}");
    assert!(text.contains("LOGIN and CREATEDB"), "{text}");
}

/// What was stopped between making a database and marking it is found, and goes; what holds something stays.
pub fn an_unmarked_database_is_cleaned() {
    let place = Place::new();
    let server = Running::start(&place);
    let (empty, filled) = ("sensormark_6608b01611240000001", "sensormark_6608b01611240000002");
    for name in [empty, filled, "sensormark_mine"] {
        let make = format!("CREATE DATABASE {name} TEMPLATE template0");
        server.sql("postgres", &make);
    }
    server.sql(filled, "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'");
    let named = format!("postgresql={}", server.url_of(""));
    let cleaned = place.run(&["clean", &named, "--older-than=0s"]);
    let text = flat(&cleaned);
    assert!(cleaned.status.success(), "{text}");
    assert!(text.contains(&format!("{empty} of an unknown run")), "{text}");
    let left =
        "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE datname LIKE 'sensormark%'";
    assert_eq!(server.sql("postgres", left), format!("{filled} sensormark_mine\n"));
}

/// A server that flushes nothing is no durable one, and says so in its default class.
pub fn a_server_that_flushes_nothing_is_not_durable() {
    let place = Place::new();
    let server = Running::start(&place);
    let on = format!("postgresql:bulk/bulk={}", server.url_of(""));
    for setting in ["fsync", "full_page_writes"] {
        server.sql("postgres", &format!("ALTER SYSTEM SET {setting} = off"));
        server.sql("postgres", "SELECT pg_reload_conf()");
        let refused = Place::new();
        let output = run(&refused, &on, &["--durability", "durable"]);
        let text = flat(&output);
        assert!(!output.status.success(), "{text}");
        assert!(text.contains(&format!("the server has {setting} = off")), "{text}");
        let told = Place::new();
        let text = flat(&run(&told, &on, &["--durability", "default"]));
        assert!(
            text.contains(&format!(
                "the server has {setting} = off: a power cut may take acknowledged writes"
            )),
            "{text}"
        );
        server.sql("postgres", &format!("ALTER SYSTEM RESET {setting}"));
        server.sql("postgres", "SELECT pg_reload_conf()");
    }
    let output = run(&place, &on, &["--durability", "durable"]);
    assert_eq!(place.trials().len(), 2, "{}", errors(&output));
}

/// Runs a statement as MariaDB's first user.
fn mariadb(url: &str, statement: &str) {
    let after = url.split_once("://").expect("a scheme").1;
    let (user, host) = after.rsplit_once('@').expect("a user");
    let (user, password) = user.split_once(':').expect("a password");
    let port: String =
        host.rsplit_once(':').expect("a port").1.chars().take_while(char::is_ascii_digit).collect();
    let done = Command::new("mariadb")
        .args(["--protocol=tcp", "-h", "127.0.0.1", "-P", &port, "-u", user])
        .args(["-e", statement])
        .env("MYSQL_PWD", password)
        .output()
        .expect("its client is there");
    assert!(done.status.success(), "{}", errors(&done));
}

pub fn of_mariadb() {
    let place = Place::new();
    let server = Running::start_of(&place, "mariadb");
    mariadb(
        &server.url,
        "CREATE USER plain IDENTIFIED BY 'secret'; GRANT ALL ON `sensormark\\_%`.* TO plain; SET GLOBAL innodb_flush_log_at_trx_commit = 0",
    );
    let on = format!("mariadb:bulk/bulk={}", url_of(&server, "plain"));
    let text = flat(&run(&place, &on, &["--durability", "default"]));
    let trials = place.trials();
    assert_eq!(trials.len(), 2, "{text}");
    for trial in &trials {
        let against = held_against(trial);
        assert!(against.is_empty(), "{} {against:?}: {text}", trial["name"]);
    }
    for words in [
        "pages were not flushed before the disk was measured",
        "the server has innodb_flush_log_at_trx_commit = 0: a power cut may take acknowledged writes",
    ] {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
}
