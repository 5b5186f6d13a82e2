//! A user with no more rights than `docs/how-to/existing-server.md` asks for measures a whole run. What it may not do is left out, and said.

use crate::existing_server::Running;
use crate::support::{Place, errors, held_against, said};
use mongodb::bson::{Document, doc};
use std::process::{Command, Output};

const OURS: &str = "SELECT count(*) FROM pg_database WHERE datname LIKE 'sensormark%'";

/// The server's URL for another user, with the password "secret".
pub fn url_of(server: &Running<'_>, user: &str) -> String {
    let (_, host) = server.url.rsplit_once('@').expect("a user");
    let (scheme, _) = server.url.split_once("://").expect("a scheme");
    format!("{scheme}://{user}:secret@{host}")
}

/// What was said, without the lines that a terminal makes of it.
pub fn flat(output: &Output) -> String {
    let text = said(output);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A short run on a server.
pub fn run(place: &Place, on: &str, further: &[&str]) -> Output {
    place.short(&[&["--on", on], further].concat())
}

/// Checks that there are this many trials at least, and that nothing is held against any.
pub fn all_hold(place: &Place, least: usize, text: &str) {
    assert!(place.results().exists(), "{text}");
    let trials = place.trials();
    assert!(trials.len() >= least, "{} trials: {text}", trials.len());
    for trial in &trials {
        let against = held_against(trial);
        assert!(against.is_empty(), "{} {against:?}: {text}", trial["name"]);
    }
}

/// Checks that a run is refused with these words.
fn refused_with(on: &str, words: &[&str]) {
    let place = Place::new();
    let output = run(&place, on, &[]);
    let text = flat(&output);
    assert!(!output.status.success(), "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
    assert!(!text.contains("secret"), "{text}");
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
    all_hold(&place, 4, &text);
    assert!(text.contains("no CHECKPOINT before the disk was measured"), "{text}");
    assert_eq!(server.sql("postgres", OURS), "0\n", "nothing is left behind");
    // A right that is needed is named by the server's own error.
    server.sql("postgres", "ALTER ROLE plain NOCREATEDB");
    refused_with(&on, &["permission denied to create database", "LOGIN and CREATEDB"]);
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

/// What MariaDB's first user is answered.
pub fn mariadb(url: &str, statement: &str) -> String {
    let after = url.split_once("://").expect("a scheme").1;
    let (user, host) = after.rsplit_once('@').expect("a user");
    let (user, password) = user.split_once(':').expect("a password");
    let port: String =
        host.rsplit_once(':').expect("a port").1.chars().take_while(char::is_ascii_digit).collect();
    let done = Command::new("mariadb")
        .args(["--protocol=tcp", "-h", "127.0.0.1", "-P", &port, "-u", user])
        .args(["-Ne", statement])
        .env("MYSQL_PWD", password)
        .output()
        .expect("its client is there");
    assert!(done.status.success(), "{}", errors(&done));
    said(&done)
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
    all_hold(&place, 2, &text);
    for words in [
        "no EXECUTE IMMEDIATE @flush_of_pages before the disk was measured",
        "the server has innodb_flush_log_at_trx_commit = 0: a power cut may take acknowledged writes",
    ] {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
}

/// Runs a command of MongoDB as its first user.
fn mongodb(server: &Running<'_>, command: Document) {
    let runtime = sensormark_server::runtime().expect("a runtime");
    let done = runtime.block_on(async {
        let client = mongodb::Client::with_uri_str(&server.url).await?;
        client.database("admin").run_command(command).await
    });
    done.expect("the server does it");
}

pub fn of_mongodb() {
    let place = Place::new();
    let server = Running::start_of(&place, "mongodb");
    let roles = |role: &str| vec![role.to_owned()];
    let make = doc! { "createUser": "plain", "pwd": "secret", "roles": roles("readWriteAnyDatabase") };
    mongodb(&server, make);
    let on = format!("mongodb={}", url_of(&server, "plain"));
    let text = flat(&run(&place, &on, &[]));
    all_hold(&place, 4, &text);
    let words = "before the disk was measured: the user may not";
    assert!(text.contains(words), "{words:?} is not in: {text}");
    let left = place.run(&["clean", &on, "--older-than=0s"]);
    assert!(said(&left).contains("nothing is left"), "{}", said(&left));
    mongodb(&server, doc! { "updateUser": "plain", "roles": roles("readAnyDatabase") });
    refused_with(&on, &["not authorized on sensormark_", "readWriteAnyDatabase is enough"]);
}

/// What InfluxDB's first user is answered.
fn influxdb(server: &Running<'_>, path: &str, body: &str) -> String {
    let (_, host) = server.url.split_once("://").expect("a scheme");
    let place = format!("http://{}/{path}", host.split('/').next().expect("a host"));
    let kind = if path == "query" { "--data-urlencode" } else { "--data-binary" };
    let asked = Command::new("curl").args(["-sSf", &place, kind, body]).output();
    let asked = asked.expect("curl is there");
    assert!(asked.status.success(), "{}", errors(&asked));
    said(&asked)
}

fn influxql(server: &Running<'_>, statement: &str) -> String {
    influxdb(server, "query", &format!("q={statement}"))
}

/// A user of one database measures in that one, which stays.
pub fn of_influxdb() {
    let place = Place::new();
    let server = Running::start_of(&place, "influxdb");
    for statement in [
        "CREATE DATABASE sensormark_plant",
        "CREATE USER plain WITH PASSWORD 'secret'",
        "GRANT ALL ON sensormark_plant TO plain",
    ] {
        influxql(&server, statement);
    }
    let url = url_of(&server, "plain");
    let url = url.split('?').next().expect("a URL");
    // Without a listener of datagrams there is no layout udp.
    let given = format!("{url}?database=sensormark_plant");
    let on =
        ["individual", "individual-in-seconds"].map(|layout| format!("influxdb:{layout}={given}")).join(",");
    let text = flat(&run(&place, &on, &[]));
    all_hold(&place, 4, &text);
    for words in ["no SHOW STATS before the disk was measured", "settings are missing"] {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
    assert!(influxql(&server, "SHOW DATABASES").contains("sensormark_plant"));
    let is_empty = || {
        let left = influxql(&server, "SHOW MEASUREMENTS ON sensormark_plant");
        assert!(!left.contains("name"), "{left}");
    };
    is_empty();
    // What a killed run left goes too, and the database stays.
    let lines = "readings value=1 1\nsensormark_owner mark=\"6608b01611240000001\",name=\"sensormark_6608b01611240000001\" 0";
    influxdb(&server, "write?db=sensormark_plant", lines);
    let cleaned = said(&place.run(&["clean", &format!("influxdb={given}"), "--older-than=0s"]));
    assert!(cleaned.contains(": dropped"), "{cleaned}");
    is_empty();

    // A right that is needed is named by the server's own error, as text.
    refused_with(&format!("influxdb={url}"), &["requires admin privilege", "?database=sensormark_NAME"]);
    refused_with(&on.replace("secret", "wrong"), &["InfluxDB says \"authorization failed\" (code 401);"]);
    influxql(&server, "REVOKE WRITE ON sensormark_plant FROM plain");
    refused_with(&on, &["user is not authorized to write to database"]);
}
