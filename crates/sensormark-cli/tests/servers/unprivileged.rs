//! Another user than the one that installed the servers: it finds the same ones, starts and measures them, and names what this user may not read.

use crate::support::{Place, errors, held_against, missing, said};
use std::process::{Command, Output};

/// The program in a place, as the user `nobody`.
fn as_nobody(place: &Place, arguments: &[&str], variable: (&str, &str)) -> Output {
    let command = place.command(arguments);
    let mut lowered = Command::new("setpriv");
    lowered.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
    lowered.arg(command.get_program()).args(command.get_args());
    lowered.current_dir(place.path());
    for (name, value) in command.get_envs() {
        lowered.env(name, value.unwrap_or_default());
    }
    lowered.env("HOME", place.path()).env(variable.0, variable.1);
    lowered.output().expect("setpriv is there")
}

/// Lines of `doctor` about databases that are here, without their places.
fn found(doctor: &Output) -> Vec<String> {
    let text = said(doctor);
    let lines = text.lines().skip(1).take_while(|line| !line.is_empty());
    let here = lines.filter(|line| !line.contains("not installed"));
    here.filter_map(|line| Some(line.split_once(" (")?.0.to_owned())).collect()
}

pub fn another_user_finds_what_root_installed() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("takes root, which becomes another user".to_owned());
    }
    let place = Place::new();
    let state = place.path().join("state");
    std::fs::create_dir(&state).expect("a folder");
    std::os::unix::fs::chown(&state, Some(65_534), Some(65_534)).expect("root may do it");
    let nothing = ("SENSORMARK_NOTHING", "");
    let theirs = found(&as_nobody(&place, &["doctor"], nothing));
    assert_eq!(theirs, found(&Place::new().run(&["doctor"])));
    for store in ["mongodb", "influxdb"] {
        let title = if store == "mongodb" { "MongoDB" } else { "InfluxDB" };
        if missing(title).is_some() {
            continue;
        }
        let start = ["servers", "start", store, "--server-memory", "256"];
        let started = as_nobody(&place, &start, nothing);
        assert!(started.status.success(), "{}", errors(&started));
        let stopped = as_nobody(&place, &["servers", "stop", store], nothing);
        assert!(stopped.status.success(), "{}", errors(&stopped));
    }

    let closed = place.path().join("closed");
    std::fs::create_dir_all(closed.join("mongodb/bin")).expect("a folder");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(closed.join("mongodb"), mode).expect("it is ours");
    let home = closed.join("mongodb").to_string_lossy().into_owned();
    let told = said(&as_nobody(&place, &["doctor"], ("SENSORMARK_MONGODB_HOME", &home)));
    assert!(told.contains("this user may not read it"), "{told}");
    None
}

/// Databases that a user without any privilege measures, each with one layout.
const MEASURED: [(&str, &str, &str); 8] = [
    ("sqlite", "SQLite", "bulk"),
    ("duckdb", "DuckDB", "bulk"),
    ("postgresql", "PostgreSQL", "bulk"),
    ("mariadb", "MariaDB", "bulk"),
    ("mongodb", "MongoDB", "bulk"),
    ("influxdb", "InfluxDB", "individual-gzip"),
    ("cassandra", "Cassandra", "bulk"),
    ("questdb", "QuestDB", "individual-no-index"),
];

/// Where the tests have no privilege themselves, the run is theirs.
pub fn a_user_without_privileges_measures() -> Option<String> {
    const WORKLOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");
    let all = MEASURED.into_iter();
    let here: Vec<_> = all.filter(|(_, title, _)| missing(title).is_none()).collect();
    let place = Place::new();
    let is_root = rustix::process::geteuid().is_root();
    for name in ["state", "results"] {
        let folder = place.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        if is_root {
            std::os::unix::fs::chown(&folder, Some(65_534), Some(65_534)).expect("root may do it");
        }
    }
    // The checkout may be closed to others.
    std::fs::copy(WORKLOAD, place.path().join("own.toml")).expect("the place is ours");
    let on = here.iter().map(|(store, _, layout)| format!("{store}:{layout}"));
    let on = on.collect::<Vec<_>>().join(",");
    let arguments = [
        "run",
        "own.toml",
        "--on",
        &on,
        "--set",
        "repetitions=1",
        "--results",
        "results",
        "--tolerate-disturbance",
        "--progress=plain",
        "--server-memory",
        "256",
    ];
    let output = match is_root {
        true => as_nobody(&place, &arguments, ("SENSORMARK_NOTHING", "")),
        false => place.run(&arguments),
    };
    let text = errors(&output);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{text}");
    let trials = place.trials();
    for (store, ..) in here {
        let of_it = |trial: &&serde_json::Value| trial["implementation"]["store"] == store;
        let mut measured = trials.iter().filter(of_it).peekable();
        assert!(measured.peek().is_some(), "{store} was not measured: {text}");
        for trial in measured {
            assert!(held_against(trial).is_empty(), "{store}: {text}");
        }
    }
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
    None
}
