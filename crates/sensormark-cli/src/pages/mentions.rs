//! Every page that sources, scripts and messages name by its path is there.

use super::root;
use std::path::{Path, PathBuf};

/// Paths of pages in a text: what begins with `docs/` and is no part of an address.
fn mentions(text: &str) -> Vec<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    let found = text.match_indices("docs/").filter_map(|(start, _)| {
        if text[..start].ends_with(is_part) {
            return None;
        }
        let rest = &text[start..];
        let length = rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len());
        let path = rest[..length].trim_end_matches('.');
        let is_page = path.ends_with(".md") || path.ends_with(".json");
        is_page.then_some(path)
    });
    found.collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
            continue;
        }
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        if ["rs", "sh", "toml", "mjs", "md"].contains(&ending.as_ref()) {
            found.push(path);
        }
    }
}

#[test]
fn every_page_that_is_named_is_there() {
    let root = root();
    let mut files = vec![root.join("Makefile"), root.join("CONTRIBUTING.md"), root.join("ARCHITECTURE.md")];
    for folder in ["crates", "docs", "scripts", "stores"] {
        sources(&root.join(folder), &mut files);
    }
    let own = Path::new(file!()).file_name().expect("this file");
    files.retain(|file| file.file_name() != Some(own));
    let mut named = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source");
        for path in mentions(&text) {
            named += 1;
            assert!(root.join(path).exists(), "{} names {path}, which is not there", file.display());
        }
    }
    assert!(named >= 20, "{named}");
}

#[test]
fn addresses_are_no_mentions() {
    let text = "see docs/a.md. <https://x.org/docs/b.md>, `docs/c/d.json`; ../docs/e.md and docs/results";
    assert_eq!(mentions(text), ["docs/a.md", "docs/c/d.json"]);
}
