//! The workflow that docs/how-to/continuous-integration.md shows: its step that compares runs as it is written, on kept results.

use crate::support::{Place, errors};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The script of a step of the workflow.
fn script(page: &str, step: &str) -> String {
    let start = format!("      - name: {step}\n");
    let (_, rest) = page.split_once(&start).expect("the step");
    let (_, rest) = rest.split_once("        run: |\n").expect("its script");
    let lines = rest.lines();
    let lines = lines.map_while(|line| line.strip_prefix("          "));
    lines.collect::<Vec<_>>().join("\n")
}

fn docs() -> PathBuf {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    docs.canonicalize().expect("the pages")
}

/// Runs the step that compares, as a runner does, with this run as base and as head; its exit code and the comment that it wrote.
fn compared(run: Option<&Path>) -> (Option<i32>, String) {
    let page = std::fs::read_to_string(docs().join("how-to/continuous-integration.md"));
    let script = script(&page.expect("the page"), "Compare");
    let place = Place::new();
    for side in ["base", "head"] {
        let folder = place.results().join(side);
        std::fs::create_dir_all(&folder).expect("ours");
        // The list that each run leaves beside its folder.
        std::fs::write(folder.join("index.html"), "").expect("ours");
        if let Some(run) = run {
            symlink(run, folder.join("run")).expect("a link");
        }
    }
    let program = Path::new(env!("CARGO_BIN_EXE_sensormark"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().expect("a folder").display());
    let output = Command::new("bash")
        .args(["-eo", "pipefail", "-c", &script])
        .current_dir(place.path())
        .env("PATH", path)
        .env("GITHUB_STEP_SUMMARY", place.path().join("summary.md"))
        .output()
        .expect("bash");
    let comment = std::fs::read_to_string(place.path().join("comparison.md"));
    (output.status.code(), comment.unwrap_or_default())
}

/// As [`compared`], of a result that is kept.
fn kept(workload: &str) -> (Option<i32>, String) {
    compared(Some(&docs().join("results").join(workload)))
}

#[test]
fn what_is_not_decided_is_told_and_fails_no_build() {
    // One repetition.
    let (code, comment) = kept("first-run");
    assert_eq!(code, Some(0), "{comment}");
    assert!(comment.starts_with("**Not decided: "), "{comment}");
    assert!(comment.contains("needs three valid repetitions"), "{comment}");
    assert!(comment.contains("| "), "and has its tables: {comment}");
}

#[test]
fn what_is_decided_passes_and_what_is_not_there_fails() {
    // Three repetitions, the same on both sides.
    let (code, comment) = kept("billing");
    assert_eq!(code, Some(0), "{comment}");
    assert!(comment.starts_with("**No regression found."), "{comment}");
    let (code, comment) = compared(None);
    assert_ne!(code, Some(0), "{comment}");
    assert_eq!(comment, "", "nothing was compared");
}

#[test]
fn a_head_that_loses_data_does_not_pass() {
    let place = Place::new();
    let output = place.short(&["--on", "sqlite:individual/bulk", "--plant", "drop:500"]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let (code, comment) = compared(Some(&place.run_folder()));
    assert_eq!(code, Some(1), "{comment}");
    assert!(comment.starts_with("**The head has invalid trials."), "{comment}");
}
