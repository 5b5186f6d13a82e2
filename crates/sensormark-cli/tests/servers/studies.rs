//! Runs as a study did them: `--as-study` on a real server, and logs on a disk of their own.

use crate::support::{Place, held_against, read_folder, said};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

fn figure(trial: &Value, name: &str) -> Option<f64> {
    trial["figures"][name]["value"].as_f64()
}

pub fn a_machine_tool_run_follows_its_study() {
    let place = Place::new();
    let output = place.short(&["--on=mariadb", "--as-study"]);
    let text = said(&output);
    assert_eq!(place.record()["as_study"], true, "{text}");
    let trials = place.trials();
    let layouts: Vec<&str> = trials
        .iter()
        .filter(|trial| trial["side"] == "write")
        .filter_map(|trial| trial["implementation"]["layout_name"].as_str())
        .collect();
    assert_eq!(layouts, ["bulk", "individual"], "the study's own: {text}");
    for trial in &trials {
        assert_eq!(held_against(trial), [""; 0], "{}", trial["verdict"]);
        let notes = trial["server"]["notes"].to_string();
        assert!(notes.contains("settings as the server comes with"), "{notes}");
        let restart = figure(trial, "restart_before_reading_seconds");
        if trial["side"] == "read" {
            assert!(restart.is_some_and(|seconds| seconds > 0.0), "{}", trial["name"]);
            // the warm-up follows the restart, unlike in reads that are to be cold
            assert_eq!(trial["phases"][0]["name"], "warm-up");
            assert_eq!(trial["implementation"]["cache"], "hot");
        } else {
            assert_eq!(restart, None, "{}", trial["name"]);
        }
    }
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "As the study did",
        "both systems are rebooted before each test",
        "a reboot of the operating system",
        "Resident memory and unsettled disk beside ours",
    ] {
        assert!(flat.contains(words), "{words:?}: {text}");
    }
}

/// The study's driver of 2012 acknowledged no write. Here all are, and the report says so.
pub fn sensor_operations_as_its_study_says_that_mongodb_acknowledges_here() {
    let classes = |further: &[&str]| {
        let place = Place::new();
        let mut words = vec![
            "run",
            "sensor-operations",
            "--on=mongodb,sqlite",
            "--as-study",
            "--tolerate-disturbance",
            "--full",
            "--results",
            "results",
        ];
        for setting in ["single=60", "multi=400", "batch=50", "sensors=7", "clients=1", "grown=0"] {
            words.extend(["--set", setting]);
        }
        let output = place.run(&[&words[..], further].concat());
        let text = said(&output);
        let trials = place.trials();
        let mut classes: Vec<String> = Vec::new();
        for trial in &trials {
            assert_eq!(held_against(trial), [""; 0], "{}: {text}", trial["verdict"]);
            let of = |name: &str| trial["implementation"][name].as_str().unwrap_or_default();
            let class = format!("{} {}", of("store"), of("durability"));
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        classes.sort();
        (classes, text)
    };
    let (as_study, text) = classes(&[]);
    assert_eq!(as_study, ["mongodb default", "sqlite default"], "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("MongoDB's driver of 2012 acknowledges no write"), "{text}");
}

pub fn logs_lie_on_the_disk_that_the_user_names() {
    let place = Place::new();
    let logs = place.path().join("logs");
    std::fs::create_dir(&logs).expect("ours");
    std::fs::set_permissions(&logs, PermissionsExt::from_mode(0o755)).expect("ours");
    let option = format!("--log-folder={}", logs.display());
    let output = place.short(&["--on=postgresql:bulk/bulk", &option]);
    let text = said(&output);
    let record = place.record();
    assert!(record["environment"]["folders"]["logs"].is_object(), "{text}");
    let trials = place.trials();
    assert!(!trials.is_empty(), "{text}");
    for trial in &trials {
        assert_eq!(held_against(trial), [""; 0], "{}", trial["verdict"]);
        let notes = trial["server"]["notes"].to_string();
        assert!(notes.contains("in the folder for logs"), "{notes}");
    }
    // PostgreSQL's log has 16 MB from the start, which now lie in the other folder.
    let written = trials.iter().find(|trial| trial["side"] == "write");
    let apart = figure(written.expect("a write trial"), "disk_after_log_bytes");
    assert!(apart.is_some_and(|bytes| bytes >= 16e6), "{apart:?}");
    assert!(read_folder(&logs).is_empty(), "{:?}", read_folder(&logs));

    let refused = Place::new();
    let output = refused.short(&["--on=sqlite:bulk/bulk", &option]);
    let text = said(&output);
    let words = "an embedded database keeps its log beside its data";
    assert!(text.contains(words), "{text}");
    assert_ne!(output.status.code(), Some(0), "{text}");
}
