//! The URL of a cluster. Nothing here shows a password.
//!
//! `griddb://user:password@host:10001,host2:10001/cluster?rest=10040&database=public`: nodes are the fixed list's transaction addresses; the path is
//! the cluster's name; `rest` is the port of the first node's administration.

use sensormark_kit::url::{HostAndPort, authority, percent_decoded, without_further_hosts};
use sensormark_store::{ErrorKind, Secret, StoreError};
use std::time::Duration;
use url::Url;

/// What a URL looks like.
const EXAMPLE: &str = "griddb://user:password@host:10001/cluster?rest=10040";
/// The transaction service's port, where a URL names none.
const PORT: u16 = 10_001;
/// The administration's port, where a URL names none.
const REST_PORT: u16 = 10_040;

/// What a URL says.
#[derive(Clone)]
pub(super) struct Options {
    /// Nodes, by host and transaction port; at least one.
    pub(super) nodes: Vec<HostAndPort>,
    pub(super) user: String,
    pub(super) password: Secret,
    /// The cluster's name.
    pub(super) cluster: String,
    /// The database inside the cluster, where it is not the usual one.
    database: Option<String>,
    /// The port of the first node's administration.
    pub(super) rest: u16,
}

fn wrong(text: &str) -> StoreError {
    let text = format!("{text}; a URL looks like {EXAMPLE}");
    StoreError::new(ErrorKind::Configuration, "read the URL of a GridDB cluster", text)
}

/// Whether a name is one that GridDB takes for clusters and databases, or one of a host.
fn plain(name: &str) -> bool {
    let part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    !name.is_empty() && name.chars().all(part)
}

impl Options {
    /// Reads a URL.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        let (text, further) = without_further_hosts(text, PORT).map_err(wrong)?;
        let url = Url::parse(&text).map_err(|error| wrong(&error.to_string()))?;
        if url.scheme() != "griddb" {
            return Err(wrong("it does not start with griddb://"));
        }
        let authority = authority(&url, PORT).map_err(wrong)?;
        if authority.user.is_empty() || authority.password.expose().is_empty() {
            return Err(wrong("it names no user and password"));
        }
        let nodes: Vec<HostAndPort> = [authority.host].into_iter().chain(further).collect();
        if !nodes.iter().all(|node| plain(&node.0)) {
            return Err(wrong("a host is not a name or an IPv4 address"));
        }
        let cluster = percent_decoded(url.path().trim_start_matches('/')).map_err(wrong)?;
        if !plain(&cluster) {
            return Err(wrong("the cluster's name, after the host, is not of letters, digits, _, - and ."));
        }
        let (user, password) = (authority.user, authority.password);
        let mut options = Self { nodes, user, password, cluster, database: None, rest: REST_PORT };
        for (key, value) in url.query_pairs() {
            match &*key {
                "rest" => options.rest = value.parse().map_err(|_| wrong("rest is not a port"))?,
                "database" if plain(&value) => options.database = Some(value.into_owned()),
                "database" => return Err(wrong("the database's name is not one that GridDB takes")),
                "tls" | "ssl" | "sslMode" => {
                    return Err(wrong(
                        "encryption is part of GridDB's other edition and not supported: reach the cluster through a private network",
                    ));
                }
                other => {
                    return Err(wrong(&format!(
                        "{other:?} is not an option that it may have; those are rest and database"
                    )));
                }
            }
        }
        Ok(options)
    }

    /// Properties that the client keeps for all connections of a process: how long it waits. A silent server is asked for a sign of life after a
    /// quarter of the time allowed, and the connection is tried once more: three quarters in all.
    pub(super) fn factory(time: Duration) -> [(&'static str, String); 5] {
        let milliseconds = |time: Duration| time.as_millis().min(1 << 30).to_string();
        let quarter = milliseconds((time / 4).max(Duration::from_millis(50)));
        [
            ("connectTimeoutMillis", quarter.clone()),
            ("heartbeatTimeoutMillis", quarter),
            ("statementTimeoutMillis", milliseconds(time)),
            ("statementTimeoutEnabled", "true".to_owned()),
            ("maxConnectionPoolSize", "0".to_owned()),
        ]
    }

    /// Properties of one connection. The client by itself would retry for two minutes in silence.
    pub(super) fn properties(&self, time: Duration) -> Vec<(&'static str, String)> {
        let nodes: Vec<String> = self.nodes.iter().map(|(host, port)| format!("{host}:{port}")).collect();
        let database = self.database.iter().map(|database| ("database", database.clone()));
        let properties = [
            ("notificationMember", nodes.join(",")),
            ("clusterName", self.cluster.clone()),
            ("user", self.user.clone()),
            ("password", self.password.expose().to_owned()),
            ("applicationName", "sensormark".to_owned()),
            ("failoverTimeoutMillis", "0".to_owned()),
            ("transactionTimeout", time.as_secs().clamp(1, 86_400).to_string()),
            ("containerCacheSize", "50000".to_owned()),
        ];
        properties.into_iter().chain(database).collect()
    }
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
        let properties = options.properties(Duration::from_secs(3));
        assert_eq!(properties[0], ("notificationMember", "a.example:10001,10.0.0.2:9001".to_owned()));
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
            let Err(error) = Options::parse(url) else { panic!("{url}") };
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(error.to_string().contains(EXAMPLE), "{error}");
        }
    }
}
