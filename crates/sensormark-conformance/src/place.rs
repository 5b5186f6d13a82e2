//! Where the store's server is: started for the suite, given by the user, or the store's own library.

use super::check::{Broken, Check};
use sensormark_server::{ManagedServer, Supervisor};
use sensormark_store::server::ServerOptions;
use sensormark_store::{Endpoint, Store};
use std::sync::Arc;

/// The variable that names an existing server's URL.
pub(super) const URL_VARIABLE: &str = "SENSORMARK_CONFORMANCE_URL";

/// A server or folder that lives as long as the suite.
pub(super) enum Place {
    /// A folder for an embedded store, removed at the end.
    Folder(
        Endpoint,
        #[expect(dead_code, reason = "removes the folder when it is dropped")] tempfile::TempDir,
    ),
    /// A server that the user named.
    Existing(Endpoint),
    /// A server that was started for the suite, stopped and removed at the end.
    Managed(Box<ManagedServer>),
}

impl Place {
    /// The server that the user named, or else one that is started here.
    pub(super) fn find(store: &Arc<dyn Store>) -> Check<Self> {
        if let Ok(url) = std::env::var(URL_VARIABLE) {
            return Ok(Self::Existing(store.endpoint(&url)?));
        }
        if store.description().embedded {
            let folder = tempfile::tempdir().map_err(|error| Broken(format!("make a folder: {error}")))?;
            let endpoint = store.endpoint(&folder.path().display().to_string())?;
            return Ok(Self::Folder(endpoint, folder));
        }
        let options = ServerOptions { memory_bytes: 512 << 20, clients: 100, ..ServerOptions::default() };
        let server = Supervisor::new(None)?.start(&**store, &options, None)?;
        Ok(Self::Managed(Box::new(server)))
    }

    pub(super) fn endpoint(&self) -> Endpoint {
        match self {
            Self::Folder(endpoint, _) | Self::Existing(endpoint) => endpoint.clone(),
            Self::Managed(server) => server.endpoint().clone(),
        }
    }

    /// The server, if it is the suite's own, to be paused and killed.
    pub(super) fn server(&self) -> Option<&ManagedServer> {
        match self {
            Self::Managed(server) => Some(server),
            Self::Folder(..) | Self::Existing(_) => None,
        }
    }
}

/// The password in a URL's `user:password@`, if there is one.
pub(super) fn password(url: &str) -> Option<String> {
    let (_, password, _) = split(url)?;
    (!password.is_empty()).then(|| password.to_owned())
}

/// The URL with another password, if it has one.
pub(super) fn with_password(url: &str, password: &str) -> Option<String> {
    let (before, old, behind) = split(url)?;
    (!old.is_empty()).then(|| format!("{before}{password}{behind}"))
}

/// A URL up to its password, the password, and the rest.
fn split(url: &str) -> Option<(&str, &str, &str)> {
    let start = url.find("://")? + 3;
    let end = start + url[start..].split(['/', '?', '#']).next()?.rfind('@')?;
    let colon = start + url[start..end].find(':')? + 1;
    Some((&url[..colon], &url[colon..end], &url[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_found_and_replaced() {
        let url = "mysql://user:se:cret@127.0.0.1:33061/name?x=a@b";
        assert_eq!(password(url).as_deref(), Some("se:cret"));
        assert_eq!(
            with_password(url, "other").as_deref(),
            Some("mysql://user:other@127.0.0.1:33061/name?x=a@b")
        );
        for none in ["mysql://127.0.0.1:33061/", "mysql://user@host/", "/a/folder", "http://h:80/a@b"] {
            assert_eq!(password(none), None, "{none}");
        }
    }
}
