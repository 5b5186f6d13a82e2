//! What becomes of readings that are missing, late or sent twice; the same on every store.

use super::support::{SMALL, measure, with};
use crate::support::{reasons, said};
use serde_json::Value;
use std::collections::BTreeSet;

/// The load alone: its counts do not depend on time.
fn load_alone() -> String {
    let start = SMALL.find("[mixed]").expect("it is there");
    SMALL[..start].replace(", \"wrong answers = 0\"", "")
}

fn count(trial: &Value, name: &str) -> u64 {
    trial["ledger"][name].as_u64().unwrap_or(0)
}

#[test]
fn missing_late_and_repeated_readings_are_counted_exactly() {
    let place = with(&load_alone());
    let output = measure(&place, &[]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let trial = &place.trials()[0];
    // As the export has them: each line is sent, and each (sensor, time) among them is one reading.
    let lines = place.run(&["generate", "own.toml", "--format", "json"]);
    let (mut sent, mut readings) = (0, BTreeSet::new());
    let (mut latest, mut late) = (std::collections::BTreeMap::new(), 0);
    for line in String::from_utf8_lossy(&lines.stdout).lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        let (tags, time) = (value["tags"].to_string(), value["time_ns"].as_i64());
        sent += 1;
        if readings.insert((tags.clone(), time)) {
            let before = latest.entry(tags).or_insert(time);
            late += u64::from(time < *before);
            *before = time.max(*before);
        }
    }
    assert!(sent > readings.len() as u64 && readings.len() < 8 * 300, "{text}");
    assert!(late > 50, "{late} are out of order");
    assert_eq!((count(trial, "attempted"), count(trial, "acknowledged")), (sent, sent), "{text}");
    let stored = count(trial, "stored");
    // SQLite puts the second of two in the first one's place or keeps both, by layout; nothing else may happen.
    assert_eq!(stored + count(trial, "replaced"), sent, "{text}");
    assert!(stored == sent || stored == readings.len() as u64);
    assert_eq!((count(trial, "duplicated"), count(trial, "lost")), (0, 0));
}

#[allow(dead_code, reason = "tests/servers runs it, where the server is")]
pub fn the_same_file_and_seed_leave_the_same_on_sqlite_and_postgresql() {
    // Without copies, which the two keep each in its own way.
    let place = with(&load_alone().replace("repeated = 0.03", "repeated = 0"));
    let output = measure(&place, &["--on", "sqlite,postgresql"]);
    let text = said(&output);
    let trials = place.trials();
    assert!(trials.len() >= 2, "{text}");
    let checksums: BTreeSet<String> =
        trials.iter().map(|trial| trial["ledger"]["checksum"].to_string()).collect();
    assert_eq!(checksums.len(), 1, "{text}");
    assert!(trials.iter().all(|trial| reasons(trial).is_empty()), "{text}");
    let other = with(&load_alone().replace("repeated = 0.03", "repeated = 0"));
    measure(&other, &["--seed", "2"]);
    let checksum = other.trials()[0]["ledger"]["checksum"].to_string();
    assert!(!checksums.contains(&checksum), "another seed, other data");
}
