//! Finds a Java on this machine. Some servers run on one. It starts nothing but `java -version`.

use sensormark_store::{ErrorKind, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

/// The first Java whose version fits: `$JAVA_HOME`, PATH, then /usr/lib/jvm. `wanted` says in words which one a server needs.
///
/// # Errors
/// [`ErrorKind::NotInstalled`] when none of them fits.
pub fn find_java(title: &str, wanted: &str, fits: impl Fn(u32) -> bool) -> Result<PathBuf, StoreError> {
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
    let fits = |program: &PathBuf| program.is_file() && version(program).is_some_and(&fits);
    programs.into_iter().find(fits).ok_or_else(|| {
        StoreError::new(
            ErrorKind::NotInstalled,
            format!("find Java for {title}"),
            format!("{title} needs {wanted}, and neither $JAVA_HOME nor PATH nor /usr/lib/jvm has one; install openjdk-17-jre-headless"),
        )
    })
}

/// The first number of a Java's version: read from the file beside it, or else asked for.
fn version(program: &Path) -> Option<u32> {
    let real = fs::canonicalize(program).ok()?;
    let release = real.parent()?.parent()?.join("release");
    let text = match fs::read_to_string(release) {
        Ok(text) if text.contains("JAVA_VERSION=") => text.split("JAVA_VERSION=").nth(1)?.to_owned(),
        _ => {
            let output = std::process::Command::new(program).arg("-version").output().ok()?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            text.split("version ").nth(1)?.to_owned()
        }
    };
    let digits = text.trim_start_matches('"');
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    digits[..end].parse().ok()
}
