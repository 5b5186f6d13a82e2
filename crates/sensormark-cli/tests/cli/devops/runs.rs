//! Clean runs, loads that are cut, and the data set as a file.

use super::support::{QUESTIONS, READINGS, asked, measure};
use crate::support::{Place, held_against, said};
use serde_json::Value;

#[test]
fn everything_is_loaded_counted_asked_and_checked() {
    let place = Place::new();
    // Time for all sizes, also on a busy machine.
    let output = measure(&place, &["--budget=10m"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let trials = place.trials();
    assert!(!trials.is_empty(), "{text}");
    for trial in &trials {
        assert_eq!(held_against(trial), [""; 0], "{text}");
        let ledger = &trial["ledger"];
        for count in ["attempted", "acknowledged", "stored"] {
            assert_eq!(ledger[count], READINGS, "{count}: {text}");
        }
        assert_eq!(ledger["checksum"], ledger["expected_checksum"]);
        assert_eq!(trial["answers"]["checked"], trial["answers"]["answered"]);
        for question in QUESTIONS {
            let loads = asked(trial, question);
            // One and two clients at first, and one at the size that the data grow to.
            assert_eq!(loads.len(), 3, "{question}");
            for load in loads {
                assert_eq!(load["answers"]["checked"], 12, "{load}");
                assert_eq!(load["cut"], Value::Null);
            }
        }
        let figure = |name: &str| trial["figures"][name]["value"].as_f64();
        for load in ["load-1", "load-2", "grow-0.5h"] {
            assert!(figure(&format!("values_per_second/{load}")) > Some(0.0), "{load}");
        }
        assert_eq!(figure("values/settled-load-2"), Some(4.0 * 90.0 * 101.0));
        assert_eq!(figure("values/settled-grow-0.5h"), Some(4.0 * 180.0 * 101.0));
        assert!(figure("readings_per_write/redis") <= Some(60.0));
    }
    for words in [
        "Ingest: 4 hosts, 0.25 h",
        "Disk after 2 workers",
        "maximum by minute, 3 hosts, 5 min",
        "mean by 4 min and host, all hosts, 12 min",
        "Growth with the span",
        "Neither database of the study",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// A walk that turns back is other data, and as well known.
#[test]
fn the_reflected_walk_is_stored_and_answered_as_well() {
    let place = Place::new();
    let output = measure(&place, &["--on", "sqlite:individual", "--set", "walk=reflected"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let trials = place.trials();
    let other = Place::new();
    measure(&other, &["--on", "sqlite:individual"]);
    let checksums = [&trials[0], &other.trials()[0]].map(|trial| trial["ledger"]["checksum"].clone());
    assert_ne!(checksums[0], checksums[1]);
}

/// What is asked after a load was cut is about what it had stored.
#[test]
fn a_load_that_is_cut_is_told_and_asked_about_as_far_as_it_came() {
    let place = Place::new();
    let slow = ["--plant", "late:40", "--set", "load_seconds=1"];
    let one = ["--set", "workers=1", "--set", "queries=3", "--set", "clients=1"];
    let output = measure(&place, &[&["--on", "sqlite:individual"], &slow[..], &one].concat());
    let text = said(&output);
    let trial = &place.trials()[0];
    let load = &trial["loads"][0];
    assert!(load["cut"].as_str().is_some_and(|why| why.contains("time")), "{text}");
    assert_eq!(trial["answers"]["wrong"], 0, "{text}");
    assert!(trial["answers"]["checked"].as_u64() > Some(10), "{text}");
    assert_eq!(trial["ledger"]["lost"], 0, "{text}");
    assert!(text.contains("cut"), "{text}");
}

#[test]
fn the_data_set_is_the_same_in_every_format_and_in_shards() {
    let place = Place::new();
    let generate = |format: &str, further: &[&str]| {
        let numbers = ["--set", "hosts=4", "--set", "hours=0.25"];
        let output =
            place.run(&[&["generate", "devops", "--format", format], &numbers[..], further].concat());
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        String::from_utf8(output.stdout).expect("text")
    };
    let lines = generate("line-protocol", &[]);
    assert_eq!(lines.lines().count(), 90 * 4 * 9);
    assert_eq!(generate("json", &[]).lines().count(), 90 * 4 * 9);
    let cpu = generate("csv", &["--table", "cpu"]);
    assert_eq!(cpu.lines().count(), 1 + 90 * 4);
    assert!(cpu.starts_with("time_ns,hostname,region,datacenter,rack"), "{cpu}");
    let parts: usize = (0..4)
        .map(|number| generate("line-protocol", &["--shard", &format!("{number}/4")]).lines().count())
        .sum();
    assert_eq!(parts, 90 * 4 * 9);
    let values: usize =
        lines.lines().map(|line| line.rsplit(' ').nth(1).map_or(0, |fields| fields.split(',').count())).sum();
    assert_eq!(values, 90 * 4 * 101);
}
