//! Finds GridDB's C client and loads it.
#![allow(unsafe_code, reason = "a library is loaded")]

use super::foreign::Functions;
use sensormark_store::{ErrorKind, StoreError};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Files that may be the library, the most particular first.
fn candidates() -> Vec<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mut files: Vec<PathBuf> = named("SENSORMARK_GRIDDB_CLIENT").into_iter().collect();
    for home in ["SENSORMARK_GRIDDB_HOME", "GS_HOME"].into_iter().filter_map(named) {
        files.extend(["lib", "lib64", "bin"].map(|folder| home.join(folder).join("libgridstore.so")));
    }
    files.extend(["libgridstore.so.0", "libgridstore.so"].map(PathBuf::from));
    files
}

/// The library, loaded when it is first needed; else why it cannot be, and how to get it.
pub(super) fn library() -> Result<&'static Functions, StoreError> {
    static LIBRARY: OnceLock<Result<&'static Functions, String>> = OnceLock::new();
    let load = || {
        let mut failures = Vec::new();
        for file in candidates().into_iter().filter(|file| !file.is_absolute() || file.is_file()) {
            // SAFETY: a file of this name, in a folder that the user or the system names, is GridDB's client.
            match unsafe { Functions::load(&file) } {
                Ok(functions) => return Ok(functions),
                Err(error) => failures.push(format!("{}: {error}", file.display())),
            }
        }
        Err(failures.join("; "))
    };
    LIBRARY.get_or_init(load).clone().map_err(|error| {
        let text = format!(
            "GridDB's C client (libgridstore.so) cannot be loaded ({error}); no registry has it; install GridDB's own packages, griddb and griddb-c-client"
        );
        StoreError::new(ErrorKind::NotInstalled, "find GridDB", text)
    })
}
