//! Two servers of one database in one run: each has its trials, its place in the ranking and its name.

use crate::support::{Place, errors, held_against, said};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a started server says before its name.
const MEASURE: &str = "measure it: sensormark run machine-tool --on postgresql=";

/// Starts a PostgreSQL server and gives its name, with the @ before it.
fn start(place: &Place) -> String {
    let started = place.run(&["servers", "start", "postgresql", "--server-memory", "128"]);
    assert!(started.status.success(), "{}", errors(&started));
    let told = String::from_utf8_lossy(&started.stdout).into_owned();
    let name = told.lines().find_map(|line| line.strip_prefix(MEASURE));
    name.expect("how it is measured").to_owned()
}

/// Stops the servers of a place in the end.
struct Stop<'a>(&'a Place);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.run(&["servers", "stop", "postgresql"]);
    }
}

/// The second server's trials took the place of the first one's. The program named two trials, but one file was there, and the report called it the only one.
pub fn two_servers_of_one_database_keep_all_their_trials() {
    let place = Place::new();
    let stop = Stop(&place);
    let (one, other) = (start(&place), start(&place));
    let on = format!("postgresql:bulk-arrays/bulk={one},postgresql#spare:bulk-arrays/bulk={other}");
    let output = place.short(&["--on", &on]);
    let trials = place.trials();
    let names: Vec<&str> = trials.iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(
        names,
        [
            "machine-tool-postgresql.1-bulk-arrays-read-bulk-r0-a0",
            "machine-tool-postgresql.1-bulk-arrays-write-r0-a0",
            "machine-tool-postgresql.spare-bulk-arrays-read-bulk-r0-a0",
            "machine-tool-postgresql.spare-bulk-arrays-write-r0-a0",
        ],
        "{}",
        errors(&output)
    );
    let server = |trial: &Value| trial["implementation"]["server"].as_str().map(str::to_owned);
    let servers: BTreeSet<Option<String>> = trials.iter().map(server).collect();
    assert_eq!(servers, ["1", "spare"].map(|name| Some(name.to_owned())).into());
    let text = said(&output);
    for trial in &trials {
        let against = held_against(trial);
        assert!(against.is_empty(), "{} {against:?}", trial["name"]);
    }
    for label in ["PostgreSQL #1 bulk-arrays", "PostgreSQL #spare bulk-arrays"] {
        assert!(text.contains(label), "{label} is not in: {text}");
    }
    drop(stop);
}
