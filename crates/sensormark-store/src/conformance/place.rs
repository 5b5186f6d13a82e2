//! Where the store's server is: started for the suite, given by the user, or the store's own library.

use super::check::{Broken, Check};
use crate::store::{Endpoint, Store};
use std::sync::Arc;

/// The variable that names an existing server's URL.
pub(super) const URL_VARIABLE: &str = "SENSORMARK_CONFORMANCE_URL";

/// A server or folder that lives as long as the suite.
pub(super) enum Place {
    /// A folder for an embedded store, removed at the end.
    Folder(tempfile::TempDir, Endpoint),
    /// A server that the user named.
    Existing(Endpoint),
}

impl Place {
    /// The server that the user named, or else one that is started here.
    pub(super) fn find(store: &Arc<dyn Store>) -> Check<Self> {
        if let Ok(url) = std::env::var(URL_VARIABLE) {
            return Ok(Self::Existing(store.endpoint(&url)?));
        }
        if store.description().embedded {
            let folder =
                tempfile::tempdir().map_err(|error| Broken(format!("make a folder: {error}")))?;
            let endpoint = store.endpoint(&folder.path().display().to_string())?;
            return Ok(Self::Folder(folder, endpoint));
        }
        Err(Broken(format!(
            "no server could be started; name one in {URL_VARIABLE}"
        )))
    }

    pub(super) fn endpoint(&self) -> Endpoint {
        match self {
            Self::Folder(_, endpoint) | Self::Existing(endpoint) => endpoint.clone(),
        }
    }
}
