//! The URL of a server, what is in it, and how a connection is made from it.
//!
//! `mariadb://user:password@host:port/?ssl-mode=…` (or `mysql://`), with the meanings that MariaDB's own clients give to their
//! options. Connections are TCP always, never a socket file, so that bytes on the wire are comparable. Nothing here shows a password.

use crate::error::store_error;
use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, SslOpts};
use sensormark_kit::url::{existing_server, percent_decoded};
use sensormark_store::{Endpoint, ErrorKind, Secret, StoreError};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// What a URL looks like. Messages show it.
pub(crate) const URL_EXAMPLE: &str =
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
pub(crate) struct Options {
    host: String,
    port: u16,
    user: String,
    password: Secret,
    encryption: Encryption,
    authority: Option<PathBuf>,
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
        "read the URL of a MariaDB server",
        format!("{text}; a URL looks like {URL_EXAMPLE}"),
    )
}

impl Options {
    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "mariadb" | "mysql") {
            return Err(wrong("it does not start with mariadb:// or mysql://"));
        }
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or_else(|| wrong("it names no host"))?;
        if url.username().is_empty() {
            return Err(wrong("it names no user"));
        }
        if !matches!(url.path(), "" | "/") {
            return Err(wrong(
                "it names a database; sensormark makes databases of its own",
            ));
        }
        let (mut encryption, mut authority) = (Encryption::Preferred, None);
        for (key, value) in url.query_pairs() {
            match key.as_ref() {
                "ssl-mode" => encryption = Encryption::parse(&value)?,
                "ssl-ca" => authority = Some(PathBuf::from(value.as_ref())),
                other => {
                    return Err(wrong(&format!(
                        "{other:?} is not an option that it may have; those are ssl-mode and ssl-ca"
                    )));
                }
            }
        }
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(3306),
            user: decoded(url.username())?,
            password: Secret::new(decoded(url.password().unwrap_or_default())?),
            encryption,
            authority,
        })
    }

    /// The endpoint of an existing server with this URL.
    pub(crate) fn endpoint(&self, url: &str) -> Endpoint {
        existing_server("mariadb", url, vec![self.port])
    }

    /// Connects, to a database or to none.
    pub(crate) async fn connect(
        &self,
        database: Option<&str>,
        timeout: Duration,
    ) -> Result<Conn, StoreError> {
        const OPERATION: &str = "connect to MariaDB";
        let connecting = async {
            let tls = (self.encryption != Encryption::Disabled).then(|| self.tls());
            match Conn::new(self.options(database, tls)).await {
                Err(Error::Driver(DriverError::NoClientSslFlagFromServer))
                    if self.encryption == Encryption::Preferred =>
                {
                    Conn::new(self.options(database, None)).await
                }
                other => other,
            }
        };
        match tokio::time::timeout(timeout, connecting).await {
            Ok(connected) => {
                connected.map_err(|error| store_error(OPERATION, error).with_doubt(false))
            }
            Err(_) => Err(StoreError::new(
                ErrorKind::Timeout,
                OPERATION,
                format!(
                    "no answer within {} ms; check host, port and the server's load",
                    timeout.as_millis()
                ),
            )
            .with_doubt(false)),
        }
    }

    fn options(&self, database: Option<&str>, tls: Option<SslOpts>) -> Opts {
        OptsBuilder::default()
            .ip_or_hostname(&self.host)
            .tcp_port(self.port)
            .user(Some(&self.user))
            .pass(Some(self.password.expose()))
            .db_name(database)
            .ssl_opts(tls)
            .prefer_socket(false)
            .tcp_nodelay(true)
            .client_found_rows(true)
            .stmt_cache_size(0) // the link keeps its own
            .into()
    }

    fn tls(&self) -> SslOpts {
        let authorities = self.authority.iter();
        let options = SslOpts::default()
            .with_root_certs(authorities.map(|path| path.clone().into()).collect());
        match self.encryption {
            Encryption::Disabled | Encryption::Preferred | Encryption::Required => options
                .with_danger_accept_invalid_certs(true)
                .with_danger_skip_domain_validation(true),
            Encryption::VerifyCa => options.with_danger_skip_domain_validation(true),
            Encryption::VerifyIdentity => options,
        }
    }
}

fn decoded(text: &str) -> Result<String, StoreError> {
    percent_decoded(text).map_err(wrong)
}

impl Encryption {
    fn parse(mode: &str) -> Result<Self, StoreError> {
        Ok(match mode {
            "disabled" => Self::Disabled,
            "preferred" => Self::Preferred,
            "required" => Self::Required,
            "verify-ca" => Self::VerifyCa,
            "verify-identity" => Self::VerifyIdentity,
            other => {
                return Err(wrong(&format!(
                    "ssl-mode {other:?} is none of disabled, preferred, required, verify-ca, verify-identity"
                )));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_where_and_how() {
        let options =
            Options::parse("mysql://me:p%40ss@db.example:3307/?ssl-mode=required").unwrap();
        assert_eq!((options.host.as_str(), options.port), ("db.example", 3307));
        assert_eq!(options.password.expose(), "p@ss");
        assert_eq!(options.encryption, Encryption::Required);
        assert!(!format!("{options:?}").contains("p@ss"));
        let plain = Options::parse("mariadb://me@[::1]").unwrap();
        assert_eq!((plain.host.as_str(), plain.port), ("::1", 3306));
        assert_eq!(plain.encryption, Encryption::Preferred);
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
        ] {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(error.to_string().contains(URL_EXAMPLE), "{error}");
        }
    }
}
