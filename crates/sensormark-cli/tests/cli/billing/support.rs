//! What the tests of billing share: its small size, and reading what it left.

use crate::support::Place;
use serde_json::Value;
use std::process::Output;

/// Two numbers of devices, four clients, a day and a bit.
pub const SMALL: [&str; 8] = [
    "devices=4,8",
    "clients=4",
    "processes=2",
    "records=30",
    "bill_rounds=3",
    "limit_seconds=0",
    "bill_month=1",
    "grown=0",
];

/// Measures the workload at the small size.
pub fn measure(place: &Place, further: &[&str]) -> Output {
    place.measure("billing", &SMALL, further)
}

/// What an application's file of a phase says.
pub fn bills(place: &Place, trial: &Value, phase: &str) -> String {
    let name = trial["name"].as_str().expect("a name");
    let folder = place.run_folder().join("files").join(name).join(phase);
    std::fs::read_to_string(folder.join("bills.csv")).expect("bills")
}

/// The load of a phase.
pub fn load<'t>(trial: &'t Value, phase: &str) -> &'t Value {
    let loads = trial["loads"].as_array().expect("loads");
    let found = loads.iter().find(|load| load["phase"] == phase);
    found.unwrap_or_else(|| panic!("no phase {phase}"))
}
