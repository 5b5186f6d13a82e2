//! `explain`: schema, every statement with its plan, settings; and nothing that stays.

use crate::existing_server::Running;
use crate::support::{Place, errors, read_folder, said};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// The questions of devops.
const QUESTIONS: [&str; 6] = [
    "max-1-host",
    "max-1-host-long",
    "max-several-hosts",
    "mean-all-hosts",
    "last-reading",
    "busy-hosts",
];

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", errors(output));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// What `explain devops` shows of a store, as its JSON has it.
fn explained(place: &Place, on: &str) -> Vec<Value> {
    let output = place.run(&["explain", "devops", "--on", on, "--format", "json"]);
    serde_json::from_str(&text(&output)).expect("JSON")
}

fn operations(shown: &Value) -> &[Value] {
    shown["operations"].as_array().map_or(&[], Vec::as_slice)
}

/// Every question by its name, with statements, and where the database has plans, a plan of each.
fn assert_complete(shown: &Value, has_plans: bool) {
    for name in QUESTIONS {
        let mut named = operations(shown).iter();
        let one = named.find(|one| one["name"] == name);
        let one = one.unwrap_or_else(|| panic!("no {name} in {shown:#}"));
        let statements = one["statements"].as_array().expect("a list");
        assert!(!statements.is_empty(), "{name}: {one:#}");
        let planned = statements
            .iter()
            .any(|one| one["plan"].as_str().is_some_and(|plan| plan.len() > 5));
        assert_eq!(planned, has_plans, "{name}: {one:#}");
    }
    assert!(
        operations(shown).iter().any(|one| one["writes"] == true),
        "{shown:#}"
    );
    for list in ["schema", "settings", "write_sizes"] {
        let items = shown[list].as_array().expect("a list");
        assert!(!items.is_empty(), "no {list}");
    }
}

#[test]
fn sqlite_shows_all_and_leaves_nothing() {
    let place = Place::new();
    let data = place.path().join("data");
    std::fs::create_dir(&data).expect("a folder");
    let folder = data.to_str().expect("UTF-8");
    let on = format!("sqlite:individual-clustered=sqlite:{folder}");
    let shown = explained(&place, &on);
    assert_eq!(shown.len(), 1);
    assert_complete(&shown[0], true);
    let left: Vec<_> = std::fs::read_dir(&data)
        .expect("a folder")
        .flatten()
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!place.results().exists(), "explain measures nothing");
}

#[test]
fn what_people_read_has_names_plans_and_sizes() {
    let place = Place::new();
    let shown = text(&place.run(&["explain", "devops", "--on", "sqlite:individual"]));
    for word in [
        "schema:",
        "question max-1-host",
        "plan:",
        "SEARCH",
        "CREATE TABLE",
        "size of a write:",
        "settings:",
    ] {
        assert!(shown.contains(word), "no {word:?} in {shown}");
    }
    let read = text(&place.run(&["explain", "machine-tool", "--on", "sqlite:individual"]));
    assert!(read.contains("write write, 1 reading"), "{read}");
    assert!(read.contains("question read individual"), "{read}");
}

#[test]
fn a_wrong_name_is_a_usage_error() {
    let place = Place::new();
    let output = place.run(&["explain", "devops", "--on", "sqlite:nosuch"]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(errors(&output).contains("nosuch"));
}

/// Whether the store's server is here; told where it is not.
fn is_here(title: &str) -> bool {
    let doctor = said(&Place::new().run(&["doctor"]));
    let is_it =
        |line: &str| line.trim_start().starts_with(title) && !line.contains("not installed");
    let here = doctor.lines().any(is_it);
    if !here {
        eprintln!("ignored: {title} is not here (bash scripts/install-servers.sh installs it)");
    }
    here
}

/// All log files below a folder, together.
fn logs(folder: &Path) -> String {
    let mut text = String::new();
    for path in read_folder(folder) {
        if path.is_dir() {
            text.push_str(&logs(&path));
        } else if path.extension().is_some_and(|ending| ending == "log") {
            text.push_str(&String::from_utf8_lossy(
                &std::fs::read(&path).unwrap_or_default(),
            ));
        }
    }
    text
}

#[test]
fn postgresql_shows_what_its_own_log_saw() {
    if !is_here("PostgreSQL") {
        return;
    }
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
    let left = server.sql(
        "postgres",
        "SELECT count(*) FROM pg_database WHERE datname LIKE 'sensormark%'",
    );
    assert_eq!(left.trim(), "0");
    let password = server.url.split([':', '@']).nth(2).expect("a password");
    assert!(password.len() > 5, "{password}");
    assert!(
        !format!("{shown:?}").contains(password),
        "the password is shown"
    );
}

/// A server that `explain` starts itself, and stops.
fn on_own_server(store: &str, title: &str, has_plans: bool) {
    if !is_here(title) {
        return;
    }
    let place = Place::new();
    let shown = explained(&place, &format!("{store}:individual"));
    assert_complete(&shown[0], has_plans);
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

#[test]
fn mongodb_shows_all() {
    on_own_server("mongodb", "MongoDB", true);
}

#[test]
fn influxdb_shows_all() {
    on_own_server("influxdb", "InfluxDB", true);
}

#[test]
fn cassandra_shows_all_but_plans() {
    on_own_server("cassandra", "Cassandra", false);
}

#[test]
fn mariadb_shows_all() {
    on_own_server("mariadb", "MariaDB", true);
}
