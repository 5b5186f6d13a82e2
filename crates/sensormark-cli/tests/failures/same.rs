//! The same seed on every store that is here: the same readings, the same operations, the same answers; one checksum.

use crate::Outcome;
use crate::stores::{MEMORY, Server};
use crate::support::{Place, errors, held_against, numbers, others};
use serde_json::Value;
use std::collections::BTreeSet;

/// A data set of a few thousand readings, with every type of field.
const DATA: &str = concat!(
    r#"
[series]
count = 6
interval = "1s"
duration = "5m"
missing = 0.02
[[tags]]
name = "sensor"
"#,
    numbers!(),
    others!(),
    "[load]\n"
);

/// Writes the data set of a seed as a recording.
fn recording(place: &Place, seed: &str) -> Result<(), String> {
    std::fs::write(place.path().join("own.toml"), DATA).map_err(|error| error.to_string())?;
    let arguments = ["generate", "own.toml", "--format", "csv", "--output", "data.csv"];
    let output = place.run(&[&arguments[..], &["--seed", seed]].concat());
    ensure!(output.status.success(), "{}", errors(&output));
    Ok(())
}

/// Loads it into these stores and asks about it; gives the trials.
fn replayed(place: &Place, on: &str) -> Result<Vec<Value>, String> {
    let arguments = ["replay", "data.csv", "--on", on, "--tags", "sensor"];
    let numbers = ["--set", "questions=20", "--set", "batch=100", "--set=grown=0", "--server-memory", MEMORY];
    let options = ["--results", "results", "--tolerate-disturbance"];
    let output = place.run(&[&arguments[..], &numbers, &options].concat());
    let trials = place.trials();
    ensure!(!trials.is_empty(), "{}", errors(&output));
    for trial in &trials {
        let against = held_against(trial);
        ensure!(
            against.iter().all(|kind| kind == "too_short"),
            "{}: {against:?}: {}",
            trial["name"],
            trial["verdict"]
        );
    }
    Ok(trials)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The operations of a trial by phase: how many were planned and done, and how many answers were compared.
fn operations(trial: &Value) -> Vec<String> {
    let loads = trial["loads"].as_array().cloned().unwrap_or_default();
    let line = |load: &Value| {
        let done: u64 = load["classes"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(_, class)| class["operations"].as_u64())
            .sum();
        let checked = load["answers"]["checked"].as_u64();
        format!("{} {} {done} {checked:?}", load["phase"], load["planned"])
    };
    let supported = |load: &&Value| load["not_supported"].is_null();
    loads.iter().filter(supported).map(line).collect()
}

/// One expected checksum and one stored checksum on all of them; another seed, another one.
pub fn one_checksum() -> Outcome {
    let all = Server::embedded().into_iter().chain(Server::all());
    let here: Vec<Server> = all.filter(|one| one.missing().is_none()).collect();
    if here.len() < 3 {
        return Ok(Some("fewer than two servers are installed".to_owned()));
    }
    let on: Vec<String> = here.iter().map(Server::on).collect();
    let place = Place::new();
    recording(&place, "1")?;
    let trials = replayed(&place, &on.join(","))?;
    let stores: BTreeSet<String> = trials.iter().map(|one| text(&one["implementation"]["store"])).collect();
    ensure!(stores.len() == here.len(), "only {stores:?} were measured");
    let of =
        |name: &str| -> BTreeSet<String> { trials.iter().map(|one| text(&one["ledger"][name])).collect() };
    let (stored, expected) = (of("checksum"), of("expected_checksum"));
    ensure!(stored.len() == 1, "stored: {stored:?}");
    ensure!(stored == expected, "stored {stored:?}, expected {expected:?}");
    let most = trials.iter().map(operations).max_by_key(Vec::len).unwrap_or_default();
    for trial in &trials {
        for line in operations(trial) {
            ensure!(most.contains(&line), "{}: {line} is not in {most:?}", trial["name"]);
        }
    }
    println!("{stores:?}: checksum {stored:?}; {most:?}");
    let other = Place::new();
    recording(&other, "2")?;
    let other = replayed(&other, "sqlite:individual")?;
    ensure!(
        other.iter().all(|one| !stored.contains(&text(&one["ledger"]["checksum"]))),
        "another seed left the same"
    );
    Ok(None)
}
