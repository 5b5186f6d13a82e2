//! A file that says how long data are kept: it is measured in sizes, as far as the budget goes, and what is whole stays.

use crate::interruption::{signal, wait_until};
use crate::support::{Place, said};
use serde_json::Value;
use std::io::Read;
use std::process::Stdio;

/// Ten sensors, a reading a second, kept for 90 days: 77,760,000 readings.
fn plant() -> Place {
    let place = Place::new();
    let small = ["--sensors", "10", "--every", "1s", "--asks", "live,history", "--reach", "10m"];
    let written =
        place.run(&[&["init", "plant.toml", "--yes", "--on", "sqlite:individual"], &small[..]].concat());
    assert!(written.status.success(), "{}", said(&written));
    place
}

/// The sizes of a trial, each with its phases' names.
fn sizes(trial: &Value) -> Vec<u64> {
    let loads = trial["loads"].as_array().expect("loads");
    let mut sizes: Vec<u64> = loads.iter().filter_map(|load| load["labels"]["stored"].as_u64()).collect();
    sizes.dedup();
    sizes
}

#[test]
fn data_grow_from_size_to_size_as_far_as_the_budget_goes() {
    let place = plant();
    let output = place.run(&["run", "plant.toml", "--budget", "24s", "--tolerate-disturbance"]);
    let text = said(&output);
    let trial = &place.trials()[0];
    let sizes = sizes(trial);
    assert!(sizes.len() >= 2, "{sizes:?} {text}");
    assert!(sizes.windows(2).all(|pair| pair[1].abs_diff(pair[0] * 4) < 50), "{sizes:?}");
    let ledger = &trial["ledger"];
    assert_eq!((&ledger["lost"], &ledger["stored"]), (&0.into(), &ledger["acknowledged"]), "{text}");
    assert!(ledger["stored"].as_u64() > sizes.last().copied(), "writers went on at every size");
    assert_eq!(trial["answers"]["wrong"], 0, "{text}");
    let warnings = trial["warnings"].to_string();
    assert!(warnings.contains(" readings were not begun: they take "), "{warnings}");
    // Everything is asked at each size, and the disk is measured.
    for (number, _) in sizes.iter().enumerate() {
        let disk = &trial["figures"][format!("disk_settled_bytes/settled-load-{}", number + 1)];
        assert!(disk["value"].as_f64() > Some(0.0), "{number}");
    }
    let asked = trial["loads"].as_array().expect("loads").iter().filter(|load| load["name"] == "live");
    assert_eq!(asked.filter(|load| load["warm_up"] == false).count(), sizes.len());
}

#[test]
fn control_c_keeps_the_sizes_that_are_whole() {
    let place = plant();
    let mut child = place
        .command(&[
            "run",
            "plant.toml",
            "--budget",
            "5m",
            "--tolerate-disturbance",
            "--set",
            "mixed.duration=1s",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The first sizes take some three seconds each, and the largest that the budget has time for a minute.
    std::thread::sleep(std::time::Duration::from_secs(20));
    signal(&child, "INT");
    wait_until("its end", || child.try_wait().expect("its state").is_some());
    let mut text = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut text).expect("text");
    assert_eq!(child.wait().expect("ended").code(), Some(130), "{text}");
    let trial = &place.trials()[0];
    assert_eq!(trial["verdict"]["state"], "valid", "{}", trial["verdict"]);
    assert!(!sizes(trial).is_empty());
    assert_eq!(trial["ledger"]["lost"], 0);
    let warnings = trial["warnings"].to_string();
    assert!(warnings.contains(" readings were begun and not ended, so they are left out"), "{warnings}");
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

#[test]
fn a_budget_that_is_too_small_is_refused() {
    let place = plant();
    let output = place.run(&["run", "plant.toml", "--budget", "3s"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("each takes 10 s at least: give 10 s"), "{}", said(&output));
}
