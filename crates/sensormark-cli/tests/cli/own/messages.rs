//! Wrong files and settings get one clear message, before anything is started. (What is wrong in which line is tested where files are read.)

use super::support::{SMALL, with};
use crate::support::{Place, said};

fn refused(place: &Place, arguments: &[&str], words: &[&str]) {
    let output = place.run(arguments);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    for word in words {
        assert!(
            text.contains(word),
            "{arguments:?}: {word:?} is not in: {text}"
        );
    }
    assert_eq!(text.matches("sensormark: ").count(), 1, "{text}");
    assert!(!place.path().join("results").exists(), "nothing was begun");
}

#[test]
fn wrong_files() {
    let place = with(&SMALL.replace("interval", "intervall"));
    refused(
        &place,
        &["run", "own.toml"],
        &["own.toml:6: ", "did you mean interval?"],
    );
    refused(&place, &["generate", "own.toml"], &["own.toml:6: "]);
    refused(&place, &["list", "own.toml"], &["own.toml:6: "]);
    refused(
        &place,
        &["run", "nowhere.toml"],
        &["there is no such file", "sensormark init"],
    );
    refused(&place, &["init", "notes.txt"], &["something.toml"]);
}

#[test]
fn wrong_settings_and_stores() {
    let place = with(SMALL);
    refused(
        &place,
        &["run", "own.toml", "--set", "series.cuont=3"],
        &["did you mean series.count?"],
    );
    refused(
        &place,
        &["run", "own.toml", "--on", "sqllite"],
        &["did you mean sqlite?"],
    );
    refused(
        &place,
        &["run", "own.toml", "--on", "sqlite:bluk"],
        &["layout of SQLite"],
    );
    for command in ["run", "list", "generate"] {
        refused(
            &place,
            &[command, "own.toml", "--scale", "standard"],
            &["--scale is for workloads by name"],
        );
    }
    let stores = "stores = [\"sqlite\", \"sqllite\"]\n";
    let misspelt = with(&format!("{stores}{SMALL}"));
    refused(
        &misspelt,
        &["run", "own.toml"],
        &["own.toml:1: ", "did you mean sqlite?"],
    );
    refused(
        &place,
        &["generate", "own.toml", "--for", "3s"],
        &["own.toml: duration is 3 intervals", "more than 12"],
    );
}
