//! A person answers the questions of `init` in a terminal, names an embedded database and a server, and measures the file that comes of it.

use crate::support::{Place, errors, held_against, said};
use crate::terminal::Session;
use serde_json::Value;
use std::collections::BTreeSet;

/// The questions, each with its answer; nothing takes the answer in brackets.
const ANSWERS: [(&str, &str); 15] = [
    ("How many sensors", "10"),
    ("What does a sensor measure", ""),
    ("How often", "1s"),
    ("late or twice", ""),
    ("How long is the data kept", "30d"),
    ("Which means do you keep", ""),
    ("How many readings does a write hold", ""),
    ("What is asked of it", "live"),
    ("How far back", ""),
    ("How fast", "10s"),
    ("What may be lost", ""),
    ("How many times", ""),
    ("How much memory", ""),
    ("How much disk", ""),
    ("Which databases", "sqlite, postgresql"),
];

/// The databases of these trials.
fn stores(trials: &[Value], name: impl Fn(&Value) -> &Value) -> BTreeSet<String> {
    let names = trials.iter().map(|trial| name(trial).as_str());
    names.map(|name| name.expect("a name").to_owned()).collect()
}

pub fn a_file_that_a_person_answered_for_runs_on_an_embedded_database_and_a_server() {
    let place = Place::new();
    let mut session = Session::start(place.command(&["init", "plant.toml"]), 80, 24);
    for (question, answer) in ANSWERS {
        session.expect(question);
        session.expect("] > ");
        session.send(&format!("{answer}\r"));
    }
    session.expect("next: sensormark run plant.toml");
    let (status, screen) = session.finish();
    assert!(status.success(), "{screen}");

    let planned = place.run(&["run", "plant.toml", "--dry-run=json"]);
    assert_eq!(planned.status.code(), Some(0), "{}", errors(&planned));
    let plan: Value = serde_json::from_slice(&planned.stdout).expect("JSON");
    let trials = plan["trials"].as_array().expect("trials");
    let found = stores(trials, |trial| &trial["store"]);
    let expected = BTreeSet::from(["postgresql", "sqlite"].map(str::to_owned));
    assert_eq!(found, expected, "{plan}");

    let output = place.run(&[
        "run",
        "plant.toml",
        "--on=sqlite:individual,postgresql:individual",
        "--set=series.duration=1h",
        "--set=mixed.duration=2s",
        "--tolerate-disturbance",
    ]);
    let trials = place.trials();
    let found = stores(&trials, |trial| &trial["implementation"]["store"]);
    assert_eq!(found, expected, "{}", said(&output));
    for trial in &trials {
        let reasons = held_against(trial);
        assert!(reasons.is_empty(), "{reasons:?}: {}", said(&output));
    }
}
