//! What survives a kill, by class of durability: the workload `durability`, small.

use crate::Outcome;
use crate::stores::{MEMORY, Server};
use crate::support::{Place, errors};
use serde_json::Value;

/// Runs the workload in this class, and gives the exit code, the trials (one a layout) and what was said.
fn killed(server: &Server, class: &str) -> Result<(Option<i32>, Vec<Value>, String), String> {
    let place = Place::new();
    let on = server.on();
    let numbers = ["--set", "kill_after_seconds=1", "--set", "clients=2"];
    let options = ["--results", "results", "--server-memory", MEMORY];
    let arguments = ["run", "durability", "--on", &on, "--durability", class];
    let output = place.run(&[&arguments[..], &numbers, &options].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &errors(&output);
    let trials = place.trials();
    ensure!(!trials.is_empty(), "no trial: {said}");
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok((output.status.code(), trials, said))
}

fn count(trial: &Value, name: &str) -> u64 {
    trial["ledger"][name].as_u64().unwrap_or(0)
}

fn figure(trial: &Value, name: &str) -> Option<f64> {
    trial["figures"][name]["value"].as_f64()
}

/// All of it is there, and said so.
pub fn durable(server: &Server) -> Outcome {
    let (code, trials, said) = killed(server, "durable")?;
    ensure!(code == Some(0), "{code:?}: {said}");
    for trial in &trials {
        let acknowledged = count(trial, "acknowledged");
        ensure!(acknowledged > 0 && count(trial, "lost") == 0, "{said}");
        let survived = figure(trial, "survived");
        ensure!(survived == Some(acknowledged as f64), "{survived:?}: {said}");
        let after = figure(trial, "killed_after_seconds");
        ensure!(after.is_some_and(|after| (1.0..10.0).contains(&after)), "{after:?}: {said}");
        let ready = figure(trial, "restart_seconds");
        let is_server = !server.is_embedded();
        ensure!(ready.is_some_and(|ready| ready > 0.0) == is_server, "{ready:?}: {said}");
        let settings = trial["settings"].as_array().map_or(0, Vec::len);
        ensure!(settings > 0, "no settings were read back");
    }
    for words in ["What survived", "survived", "power cut", "durable"] {
        ensure!(said.contains(words), "{words:?} is not in: {said}");
    }
    Ok(None)
}

/// What is lost is counted, and no reason against the trial.
pub fn other_classes(server: &Server) -> Outcome {
    let (code, trials, said) = killed(server, "default")?;
    ensure!(code == Some(0), "{code:?}: {said}");
    for trial in &trials {
        let (acknowledged, lost) = (count(trial, "acknowledged"), count(trial, "lost"));
        ensure!(acknowledged > 0 && lost <= acknowledged, "{said}");
        let survived = figure(trial, "survived");
        ensure!(survived == Some((acknowledged - lost) as f64), "{survived:?}: {said}");
    }
    let lost: u64 = trials.iter().map(|trial| count(trial, "lost")).sum();
    let told = said.contains("does not promise");
    ensure!(told == (lost > 0), "{lost} lost: {said}");
    Ok(None)
}

/// In class durable all that was acknowledged is there after a power cut, which another class shows to be one.
pub fn power_cut(server: &Server) -> Outcome {
    let place = Place::new();
    let on = server.on();
    let numbers = ["--set", "kill_after_seconds=1", "--set", "clients=2"];
    let options = ["--results", "results", "--server-memory", MEMORY, "--tolerate-disturbance"];
    let output =
        place.run(&[&["run", "durability", "--power-cut", "--on", &on][..], &numbers, &options].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &errors(&output);
    if said.contains("a power cut needs") {
        return Ok(Some(said));
    }
    let trials = place.trials();
    let in_class = |class: &str| -> Vec<&Value> {
        trials.iter().filter(|trial| trial["implementation"]["durability"] == class).collect()
    };
    let durable = in_class("durable");
    ensure!(!durable.is_empty() && in_class("default").len() + in_class("relaxed").len() > 0, "{said}");
    for trial in durable {
        let (acknowledged, lost) = (count(trial, "acknowledged"), count(trial, "lost"));
        ensure!(acknowledged > 0 && lost == 0, "{lost} of {acknowledged} lost: {said}");
        ensure!(trial["verdict"]["state"] == "valid", "{said}");
    }
    let of_disk: f64 = trials.iter().filter_map(|trial| figure(trial, "disk_lost_bytes")).sum();
    ensure!(of_disk.is_normal(), "the disk lost nothing: {said}");
    for words in ["durable: promised to keep all that it acknowledges, lost none of", "tries a power cut"] {
        let joined = said.split_whitespace().collect::<Vec<_>>().join(" ");
        ensure!(joined.contains(words), "{words:?} is not in: {said}");
    }
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(None)
}
