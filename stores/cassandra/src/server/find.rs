//! The server's jars on this machine, and a Java that runs them. It starts nothing but `java -version`.

use crate::config::URL_EXAMPLE;
use sensormark_server::find::{Search, install_advice};
use sensormark_store::{Installation, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

/// The server's jars, in the order of places that all stores have.
pub(crate) fn installation() -> Result<Installation, StoreError> {
    let packages = ["/usr/share/cassandra", "/opt/cassandra/lib", "/usr/local/cassandra/lib"];
    let search = Search {
        name: "cassandra",
        title: "the Cassandra server",
        wanted: "its jars",
        inside: &["lib", ""],
        on_path: false,
        packages: packages.map(PathBuf::from).to_vec(),
        advice: install_advice("cassandra", URL_EXAMPLE),
    };
    let found = search.find(version_of)?;
    find_java()?;
    let (folder, version) = (found.folder.clone(), found.what.clone());
    Ok(found.installation(folder, version))
}

/// The version in the name of the server's jar, where the folder holds it and the agent that measures objects.
fn version_of(folder: &Path) -> Option<String> {
    jar(folder, "jamm-")?;
    let of = |prefix| Some((prefix, jar(folder, prefix)?));
    let (prefix, path) = of("cassandra-all-").or_else(|| of("apache-cassandra-"))?;
    let name = path.file_stem()?.to_str()?;
    name.strip_prefix(prefix).map(str::to_owned)
}

/// The jar whose name is this and a version.
pub(super) fn jar(folder: &Path, prefix: &str) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            let rest = name.and_then(|name| name.strip_prefix(prefix));
            rest.is_some_and(|rest| rest.ends_with(".jar") && rest.starts_with(|c: char| c.is_ascii_digit()))
        })
        .collect();
    found.sort();
    found.pop()
}

/// A Java that Cassandra runs on.
pub(super) fn find_java() -> Result<PathBuf, StoreError> {
    sensormark_server::java::find_java("Cassandra", "Java 17 or 11", |version| matches!(version, 17 | 11))
}
