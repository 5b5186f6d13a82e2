//! How the source tree is laid out: which files a store has, and that files make no circle.

mod circles;
mod modules;
mod source;
mod stores;

use std::path::PathBuf;

/// The root of the source tree.
fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of all crates, as `stores/sqlite`.
fn crates() -> Vec<String> {
    let mut found = Vec::new();
    for group in ["crates", "stores"] {
        let entries = std::fs::read_dir(repository().join(group)).expect("the source tree");
        for entry in entries {
            let name = entry.expect("an entry").file_name();
            found.push(format!("{group}/{}", name.display()));
        }
    }
    found.sort();
    found
}
