//! Tests of the pages: README, docs and what stands beside the code. Their commands are accepted, their links lead somewhere, and the command reference
//! is what the help says.

mod commands;
mod links;
mod mentions;
mod reference;
mod shown;

use pulldown_cmark::{Options, Parser};
use std::fs;
use std::path::{Path, PathBuf};

/// A Markdown file of the repository.
struct Page {
    path: PathBuf,
    text: String,
}

/// The repository's folder.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

/// The README and every page of the docs.
fn docs() -> Vec<Page> {
    let root = root();
    let mut pages = below(&root.join("docs"));
    pages.push(page(root.join("README.md")));
    pages
}

/// Every page of the repository.
fn all() -> Vec<Page> {
    let root = root();
    let beside = fs::read_dir(&root).expect("the repository").flatten();
    let beside = beside.map(|entry| entry.path());
    let mut pages: Vec<Page> = beside.filter(|path| is_page(path)).map(page).collect();
    for folder in ["data", "docs", "crates", "stores"] {
        pages.extend(below(&root.join(folder)));
    }
    pages
}

fn below(folder: &Path) -> Vec<Page> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of pages").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if is_page(&path) {
                found.push(page(path));
            }
        }
    }
    found
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

fn page(path: PathBuf) -> Page {
    let text = fs::read_to_string(&path).expect("a page");
    Page { path, text }
}

fn parse(page: &str) -> Parser<'_> {
    Parser::new_ext(page, Options::ENABLE_TABLES)
}
