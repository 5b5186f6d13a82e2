//! The library in the place of a server: where it is found, and loading it once.
//!
//! There is nothing to configure or start.

use crate::client::Library;
use sensormark_server::find::{Found, Search, install_advice};
use sensormark_store::{ErrorKind, Installation, StoreError};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What a URL looks like. Messages show it.
pub(crate) const URL_EXAMPLE: &str = "duckdb:/path/to/folder";
/// The library's file.
const FILE: &str = "libduckdb.so";

/// The library found, in the order of places that all stores have.
fn located() -> Result<Found<PathBuf>, StoreError> {
    let search = Search {
        name: "duckdb",
        title: "DuckDB",
        wanted: "the library libduckdb.so",
        inside: &["lib", "lib64", ""],
        on_path: false,
        packages: ["/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"]
            .map(PathBuf::from)
            .into(),
        advice: install_advice("duckdb", URL_EXAMPLE).replace("name a server", "name a folder"),
    };
    search.find(|folder| Some(folder.join(FILE)).filter(|file| file.is_file()))
}

fn loaded(file: &Path) -> Result<Library, String> {
    let library = Library::load(file)?;
    let version = library.version();
    let major = version.split('.').next().and_then(|major| major.parse().ok());
    match major {
        Some(2_u32..) => Ok(library),
        _ => Err(format!(
            "it is version {version}, and sensormark needs 2.0, whose settings bound an operation's time and say what is flushed"
        )),
    }
}

/// The library, loaded when it is first needed.
///
/// # Errors
/// [`ErrorKind::NotInstalled`], with how to get it.
pub(crate) fn library() -> Result<&'static Library, StoreError> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    if let Some(Ok(library)) = LIBRARY.get() {
        return Ok(library);
    }
    let found = located()?;
    let library = LIBRARY.get_or_init(|| loaded(&found.what));
    library.as_ref().map_err(|problem| {
        StoreError::new(
            ErrorKind::NotInstalled,
            "load DuckDB",
            format!("{FILE} cannot be used: {problem}; install it with `sensormark install-servers duckdb`"),
        )
    })
}

/// The library's place and version.
///
/// # Errors
/// As [`library`].
pub(crate) fn installation() -> Result<Installation, StoreError> {
    let found = located()?;
    let version = library()?.version();
    let file = found.what.clone();
    Ok(found.installation(file, version))
}
