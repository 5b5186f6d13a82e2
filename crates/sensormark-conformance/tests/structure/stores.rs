//! Each store's folder has the same files, and the pages for authors name exactly those.

use crate::repository;
use std::collections::BTreeSet;
use std::path::Path;

/// The files that each store has in `src`, in the order of the pages.
const REQUIRED: [&str; 12] = [
    "lib",
    "config",
    "server",
    "schema",
    "write",
    "write_size",
    "query",
    "session",
    "admin",
    "sent",
    "shown",
    "error",
];

/// Files that a store has where its database has what they are about.
const OPTIONAL: [&str; 4] = ["connection", "dialect", "cluster", "members"];

/// What only this database has.
const OWN: &[(&str, &[&str])] = &[
    // The driver verifies certificates for addresses alone.
    ("cassandra", &["statements", "tls"]),
    ("duckdb", &["array", "client", "instance"]),
    ("griddb", &["client", "containers", "rest"]),
    ("influxdb", &["paths", "second"]),
    ("mariadb", &[]),
    (
        "mongodb",
        &["consistency", "topology", "unacknowledged", "wire"],
    ),
    ("postgresql", &["cell", "driver"]),
    ("questdb", &["asking", "sending", "visible"]),
    ("sqlite", &["settings", "writer_queue"]),
];

/// Pages that name the files.
const PAGES: [&str; 3] = [
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "docs/how-to/add-a-database.md",
];

/// The names in a folder, without `.rs`.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).expect("a store's folder");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy().into_owned();
        name.strip_suffix(".rs").map(str::to_owned).unwrap_or(name)
    };
    entries.map(name).collect()
}

#[test]
fn every_store_has_the_same_files() {
    let stores = names(&repository().join("stores"));
    for store in stores.iter().filter(|name| *name != "template") {
        let own = OWN.iter().find(|(name, _)| name == store);
        let (_, own) = own.unwrap_or_else(|| panic!("name the files of stores/{store} here"));
        let found = names(&repository().join("stores").join(store).join("src"));
        for name in REQUIRED {
            assert!(found.contains(name), "stores/{store}/src has no {name}.rs");
        }
        for name in &found {
            let is_known = [&REQUIRED[..], &OPTIONAL[..], *own]
                .concat()
                .contains(&name.as_str());
            assert!(
                is_known,
                "stores/{store}/src/{name}.rs has a name that no other store has; choose one of theirs, or say here that only this database needs it"
            );
        }
        for name in *own {
            assert!(
                found.contains(*name),
                "stores/{store}/src/{name}.rs is gone; strike it here"
            );
        }
    }
    for (name, _) in OWN {
        assert!(
            stores.contains(*name),
            "stores/{name} is gone; strike it here"
        );
    }
}

#[test]
fn the_pages_for_authors_name_exactly_these_files() {
    let expected = REQUIRED.map(|name| format!("`{name}.rs`")).join(", ");
    for page in PAGES {
        let text = std::fs::read_to_string(repository().join(page)).expect("a page");
        let words = Vec::from_iter(text.split_whitespace()).join(" ");
        assert!(words.contains(&expected), "{page} does not list {expected}");
    }
    let contributing = std::fs::read_to_string(repository().join(PAGES[0])).expect("a page");
    for name in OPTIONAL {
        let named = contributing.contains(&format!("`{name}.rs`"));
        assert!(named, "{} does not name {name}.rs", PAGES[0]);
    }
}
