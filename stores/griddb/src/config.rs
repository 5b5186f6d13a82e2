//! The URL of a cluster, and what is in it.
//!
//! `griddb://user:password@host:10001,host2:10001/cluster?rest=10040&database=public`: nodes are the fixed list's transaction addresses; the path is
//! the cluster's name; `rest` is the port of the first node's administration. Nothing here shows a password.

use sensormark_kit::url::{existing_server, percent_decoded};
use sensormark_store::{Endpoint, ErrorKind, Secret, StoreError};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// What a URL looks like. Messages show it.
pub(crate) const URL_EXAMPLE: &str = "griddb://user:password@host:10001/cluster?rest=10040";

/// The transaction service's port, where a URL names none.
const PORT: u16 = 10_001;

/// The administration's port, where a URL names none.
const REST_PORT: u16 = 10_040;

/// What a URL says.
#[derive(Clone)]
pub(crate) struct Options {
    /// Nodes, by host and transaction port; at least one.
    pub(crate) nodes: Vec<(String, u16)>,
    /// The user.
    pub(crate) user: String,
    /// The user's password.
    pub(crate) password: Secret,
    /// The cluster's name.
    pub(crate) cluster: String,
    /// The database inside the cluster, where it is not the usual one.
    pub(crate) database: Option<String>,
    /// The port of the first node's administration.
    pub(crate) rest: u16,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Options").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

fn wrong(text: impl fmt::Display) -> StoreError {
    StoreError::new(
        ErrorKind::Configuration,
        "read the URL of a GridDB cluster",
        format!("{text}; a URL looks like {URL_EXAMPLE}"),
    )
}

/// Whether a name is one that GridDB takes for clusters and databases.
fn plain(name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty() && name.chars().all(part)
}

impl Options {
    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let rest = text.strip_prefix("griddb://").ok_or_else(|| wrong("it does not start with griddb://"))?;
        let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, cluster) =
            before.split_once('/').ok_or_else(|| wrong("it names no cluster after the host"))?;
        if !plain(cluster) {
            return Err(wrong("the cluster's name is not of letters, digits, _, - and ."));
        }
        let (user, hosts) =
            authority.rsplit_once('@').ok_or_else(|| wrong("it names no user and password"))?;
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        if user.is_empty() || password.is_empty() {
            return Err(wrong("it names no user and password"));
        }
        let mut options = Self {
            nodes: hosts.split(',').map(node).collect::<Result<_, _>>()?,
            user: decoded(user)?,
            password: Secret::new(decoded(password)?),
            cluster: cluster.to_owned(),
            database: None,
            rest: REST_PORT,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            options.set(pair)?;
        }
        Ok(options)
    }

    fn set(&mut self, pair: &str) -> Result<(), StoreError> {
        match pair.split_once('=').unwrap_or((pair, "")) {
            ("rest", value) => {
                self.rest = value.parse().map_err(|_| wrong("rest is not a port"))?;
            }
            ("database", value) if plain(value) => self.database = Some(value.to_owned()),
            ("database", _) => {
                return Err(wrong("the database's name is not one that GridDB takes"));
            }
            ("tls" | "ssl" | "sslMode", _) => {
                return Err(wrong(
                    "encryption is part of GridDB's other edition and not supported: reach the cluster through a private network",
                ));
            }
            (other, _) => {
                return Err(wrong(format!(
                    "{other:?} is not an option that it may have; those are rest and database"
                )));
            }
        }
        Ok(())
    }

    /// The endpoint of an existing cluster with this URL.
    pub(crate) fn endpoint(&self, url: &str) -> Endpoint {
        existing_server("griddb", url, self.nodes.iter().map(|node| node.1).collect())
    }

    /// Properties that the client keeps for all connections of a process: how long it waits. A silent server is asked for a sign of life after a
    /// quarter of the time allowed, and the connection is tried once more: three quarters in all.
    pub(crate) fn factory(time_out: Duration) -> BTreeMap<&'static str, String> {
        let quarter = (time_out / 4).max(Duration::from_millis(50));
        let milliseconds = |duration: Duration| duration.as_millis().min(1 << 30).to_string();
        BTreeMap::from([
            ("connectTimeoutMillis", milliseconds(quarter)),
            ("heartbeatTimeoutMillis", milliseconds(quarter)),
            ("statementTimeoutMillis", milliseconds(time_out)),
            ("statementTimeoutEnabled", "true".to_owned()),
            ("maxConnectionPoolSize", "0".to_owned()),
        ])
    }

    /// Properties of one connection. The client by itself would retry for two minutes in silence.
    pub(crate) fn properties(&self, time_out: Duration) -> BTreeMap<&'static str, String> {
        let text = |(host, port): &(String, u16)| format!("{host}:{port}");
        let nodes: Vec<String> = self.nodes.iter().map(text).collect();
        let mut properties = BTreeMap::from([
            ("notificationMember", nodes.join(",")),
            ("clusterName", self.cluster.clone()),
            ("user", self.user.clone()),
            ("password", self.password.expose().to_owned()),
            ("applicationName", "sensormark".to_owned()),
            ("failoverTimeoutMillis", "0".to_owned()),
            ("transactionTimeout", time_out.as_secs().clamp(1, 86_400).to_string()),
            ("containerCacheSize", "50000".to_owned()),
        ]);
        if let Some(database) = &self.database {
            properties.insert("database", database.clone());
        }
        properties
    }
}

fn node(text: &str) -> Result<(String, u16), StoreError> {
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => {
            let port = port.parse();
            (name, port.map_err(|_| wrong("a port is not a number under 65536"))?)
        }
        None => (text, PORT),
    };
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    if name.is_empty() || !name.chars().all(part) {
        return Err(wrong("a host is not a name or an IPv4 address"));
    }
    Ok((name.to_owned(), port))
}

fn decoded(text: &str) -> Result<String, StoreError> {
    percent_decoded(text).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_where_and_how() {
        let options =
            Options::parse("griddb://me:p%40ss@a.example,10.0.0.2:9001/my-cluster?rest=9040").unwrap();
        assert_eq!(options.nodes, [("a.example".to_owned(), 10_001), ("10.0.0.2".to_owned(), 9_001)]);
        assert_eq!((options.user.as_str(), options.password.expose()), ("me", "p@ss"));
        assert_eq!((options.cluster.as_str(), options.rest), ("my-cluster", 9_040));
        assert!(!format!("{options:?}").contains("p@ss"));
        let properties = options.properties(Duration::from_secs(3));
        assert_eq!(properties["notificationMember"], "a.example:10001,10.0.0.2:9001");
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "mysql://u:hunter2@h/",
            "griddb://u:hunter2@h",
            "griddb://u:hunter2@h/",
            "griddb://u:hunter2@/c",
            "griddb://u:hunter2@h:port/c",
            "griddb://h/c",
            "griddb://u@h/c",
            "griddb://u:hunter2@h/c?tls=on",
            "griddb://u:hunter2@h/c?rest=x",
            "griddb://u:hunter2%4@h/c",
            "nonsense",
        ] {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(error.to_string().contains(URL_EXAMPLE), "{error}");
        }
    }
}
