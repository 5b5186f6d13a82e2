//! Results of studies that are kept in docs/results: what is reported of them is what was reported when they were kept.
//!
//! `SENSORMARK_WRITE_PINS=1` writes the reports anew; the difference is then read like any other.

use crate::support::{Place, errors};
use sensormark_conformance::pins::hold;
use std::path::{Path, PathBuf};

/// Compares the report as JSON with the `report.json` beside each result.
#[test]
fn what_is_reported_of_them_is_as_kept() {
    let folders = folders();
    assert!(folders.len() >= 5, "one of each study: {folders:?}");
    let place = Place::new();
    for folder in folders {
        let told = place.run(&["report", &folder.display().to_string(), "--format", "json"]);
        assert!(told.status.success(), "{folder:?}: {}", errors(&told));
        let mut now = String::from_utf8(told.stdout).expect("JSON is UTF-8");
        // The machine's path is not the report's to keep.
        now = now.replace(&folder.display().to_string(), "RUN");
        let file = folder.join("report.json");
        if let Err(text) = hold(&file, &now) {
            panic!("{text}");
        }
    }
}

fn folders() -> Vec<PathBuf> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let results = results.canonicalize().expect("results are kept");
    let found = std::fs::read_dir(results).expect("a folder of results");
    let mut folders: Vec<PathBuf> = found
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("report.json").exists())
        .collect();
    folders.sort();
    folders
}
