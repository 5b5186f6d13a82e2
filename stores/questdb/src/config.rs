//! The URL of a server: user, password, host, and two ports. Nothing here shows a password.
//!
//! `questdb://user:password@host:8812/?http=9000`: questions go to the port of PostgreSQL's protocol, lines to that of HTTP. `http.user` and `http.password`
//! are for HTTP where it has other ones; the server's own settings are called so.

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
    /// What the driver connects with. QuestDB has no TLS on this port but in its Enterprise edition.
    pub(crate) driver: Config,
    /// The port of HTTP.
    pub(crate) http_port: u16,
    /// The header that says who writes; none where there is no password, as QuestDB's HTTP comes.
    pub(crate) authorization: Option<Secret>,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Options").field("host", &self.host).finish_non_exhaustive()
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
        let user = match authority.user.as_str() {
            "" => "admin".to_owned(),
            _ => authority.user,
        };
        let (mut http_port, mut http_user, mut http_password) =
            (9000, user.clone(), authority.password.clone());
        for (key, value) in url.query_pairs() {
            match key.as_ref() {
                "http" => http_port = value.parse().map_err(|_| wrong("the value of http is no port"))?,
                "http.user" => http_user = value.into_owned(),
                "http.password" => http_password = Secret::new(value),
                _ => {
                    return Err(wrong(&format!(
                        "{key:?} is not an option that it may have; those are http, the port of HTTP, http.user and http.password"
                    )));
                }
            }
        }
        let has_password = !http_password.expose().is_empty();
        let authorization = has_password.then(|| basic_authorization(&http_user, &http_password));
        let (host, port) = authority.host;
        let mut driver = Config::new();
        driver
            .host(&host)
            .port(port)
            .user(user)
            .dbname("qdb")
            .application_name("sensormark")
            .ssl_mode(SslMode::Disable)
            .password(authority.password.expose());
        Ok(Self { host, driver, http_port, authorization })
    }

    /// The endpoint of an existing server with this URL.
    pub(crate) fn endpoint(&self, url: &str) -> Endpoint {
        existing_server("questdb", url, [self.driver.get_ports(), &[self.http_port]].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_where_and_how() {
        let options = Options::parse("questdb://me:p%40ss@db.example:1/?http=2").unwrap();
        assert_eq!((options.host.as_str(), options.http_port), ("db.example", 2));
        assert_eq!(options.endpoint("").ports, [1, 2]);
        assert_eq!(options.driver.get_user(), Some("me"));
        assert_eq!(options.driver.get_password(), Some(&b"p@ss"[..]));
        assert!(!format!("{options:?}").contains("p@ss"));
        assert_eq!(options.authorization, Some(basic_authorization("me", &Secret::new("p@ss"))));
        let two = Options::parse("questdb://me:one@h/?http.user=you&http.password=t%26o").unwrap();
        assert_eq!(two.authorization, Some(basic_authorization("you", &Secret::new("t&o"))));
        assert_eq!(two.driver.get_password(), Some(&b"one"[..]));
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
