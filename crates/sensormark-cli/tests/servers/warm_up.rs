//! A server on a Java virtual machine is warm before anything counts: told in seconds, with exact counts all the same, and nothing of it stays.

use crate::existing_server::Running;
use crate::in_seconds::a_second_is_written_in_one_request;
use crate::interruption::{processes_of, signal, wait_until};
use crate::support::{Place, errors, held_against, said};
use serde_json::Value;
use std::process::Stdio;

/// What is measured: single writes and reads, of which a cold server does few.
const OPERATIONS: [&str; 11] = [
    "run",
    "sensor-operations",
    "--results=results",
    "--tolerate-disturbance",
    "--progress=json",
    "--full",
    "--set=clients=1",
    "--set=grown=0",
    "--durability=default",
    "--on",
    "",
];

/// Measures a store's usual layout, and holds its record against what a warm server has to be.
fn is_warm(place: &Place, on: &str) {
    let mut arguments = OPERATIONS;
    arguments[10] = on;
    let output = place.run(&arguments);
    let trials = place.trials();
    assert!(!trials.is_empty(), "{}", errors(&output));
    for trial in &trials {
        let against = held_against(trial);
        assert!(against.is_empty(), "{} {against:?}", trial["name"]);
        let seconds = trial["server"]["warm_up_seconds"].as_f64();
        let seconds = seconds.unwrap_or_else(|| panic!("it was cold: {}", trial["server"]));
        assert!(seconds > 1.0, "{seconds} s");
        let ledger = &trial["ledger"];
        assert_eq!(ledger["stored"], ledger["acknowledged"]);
        assert_eq!(ledger["checksum"], ledger["expected_checksum"]);
        assert_eq!(trial["answers"]["wrong"], 0);
    }
    let told = "it runs on a Java virtual machine";
    assert!(said(&output).contains(told), "{}", said(&output));
}

/// What `clean` finds on a server by URL.
fn left(place: &Place, store: &str, url: &str) -> String {
    said(&place.run(&["clean", &format!("{store}={url}"), "--dry-run", "--older-than=0s"]))
}

pub fn questdb_writes_a_second_in_one_request() {
    a_second_is_written_in_one_request("questdb");
}

pub fn questdb_is_warm_and_nothing_of_it_stays() {
    let place = Place::new();
    let server = Running::start_of(&place, "questdb");
    is_warm(&place, &format!("questdb:individual={}", server.url));
    let left = left(&place, "questdb", &server.url);
    assert!(left.contains("nothing is left"), "{left}");
}

pub fn cassandra_is_warm_before_anything_counts() {
    is_warm(&Place::new(), "cassandra:individual-partition-per-series");
}

pub fn control_c_while_it_warms_up_leaves_nothing() {
    let place = Place::new();
    let server = Running::start_of(&place, "questdb");
    let on = format!("questdb:individual={}", server.url);
    for signals in [1, 2] {
        let mut arguments = OPERATIONS;
        arguments[10] = &on;
        let mut command = place.command(&arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the program starts");
        wait_until("its database", || left(&place, "questdb", &server.url).contains("going on"));
        for _ in 0..signals {
            signal(&child, "INT");
        }
        let output = child.wait_with_output().expect("it ends");
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(130), "{text}");
        assert!(text.contains("warm up the server"), "{text}");
        assert!(!text.contains("single-write-1-by-1"), "it was past that: {text}");
        let left = left(&place, "questdb", &server.url);
        assert!(left.contains("nothing is left"), "{left}");
        let _ = std::fs::remove_dir_all(place.results());
    }
    let running = processes_of(&place).len();
    drop(server);
    wait_until("the server's end", || processes_of(&place).is_empty());
    assert!(running > 0, "the server ran on");
}
