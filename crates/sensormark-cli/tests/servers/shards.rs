//! A load that several ranks make, with nothing between them but a folder. The merged result counts and answers what one run does. A rank that is missing,
//! different or gone is named.

use crate::existing_server::Running;
use crate::support::{Place, errors, read_folder, reasons, said};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Small numbers. One worker leaves two of three ranks without clients.
const SMALL: [&str; 10] = [
    "hosts=4",
    "hours=0.25",
    "workers=1,3",
    "clients=1,3",
    "queries=12",
    "batch=60",
    "short_minutes=5",
    "long_minutes=11",
    "mean_minutes=12",
    "mean_step_minutes=4",
];

/// The arguments of a run of devops with these numbers, on this server.
fn devops(url: &str, results: &str, settings: &[&str], further: &[&str]) -> Vec<String> {
    let mut words = vec!["run", "devops", "--results", results];
    words.extend(["--tolerate-disturbance", "--progress=plain"]);
    for setting in SMALL.iter().chain(settings) {
        words.extend(["--set", setting]);
    }
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    words.extend(["--on".to_owned(), format!("postgresql:individual={url}")]);
    words.extend(further.iter().map(|word| (*word).to_owned()));
    words
}

fn command(place: &Place, words: &[String]) -> Command {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    place.command(&words)
}

/// One rank at work.
fn rank(place: &Place, words: &[String], shard: &str) -> Child {
    let mut command = command(place, words);
    command.args(["--shard", shard]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a record")).expect("JSON")
}

/// The one trial of a run in this folder.
fn trial(run: &Path) -> Value {
    let files = read_folder(&run.join("trials"));
    assert_eq!(files.len(), 1, "{files:?}");
    json(&files[0])
}

/// The one run in a folder of runs.
fn only_run(place: &Place, results: &str) -> PathBuf {
    let runs = read_folder(&place.path().join(results));
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}

/// What was counted and answered.
fn counts(trial: &Value) -> [Value; 2] {
    [trial["ledger"].clone(), trial["answers"].clone()]
}

/// What one process counts and answers with the same seed.
fn alone(place: &Place, url: &str) -> (PathBuf, [Value; 2]) {
    let words = devops(url, "alone", &[], &["--seed", "7"]);
    let output = command(place, &words).output().expect("it starts");
    let run = only_run(place, "alone");
    let counted = counts(&trial(&run));
    assert_eq!(counted[0]["lost"], 0, "{}", said(&output));
    assert!(counted[0]["stored"].as_u64() > Some(1_000), "{}", counted[0]);
    (run, counted)
}

/// Merges the parts in `shared` into `merged`, and checks that they are the whole.
fn is_the_whole(place: &Place, ranks: &str, expected: &[Value; 2]) -> PathBuf {
    let merge = place.run(&["merge", "shared", "--results", "merged"]);
    let text = format!("{ranks}\n{}", said(&merge));
    let run = only_run(place, "merged");
    let trial = trial(&run);
    assert_eq!(&counts(&trial), expected, "{text}");
    assert_eq!(trial["answers"]["wrong"], 0, "{text}");
    let figure = |name: &str| trial["figures"][name]["value"].as_f64();
    for rank in 0..3 {
        for name in ["rank_start", "rank_seconds"] {
            let name = format!("{name}/load-3/{rank}");
            assert!(figure(&name).is_some(), "{name}: {}", trial["figures"]);
        }
    }
    assert!(figure("rank_start/load-1/0").is_some() && figure("rank_start/load-1/1").is_none());
    let loads = trial["loads"].as_array().expect("loads");
    for load in loads {
        let ranks = load["processes"].as_u64().filter(|ranks| *ranks > 1);
        assert_eq!(load["shared"]["hosts"].as_u64(), ranks, "{load}");
    }
    assert!(loads.iter().any(|load| load["shared"]["hosts"] == 3));
    let warnings = trial["warnings"].to_string();
    assert!(warnings.contains("their starts agree only as well as their clocks"));
    assert_eq!(json(&run.join("run.json"))["shard"], serde_json::json!([3, 3]));
    let others = read_folder(&run.join("ranks/2/samples"));
    assert_eq!(others.len(), 1, "samples of every host are kept");
    run
}

pub fn a_shell_loop_of_three_ranks_merges_to_what_one_run_counts() {
    let place = Place::new();
    let server = Running::start(&place);
    let (whole, expected) = alone(&place, &server.url);
    let further = ["--seed", "7", "--probe", "server=port"];
    let words = devops(&server.url, "shared", &[], &further);
    let script = "for rank in 0 1 2; do \"$0\" \"$@\" --shard $rank/3 --start-at $(date -u -d '+3 seconds' +%FT%TZ) & done; wait";
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_sensormark")])
        .args(&words)
        .current_dir(place.path())
        .env("SENSORMARK_STATE", place.path().join("state"));
    let output = shell.output().expect("a shell");
    let run = is_the_whole(&place, &said(&output), &expected);
    let phases = trial(&run)["phases"].clone();
    let mut phases = phases.as_array().into_iter().flatten();
    let used = |phase: &Value| phase["totals"]["roles"]["server"]["cpu_ns"].as_u64() > Some(0);
    assert!(phases.any(used), "rank 0 has a probe beside the server");
    let password = server.url.split(['@', ':']).nth(2).expect("a password");
    let held =
        Command::new("grep").args(["-rl", password, "shared", "merged"]).current_dir(place.path()).output();
    assert!(held.expect("grep").stdout.is_empty(), "the password is kept");
    let paths = [&whole, &run].map(|path| path.to_string_lossy().into_owned());
    let compared = place.run(&["compare", &paths[0], &paths[1]]);
    assert!(compared.status.success(), "{}", said(&compared));
    let left = server.sql("postgres", "SELECT count(*) FROM pg_database WHERE datname LIKE 'sensormark%'");
    assert_eq!(left, "0\n");
    parts_that_are_no_run_are_refused(&place);
}

/// Merges these parts, which are refused, and gives the message.
fn refused(place: &Place, parts: &[&str]) -> String {
    let output = place.run(&[&["merge", "--results", "never"], parts].concat());
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(!place.path().join("never").exists(), "{text}");
    text
}

/// With the parts of three ranks in `shared`.
fn parts_that_are_no_run_are_refused(place: &Place) {
    let part = |rank: u32| format!("shared/rank-{rank}-of-3");
    let (zero, one, two) = (part(0), part(1), part(2));
    let text = refused(place, &[&zero, &two]);
    assert!(text.contains("rank 1 of 3 is missing"), "{text}");
    let copy = Command::new("cp").args(["-r", &one, "again"]).current_dir(place.path()).status();
    assert!(copy.expect("cp").success());
    let text = refused(place, &["shared", "again"]);
    assert!(text.contains("rank 1 is there twice"), "{text}");
    let run = place.path().join("again/run.json");
    for (name, value, words) in [
        ("seed", Value::from(8), "another seed than rank 0: 8 in again"),
        ("sensormark", "9.9.9".into(), "another version than rank 0"),
        ("name", "other".into(), "of the run other"),
    ] {
        let kept = std::fs::read(&run).expect("a record");
        let mut record = json(&run);
        record[name] = value;
        std::fs::write(&run, record.to_string()).expect("it is ours");
        let text = refused(place, &[&zero, "again", &two]);
        assert!(text.contains(words), "{words:?} is not in: {text}");
        std::fs::write(&run, kept).expect("it is ours");
    }
    let report = place.run(&["report", &one]);
    let text = errors(&report);
    assert!(text.contains("the part of rank 1 of 3"), "{text}");
    let text = refused(place, &["alone"]);
    assert!(text.contains("is a whole run"), "{text}");
}

pub fn mpirun_starts_ranks_that_merge_to_what_one_run_counts() -> Option<String> {
    let version = Command::new("mpirun").arg("--version").output();
    let is_open_mpi = |output: &Output| said(output).contains("Open MPI");
    if !version.as_ref().is_ok_and(is_open_mpi) {
        return Some("Open MPI's mpirun is not installed".to_owned());
    }
    let place = Place::new();
    let server = Running::start(&place);
    let (_, expected) = alone(&place, &server.url);
    let words = devops(&server.url, "shared", &[], &["--seed", "7", "--shard", "auto"]);
    let mut ranks = Command::new("mpirun");
    ranks
        .args(["--allow-run-as-root", "--oversubscribe", "-n", "3"])
        .arg(env!("CARGO_BIN_EXE_sensormark"))
        .args(&words)
        .current_dir(place.path())
        .env("SENSORMARK_STATE", place.path().join("state"));
    let output = ranks.output().expect("it starts");
    is_the_whole(&place, &said(&output), &expected);
    None
}

pub fn ranks_that_do_not_fit_together_are_refused() {
    let place = Place::new();
    let server = Running::start(&place);
    let refused = |words: &[String]| {
        let output = command(&place, words).output().expect("it starts");
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        text
    };
    let shard = |shard: &str| devops(&server.url, "shared", &[], &["--shard", shard]);
    assert!(refused(&shard("3/3")).contains("the last of 3 is 2"));
    assert!(refused(&shard("auto")).contains("none of OMPI_COMM_WORLD_RANK"));
    for (on, words) in [("sqlite", "SQLite is embedded"), ("postgresql", "PostgreSQL is given without a URL")]
    {
        let text = errors(&place.run(&["run", "devops", "--on", on, "--shard", "0/2"]));
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
    for (option, words) in [
        (["--host", "load=ssh:a"], "--shard with --host:"),
        (["--load-hosts", "ssh:a,ssh:b"], "--shard with --load-hosts:"),
        (["--hosts", "hosts.toml"], "--shard with --hosts:"),
        (["--cluster", "3"], "--shard with --cluster:"),
    ] {
        let options = [option[0], option[1], "--shard", "0/2"];
        let text = refused(&devops(&server.url, "shared", &[], &options));
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
    let on = format!("postgresql:bulk={}", server.url);
    let text = errors(&place.run(&["run", "machine-tool", "--on", &on, "--shard", "0/2"]));
    assert!(text.contains("over a queue of one machine"), "{text}");

    // Another seed: both name it. Nobody comes: it is named.
    let words = |seed| devops(&server.url, "unlike", &[], &["--seed", seed]);
    let both = [rank(&place, &words("7"), "0/2"), rank(&place, &words("8"), "1/2")];
    for one in both {
        let output = one.wait_with_output().expect("it ends");
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("rank 1 has another seed than rank 0: 8 there, 7 here"), "{text}");
    }
    let text = refused(&[words("7"), vec!["--shard".into(), "0/2".into()]].concat());
    assert!(text.contains("another process has rank 0"), "{text}");
    let alone = devops(&server.url, "nobody", &[], &["--rank-timeout", "1s"]);
    let output = rank(&place, &alone, "1/2").wait_with_output();
    let text = errors(&output.expect("it ends"));
    assert!(text.contains("rank 0 of 2 did not come within 1 s"), "{text}");
}

pub fn a_rank_that_is_killed_in_mid_load_is_named_and_the_others_end() {
    let place = Place::new();
    let server = Running::start(&place);
    let long = ["hosts=40", "hours=24", "more_hours=25", "workers=3", "batch=20"];
    let words = devops(&server.url, "shared", &long, &["--rank-timeout", "2s"]);
    let mut ranks: Vec<Child> = ["0/3", "1/3", "2/3"].map(|shard| rank(&place, &words, shard)).into();
    let said_by_first = place.path().join("shared/rank-0-of-3/said.jsonl");
    let deadline = Instant::now() + Duration::from_secs(60);
    let goes = |text: String| text.lines().any(|line| line.contains("/load-3\""));
    while !std::fs::read_to_string(&said_by_first).is_ok_and(goes) {
        assert!(Instant::now() < deadline, "the load does not start");
        sleep(Duration::from_millis(50));
    }
    sleep(Duration::from_millis(1_500));
    let mut gone = ranks.pop().expect("three");
    gone.kill().expect("it runs");
    gone.wait().expect("it is gone");
    let killed = Instant::now();
    for one in ranks {
        let output = one.wait_with_output().expect("it ends");
        let took = killed.elapsed();
        let text = said(&output);
        assert!(took < Duration::from_secs(30), "{took:?}: {text}");
        assert_eq!(output.status.code(), Some(1), "{text}");
    }
    for rank in 0..2 {
        let trial = trial(&place.path().join(format!("shared/rank-{rank}-of-3")));
        let verdict = trial["verdict"].to_string();
        assert!(verdict.contains("rank 2 has said nothing for 2 s"), "{verdict}");
        assert!(reasons(&trial).contains(&"client_failed".to_owned()));
    }
    let merge = place.run(&["merge", "shared", "--results", "merged"]);
    assert_eq!(merge.status.code(), Some(1), "{}", said(&merge));
    let verdict = trial(&only_run(&place, "merged"))["verdict"].to_string();
    assert!(verdict.contains("rank 2 has no record of this trial"), "{verdict}");
    let left = server.sql("postgres", "SELECT count(*) FROM pg_database WHERE datname LIKE 'sensormark%'");
    assert_eq!(left, "0\n");
}
