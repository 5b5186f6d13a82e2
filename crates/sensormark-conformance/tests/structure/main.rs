//! How large the source tree is: files stay short, and each part keeps to its budget.

use std::path::{Path, PathBuf};

/// The root of the source tree.
fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The most lines of a file: CONTRIBUTING.md says so.
const MOST_LINES: usize = 700;

/// Lengthens the list by all sources below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the tree") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn files_stay_short() {
    let mut all = Vec::new();
    for folder in ["crates", "stores"] {
        sources(&repository().join(folder), &mut all);
    }
    assert!(all.len() > 500, "only {} files were found", all.len());
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a source");
        let lines = text.lines().count();
        assert!(
            lines <= MOST_LINES,
            "{} has {lines} lines; divide it, because a file has at most {MOST_LINES}",
            path.display()
        );
    }
}

/// What there is to read is counted in tokens, because the width of lines and the length of names change nothing about it.
#[test]
fn parts_keep_to_their_budgets() {
    let mut count = std::process::Command::new("python3");
    let count = count.arg(repository().join("scripts/tokens.py")).arg("--budgets");
    let output = count.output().expect("python3, which `make test` needs");
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
