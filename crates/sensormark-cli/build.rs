//! Says what the program is built from: its version, the commit, and the databases that are in it.

use std::env;
use std::path::Path;
use std::process::Command;

/// The databases, in the order in which they are listed; each is a feature.
const STORES: [&str; 9] =
    ["sqlite", "duckdb", "postgresql", "mariadb", "mongodb", "cassandra", "influxdb", "griddb", "questdb"];

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    // Without Git, as in a package, there is no commit to name.
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    let version = commit.map_or(version.to_owned(), |commit| format!("{version} ({commit})"));
    let is_in = |store: &&str| env::var_os(format!("CARGO_FEATURE_{}", store.to_uppercase()));
    let stores: Vec<&str> = STORES.into_iter().filter(|store| is_in(store).is_some()).collect();
    println!("cargo::rustc-env=SENSORMARK_VERSION={version}");
    println!("cargo::rustc-env=SENSORMARK_LONG_VERSION={version}, with {}", stores.join(", "));
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(file) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={file}");
    }
}

/// What Git says; nothing where this is no checkout of sensormark (a package may lie in somebody's else).
fn git(arguments: &[&str]) -> Option<String> {
    if !Path::new("../../.git").exists() {
        return None;
    }
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
