//! The URL of a server, what is in it, and how a connection is made from it.
//!
//! `postgresql://user:password@host:port/maintenance_database?sslmode=…`, with the meanings that PostgreSQL's own
//! clients give to `sslmode`. Nothing here shows a password.

use crate::driver::Driver;
use crate::error::store_error;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use sensormark_kit::url::{existing_server, percent_decoded};
use sensormark_store::{Endpoint, ErrorKind, Secret, StoreError};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;
use url::Url;

/// What a URL looks like. Messages show it.
pub(crate) const URL_EXAMPLE: &str =
    "postgresql://user:password@host:5432/postgres?sslmode=verify-full";

/// How the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encryption {
    /// Never.
    Disable,
    /// Where the server offers it, whoever the server is.
    Prefer,
    /// Always, whoever the server is.
    Require,
    /// Always, and the server's certificate must be for its name, by a public authority.
    VerifyFull,
}

/// What a URL says.
#[derive(Clone)]
pub(crate) struct Options {
    host: String,
    port: u16,
    user: String,
    password: Secret,
    /// The database that is connected to for making and dropping others.
    pub(crate) maintenance_database: String,
    /// Whether the URL named it, rather than leaving it to us.
    pub(crate) is_named: bool,
    encryption: Encryption,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("port", &self.port)
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

impl Options {
    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "postgresql" | "postgres") {
            return Err(wrong("it does not start with postgresql://"));
        }
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or_else(|| wrong("it names no host"))?;
        if url.username().is_empty() {
            return Err(wrong("it names no user"));
        }
        let mut encryption = Encryption::Prefer;
        for (key, value) in url.query_pairs() {
            match (key.as_ref(), value.as_ref()) {
                ("sslmode", mode) => encryption = Encryption::parse(mode)?,
                (other, _) => {
                    return Err(wrong(&format!(
                        "{other:?} is not an option that it may have; the only one is sslmode"
                    )));
                }
            }
        }
        let database = decoded(url.path().trim_start_matches('/'))?;
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(5432),
            user: decoded(url.username())?,
            password: Secret::new(decoded(url.password().unwrap_or_default())?),
            is_named: !database.is_empty(),
            maintenance_database: if database.is_empty() {
                "postgres".to_owned()
            } else {
                database
            },
            encryption,
        })
    }

    /// The endpoint of an existing server with this URL.
    pub(crate) fn endpoint(&self, url: &str) -> Endpoint {
        existing_server("postgresql", url, vec![self.port])
    }

    /// Connects to one of the server's databases.
    pub(crate) async fn connect(
        &self,
        database: &str,
        timeout: Duration,
    ) -> Result<(Client, Box<dyn Driver>), StoreError> {
        let mut config = Config::new();
        config
            .host(&self.host)
            .port(self.port)
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
        let tls = MakeRustlsConnect::new(tls_config(self.encryption)?);
        let (client, connection) = config.connect(tls).await.map_err(failed)?;
        Ok((client, Box::new(connection)))
    }
}

fn decoded(text: &str) -> Result<String, StoreError> {
    percent_decoded(text).map_err(wrong)
}

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

fn tls_config(encryption: Encryption) -> Result<ClientConfig, StoreError> {
    let failed = |error: &dyn fmt::Display| {
        StoreError::new(
            ErrorKind::Configuration,
            "prepare TLS for PostgreSQL",
            error.to_string(),
        )
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = Arc::new(RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    });
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
        .build()
        .map_err(|error| failed(&error))?;
    let verifier: Arc<dyn ServerCertVerifier> = if encryption == Encryption::VerifyFull {
        verifier
    } else {
        Arc::new(AnyCertificate(verifier))
    };
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
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
        self.0
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0
            .verify_tls13_signature(message, certificate, signature)
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
        let options =
            Options::parse("postgresql://me:p%40ss@db.example:6432/admin?sslmode=require").unwrap();
        assert_eq!((options.host.as_str(), options.port), ("db.example", 6432));
        assert_eq!(options.password.expose(), "p@ss");
        assert_eq!(options.maintenance_database, "admin");
        assert_eq!(options.encryption, Encryption::Require);
        assert!(!format!("{options:?}").contains("p@ss"));
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "mysql://u:hunter2@h/",
            "postgresql://h:1/",
            "postgresql://u:hunter2@h/?sslmode=on",
            "postgresql://u:hunter2@h/?sslmod=require",
            "postgresql://u:hunter2%4@h/",
            "nonsense",
        ] {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(error.to_string().contains(URL_EXAMPLE), "{error}");
        }
    }
}
