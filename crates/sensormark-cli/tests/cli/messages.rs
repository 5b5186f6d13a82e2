//! Wrong input gets one clear message: what, where, what to try; and the exit code of its kind.

use crate::refused::{refused, refused_at_once};
use crate::support::{Place, errors, read_folder, said};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const WORKLOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");

/// PostgreSQL was started with it, and the message was what its log says of shared memory.
#[test]
fn more_server_memory_than_there_is() {
    let place = Place::new();
    let big = "server_memory = \"900 TB\"\n".to_owned() + &fs::read_to_string(WORKLOAD).expect("ours");
    fs::write(place.path().join("big.toml"), big).expect("ours");
    let asked: [&[&str]; 5] = [
        &["run", "machine-tool"],
        &["run", "big.toml", "--dry-run"],
        &["explain", "devops"],
        &["explain", "big.toml"],
        &["servers", "start", "sqlite"],
    ];
    for command in asked {
        let arguments = [command, &["--server-memory", "900TB"]].concat();
        let words = ["--server-memory asks for 858306884 MiB", "give less"];
        refused_at_once(&place, &arguments, &words);
    }
    for command in [&["run"][..], &["run", "--dry-run"], &["explain"]] {
        let arguments = [command, &["big.toml"]].concat();
        let words =
            ["server_memory in big.toml asks for 858306884 MiB", "write less there, or give --server-memory"];
        refused_at_once(&place, &arguments, &words);
    }
    let other = place.run(&["run", "big.toml", "--dry-run", "--server-memory", "64"]);
    assert!(other.status.success(), "{}", errors(&other));
}

#[test]
fn names_that_there_are_not() {
    let place = Place::new();
    refused(&place, &["run", "machine-tol"], 2, &["workload", "did you mean machine-tool?"]);
    refused(&place, &["run", "machine-tool", "--on", "sqllite"], 2, &["store", "did you mean sqlite?"]);
    refused(
        &place,
        &["run", "machine-tool", "--on", "sqlite:bulky"],
        2,
        &["layout of SQLite", "did you mean bulk?"],
    );
    refused(
        &place,
        &["run", "machine-tool", "--on", "sqlite:bulk/bluk"],
        2,
        &["reading strategy", "did you mean bulk?"],
    );
    refused(&place, &["run", "machine-tool", "--set", "raeds=3"], 2, &["parameter", "did you mean reads?"]);
    refused(
        &place,
        &["run", "machine-tool", "--set", "reads=0"],
        2,
        &["--set reads=0: reads is 0", "1 or more"],
    );
    refused(&place, &["run", "machine-tool", "--set", "measured_seconds=1"], 2, &["write at least 3.5 s"]);
    refused(&place, &["list", "devop"], 2, &["workload"]);
    refused(&place, &["role", "writer"], 2, &["started by sensormark itself"]);
    assert!(read_folder(&place.results()).is_empty(), "nothing was begun");
}

/// What people type before they know the commands, and what the message says.
const FIRST_COMMANDS: [(&str, &str); 20] = [
    ("machine-tool", "write sensormark run machine-tool"),
    ("plant.toml", "write sensormark run plant.toml"),
    ("readings.csv", "write sensormark replay readings.csv"),
    ("postgres", "write sensormark run machine-tool --on postgres"),
    ("rnu machine-tool", "there is no command \"rnu\"; did you mean run? (there are: run, "),
    ("--on sqlite", "--on belongs after a command (run, "),
    ("run", "run needs a workload (machine-tool, devops, "),
    ("run --on sqlite", "for example: sensormark run machine-tool"),
    ("generate", "for example: sensormark generate machine-tool"),
    ("report", "for example: sensormark report results/RUN"),
    ("serve results --port 0", "any more: open results/index.html, which each run writes"),
    ("compare", "for example: sensormark compare results/EARLIER results/LATER"),
    (
        "compare results/a --threshold 5",
        "needs the folders of two runs, the earlier one first, with --threshold or --fail-on",
    ),
    ("replay", "for example: sensormark replay readings.csv"),
    ("servers start", "for example: sensormark servers start postgresql"),
    ("run machine-tool sqlite", "sensormark run machine-tool --on sqlite"),
    (
        "run machine-tool on sqlite:bulk,postgresql",
        "databases come after --on: sensormark run machine-tool --on sqlite:bulk,postgresql",
    ),
    ("run machine-tool --on sqlite --on postgresql", "name all databases in one: --on sqlite,postgresql"),
    ("generate machine-tool --seed -1", "if it is the value of --seed, write --seed=-1"),
    ("install-servers oracle", "there is no server \"oracle\" (there are: postgresql, "),
];

fn typed(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn first_commands_that_are_not_quite_right() {
    let place = Place::new();
    for (line, words) in FIRST_COMMANDS {
        refused_at_once(&place, &typed(line), &[words]);
    }
}

#[test]
fn what_is_no_number_and_what_the_parser_says_itself() {
    let place = Place::new();
    refused(&place, &["probe", "--port", "first"], 2, &["--port: \"first\" is no whole number"]);
    refused(&place, &["report", "results/RUN", "--rate", "much"], 2, &["--rate: \"much\" is no number"]);
    // Everything else is the parser's to say.
    for line in ["servers strat", "run machine-tool further", "--nothing"] {
        let output = place.run(&typed(line));
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {text}");
        assert!(text.starts_with("error: ") && text.contains("Usage: "), "{line}: {text}");
    }
}

#[test]
fn servers_that_cannot_be_reached() {
    let place = Place::new();
    let url = "postgresql=postgresql://somebody:hunter2@127.0.0.1:9/";
    let output = place.run(&["run", "machine-tool", "--on", url]);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("PostgreSQL") && !text.contains("hunter2"), "{text}");
    refused(&place, &["run", "machine-tool", "--on", "postgresql=http://x"], 2, &["postgresql://"]);
    refused(&place, &["run", "machine-tool", "--on", "sqlite=@nothing"], 3, &["sensormark servers status"]);
}

/// Part of it would be taken for the host, and a message about the host would show it.
#[test]
fn a_password_that_is_not_encoded() {
    let place = Place::new();
    for (store, url) in [
        ("postgresql", "postgresql://somebody:hunt@er2@127.0.0.1:9/"),
        ("mariadb", "mariadb://somebody:hunt/er2@127.0.0.1:9/"),
        ("mongodb", "mongodb://somebody:hunt?er2@127.0.0.1:9/"),
        ("influxdb", "http://somebody:hunt#er2@127.0.0.1:9/"),
        ("questdb", "questdb://somebody:hunt@er2@127.0.0.1:9/?http=8"),
        ("cassandra", "cassandra://somebody:hunt@er2@127.0.0.1:9/"),
    ] {
        let on = format!("{store}={url}");
        let arguments = ["run", "machine-tool", "--on", &on];
        refused_at_once(&place, &arguments, &[&format!("--on {store}=…"), "write @ as %40"]);
        let text = errors(&place.run(&["clean", &on]));
        assert!(text.contains("%40") && !text.contains("hunt") && !text.contains("er2"), "{text}");
    }
    // What is encoded is none of it, and neither is an @ of an option.
    let url = "influxdb=influxdb2://127.0.0.1:9/?org=me@here&token=x";
    refused(&place, &["run", "machine-tool", "--on", url], 3, &["InfluxDB"]);
    let url = "postgresql=postgresql://somebody:hunt%40er2@127.0.0.1:9/";
    refused(&place, &["run", "machine-tool", "--on", url], 3, &["PostgreSQL"]);
}

#[test]
fn results_that_cannot_be_written_or_read() {
    let place = Place::new();
    let blocked = place.path().join("file-in-the-way");
    fs::write(&blocked, "").expect("a file");
    refused(
        &place,
        &["run", "machine-tool", "--results", "file-in-the-way"],
        4,
        &["results folder", "--results FOLDER"],
    );
    refused(&place, &["report", "nowhere"], 2, &["there is no folder nowhere"]);
    let run = place.path().join("run");
    fs::create_dir_all(run.join("trials")).expect("a folder");
    for (text, words) in [
        ("{\"schema_version\": 99}", "use a newer sensormark"),
        ("{\"schema", "is damaged"),
        ("{}", "schema_version"),
    ] {
        fs::write(run.join("run.json"), text).expect("a file");
        refused(&place, &["report", "run"], 2, &[words, "run.json"]);
    }
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).expect("ours");
}

#[test]
fn processors_that_cannot_be_are_refused() {
    let output = Place::new().run(&["run", "machine-tool", "--pin=0/0"]);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("--pin") && text.contains("processor 0 is on both sides"), "{text}");
}

#[test]
fn text_from_outside_cannot_command_the_terminal() {
    let place = Place::new();
    let file = place.path().join("own.toml");
    fs::write(&file, "name = \"own\"\n\"a\\u001b[31mb\" = 1\n").expect("ours");
    let output = place.run(&["run", &file.to_string_lossy()]);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert!(text.contains("\\u{1b}"), "{text:?}");
}

#[test]
fn a_header_and_a_name_from_a_file_cannot_command_the_terminal() {
    let place = Place::new();
    let rows: String = (10..60).map(|second| format!("2026-01-01T00:00:{second}Z,{second}\n")).collect();
    let text = format!("time,va\u{1b}[31mlue\n{rows}");
    fs::write(place.path().join("r.csv"), text).expect("ours");
    let own = fs::read_to_string(WORKLOAD).expect("the repository has it");
    let own = own.replace("name = \"page\"", "name = \"pa\\u001b[31mge\"");
    fs::write(place.path().join("own.toml"), own).expect("ours");
    for arguments in
        [&["replay", "r.csv", "--dry-run"][..], &["run", "own.toml", "--dry-run"], &["list", "own.toml"]]
    {
        let output = place.run(arguments);
        let text = said(&output);
        assert!(output.status.success(), "{arguments:?}: {text}");
        assert!(!text.contains('\u{1b}'), "{arguments:?}: {text:?}");
    }
    let replayed = errors(&place.run(&["replay", "r.csv", "--dry-run"]));
    assert!(replayed.contains("va\\u{1b}[31mlue"), "{replayed:?}");
    let planned = said(&place.run(&["run", "own.toml", "--dry-run"]));
    assert!(planned.contains("pa\\u{1b}[31mge"), "{planned:?}");
}

#[test]
fn a_url_of_another_database_is_no_folder() {
    let place = Place::new();
    let target = "sqlite=postgresql://user:hunter2@localhost/";
    refused(
        &place,
        &["run", "machine-tool", "--on", target],
        2,
        &["the URL of another database", "sqlite:/path/to/folder"],
    );
    let output = place.run(&["run", "machine-tool", "--on", target]);
    assert!(!errors(&output).contains("hunter2"), "{}", errors(&output));
}

#[test]
fn verbose_says_each_phase_and_nobody_else_does() {
    const STEP: &str = "SQLite bulk: write: begins the phase measured";
    for (further, is_said) in [(&["-v"][..], true), (&[], false), (&["-q"], false)] {
        let place = Place::new();
        let on = ["--on", "sqlite:bulk"];
        let output = place.short(&[&on[..], further].concat());
        let text = errors(&output);
        assert_eq!(text.contains(STEP), is_said, "{further:?}: {text}");
    }
}
