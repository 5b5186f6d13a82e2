//! The URL of a server, what is in it, and how a connection is made from it.
//!
//! `mariadb://user:password@host:port,host:port/?ssl-mode=…` (or `mysql://`), with the meanings that MariaDB's own clients give to their
//! options. Several hosts are the members of a Galera cluster. Two options are for these alone: `wsrep_sync_wait` sets it for each session, and `reads=replicas` has
//! questions answered by members that take no writes. Connections are TCP, unless `socket` names a file: the server then has no bytes on the wire. Nothing here shows a password.

use super::error::fault;
use crate::Fault;
use ::url::Url;
use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, SslOpts};
use sensormark_kit::url::{authority, without_further_hosts};
use sensormark_store::{ErrorKind, Secret, StoreError};
use std::fmt;
use std::path::PathBuf;

/// What a URL looks like. Messages show it.
pub(super) const URL_EXAMPLE: &str =
    "mariadb://user:password@host:3306/?ssl-mode=verify-identity&ssl-ca=/path/to/ca.pem";

/// How the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encryption {
    /// Never.
    Disabled,
    /// Where the server offers it, whoever the server is.
    Preferred,
    /// Always, whoever the server is.
    Required,
    /// Always, and a known authority must vouch for the server's certificate.
    VerifyCa,
    /// Always, and the certificate must also be for the server's name.
    VerifyIdentity,
}

/// What a URL says.
#[derive(Clone)]
pub(super) struct Options {
    /// Hosts and ports, in the order in which they are tried; several are members of a cluster.
    hosts: Vec<(String, u16)>,
    /// What `wsrep_sync_wait` is in each session, where the URL says so.
    pub(super) sync_wait: Option<u8>,
    /// Whether questions go to members that take no writes.
    pub(super) reads_replicas: bool,
    user: String,
    password: Secret,
    encryption: Encryption,
    authority: Option<PathBuf>,
    /// The file of a socket of this machine, in place of host and port.
    socket: Option<String>,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("hosts", &self.hosts.len())
            .field("encryption", &self.encryption)
            .finish_non_exhaustive()
    }
}

fn wrong(text: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Configuration,
        "read the URL of a MariaDB server",
        format!("{text}; a URL looks like {URL_EXAMPLE}"),
    )
}

impl Options {
    /// Reads a URL.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        let (text, further) = without_further_hosts(text, 3306).map_err(wrong)?;
        let url = Url::parse(&text).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "mariadb" | "mysql") {
            return Err(wrong("it does not start with mariadb:// or mysql://"));
        }
        let authority = authority(&url, 3306).map_err(wrong)?;
        if authority.user.is_empty() {
            return Err(wrong("it names no user"));
        }
        if !matches!(url.path(), "" | "/") {
            return Err(wrong("it names a database; sensormark makes databases of its own"));
        }
        let mut options = Self {
            hosts: std::iter::once(authority.host).chain(further).collect(),
            sync_wait: None,
            reads_replicas: false,
            user: authority.user,
            password: authority.password,
            encryption: Encryption::Preferred,
            authority: None,
            socket: None,
        };
        for (key, value) in url.query_pairs() {
            options.set(&key, &value)?;
        }
        let is_cluster = options.hosts() > 1;
        if !is_cluster && (options.reads_replicas || options.sync_wait.is_some()) {
            return Err(wrong(
                "reads and wsrep_sync_wait go with several hosts, the members of a Galera cluster",
            ));
        }
        if is_cluster && options.socket.is_some() {
            return Err(wrong("socket goes with one host"));
        }
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        match (key, value) {
            ("ssl-mode", "disabled") => self.encryption = Encryption::Disabled,
            ("ssl-mode", "preferred") => self.encryption = Encryption::Preferred,
            ("ssl-mode", "required") => self.encryption = Encryption::Required,
            ("ssl-mode", "verify-ca") => self.encryption = Encryption::VerifyCa,
            ("ssl-mode", "verify-identity") => self.encryption = Encryption::VerifyIdentity,
            ("ssl-ca", file) => self.authority = Some(PathBuf::from(file)),
            ("socket", file) if file.starts_with('/') => self.socket = Some(file.to_owned()),
            ("wsrep_sync_wait", bits) if bits.parse().is_ok_and(|bits: u8| bits <= 15) => {
                self.sync_wait = bits.parse().ok();
            }
            ("reads", "primary" | "replicas") => self.reads_replicas = value == "replicas",
            _ => {
                return Err(wrong(&format!(
                    "its option {key:?} is unknown or has a wrong value: ssl-mode is disabled, preferred, required, verify-ca or verify-identity, ssl-ca a file, \
                     socket the whole path of a socket, wsrep_sync_wait 0 to 15, reads primary or replicas"
                )));
            }
        }
        Ok(())
    }

    /// How many hosts there are.
    pub(super) const fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// The hosts as one word, without who gets in.
    pub(super) fn name(&self) -> String {
        let hosts = self.hosts.iter();
        let hosts: Vec<String> = hosts.map(|(host, port)| format!("{host}:{port}")).collect();
        hosts.join(",")
    }

    /// Ports of the hosts, in their order.
    pub(super) fn ports(&self) -> Vec<u16> {
        self.hosts.iter().map(|(_, port)| *port).collect()
    }

    /// Connects to one of the hosts, to a database or to none.
    pub(super) async fn connect(&self, host: usize, database: Option<&str>) -> Result<Conn, Fault> {
        // As MariaDB's own clients: what goes through a socket of this machine is encrypted only where that is asked for.
        let is_plain = match self.encryption {
            Encryption::Preferred => self.socket.is_some(),
            encryption => encryption == Encryption::Disabled,
        };
        let tls = (!is_plain).then(|| self.tls());
        let connected = match Conn::new(self.options(host, database, tls)).await {
            Err(Error::Driver(DriverError::NoClientSslFlagFromServer))
                if self.encryption == Encryption::Preferred =>
            {
                Conn::new(self.options(host, database, None)).await
            }
            other => other,
        };
        // Nothing was sent that could be in doubt.
        connected.map_err(|error| match fault("connect to MariaDB", error) {
            Fault::Known(error) => Fault::Known(error.with_doubt(false)),
            refused => refused,
        })
    }

    fn options(&self, host: usize, database: Option<&str>, tls: Option<SslOpts>) -> Opts {
        let (host, port) = &self.hosts[host % self.hosts.len()];
        OptsBuilder::default()
            .ip_or_hostname(host)
            .tcp_port(*port)
            .user(Some(&self.user))
            .pass(Some(self.password.expose()))
            .db_name(database)
            .ssl_opts(tls)
            .prefer_socket(false)
            .socket(self.socket.as_ref())
            .tcp_nodelay(true)
            .client_found_rows(true)
            .stmt_cache_size(0) // the link keeps its own
            .into()
    }

    fn tls(&self) -> SslOpts {
        // The driver takes the process's provider of cryptography. Where two are compiled, rustls chooses none by itself and panics.
        let _taken = rustls::crypto::ring::default_provider().install_default();
        let authorities = self.authority.iter();
        let options =
            SslOpts::default().with_root_certs(authorities.map(|path| path.clone().into()).collect());
        match self.encryption {
            Encryption::Disabled | Encryption::Preferred | Encryption::Required => {
                options.with_danger_accept_invalid_certs(true).with_danger_skip_domain_validation(true)
            }
            Encryption::VerifyCa => options.with_danger_skip_domain_validation(true),
            Encryption::VerifyIdentity => options,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_where_and_how() {
        let options = Options::parse("mysql://me:p%40ss@db.example:3307/?ssl-mode=required").unwrap();
        assert_eq!(options.hosts, [("db.example".to_owned(), 3307)]);
        assert_eq!(options.password.expose(), "p@ss");
        assert_eq!(options.encryption, Encryption::Required);
        assert!(!format!("{options:?}").contains("p@ss"));
        let plain = Options::parse("mariadb://me@[::1]").unwrap();
        assert_eq!(plain.hosts, [("::1".to_owned(), 3306)]);
        assert_eq!(plain.encryption, Encryption::Preferred);
        let local = Options::parse("mysql://me@localhost/?socket=%2Frun/my.sock").unwrap();
        assert_eq!(local.options(0, None, None).socket(), Some("/run/my.sock"));
        let cluster = "mariadb://me@one,two:3307/?wsrep_sync_wait=1&reads=replicas";
        let cluster = Options::parse(cluster).unwrap();
        assert_eq!(cluster.name(), "one:3306,two:3307");
        assert_eq!(cluster.sync_wait, Some(1));
        assert!(cluster.reads_replicas);
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "postgresql://u:hunter2@h/",
            "mariadb://h:1/",
            "mariadb://u:hunter2@h/prod",
            "mariadb://u:hunter2@h/?ssl-mode=on",
            "mariadb://u:hunter2@h/?sslmode=required",
            "mariadb://u:hunter2%4@h/",
            "nonsense",
            "mariadb://u:hunter2@h/?wsrep_sync_wait=1",
            "mariadb://u:hunter2@h,i/?wsrep_sync_wait=16",
            "mariadb://u:hunter2@h,i/?reads=others",
            "mariadb://u:hunter2@h,i:x/",
            "mariadb://u:hunter2@h/?socket=my.sock",
            "mariadb://u:hunter2@h,i/?socket=/run/my.sock",
        ] {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(error.to_string().contains(URL_EXAMPLE), "{error}");
        }
    }
}
