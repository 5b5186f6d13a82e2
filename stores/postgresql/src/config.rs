//! The URL of a server, what is in it, and how a connection is made from it.
//!
//! `postgresql://user:password@host:port,host:port/maintenance_database?sslmode=…&target_session_attrs=…`, with the meanings that PostgreSQL's own
//! clients give to `sslmode`, `sslrootcert` and `target_session_attrs`. Two options are sensormark's: `synchronous_commit` sets it for each session, and `reads=replicas`
//! has questions answered by servers that take no writes. Nothing here shows a password.

use crate::driver::Driver;
use crate::error::store_error;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use sensormark_kit::tls;
use sensormark_kit::url::{authority, existing_server, percent_decoded, without_further_hosts};
use sensormark_store::{Endpoint, ErrorKind, Secret, StoreError};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::config::{LoadBalanceHosts, SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;
use url::Url;

/// What a URL looks like. Messages show it.
pub(crate) const URL_EXAMPLE: &str = "postgresql://user:password@host:5432/postgres?sslmode=verify-full";

/// How the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encryption {
    /// Never.
    Disable,
    /// Where the server offers it, whoever the server is.
    Prefer,
    /// Always, whoever the server is.
    Require,
    /// Always, and the server's certificate must be for its name, by a public authority or the one that the URL names.
    VerifyFull,
}

/// What a URL says.
#[derive(Clone)]
pub(crate) struct Options {
    /// Hosts and ports, in the order in which they are tried.
    hosts: Vec<(String, u16)>,
    /// Whether any of them will do, even one that takes no writes.
    any_server: bool,
    /// What `synchronous_commit` is in each session, where the URL says so.
    pub(crate) synchronous_commit: Option<&'static str>,
    /// Whether questions go to servers that take no writes.
    pub(crate) reads_replicas: bool,
    user: String,
    password: Secret,
    /// The database that is connected to for making and dropping others.
    pub(crate) maintenance_database: String,
    /// Whether the URL named it, rather than leaving it to us.
    pub(crate) is_named: bool,
    encryption: Encryption,
    /// The file of the authorities that certificates must be of, instead of the public ones.
    authorities: Option<PathBuf>,
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
        "read the URL of a PostgreSQL server",
        format!("{text}; a URL looks like {URL_EXAMPLE}"),
    )
}

/// What a URL has after its question mark.
struct Wishes {
    encryption: Encryption,
    authorities: Option<PathBuf>,
    any_server: bool,
    reads_replicas: bool,
    synchronous_commit: Option<&'static str>,
}

impl Wishes {
    fn read(url: &Url) -> Result<Self, StoreError> {
        let (mut encryption, mut authorities) = (Encryption::Prefer, None);
        let (mut any_server, mut reads_replicas, mut synchronous_commit) = (false, false, None);
        for (key, value) in url.query_pairs() {
            match (key.as_ref(), value.as_ref()) {
                ("sslmode", mode) => encryption = Encryption::parse(mode)?,
                ("sslrootcert", file) => authorities = Some(PathBuf::from(file)),
                ("target_session_attrs", "any") => any_server = true,
                ("target_session_attrs", "read-write" | "primary") => any_server = false,
                ("reads", "primary") => reads_replicas = false,
                ("reads", "replicas") => reads_replicas = true,
                ("synchronous_commit", level) => {
                    let known = COMMIT_LEVELS.into_iter().find(|known| *known == level);
                    synchronous_commit = Some(known.ok_or_else(|| {
                        wrong(&format!(
                            "synchronous_commit is one of {}, not {level:?}",
                            COMMIT_LEVELS.join(", ")
                        ))
                    })?);
                }
                (key @ ("target_session_attrs" | "reads"), value) => {
                    return Err(wrong(&format!(
                        "{key} is not {value:?}: target_session_attrs is any, read-write or primary, and reads is primary or replicas"
                    )));
                }
                (other, _) => {
                    return Err(wrong(&format!(
                        "{other:?} is not an option that it may have: there are sslmode, sslrootcert, target_session_attrs, synchronous_commit and reads"
                    )));
                }
            }
        }
        if authorities.is_some() && encryption != Encryption::VerifyFull {
            return Err(wrong("sslrootcert goes with sslmode=verify-full"));
        }
        Ok(Self { encryption, authorities, any_server, reads_replicas, synchronous_commit })
    }
}

impl Options {
    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let (text, further) = without_further_hosts(text, 5432).map_err(wrong)?;
        let url = Url::parse(&text).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "postgresql" | "postgres") {
            return Err(wrong("it does not start with postgresql://"));
        }
        let authority = authority(&url, 5432).map_err(wrong)?;
        if authority.user.is_empty() {
            return Err(wrong("it names no user"));
        }
        let wishes = Wishes::read(&url)?;
        let database = percent_decoded(url.path().trim_start_matches('/')).map_err(wrong)?;
        Ok(Self {
            hosts: std::iter::once(authority.host).chain(further).collect(),
            any_server: wishes.any_server,
            synchronous_commit: wishes.synchronous_commit,
            reads_replicas: wishes.reads_replicas,
            user: authority.user,
            password: authority.password,
            is_named: !database.is_empty(),
            maintenance_database: if database.is_empty() { "postgres".to_owned() } else { database },
            encryption: wishes.encryption,
            authorities: wishes.authorities,
        })
    }

    /// The endpoint of an existing server with this URL.
    pub(crate) fn endpoint(&self, url: &str) -> Endpoint {
        let ports = self.hosts.iter().map(|(_, port)| *port);
        existing_server("postgresql", url, ports.collect())
    }

    /// The same, but for questions only: to any of the servers that take no writes.
    pub(crate) async fn connect_to_replica(
        &self,
        database: &str,
        timeout: Duration,
    ) -> Result<(Client, Box<dyn Driver>), StoreError> {
        self.connect_as(database, timeout, TargetSessionAttrs::ReadOnly).await
    }

    /// Connects to one of the server's databases; of several hosts to the first that takes writes.
    pub(crate) async fn connect(
        &self,
        database: &str,
        timeout: Duration,
    ) -> Result<(Client, Box<dyn Driver>), StoreError> {
        let wanted = if self.any_server || self.hosts.len() == 1 {
            TargetSessionAttrs::Any
        } else {
            TargetSessionAttrs::ReadWrite
        };
        self.connect_as(database, timeout, wanted).await
    }

    async fn connect_as(
        &self,
        database: &str,
        timeout: Duration,
        wanted: TargetSessionAttrs,
    ) -> Result<(Client, Box<dyn Driver>), StoreError> {
        let mut config = Config::new();
        for (host, port) in &self.hosts {
            config.host(host).port(*port);
        }
        if wanted == TargetSessionAttrs::ReadOnly {
            config.load_balance_hosts(LoadBalanceHosts::Random);
        }
        config
            .target_session_attrs(wanted)
            .user(&self.user)
            .dbname(database)
            .application_name("sensormark")
            .connect_timeout(timeout)
            .ssl_mode(self.encryption.of_the_driver());
        if !self.password.expose().is_empty() {
            config.password(self.password.expose());
        }
        let failed = |error| store_error("connect to PostgreSQL", error);
        if self.encryption == Encryption::Disable {
            let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
            return Ok((client, Box::new(connection)));
        }
        let tls = MakeRustlsConnect::new(self.tls_config()?);
        let (client, connection) = config.connect(tls).await.map_err(failed)?;
        Ok((client, Box::new(connection)))
    }
}

/// What `synchronous_commit` may be.
const COMMIT_LEVELS: [&str; 5] = ["off", "local", "remote_write", "on", "remote_apply"];

impl Encryption {
    fn parse(mode: &str) -> Result<Self, StoreError> {
        Ok(match mode {
            "disable" => Self::Disable,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-full" => Self::VerifyFull,
            other => {
                return Err(wrong(&format!(
                    "sslmode {other:?} is none of disable, prefer, require, verify-full"
                )));
            }
        })
    }

    const fn of_the_driver(self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyFull => SslMode::Require,
        }
    }
}

fn unprepared(text: String) -> StoreError {
    StoreError::new(ErrorKind::Configuration, "prepare TLS for PostgreSQL", text)
}

impl Options {
    fn tls_config(&self) -> Result<ClientConfig, StoreError> {
        let file = self.authorities.as_deref();
        let verifier = tls::verifier(file, "sslrootcert").map_err(unprepared)?;
        let verifier: Arc<dyn ServerCertVerifier> = match self.encryption {
            Encryption::VerifyFull => verifier,
            _ => Arc::new(AnyCertificate(verifier)),
        };
        tls::configuration(verifier).map_err(unprepared)
    }
}

/// Takes any certificate, as `sslmode=prefer` and `require` do in PostgreSQL's own clients; signatures are checked.
#[derive(Debug)]
struct AnyCertificate(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_where_and_how() {
        let options = Options::parse("postgresql://me:p%40ss@db.example:6432/admin?sslmode=require").unwrap();
        assert_eq!(options.hosts, [("db.example".to_owned(), 6432)]);
        assert_eq!(options.password.expose(), "p@ss");
        assert_eq!(options.maintenance_database, "admin");
        assert_eq!(options.encryption, Encryption::Require);
        assert!(!format!("{options:?}").contains("p@ss"));
    }

    #[test]
    fn a_url_may_name_several_hosts() {
        let url = "postgresql://me:a,b@one:1,[::1]:2,three/?target_session_attrs=read-write&synchronous_commit=remote_apply&reads=replicas";
        let options = Options::parse(url).unwrap();
        let hosts = [("one", 1), ("::1", 2), ("three", 5432)];
        assert_eq!(options.hosts, hosts.map(|(host, port)| (host.to_owned(), port)));
        assert_eq!(options.synchronous_commit, Some("remote_apply"));
        assert!(options.reads_replicas && !options.any_server);
        assert_eq!(options.password.expose(), "a,b");
        assert_eq!(options.endpoint(url).ports, [1, 2, 5432]);
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "mysql://u:hunter2@h/",
            "postgresql://h:1/",
            "postgresql://u:hunter2@h/?sslmode=on",
            "postgresql://u:hunter2@h/?sslmod=require",
            "postgresql://u:hunter2@h/?sslmode=require&sslrootcert=/ca.pem",
            "postgresql://u:hunter2%4@h/",
            "postgresql://u:hunter2@h:1,:2/",
            "postgresql://u:hunter2@h:1,i:x/",
            "postgresql://u:hunter2@h/?synchronous_commit=maybe",
            "postgresql://u:hunter2@h/?reads=any",
            "nonsense",
        ] {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(error.to_string().contains(URL_EXAMPLE), "{error}");
        }
    }
}
