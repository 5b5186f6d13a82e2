//! A server's URL as PostgreSQL's own clients read it, and how a connection is made from it.
//!
//! Two options are sensormark's: `synchronous_commit` sets it for each session, and `reads=replicas` has questions answered by servers that take no
//! writes. Nothing here shows a password.

use super::error::fault;
use super::pump::Duplex;
use crate::Fault;
use rustls::ClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use sensormark_kit::tls;
use sensormark_kit::url::percent_decoded;
use sensormark_store::{ErrorKind, StoreError};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::config::{Host, LoadBalanceHosts, SslMode, TargetSessionAttrs};
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
    trust: Trust,
    authorities: Option<PathBuf>,
    /// What `synchronous_commit` is in each session, where the URL says so.
    pub synchronous_commit: Option<&'static str>,
    /// Whether questions go to servers that take no writes.
    pub reads_replicas: bool,
    /// What messages call the server.
    pub title: &'static str,
}

/// What the server's certificate has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Any, as `sslmode=prefer` and `require` take it in PostgreSQL's own clients.
    Any,
    /// By a public authority, or by one of the file that the URL names.
    Authority,
    /// Also for the host's name.
    Name,
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
        let mut options = Self::plain(config, "PostgreSQL");
        options.config.application_name("sensormark").target_session_attrs(TargetSessionAttrs::ReadWrite);
        for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
            options.set(&key, &value)?;
        }
        let is_named = |host: &Host| !matches!(host, Host::Tcp(name) if name.is_empty());
        if options.config.get_hosts().is_empty() || !options.config.get_hosts().iter().all(is_named) {
            return Err(wrong("one of its hosts has no name; a socket is host=/FOLDER"));
        }
        if options.authorities.is_some() && options.trust == Trust::Any {
            return Err(wrong("sslrootcert goes with sslmode=verify-ca and verify-full"));
        }
        if options.config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_))) {
            // As PostgreSQL's own clients: what goes through a socket of this machine is not encrypted.
            options.config.ssl_mode(SslMode::Disable);
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

    /// The options of a server that messages call so, without any of PostgreSQL's own.
    pub(crate) const fn plain(config: Config, title: &'static str) -> Self {
        Self {
            config,
            trust: Trust::Any,
            authorities: None,
            synchronous_commit: None,
            reads_replicas: false,
            title,
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        match (key, value) {
            ("sslmode", "disable") => self.encrypt(SslMode::Disable, Trust::Any),
            ("sslmode", "prefer") => self.encrypt(SslMode::Prefer, Trust::Any),
            ("sslmode", "require") => self.encrypt(SslMode::Require, Trust::Any),
            ("sslmode", "verify-ca") => self.encrypt(SslMode::Require, Trust::Authority),
            ("sslmode", "verify-full") => self.encrypt(SslMode::Require, Trust::Name),
            ("host", folder) if folder.starts_with('/') => drop(self.config.host_path(folder)),
            ("port", port) if port.parse::<u16>().is_ok() => {
                self.config.port(port.parse().unwrap_or_default());
            }
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
                    "its option {key:?} is unknown or has a wrong value: sslmode is disable, prefer, require, verify-ca or verify-full, sslrootcert a file, host a socket's folder, \
                     target_session_attrs any, read-write or primary, reads primary or replicas, synchronous_commit {}",
                    COMMIT_LEVELS.join(", ")
                )));
            }
        }
        Ok(())
    }

    fn encrypt(&mut self, mode: SslMode, trust: Trust) {
        self.config.ssl_mode(mode);
        self.trust = trust;
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
        let failed = |error| fault(&format!("connect to {}", self.title), error);
        if config.get_ssl_mode() == SslMode::Disable {
            let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
            return Ok((client, Box::new(connection)));
        }
        let (client, connection) =
            config.connect(MakeRustlsConnect::new(self.tls()?)).await.map_err(failed)?;
        Ok((client, Box::new(connection)))
    }

    fn tls(&self) -> Result<ClientConfig, StoreError> {
        let file = self.authorities.as_deref();
        let certificates = file.and_then(|file| CertificateDer::pem_file_iter(file).ok());
        let trusted = certificates.into_iter().flatten().flatten().collect();
        let configuration = tls::verifier(file, "sslrootcert").and_then(|verifier| {
            tls::configuration(Arc::new(Verifier { verifier, trust: self.trust, trusted }))
        });
        configuration
            .map_err(|text| StoreError::new(ErrorKind::Configuration, "prepare TLS for PostgreSQL", text))
    }
}

/// Takes what PostgreSQL's own clients take. Signatures are checked always.
#[derive(Debug)]
struct Verifier {
    verifier: Arc<WebPkiServerVerifier>,
    trust: Trust,
    /// The certificates of the file that the URL names. The server's own may be one of them: PostgreSQL's manual makes such a one.
    trusted: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext, Other};
        if self.trust == Trust::Any {
            return Ok(ServerCertVerified::assertion());
        }
        let found = match self.verifier.verify_server_cert(certificate, others, name, response, now) {
            // That of an authority shown as the server's own.
            Err(Error::InvalidCertificate(Other(_))) if self.trusted.contains(certificate) => {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)
                    .map(|()| ServerCertVerified::assertion())
            }
            found => found,
        };
        match found {
            Err(Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
                if self.trust == Trust::Authority =>
            {
                Ok(ServerCertVerified::assertion())
            }
            found => found,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
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
        assert!(options.reads_replicas && options.trust == Trust::Any);
        assert_eq!(options.config.get_password(), Some(&b"a,b@"[..]));
        assert_eq!(options.database(), Some("admin"));
        assert_eq!(options.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!(options.config.get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn a_url_may_name_a_socket() {
        for url in ["postgresql://me@%2Frun%2Fpg:5433/admin", "postgresql://me@/admin?host=/run/pg&port=5433"]
        {
            let options = Options::parse(url).expect(url);
            assert_eq!(options.config.get_hosts(), [Host::Unix("/run/pg".into())], "{url}");
            assert_eq!((options.ports(), options.database()), (vec![5433], Some("admin")));
            assert_eq!(options.config.get_ssl_mode(), SslMode::Disable);
        }
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "mysql://u:hunter2@h/",
            "postgresql://h:1/",
            "postgresql://u:hunter2@h/?sslmode=on",
            "postgresql://u:hunter2@h/?sslmod=require",
            "postgresql://u@h/?password=hunter2",
            "postgresql://u:hunter2@h/?sslmode=require&sslrootcert=/ca.pem",
            "postgresql://u:hunter2%4@h/",
            "postgresql://u:hunter2@h:1,:2/",
            "postgresql://u:hunter2@h:1,i:x/",
            "postgresql://u:hunter2@h/?synchronous_commit=maybe",
            "postgresql://u:hunter2@h/?reads=any",
            "postgresql://u:hunter2@/admin",
            "postgresql://u:hunter2@/admin?host=run/pg",
            "nonsense",
        ] {
            let error = Options::parse(url).err().expect(url);
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(error.to_string().contains(EXAMPLE), "{error}");
        }
    }
}
