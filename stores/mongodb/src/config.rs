//! The URL of a deployment, and the driver's options that a client gets from it.
//!
//! `mongodb://user:password@host:port,…/?options`. The options mean what they mean to MongoDB's own clients. They say where the
//! servers are, who asks, how it is encrypted, and what a replica set promises. Pool, compression and retries are
//! sensormark's, so that all clients are alike: one connection to a member, nothing compressed, nothing sent twice.

use crate::consistency::{Consistency, LatestWrite};
use crate::error::store_error;
use mongodb::Client;
use mongodb::options::{
    ClientOptions, ConnectionString, Credential, HostInfo, ServerAddress, ServerMonitoringMode, Tls,
};
use sensormark_kit::url::existing_server;
use sensormark_store::{Endpoint, ErrorKind, StoreError};
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

/// What a URL looks like. Messages show it.
pub(crate) const URL_EXAMPLE: &str = "mongodb://user:password@host:27017/?authSource=admin&tls=true";

const DEFAULT_PORT: u16 = 27_017;
/// How often a server that is known by its address alone is asked for its state when nothing is amiss.
const RARELY: Duration = Duration::from_secs(3600);

/// What a URL says.
#[derive(Clone)]
pub(crate) struct Options {
    connection: ConnectionString,
    ports: Vec<u16>,
    consistency: Consistency,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Options").field("ports", &self.ports).finish_non_exhaustive()
    }
}

fn wrong(text: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Configuration,
        "read the URL of a MongoDB server",
        format!("{text}; a URL looks like {URL_EXAMPLE}"),
    )
}

impl Options {
    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        if !text.starts_with("mongodb://") && !text.starts_with("mongodb+srv://") {
            return Err(wrong("it does not start with mongodb://"));
        }
        // The driver cuts there without a look at where a character ends.
        let is_encoded = |part: &str| {
            let digits = part.as_bytes().get(..2);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        if !text.split('%').skip(1).all(is_encoded) {
            return Err(wrong("a % in it has no two hexadecimal digits behind it: write %25 for a %"));
        }
        let connection = ConnectionString::parse(text).map_err(|error| {
            let words = error.to_string();
            let shows_a_secret = text
                .split_once('@')
                .and_then(|(before, _)| before.rsplit_once(':'))
                .is_some_and(|(_, password)| !password.is_empty() && words.contains(password));
            if shows_a_secret { wrong("it cannot be understood") } else { wrong(&words) }
        })?;
        let ports = match &connection.host_info {
            HostInfo::HostIdentifiers(hosts) => hosts.iter().filter_map(host_port).collect(),
            _ => vec![DEFAULT_PORT],
        };
        let consistency = Consistency::of(&connection).map_err(wrong)?;
        if consistency.asked().is_some() {
            return Err(wrong("reads go to the primary: leave readPreference out, or say primary"));
        }
        Ok(Self { connection, ports, consistency })
    }

    /// What its clients ask of the members of a replica set.
    pub(crate) const fn consistency(&self) -> &Consistency {
        &self.consistency
    }

    /// The same, with the latest write known to other clients of this deployment.
    pub(crate) fn sharing(mut self, latest: Arc<LatestWrite>) -> Self {
        self.consistency = self.consistency.sharing(latest);
        self
    }

    /// Whether it names one server and asks that one alone, whatever it is a member of.
    pub(crate) fn is_direct(&self) -> bool {
        self.connection.direct_connection == Some(true)
    }

    /// Where the servers are, in words without a secret.
    pub(crate) fn hosts(&self) -> String {
        match &self.connection.host_info {
            HostInfo::HostIdentifiers(hosts) => {
                let names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
                names.join(",")
            }
            HostInfo::DnsRecord(name) => name.clone(),
            _ => String::new(),
        }
    }

    /// The endpoint of an existing deployment with this URL.
    pub(crate) fn endpoint(&self, url: &str) -> Endpoint {
        existing_server("mongodb", url, self.ports.clone())
    }

    /// A client with at most one connection for commands, besides one on which the driver watches the server.
    pub(crate) async fn client(&self, timeout: Duration) -> Result<Client, StoreError> {
        let options = self.client_options(timeout).await?;
        build(options)
    }

    /// The same without user and password, straight to the first host: for setting up a server of our own.
    pub(crate) async fn anonymous_client(&self, timeout: Duration) -> Result<Client, StoreError> {
        let mut options = self.client_options(timeout).await?;
        options.credential = None;
        options.repl_set_name = None;
        options.hosts.truncate(1);
        options.hosts.iter_mut().for_each(by_loopback);
        options.direct_connection = Some(true);
        build(options)
    }

    /// Name and port of the host, where there is one alone and it is spoken to without TLS.
    pub(crate) fn sole_host(&self) -> Option<(String, u16)> {
        let plain = matches!(self.connection.tls, None | Some(Tls::Disabled));
        match &self.connection.host_info {
            HostInfo::HostIdentifiers(hosts) if plain => match hosts.as_slice() {
                [ServerAddress::Tcp { host, port }] => Some((host.clone(), port.unwrap_or(DEFAULT_PORT))),
                _ => None,
            },
            _ => None,
        }
    }

    /// User and password.
    pub(crate) fn credential(&self) -> Option<&Credential> {
        self.connection.credential.as_ref()
    }

    /// The replica set's name, where the URL has one, and its first host.
    pub(crate) fn replica_set(&self) -> Option<(&str, String)> {
        let name = self.connection.replica_set.as_deref()?;
        match &self.connection.host_info {
            HostInfo::HostIdentifiers(hosts) => Some((name, hosts.first()?.to_string())),
            _ => None,
        }
    }

    async fn client_options(&self, timeout: Duration) -> Result<ClientOptions, StoreError> {
        let mut options = ClientOptions::parse(self.connection.clone())
            .await
            .map_err(|error| store_error("look up the MongoDB deployment", error))?;
        options.app_name = Some("sensormark".to_owned());
        options.connect_timeout = Some(timeout);
        options.server_selection_timeout = Some(timeout);
        options.max_pool_size = Some(1);
        options.min_pool_size = Some(0);
        options.max_connecting = Some(1);
        options.max_idle_time = None;
        options.retry_reads = Some(false);
        options.retry_writes = Some(false);
        options.max_adaptive_retries = Some(0);
        options.write_concern = None;
        options.read_concern = None;
        options.selection_criteria = None;
        options.server_monitoring_mode = Some(ServerMonitoringMode::Poll);
        let alone = options.hosts.len() == 1 && options.repl_set_name.is_none();
        if alone && options.direct_connection.is_none() && options.load_balanced != Some(true) {
            options.direct_connection = Some(true);
        }
        if options.direct_connection == Some(true) {
            options.heartbeat_freq = Some(RARELY);
        }
        Ok(options)
    }
}

fn build(options: ClientOptions) -> Result<Client, StoreError> {
    Client::with_options(options).map_err(|error| {
        StoreError::new(
            ErrorKind::Configuration,
            "prepare a MongoDB client",
            format!("{error}; correct the URL's options"),
        )
        .with_source(error)
    })
}

fn host_port(address: &ServerAddress) -> Option<u16> {
    match address {
        ServerAddress::Tcp { port, .. } => Some(port.unwrap_or(DEFAULT_PORT)),
        _ => None,
    }
}

/// The way to a server of our own that makes it one of this host's clients: its first user is made over loopback, whatever its address is.
fn by_loopback(server: &mut ServerAddress) {
    if let ServerAddress::Tcp { host, .. } = server
        && host.parse::<Ipv4Addr>().is_ok_and(|host| !host.is_loopback())
    {
        *host = Ipv4Addr::LOCALHOST.to_string();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_and_where() {
        let options =
            Options::parse("mongodb://me:p%40ss@one.example:6432,two.example/?replicaSet=sm").unwrap();
        assert_eq!(options.ports, [6432, 27_017]);
        assert_eq!(options.replica_set(), Some(("sm", "one.example:6432".to_owned())));
        let endpoint = options.endpoint("mongodb://me:p%40ss@one.example:6432/");
        assert!(!format!("{endpoint:?} {options:?}").contains("p%40ss"));
    }

    #[test]
    fn nonsense_is_refused_and_secrets_do_not_show() {
        for url in [
            "",
            "nonsense",
            "mongodb://user:passwo%r💥d@host/",
            "http://127.0.0.1/",
            "mongodb://",
            "mongodb://me:s3cret@/",
            "mongodb://me:s3cret@host:port/",
            "mongodb://me:s3cret@host/?nonsense",
            "mongodb://me:s3c/ret@host/",
        ] {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!format!("{error} {error:?}").contains("s3c"), "{error}");
        }
    }
}
