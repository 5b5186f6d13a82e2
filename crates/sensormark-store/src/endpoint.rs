//! How a server is reached, with what it takes to get in.

use std::fmt;

/// A string that never shows: not in debug output, logs, results or errors.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides this string.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The string itself. Only a driver or a child's pipe may have it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

/// Which server, with what it takes to get in. Built by [`crate::Store::endpoint`] or [`crate::Store::launch`]; passed to trial processes by pipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The URL in full, as the store's own code reads it.
    pub url: Secret,
    /// The URL as people see it, without user, password, host or path: "postgresql (existing server)".
    pub label: String,
    /// Whether sensormark started the server (or made the folder) itself.
    pub managed: bool,
    /// Ports on which the server is spoken to. Bytes on the wire are counted by them; empty when embedded.
    pub ports: Vec<u16>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_show() {
        let endpoint = Endpoint {
            url: Secret::new("postgresql://user:hunter2@host/"),
            label: "postgresql (existing server)".into(),
            managed: false,
            ports: vec![5432],
        };
        assert!(!format!("{endpoint:?}").contains("hunter2"));
    }
}
