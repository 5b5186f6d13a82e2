//! The workflow that docs/how-to/continuous-integration.md shows: its step that compares runs as it is written, on kept results.

use crate::support::Place;
use std::os::unix::fs::symlink;
use std::path::Path;
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

/// Runs the step that compares, as a runner does, on a kept result of this workload on both sides; its exit code and the comment that it wrote.
fn compared(workload: Option<&str>) -> (Option<i32>, String) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = std::fs::read_to_string(docs.join("how-to/continuous-integration.md"));
    let script = script(&page.expect("the page"), "Compare");
    let place = Place::new();
    for side in ["base", "head"] {
        let folder = place.results().join(side);
        std::fs::create_dir_all(&folder).expect("ours");
        if let Some(workload) = workload {
            let kept = docs.join("results").join(workload);
            symlink(
                kept.canonicalize().expect("a kept result"),
                folder.join("run"),
            )
            .expect("a link");
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

#[test]
fn what_is_not_decided_is_told_and_fails_no_build() {
    // One repetition.
    let (code, comment) = compared(Some("devops"));
    assert_eq!(code, Some(0), "{comment}");
    assert!(comment.starts_with("**Not decided: "), "{comment}");
    assert!(
        comment.contains("needs three valid repetitions"),
        "{comment}"
    );
    assert!(comment.contains("| "), "and has its tables: {comment}");
}

#[test]
fn what_is_decided_passes_and_what_is_not_there_fails() {
    // Three repetitions, the same on both sides.
    let (code, comment) = compared(Some("billing"));
    assert_eq!(code, Some(0), "{comment}");
    assert!(comment.starts_with("**No regression found."), "{comment}");
    let (code, comment) = compared(None);
    assert!(
        code.is_some_and(|code| code != 0 && code != 2),
        "{code:?} {comment}"
    );
}
