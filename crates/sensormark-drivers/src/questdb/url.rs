//! The URL of a server: user, password, host, and two ports. Nothing here shows a password.
//!
//! Questions go to the port of PostgreSQL's protocol, lines to that of HTTP. `http.user` and `http.password`, called as
//! the server's own settings, are for HTTP where it has other ones.

use crate::postgres::url::Options as Questions;
use sensormark_kit::url::{authority, basic_authorization};
use sensormark_store::{ErrorKind, Secret, StoreError};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use url::Url;

/// What a URL says.
#[derive(Clone)]
pub struct Options {
    /// Where questions go. QuestDB has no TLS there but in its Enterprise edition.
    pub(super) questions: Questions,
    /// The host, and the port of HTTP.
    pub(super) http: (String, u16),
    /// The header that says who writes; none where there is no password, as QuestDB's HTTP comes.
    pub(super) authorization: Option<Secret>,
}

fn wrong(text: &str) -> StoreError {
    let text = format!("{text}; a URL looks like questdb://admin:password@host:8812/?http=9000");
    StoreError::new(ErrorKind::Configuration, "read the URL of a QuestDB server", text)
}

impl Options {
    /// Reads a URL.
    ///
    /// # Errors
    /// What is wrong with it, without its password.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if url.scheme() != "questdb" {
            return Err(wrong("it does not start with questdb://"));
        }
        let authority = authority(&url, 8812).map_err(wrong)?;
        if !matches!(url.path(), "" | "/") {
            return Err(wrong("it names a database, and QuestDB has one for all tables"));
        }
        let user = if authority.user.is_empty() { "admin" } else { &authority.user };
        let (mut http_port, mut http_user, mut http_password) =
            (9000, user.to_owned(), authority.password.clone());
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
        let (host, port) = authority.host;
        let mut config = Config::new();
        config.host(&host).port(port).user(user).password(authority.password.expose());
        config.application_name("sensormark").ssl_mode(SslMode::Disable);
        Ok(Self {
            questions: Questions::plain(config, "QuestDB"),
            http: (host, http_port),
            authorization: has_password.then(|| basic_authorization(&http_user, &http_password)),
        })
    }

    /// Both ports: of questions, and of lines.
    pub fn ports(&self) -> Vec<u16> {
        [self.questions.ports(), vec![self.http.1]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_where_and_how() {
        let options = Options::parse("questdb://me:p%40ss@db.example:1/?http=2").unwrap();
        assert_eq!(options.http, ("db.example".to_owned(), 2));
        assert_eq!(options.ports(), [1, 2]);
        assert_eq!(options.authorization, Some(basic_authorization("me", &Secret::new("p@ss"))));
        let two = Options::parse("questdb://me:one@h/?http.user=you&http.password=t%26o").unwrap();
        assert_eq!(two.authorization, Some(basic_authorization("you", &Secret::new("t&o"))));
        assert_eq!(two.ports(), [8812, 9000]);
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
            let error = Options::parse(url).err().expect(url);
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
