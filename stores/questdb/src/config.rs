//! The URL of a server: user, password, host, and two ports. Nothing here shows a password.
//!
//! `questdb://user:password@host:8812/?http=9000`: questions go to the port of PostgreSQL's protocol, lines to that of HTTP.

use sensormark_kit::url::{authority, basic_authorization, existing_server};
use sensormark_store::{Endpoint, ErrorKind, Secret, StoreError};
use std::fmt;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use url::Url;

/// What a URL looks like. Messages show it.
pub(crate) const URL_EXAMPLE: &str = "questdb://admin:password@host:8812/?http=9000";

/// What a URL says.
#[derive(Clone)]
pub(crate) struct Options {
    /// The host.
    pub(crate) host: String,
    port: u16,
    /// The port of HTTP.
    pub(crate) http_port: u16,
    user: String,
    password: Secret,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("port", &self.port)
            .field("http_port", &self.http_port)
            .finish_non_exhaustive()
    }
}

fn wrong(text: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Configuration,
        "read the URL of a QuestDB server",
        format!("{text}; a URL looks like {URL_EXAMPLE}"),
    )
}

impl Options {
    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if url.scheme() != "questdb" {
            return Err(wrong("it does not start with questdb://"));
        }
        let authority = authority(&url, 8812).map_err(wrong)?;
        if !matches!(url.path(), "" | "/") {
            return Err(wrong("it names a database, and QuestDB has one for all tables"));
        }
        let mut http_port = 9000;
        for (key, value) in url.query_pairs() {
            if key != "http" {
                return Err(wrong(&format!(
                    "{key:?} is not an option that it may have; the only one is http, the port of HTTP"
                )));
            }
            let port = value.parse();
            http_port = port.map_err(|_| wrong("the value of http is no port"))?;
        }
        let user = match authority.user.as_str() {
            "" => "admin".to_owned(),
            _ => authority.user,
        };
        let (host, port) = authority.host;
        Ok(Self { host, port, http_port, user, password: authority.password })
    }

    /// The endpoint of an existing server with this URL.
    pub(crate) fn endpoint(&self, url: &str) -> Endpoint {
        existing_server("questdb", url, vec![self.port, self.http_port])
    }

    /// What the driver connects with. QuestDB has no TLS on this port but in its Enterprise edition.
    pub(crate) fn driver(&self) -> Config {
        let mut config = Config::new();
        config
            .host(&self.host)
            .port(self.port)
            .user(&self.user)
            .dbname("qdb")
            .application_name("sensormark")
            .ssl_mode(SslMode::Disable)
            .password(self.password.expose());
        config
    }

    /// The header that says who writes; none where the URL has no password, as QuestDB's HTTP comes.
    pub(crate) fn authorization(&self) -> Option<Secret> {
        let has_password = !self.password.expose().is_empty();
        has_password.then(|| basic_authorization(&self.user, &self.password))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_where_and_how() {
        let options = Options::parse("questdb://me:p%40ss@db.example:1/?http=2").unwrap();
        assert_eq!((options.host.as_str(), options.port, options.http_port), ("db.example", 1, 2));
        assert_eq!((options.user.as_str(), options.password.expose()), ("me", "p@ss"));
        assert!(!format!("{options:?}").contains("p@ss"));
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "http://u:hunter2@h/",
            "questdb://u:hunter2@h/db",
            "questdb://u:hunter2@h/?http=x",
            "questdb://u:hunter2@h/?tls=on",
            "nonsense",
        ] {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
