//! A server that sensormark starts on another host, by a role there: on a host of its own with an sshd, and by a launcher of this machine.

use crate::namespaces::{PROGRAM, check, check_server_columns, cut_off, program_of_hosts};
use crate::network::Network;
use crate::support::{Place, SHORT, errors, held_against, read_folder, said};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// What the names of servers' scratch folders begin with.
const STORES: [&str; 6] = ["postgresql-", "mariadb-", "mongodb-", "questdb-", "influxdb-", "cassandra-"];

/// The programs of these servers.
const PROGRAMS: [&str; 5] = ["postgres", "mariadbd", "mongod", "influxd", "java"];

/// Scratch folders of servers in a host's state folder.
fn scratch_folders(state: &Path) -> Vec<PathBuf> {
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        STORES.iter().any(|store| name.starts_with(store))
    };
    read_folder(state).into_iter().filter(is_one).collect()
}

/// Processes that work in this folder, by their command line.
fn servers_below(state: &Path) -> Vec<String> {
    let state = state.to_str().expect("UTF-8");
    let all = read_folder(Path::new("/proc")).into_iter();
    let lines = all.filter_map(|path| fs::read(path.join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    let is_server = |line: &String| {
        let program = line.split(' ').next().unwrap_or_default();
        let is_program = PROGRAMS.iter().any(|known| program.ends_with(known));
        is_program && line.contains(state)
    };
    lines.filter(is_server).collect()
}

/// Neither process nor folder is left, within the time that a stop in good order takes.
fn nothing_left(state: &Path) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let left = (scratch_folders(state), servers_below(state));
        if left.0.is_empty() && left.1.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left there: {left:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The generated passwords of the servers that run there now.
fn passwords(state: &Path) -> Vec<String> {
    let folders = scratch_folders(state).into_iter();
    let texts = folders.filter_map(|folder| fs::read_to_string(folder.join("server/password")).ok());
    texts.map(|text| text.trim().to_owned()).collect()
}

/// Runs it, and looks meanwhile whether a password of the server there is on a command line. It is in no result and no message either.
fn run_watched(mut command: Command, place: &Place, state: &Path) -> Output {
    let piped = std::process::Stdio::piped;
    let child = command.stdout(piped()).stderr(piped()).spawn();
    let child = child.expect("it starts");
    let over = std::sync::atomic::AtomicBool::new(false);
    let (seen, output) = std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut seen = Vec::new();
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                for password in passwords(state) {
                    let lines = read_folder(Path::new("/proc")).into_iter();
                    let mut lines = lines.filter_map(|path| fs::read(path.join("cmdline")).ok());
                    let shows = |line: Vec<u8>| String::from_utf8_lossy(&line).contains(&password);
                    assert!(!lines.any(shows), "a password is on a command line");
                    if !seen.contains(&password) {
                        seen.push(password);
                    }
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            seen
        });
        let output = child.wait_with_output().expect("it ends");
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        (looking.join().expect("it looked"), output)
    });
    assert!(!seen.is_empty(), "no server ran: {}", said(&output));
    let run = fs::read_to_string(place.run_folder().join("run.json")).expect("a run");
    for password in &seen {
        assert!(!run.contains(password) && !said(&output).contains(password));
    }
    output
}

/// Source and writer on one host, reader and server on two others: study 1's machines, with its restart before reading.
pub fn on_a_host_of_its_own() -> Option<String> {
    let place = Place::new();
    let folder = place.path().join("network");
    fs::create_dir(&folder).expect("room");
    let network = match Network::new(&folder, &["pi1", "pi2", "db1"]) {
        Ok(network) => network,
        Err(why) => return Some(why),
    };
    let state = folder.join("state");
    let program = program_of_hosts(&folder, "sensormark", "");
    let (launcher, address) = (network.launcher(), network.address("db1"));
    let hosts = [
        "--on",
        "postgresql:individual",
        "--as-study",
        "--launcher",
        &launcher,
        "--host-program",
        &program,
        "--server-address",
        &address,
        "--host",
        "server=db1",
        "--host",
        "source=pi1",
        "--host",
        "writer=pi1",
        "--host",
        "reader=pi2",
    ];
    let words = [&SHORT[..], &hosts].concat();
    let run_in = |arguments: &[&str]| {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", network.hub(), PROGRAM])
            .args(arguments)
            .current_dir(place.path())
            .env("SENSORMARK_STATE", place.path().join("state"));
        command
    };
    let output = run_watched(run_in(&words), &place, &state);
    let trials = check(&place, &output, -10_000_000);
    for trial in &trials {
        is_started_there(trial);
    }
    nothing_left(&state);
    cut_off(&run_in, &words, ("server", "db1"), (&state, 5));
    nothing_left(&state);
    others(&run_in, &words, &folder);
    nothing_left(&state);
    no_datagrams(&run_in, &words, &folder);
    nothing_left(&state);
    None
}

/// The other stores that may listen on such an address, where they are installed.
fn others(run_in: &dyn Fn(&[&str]) -> Command, words: &[&str], folder: &Path) {
    let stores = [
        ("MariaDB", "mariadb:bulk"),
        ("MongoDB", "mongodb:bulk-dates"),
        ("QuestDB", "questdb:individual"),
        ("InfluxDB", "influxdb:individual"),
        ("Cassandra", "cassandra:individual"),
    ];
    for (title, on) in stores {
        if let Some(why) = crate::support::missing(title) {
            println!("{title} is left out: {why}");
            continue;
        }
        let (output, trials) = run_of(run_in, words, (on, &folder.join(title)));
        let text = said(&output);
        assert!(output.status.success(), "{title}: {text}");
        assert!(text.contains("server measured by a probe on db1"), "{text}");
        assert!(trials.len() > 1, "{title}: {text}");
        for trial in &trials {
            is_started_there(trial);
            let held = held_against(trial);
            assert!(held.is_empty(), "{title}: {held:?}: {text}");
            check_server_columns(trial);
        }
    }
}

/// A run like that of PostgreSQL with another database, and its trials.
fn run_of(
    run_in: &dyn Fn(&[&str]) -> Command,
    words: &[&str],
    (on, results): (&str, &Path),
) -> (Output, Vec<Value>) {
    let folder = results.to_str().expect("UTF-8");
    let changed: Vec<&str> = words
        .iter()
        .map(|word| match *word {
            "results" => folder,
            "postgresql:individual" => on,
            other => other,
        })
        .collect();
    let output = run_in(&changed).output().expect("it runs");
    let runs = read_folder(results).into_iter();
    let files = runs.flat_map(|run| read_folder(&run.join("trials")));
    let read = |path: PathBuf| {
        let bytes = fs::read(path).expect("a trial");
        serde_json::from_slice(&bytes).expect("JSON")
    };
    (output, files.map(read).collect())
}

/// Datagrams ask for no password, so no server takes any where others could send them.
fn no_datagrams(run_in: &dyn Fn(&[&str]) -> Command, words: &[&str], folder: &Path) {
    if crate::support::missing("InfluxDB").is_some() {
        return;
    }
    let results = folder.join("datagrams");
    let (output, trials) = run_of(run_in, words, ("influxdb:individual-udp", &results));
    let text = said(&output);
    assert!(text.contains("names no listener of UDP"), "{text}");
    let counts = |trial: &Value| held_against(trial).is_empty();
    assert!(!trials.iter().any(counts), "{text}");
}

/// The trial's server was started by sensormark on db1, and started again before a reading trial.
fn is_started_there(trial: &Value) {
    let server = &trial["server"];
    assert_eq!(server["managed"], true, "{server}");
    assert!(server["start_seconds"].as_f64() > Some(0.0), "{server}");
    assert_eq!(server["probe"]["host"], "db1", "{server}");
    let notes = server["notes"].to_string();
    for words in ["started it on db1", "with the generated password alone"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    let restart = &trial["figures"]["restart_before_reading_seconds"];
    let is_read = trial["side"] == "read";
    assert_eq!(restart["value"].as_f64() > Some(0.0), is_read, "{restart}");
}

/// By a launcher of this machine: each store that may listen elsewhere is started, measured and removed by the role.
pub fn by_a_launcher() -> Option<String> {
    for (store, title) in [("postgresql", "PostgreSQL"), ("mariadb", "MariaDB")] {
        if let Some(why) = crate::support::missing(title) {
            println!("{title} is left out: {why}");
            continue;
        }
        let (place, state) = (Place::new(), Place::new());
        let launcher = format!("env SENSORMARK_STATE={} HOST={{host}}", state.path().display());
        let on = format!("{store}:bulk");
        let hosts = [
            "--on",
            &on,
            "--launcher",
            &launcher,
            "--host-program",
            PROGRAM,
            "--host",
            "server=db1",
            "--server-address",
            "127.0.0.1",
        ];
        let output = place.run(&[&SHORT[..], &hosts].concat());
        let trials = place.trials();
        assert!(trials.len() > 1, "{}", said(&output));
        for trial in &trials {
            let held = held_against(trial);
            assert!(held.is_empty(), "{held:?}: {}", said(&output));
            assert_eq!(trial["server"]["managed"], true);
            let phases = trial["phases"].as_array().expect("phases");
            let measured = phases.iter().find(|phase| phase["name"] == "measured");
            let used = &measured.expect("measured")["totals"]["roles"]["server"];
            assert!(used["cpu_ns"].as_u64() > Some(0), "{used}");
        }
        let text = said(&output);
        assert!(!text.contains("lacks "), "{text}");
        nothing_left(state.path());
    }
    None
}

/// What cannot be is refused before anything is started: a store that keeps to loopback, a missing address, options about this machine.
pub fn refused() -> Option<String> {
    let refuses = |on: &str, further: &[&str], words: &[&str]| {
        let place = Place::new();
        let hosts = ["run", "machine-tool", "--on", on, "--host", "server=ssh:db1"];
        let output = place.run(&[&hosts[..], further].concat());
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{on} {further:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{word:?} is not in: {text}");
        }
        assert!(!place.results().exists(), "something was begun");
    };
    let address = ["--server-address", "10.0.0.5"];
    refuses("postgresql:bulk", &[], &["--server-address", "127.0.0.1"]);
    refuses(
        "griddb:individual",
        &address,
        &["may not listen there", "on every interface", "--on griddb=URL"],
    );
    for option in [["--data", "."], ["--cache", "cold"]] {
        let further = [&address[..], &option].concat();
        let words = [option[0], "leave one of both out"];
        refuses("postgresql:bulk", &further, &words);
    }
    unreachable_address();
    None
}

/// The role says that its host does not have the address, and the trial ends.
fn unreachable_address() {
    let (place, state) = (Place::new(), Place::new());
    let launcher = format!("env SENSORMARK_STATE={} HOST={{host}}", state.path().display());
    let hosts = [
        "--on",
        "postgresql:bulk",
        "--launcher",
        &launcher,
        "--host-program",
        PROGRAM,
        "--host",
        "server=db1",
        "--server-address",
        // For documentation: nobody has it.
        "192.0.2.1",
    ];
    let output = place.run(&[&SHORT[..], &hosts].concat());
    let text = said(&output);
    for words in ["on db1", "cannot listen on 192.0.2.1"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    nothing_left(state.path());
}
