//! The server's jars on this machine, and a Java that runs them. It starts nothing but `java -version`.

use crate::config::URL_EXAMPLE;
use sensormark_server::find::{Search, install_advice};
use sensormark_store::{ErrorKind, Installation, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

/// The server's jars, in the order of places that all stores have.
pub(crate) fn installation() -> Result<Installation, StoreError> {
    let packages = [
        "/usr/share/cassandra",
        "/opt/cassandra/lib",
        "/usr/local/cassandra/lib",
    ];
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
            rest.is_some_and(|rest| {
                rest.ends_with(".jar") && rest.starts_with(|c: char| c.is_ascii_digit())
            })
        })
        .collect();
    found.sort();
    found.pop()
}

/// A Java that Cassandra runs on.
pub(super) fn find_java() -> Result<PathBuf, StoreError> {
    let mut programs = Vec::new();
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        programs.push(PathBuf::from(home).join("bin/java"));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    programs.extend(std::env::split_paths(&path).map(|folder| folder.join("java")));
    if let Ok(entries) = fs::read_dir("/usr/lib/jvm") {
        let mut homes: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        homes.sort();
        programs.extend(homes.into_iter().map(|home| home.join("bin/java")));
    }
    let fits =
        |program: &PathBuf| program.is_file() && matches!(java_version(program), Some(17 | 11));
    programs.into_iter().find(fits).ok_or_else(|| {
        StoreError::new(
            ErrorKind::NotInstalled,
            "find Java for Cassandra",
            "Cassandra needs Java 17 or 11, and neither $JAVA_HOME nor PATH nor /usr/lib/jvm has one; install openjdk-17-jre-headless",
        )
    })
}

/// The first number of a Java's version: read from the file beside it, or else asked for.
fn java_version(program: &Path) -> Option<u32> {
    let real = fs::canonicalize(program).ok()?;
    let release = real.parent()?.parent()?.join("release");
    let text = match fs::read_to_string(release) {
        Ok(text) if text.contains("JAVA_VERSION=") => {
            text.split("JAVA_VERSION=").nth(1)?.to_owned()
        }
        _ => {
            let output = std::process::Command::new(program)
                .arg("-version")
                .output()
                .ok()?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            text.split("version ").nth(1)?.to_owned()
        }
    };
    let digits = text.trim_start_matches('"');
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    digits[..end].parse().ok()
}
