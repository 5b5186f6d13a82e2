//! The library in the place of a server: it is bundled, and there is nothing to find, configure or start.

use sensormark_store::Installation;
use std::path::PathBuf;

/// The bundled library.
pub fn installation() -> Installation {
    Installation {
        path: PathBuf::new(),
        version: rusqlite::version().to_owned(),
        origin: "bundled".to_owned(),
    }
}
