//! The client library: where it is looked for, loaded once.

use super::foreign::Functions;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The library.
pub(crate) struct Library {
    pub(super) functions: Functions,
}

/// Names under which the library may be found, the most particular first.
fn candidates() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    if let Some(file) = std::env::var_os("SENSORMARK_GRIDDB_CLIENT") {
        paths.push(PathBuf::from(file));
    }
    for variable in ["SENSORMARK_GRIDDB_HOME", "GS_HOME"] {
        if let Some(home) = std::env::var_os(variable) {
            for folder in ["lib", "lib64", "bin"] {
                paths.push(PathBuf::from(&home).join(folder).join("libgridstore.so"));
            }
        }
    }
    paths.extend(["libgridstore.so.0", "libgridstore.so"].map(PathBuf::from));
    paths
}

fn load() -> Result<Library, String> {
    let mut failures = Vec::new();
    for path in candidates() {
        if path.is_absolute() && !path.is_file() {
            continue;
        }
        // SAFETY: loading runs the library's initialisers; a file of this name, in a folder that the user or the system names, is GridDB's client.
        let loaded = unsafe { libloading::Library::new(&path) };
        // SAFETY: the library is GridDB's client, and is never unloaded (it is leaked below).
        let found = loaded.and_then(|library| {
            let functions = unsafe { Functions::find(&library) }?;
            std::mem::forget(library);
            Ok(functions)
        });
        match found {
            Ok(functions) => return Ok(Library { functions }),
            Err(error) => failures.push(format!("{}: {error}", path.display())),
        }
    }
    Err(failures.join("; "))
}

/// The library, loaded when it is first needed; else why it cannot be.
pub(crate) fn library() -> Result<&'static Library, String> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref().map_err(Clone::clone)
}
