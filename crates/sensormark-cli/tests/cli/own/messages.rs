//! Wrong files and settings get one clear message, before anything is started. (What is wrong in which line is tested where files are read.)

use super::support::{SMALL, with};
use crate::refused::refused_at_once;

#[test]
fn wrong_files() {
    let place = with(&SMALL.replace("interval", "intervall"));
    refused_at_once(&place, &["run", "own.toml"], &["own.toml:6: ", "did you mean interval?"]);
    refused_at_once(&place, &["generate", "own.toml"], &["own.toml:6: "]);
    refused_at_once(&place, &["list", "own.toml"], &["own.toml:6: "]);
    refused_at_once(&place, &["run", "nowhere.toml"], &["there is no such file", "sensormark init"]);
    refused_at_once(&place, &["init", "notes.txt"], &["something.toml"]);
}

#[test]
fn wrong_settings_and_stores() {
    let place = with(SMALL);
    refused_at_once(&place, &["run", "own.toml", "--set", "series.cuont=3"], &["did you mean series.count?"]);
    refused_at_once(&place, &["run", "own.toml", "--on", "sqllite"], &["did you mean sqlite?"]);
    refused_at_once(&place, &["run", "own.toml", "--on", "sqlite:bluk"], &["layout of SQLite"]);
    for command in ["run", "list", "generate"] {
        refused_at_once(
            &place,
            &[command, "own.toml", "--scale", "standard"],
            &["--scale is for workloads by name"],
        );
    }
    let stores = "stores = [\"sqlite\", \"sqllite\"]\n";
    let misspelt = with(&format!("{stores}{SMALL}"));
    refused_at_once(&misspelt, &["run", "own.toml"], &["own.toml:1: ", "did you mean sqlite?"]);
    refused_at_once(
        &place,
        &["generate", "own.toml", "--for", "3s"],
        &["own.toml: duration is 3 intervals", "more than 12"],
    );
}
