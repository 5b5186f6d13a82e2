//! Files that run.

use super::support::{SMALL, measure, with};
use crate::support::{Place, reasons, said};
use serde_json::Value;
use std::io::BufRead;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Only lateness of the engine's own, which tests beside this one may cause, may speak against a trial.
fn sound(trial: &Value, said: &str) {
    let reasons = reasons(trial);
    assert!(reasons.iter().all(|kind| kind == "source_late"), "{said}");
    assert_eq!(trial["answers"]["wrong"], 0, "{said}");
    assert_eq!(trial["ledger"]["lost"], 0);
}

#[test]
fn the_file_to_start_from_runs_at_once() {
    let place = Place::new();
    let output = place.run(&["init", "own.toml", "--example"]);
    assert!(output.status.success(), "{}", said(&output));
    let again = place.run(&["init", "own.toml", "--example"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(said(&again).contains("left alone"), "{}", said(&again));
    let output = measure(&place, &["--set", "mixed.duration=2s"]);
    let text = said(&output);
    let trials = place.trials();
    assert!(!trials.is_empty(), "{text}");
    sound(&trials[0], &text);
    let limits = trials[0]["limits"].as_array().expect("limits");
    assert_eq!(limits.len(), 5, "{text}");
    assert!(text.contains('✓') && text.contains("median of dashboard < 250 ms"), "{text}");
    let loads = trials[0]["loads"].as_array().expect("loads");
    let names: Vec<_> = loads.iter().map(|load| load["name"].as_str()).collect();
    let asked = ["dashboard", "current", "alarm"].map(Some);
    assert_eq!(names[0], Some("load"));
    assert_eq!((&names[1..4], &names[5..8]), (&asked[..], &asked[..]));
    assert_eq!(names[4], Some("writers"));
    assert_eq!(place.record()["scale"], "own.toml");
}

#[test]
fn every_kind_of_query_is_answered_rightly_while_others_write() {
    let place = with(SMALL);
    let output = measure(&place, &[]);
    let text = said(&output);
    let trial = &place.trials()[0];
    sound(trial, &text);
    assert_eq!(trial["answers"]["checked"], trial["answers"]["answered"]);
    for load in trial["loads"].as_array().expect("loads") {
        let classes = load["classes"].as_object().expect("classes");
        let operations = classes.values().map(|class| class["operations"].as_u64());
        assert!(operations.sum::<Option<u64>>() > Some(5), "{load}");
        assert_eq!(load["cut"], Value::Null);
    }
    let late = i32::from(!reasons(trial).is_empty());
    assert_eq!(output.status.code(), Some(late), "{text}");
}

#[test]
fn a_missed_limit_is_shown_and_makes_the_exit_code_one() {
    let place = with(SMALL);
    let limits = "limits=throughput >= 1000000000, lost = 0, p99.9 of alarm < 1 h";
    let output = measure(&place, &["--set", limits, "--set", "mixed.duration=500ms"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let trial = &place.trials()[0];
    sound(trial, &text);
    let limits = trial["limits"].as_array().expect("limits");
    let met: Vec<_> = limits.iter().map(|limit| limit["met"].as_bool()).collect();
    assert_eq!(met, [Some(false), Some(true), Some(false)], "{text}");
    assert!(limits[2]["words"].as_str().is_some_and(|words| words.contains("too few operations")));
    assert!(text.contains('✗') && text.contains("throughput >= 1000000000"), "{text}");
}

#[test]
fn layouts_of_spans_and_generated_files() {
    let place = with(SMALL);
    let output = measure(&place, &["--set", "layouts=bulk", "--set", "mixed.duration=6s"]);
    let text = said(&output);
    let trials = place.trials();
    assert!(!trials.is_empty(), "{text}");
    trials.iter().for_each(|trial| sound(trial, &text));
    let whole = place.run(&["generate", "own.toml", "--format", "json"]);
    let lines = String::from_utf8_lossy(&whole.stdout).lines().count();
    let sent = trials[0]["loads"][0]["classes"]["load"]["readings"].as_u64();
    assert_eq!(Some(lines as u64), sent);
    let part = |shard: &str| {
        let output = place.run(&["generate", "own.toml", "--format=csv", "--shard", shard]);
        String::from_utf8_lossy(&output.stdout).lines().count() - 1
    };
    assert_eq!(part("0/2") + part("1/2"), lines);
}

#[test]
fn a_recorded_column_goes_round() {
    let field =
        "[[fields]]\nname = \"boiler\"\nshape = \"recording\"\nfile = \"r.csv\"\ncolumn = \"Heat\"\n[load]";
    let place = with(&SMALL.replace("[load]", field));
    let csv = "time,Heat\n2024-01-01T00:00:00Z,20.5\n2024-01-01T00:01:00Z,21.5\n";
    std::fs::write(place.path().join("r.csv"), csv).expect("ours");
    let output = measure(&place, &["--set", "mixed.duration=300ms"]);
    let text = said(&output);
    sound(&place.trials()[0], &text);
    let field = &place.record()["parameters"]["tables"][0]["fields"][4];
    assert_eq!(field["shape"]["recorded"]["file"], "r.csv", "no path in results");
    let wrong = place.run(&["run", "own.toml", "--set", "fields.boiler.column=heta"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", said(&wrong));
    assert!(said(&wrong).contains("column"), "{}", said(&wrong));
}

/// The processes of a trial that this process has started.
fn roles_of(id: u32) -> Vec<String> {
    let output = std::process::Command::new("pgrep").args(["-P", &id.to_string(), "-f", " role "]).output();
    let output = output.expect("pgrep is there").stdout;
    let ids = String::from_utf8_lossy(&output).into_owned();
    ids.split_whitespace().map(str::to_owned).collect()
}

/// A killed process made a rate one that does not hold: 100 readings a second held, and 104 did not, was the answer.
#[test]
fn a_killed_process_is_no_rate_that_does_not_hold() {
    let place = with(&SMALL.replace("batch = 20", "batch = 20\nrate = 100"));
    let mut command = place.command(&["run", "own.toml", "--find-limit"]);
    command.args(["--set", "mixed.duration=400ms", "--on", "sqlite:individual"]);
    command.args(["--set", "limits=lost = 0", "--results"]);
    command.arg(place.results());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let errors = child.stderr.take().expect("piped");
    let mut lines = std::io::BufReader::new(errors).lines();
    let mut text = String::new();
    let mut next = || {
        let line = lines.next()?.expect("text");
        text.push_str(&format!("{line}\n"));
        Some(line)
    };
    // The first rate is measured, whatever comes of it.
    while next().is_some_and(|line| !line.contains("readings a second: ")) {}
    let (done, id) = (Arc::new(AtomicBool::new(false)), child.id());
    let ended = Arc::clone(&done);
    let killer = std::thread::spawn(move || {
        while !ended.load(Ordering::Relaxed) {
            for role in roles_of(id) {
                let _ = std::process::Command::new("kill").args(["-KILL", &role]).status();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    while next().is_some() {}
    let output = child.wait_with_output().expect("it ends");
    done.store(true, Ordering::Relaxed);
    killer.join().expect("it kills");
    assert_eq!(output.status.code(), Some(1), "{text}");
    let lost = text.matches("readings a second: could not be measured (").count();
    assert_eq!(lost, 2, "it is tried once more: {text}");
    let trial = &place.trials()[0];
    assert_eq!(trial["figures"]["highest_rate"]["value"], Value::Null);
    // Tests beside this one may disturb the host, too.
    let kinds = reasons(trial);
    assert!(kinds.iter().any(|kind| kind == "client_failed"), "{text}");
    let limits = trial["limits"].as_array().expect("limits");
    assert_eq!(limits.len(), 1, "{limits:?}");
    let words = limits[0]["words"].as_str().unwrap_or_default();
    assert!(words.starts_with("not found: ") && words.contains("could not be measured"), "{words}");
}

#[test]
fn the_highest_rate_that_holds_is_found() {
    let text = SMALL.replace("batch = 20", "batch = 20\nrate = 100");
    let place = with(&text);
    // No rate over 1,000 readings a second can hold: the limit forbids it.
    let limit = "limits=throughput of writers <= 1000,headroom >= 2";
    let set = ["--set", limit, "--set", "mixed.duration=400ms", "--find-limit"];
    let output = measure(&place, &[&set[..], &["--on", "sqlite:individual"]].concat());
    let said = said(&output);
    let trial = &place.trials()[0];
    let figure = trial["figures"]["highest_rate"]["value"].as_f64();
    assert!(figure.is_none_or(|rate| rate <= 1_100.0), "{said}");
    assert!(said.contains("readings a second: "), "each probe is told: {said}");
    let limits = trial["limits"].as_array().expect("limits");
    assert_eq!(limits.len(), 3, "{said}");
    // Eight sensors send once a second.
    assert_eq!(limits[1]["text"], "headroom >= 2", "{said}");
    let headroom = limits[1]["measured"].as_f64();
    assert_eq!(headroom, figure.map(|rate| rate / 8.0), "{said}");
    assert_eq!(limits[1]["met"], figure.is_some_and(|rate| rate >= 16.0));
    let without = with(SMALL);
    let refused = without.run(&["run", "own.toml", "--find-limit"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// People who watch: 4 refreshes a second each. No more than 100 questions a second can hold, because a limit forbids it.
#[test]
fn the_most_people_who_can_watch_are_found_with_what_gave_way() {
    let hall = "\n[[dashboards]]\nname = \"hall\"\npanels = [\"live\"]\nrefresh = \"250ms\"\nusers = 5\n";
    let live = "\n[[queries]]\nname = \"live\"\nkind = \"last value\"\n";
    let place = with(&format!("{}{live}{hall}", SMALL.replace("batch = 20", "batch = 20\nrate = 100")));
    let limit = "limits=throughput of live <= 100";
    let set = ["--set", limit, "--set", "mixed.duration=600ms", "--find-limit", "users"];
    let output = measure(&place, &[&set[..], &["--on", "sqlite:individual"]].concat());
    let said = said(&output);
    let trial = &place.trials()[0];
    let most = trial["figures"]["most_users"]["value"].as_f64().expect("the most people");
    assert!((5.0..=27.0).contains(&most) && most.fract() == 0.0, "{most}: {said}");
    assert!(said.contains("people who watch: "), "each probe is told: {said}");
    let limits = trial["limits"].as_array().expect("limits");
    let texts: Vec<&str> = limits.iter().filter_map(|limit| limit["text"].as_str()).collect();
    // Nothing was said of the panel's latency, so that it is to be drawn before it is asked for again.
    let usual = "p99 of live <= 250ms";
    assert_eq!(texts, ["throughput of live <= 100", usual, "most people whose panels hold the limits"]);
    let found = limits[2]["words"].as_str().expect("words");
    assert!(found.starts_with(&format!("{most} people who watch held, ")), "{found}");
    assert!(found.contains("missed: throughput of live <= 100"), "what gave way: {found}");
    let words: Vec<&str> = said.split_whitespace().collect();
    let answer = format!("SQLite individual: {most} people who watch held");
    assert!(words.join(" ").contains(&answer), "{said}");
    let without = with(SMALL);
    let refused = without.run(&["run", "own.toml", "--find-limit", "users"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(crate::support::said(&refused).contains("the file has no dashboard: write [[dashboards]]"));
}

/// The file of docs/how-to/money.md: people watch it, and it can be asked how many could.
#[test]
fn the_greenhouse_of_the_docs_can_be_measured() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to");
    let [file, prices] =
        ["greenhouse.toml", "prices.toml"].map(|name| folder.join(name).display().to_string());
    let place = Place::new();
    for further in [&["--prices", &prices][..], &["--find-limit", "users"]] {
        let plan = ["run", &file, "--on", "sqlite:individual", "--dry-run"];
        let output = place.run(&[&plan[..], further].concat());
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
}

/// A sixteenth of the readings, with a sixteenth of the memory; a database that cannot start in so little says so.
#[test]
fn a_run_in_proportion_has_the_same_share_of_readings_and_memory() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to");
    let file = folder.join("greenhouse.toml").display().to_string();
    let place = Place::new();
    let planned = |file: &str, memory: &str| {
        let plan = ["run", file, "--on", "sqlite:individual", "--dry-run", "--in-proportion", memory];
        let output = place.run(&plan);
        (output.status.code(), said(&output).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (code, text) = planned(&file, "8GiB");
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = planned(&file, "4GiB");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("SQLite cannot run in 256 MB") && text.contains("at least 384 MB"), "{text}");
    let (code, text) = planned("devops", "8GiB");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--in-proportion is for a file of your own"), "{text}");
    let short = with(SMALL);
    let refused = short.run(&["run", "own.toml", "--in-proportion"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("write keep"), "{}", said(&refused));
}

/// A series lives for ten seconds, and each is asked about.
#[test]
fn series_end_and_begin_and_every_answer_is_right() {
    let place = with(&SMALL.replace("[series]", "[series]\nchurn = 8640"));
    let output = measure(&place, &[]);
    let text = said(&output);
    let trials = place.trials();
    assert!(!trials.is_empty(), "{text}");
    trials.iter().for_each(|trial| sound(trial, &text));
}

/// Two tables: a history, more of one of them while it is asked about, and then both written and asked about at a rate.
#[test]
fn tables_grow_from_phase_to_phase_and_every_answer_is_right() {
    let place = with(include_str!("../../../../sensormark-workload/src/own/tests/greenhouse.toml"));
    let output = measure(&place, &[]);
    let text = said(&output);
    for trial in &place.trials() {
        sound(trial, &text);
        let loads = trial["loads"].as_array().expect("loads");
        let names = |phase: &str| -> Vec<&str> {
            let of_phase = loads.iter().filter(|load| load["phase"] == phase);
            of_phase.filter_map(|load| load["name"].as_str()).collect()
        };
        assert_eq!(names("history"), ["load climate", "load doors"]);
        assert_eq!(names("growth"), ["load climate", "trend"]);
        assert_eq!(names("day"), ["sensors", "writers doors", "now", "opened"]);
        // 300 turns of 10 sensors, twice, and 60 of 4 doors; then what the day brings.
        let stored = trial["ledger"]["stored"].as_u64().expect("a number");
        assert!((6_240..6_240 + 500).contains(&stored), "{stored}: {text}");
        let asked = loads.iter().filter(|load| load["writes"] == false && load["warm_up"] == false);
        for load in asked {
            let answered = load["answers"]["answered"].as_u64().expect("a number");
            // Who asks during a load asks as long as that takes.
            let least = if load["phase"] == "growth" { 0 } else { 5 };
            assert!(answered > least && load["answers"]["checked"] == answered, "{load}");
        }
    }
    assert!(place.trials().len() >= 2, "{text}");
}
