//! A server's URL as PostgreSQL's own clients read it, and how a connection is made from it.
//!
//! Two options are sensormark's: `synchronous_commit` sets it for each session, and `reads=replicas` has questions answered by servers that take no
//! writes. Nothing here shows a password.

use super::error::fault;
use super::pump::Duplex;
use crate::Fault;
use rustls::ClientConfig;
use rustls::DigitallySignedStruct;
use rustls::SignatureScheme;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use sensormark_kit::tls;
use sensormark_kit::url::percent_decoded;
use sensormark_store::{ErrorKind, StoreError};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::config::{LoadBalanceHosts, SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// What a URL looks like. Messages show it.
pub(super) const EXAMPLE: &str = "postgresql://user:password@host:5432/postgres?sslmode=verify-full";

/// What `synchronous_commit` may be.
const COMMIT_LEVELS: [&str; 5] = ["off", "local", "remote_write", "on", "remote_apply"];

/// What a URL says.
#[derive(Clone)]
pub struct Options {
    config: Config,
    /// Whether the server's certificate must be for its name, by a public authority or the one that the URL names.
    verified: bool,
    authorities: Option<PathBuf>,
    /// What `synchronous_commit` is in each session, where the URL says so.
    pub synchronous_commit: Option<&'static str>,
    /// Whether questions go to servers that take no writes.
    pub reads_replicas: bool,
}

fn wrong(text: &str) -> StoreError {
    let text = format!("{text}; a URL looks like {EXAMPLE}");
    StoreError::new(ErrorKind::Configuration, "read the URL of a PostgreSQL server", text)
}

impl Options {
    /// Reads a URL.
    ///
    /// # Errors
    /// What is wrong with it, without its password.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        if !text.starts_with("postgresql://") && !text.starts_with("postgres://") {
            return Err(wrong("it does not start with postgresql://"));
        }
        percent_decoded(text).map_err(wrong)?;
        let (server, query) = text.split_once('?').unwrap_or((text, ""));
        let config: Config = server.parse().map_err(|_| wrong("its user, hosts or ports cannot be read"))?;
        if config.get_user().unwrap_or_default().is_empty() {
            return Err(wrong("it names no user"));
        }
        let is_named = |host: &tokio_postgres::config::Host| match host {
            tokio_postgres::config::Host::Tcp(name) => !name.is_empty(),
            tokio_postgres::config::Host::Unix(_) => true,
        };
        if config.get_hosts().is_empty() || !config.get_hosts().iter().all(is_named) {
            return Err(wrong("one of its hosts has no name"));
        }
        let mut options = Self {
            config,
            verified: false,
            authorities: None,
            synchronous_commit: None,
            reads_replicas: false,
        };
        options.config.application_name("sensormark").target_session_attrs(TargetSessionAttrs::ReadWrite);
        for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
            options.set(&key, &value)?;
        }
        if options.authorities.is_some() && !options.verified {
            return Err(wrong("sslrootcert goes with sslmode=verify-full"));
        }
        if let Some(level) = options.synchronous_commit {
            // The store's file reads it.
            options.config.options(format!("-c sensormark.synchronous_commit={level}"));
        }
        if options.config.get_hosts().len() == 1 {
            options.config.target_session_attrs(TargetSessionAttrs::Any);
        }
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        match (key, value) {
            ("sslmode", "disable") => self.encrypt(SslMode::Disable, false),
            ("sslmode", "prefer") => self.encrypt(SslMode::Prefer, false),
            ("sslmode", "require") => self.encrypt(SslMode::Require, false),
            ("sslmode", "verify-full") => self.encrypt(SslMode::Require, true),
            ("sslrootcert", file) => self.authorities = Some(PathBuf::from(file)),
            ("target_session_attrs", "any") => {
                self.config.target_session_attrs(TargetSessionAttrs::Any);
            }
            ("target_session_attrs", "read-write" | "primary") | ("reads", "primary") => {}
            ("reads", "replicas") => self.reads_replicas = true,
            ("synchronous_commit", level) if COMMIT_LEVELS.contains(&level) => {
                self.synchronous_commit = COMMIT_LEVELS.into_iter().find(|known| *known == level);
            }
            _ => {
                return Err(wrong(&format!(
                    "{key}={value} is none of its options: sslmode is disable, prefer, require or verify-full, sslrootcert a file, \
                     target_session_attrs any, read-write or primary, reads primary or replicas, synchronous_commit {}",
                    COMMIT_LEVELS.join(", ")
                )));
            }
        }
        Ok(())
    }

    fn encrypt(&mut self, mode: SslMode, verified: bool) {
        self.config.ssl_mode(mode);
        self.verified = verified;
    }

    /// Ports of the hosts, in their order.
    pub fn ports(&self) -> Vec<u16> {
        self.config.get_ports().to_vec()
    }

    /// The database that is connected to for making and dropping others, where the URL names one.
    pub fn database(&self) -> Option<&str> {
        self.config.get_dbname()
    }

    /// Connects to one of the server's databases: to the first host that takes writes, or to any that takes none.
    pub(super) async fn connect(
        &self,
        database: &str,
        timeout: Duration,
        to_replica: bool,
    ) -> Result<(Client, Box<dyn Duplex>), Fault> {
        let mut config = self.config.clone();
        config.dbname(database).connect_timeout(timeout);
        if to_replica {
            config.target_session_attrs(TargetSessionAttrs::ReadOnly);
            config.load_balance_hosts(LoadBalanceHosts::Random);
        }
        let failed = |error| fault("connect to PostgreSQL", error);
        if config.get_ssl_mode() == SslMode::Disable {
            let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
            return Ok((client, Box::new(connection)));
        }
        let (client, connection) =
            config.connect(MakeRustlsConnect::new(self.tls()?)).await.map_err(failed)?;
        Ok((client, Box::new(connection)))
    }

    fn tls(&self) -> Result<ClientConfig, StoreError> {
        let verifier = tls::verifier(self.authorities.as_deref(), "sslrootcert");
        let configuration = verifier.and_then(|verifier| {
            let unverified = !self.verified;
            tls::configuration(if unverified { Arc::new(AnyCertificate(verifier)) } else { verifier })
        });
        configuration
            .map_err(|text| StoreError::new(ErrorKind::Configuration, "prepare TLS for PostgreSQL", text))
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
    fn a_url_may_name_several_hosts() {
        let url = "postgresql://me:a,b%40@one:1,[::1]:2,three/admin?target_session_attrs=read-write&synchronous_commit=remote_apply&reads=replicas&sslmode=require";
        let options = Options::parse(url).unwrap();
        assert_eq!(options.ports(), [1, 2, 5432]);
        assert_eq!(options.synchronous_commit, Some("remote_apply"));
        assert!(options.reads_replicas && !options.verified);
        assert_eq!(options.config.get_password(), Some(&b"a,b@"[..]));
        assert_eq!(options.database(), Some("admin"));
        assert_eq!(options.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!(options.config.get_ssl_mode(), SslMode::Require);
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
            let error = Options::parse(url).err().expect(url);
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(error.to_string().contains(EXAMPLE), "{error}");
        }
    }
}
