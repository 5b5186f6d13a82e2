//! The URL of a deployment, and the crate's options that a client gets from it.
//!
//! `mongodb://user:password@host:port,…/?options`. Options mean what they mean to MongoDB's own clients. They say where the servers are, who asks, how it is
//! encrypted, and what a replica set promises. Pool, compression and retries are sensormark's, so that all clients are alike: one connection to a member, nothing
//! compressed, nothing sent twice.

use super::error::fault;
use crate::Fault;
use mongodb::Client;
use mongodb::bson::{Document, doc};
use mongodb::options::{
    Acknowledgment, ClientOptions, ConnectionString, Credential, HostInfo, ReadConcernLevel, ReadPreference,
    ServerAddress, ServerMonitoringMode, Tls,
};
use sensormark_store::{ErrorKind, StoreError};
use std::net::Ipv4Addr;
use std::time::Duration;

const DEFAULT_PORT: u16 = 27_017;
/// How often a server that is known by its address alone is asked for its state when nothing is amiss.
const RARELY: Duration = Duration::from_secs(3600);

/// What a URL says.
#[derive(Clone)]
pub struct Options {
    connection: ConnectionString,
    /// Members that must have a write before it is acknowledged.
    pub(super) acknowledgment: Acknowledgment,
    /// What a question sees; the server's default where the URL does not say it.
    pub(super) level: Option<&'static str>,
}

fn wrong(text: &str) -> StoreError {
    let text =
        format!("{text}; a URL looks like mongodb://user:password@host:27017/?authSource=admin&tls=true");
    StoreError::new(ErrorKind::Configuration, "read the URL of a MongoDB server", text)
}

impl Options {
    /// Reads a URL.
    ///
    /// # Errors
    /// What is wrong with it, without its password.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        if !text.starts_with("mongodb://") && !text.starts_with("mongodb+srv://") {
            return Err(wrong("it does not start with mongodb://"));
        }
        // The crate cuts there without a look at where a character ends.
        let is_encoded = |part: &str| {
            let digits = part.as_bytes().get(..2);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        if !text.split('%').skip(1).all(is_encoded) {
            return Err(wrong("a % in it has no two hexadecimal digits behind it: write %25 for a %"));
        }
        let connection = ConnectionString::parse(text).map_err(|error| {
            let words = error.to_string();
            let password = text.split_once('@').and_then(|(before, _)| before.rsplit_once(':'));
            let shows = password.is_some_and(|(_, secret)| !secret.is_empty() && words.contains(secret));
            wrong(if shows { "it cannot be understood" } else { &words })
        })?;
        let concern = connection.write_concern.as_ref().and_then(|concern| concern.w.clone());
        let acknowledgment = concern.unwrap_or(Acknowledgment::Nodes(1));
        if acknowledgment == Acknowledgment::Nodes(0) {
            return Err(wrong("w=0 acknowledges nothing, and what is not acknowledged is not measured"));
        }
        let level = match connection.read_concern.as_ref().map(|concern| &concern.level) {
            None => None,
            Some(ReadConcernLevel::Local) => Some("local"),
            Some(ReadConcernLevel::Majority) => Some("majority"),
            Some(ReadConcernLevel::Linearizable) => Some("linearizable"),
            Some(_) => return Err(wrong("readConcernLevel is none of local, majority and linearizable")),
        };
        if !matches!(connection.read_preference, None | Some(ReadPreference::Primary)) {
            return Err(wrong("reads go to the primary: leave readPreference out, or say primary"));
        }
        Ok(Self { connection, acknowledgment, level })
    }

    fn hosts(&self) -> &[ServerAddress] {
        if let HostInfo::HostIdentifiers(hosts) = &self.connection.host_info { hosts } else { &[] }
    }

    /// The ports of all hosts.
    pub(super) fn ports(&self) -> Vec<u16> {
        let port = |host: &ServerAddress| match host {
            ServerAddress::Tcp { port, .. } => Some(port.unwrap_or(DEFAULT_PORT)),
            _ => None,
        };
        match self.hosts() {
            [] => vec![DEFAULT_PORT],
            hosts => hosts.iter().filter_map(port).collect(),
        }
    }

    /// Whether it names one host, which is spoken to without TLS: so does a server of our own.
    pub(super) fn is_alone(&self) -> bool {
        self.hosts().len() == 1 && matches!(self.connection.tls, None | Some(Tls::Disabled))
    }

    /// User and password.
    pub(super) fn credential(&self) -> Option<&Credential> {
        self.connection.credential.as_ref()
    }

    /// The replica set's name, where the URL has one, and its first host.
    pub(super) fn replica_set(&self) -> Option<(&str, String)> {
        Some((self.connection.replica_set.as_deref()?, self.hosts().first()?.to_string()))
    }

    /// The write concern, with what the durability class says of the journal.
    pub(super) fn write_concern(&self, journal: Option<bool>) -> Document {
        let mut concern = match &self.acknowledgment {
            Acknowledgment::Majority => doc! { "w": "majority" },
            Acknowledgment::Custom(name) => doc! { "w": name },
            Acknowledgment::Nodes(members) => doc! { "w": i32::try_from(*members).unwrap_or(i32::MAX) },
            _ => doc! { "w": 1 },
        };
        if let Some(journal) = journal {
            concern.insert("j", journal);
        }
        concern
    }

    /// A client with at most one connection for commands, besides one on which the crate watches the server.
    pub(super) async fn client(&self, timeout: Duration) -> Result<Client, Fault> {
        build(self.client_options(timeout).await?)
    }

    /// The same without user and password, straight to the first host over loopback: for setting up a server of our own.
    pub(super) async fn anonymous_client(&self, timeout: Duration) -> Result<Client, Fault> {
        let mut options = self.client_options(timeout).await?;
        (options.credential, options.repl_set_name) = (None, None);
        options.hosts.truncate(1);
        if let Some(ServerAddress::Tcp { host, .. }) = options.hosts.first_mut()
            && host.parse::<Ipv4Addr>().is_ok_and(|host| !host.is_loopback())
        {
            *host = Ipv4Addr::LOCALHOST.to_string();
        }
        options.direct_connection = Some(true);
        build(options)
    }

    async fn client_options(&self, timeout: Duration) -> Result<ClientOptions, Fault> {
        let parsed = ClientOptions::parse(self.connection.clone()).await;
        let mut options = parsed.map_err(|error| fault("look up the MongoDB deployment", error))?;
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

fn build(options: ClientOptions) -> Result<Client, Fault> {
    Client::with_options(options).map_err(|error| {
        let text = format!("{error}; correct the URL's options");
        StoreError::new(ErrorKind::Configuration, "prepare a MongoDB client", text).with_source(error).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_and_where() {
        let url = "mongodb://me:p%40ss@one.example:6432,two.example/?replicaSet=sm&w=majority&readConcernLevel=majority";
        let options = Options::parse(url).unwrap();
        assert_eq!(options.ports(), [6432, 27_017]);
        assert_eq!(options.replica_set(), Some(("sm", "one.example:6432".to_owned())));
        assert_eq!(options.level, Some("majority"));
        assert_eq!(options.write_concern(Some(true)), doc! { "w": "majority", "j": true });
        let plain = Options::parse("mongodb://host/").unwrap();
        assert_eq!((plain.write_concern(None), plain.level), (doc! { "w": 1 }, None));
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
            "mongodb://me:s3cret@host/?w=0",
            "mongodb://me:s3cret@host/?readConcernLevel=available",
            "mongodb://me:s3cret@host/?readPreference=secondary",
        ] {
            let error = Options::parse(url).err().expect(url);
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!format!("{error} {error:?}").contains("s3c"), "{error}");
        }
    }
}
