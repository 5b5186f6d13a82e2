//! The URL of a server and what is in it.
//!
//! `influxdb://user:password@host:8086/` (or `http://`, `https://`), with `?udp=PORT&udp_database=NAME` where the server listens for
//! datagrams, and `?tls_ca=FILE` where its certificate is of an authority of one's own. An InfluxDB 2: `influxdb2://ORGANISATION:TOKEN@host:8086/`, or any of the others with `?org=…&token=…`. `database=NAME` (or `bucket=NAME`) names the one
//! that a user or token may write into. Nothing here shows a password or token.

use sensormark_kit::url::{authority, basic_authorization, existing_server};
use sensormark_store::{Durability, Endpoint, ErrorKind, Secret, StoreError};
use std::fmt;
use std::path::PathBuf;
use url::Url;

/// What a URL looks like. Messages show it.
pub(crate) const URL_EXAMPLE: &str = "influxdb://user:password@host:8086/";

/// What a URL of an InfluxDB 2 looks like. Messages show it.
pub(crate) const SECOND_URL_EXAMPLE: &str = "influxdb2://organisation:token@host:8086/";

/// What a URL says.
#[derive(Clone)]
pub(crate) struct Options {
    /// The host's name or address.
    pub(crate) host: String,
    /// The port of HTTP.
    pub(crate) port: u16,
    /// Whether HTTP goes through TLS.
    pub(crate) encrypted: bool,
    /// The file of the authorities that certificates must be of, instead of the public ones.
    pub(crate) authorities: Option<PathBuf>,
    /// The header that says who asks, where anybody must.
    pub(crate) authorization: Option<Secret>,
    /// User and password with which the first user is made.
    pub(crate) user: Option<(String, Secret)>,
    /// The listener of datagrams, where it is known.
    pub(crate) datagrams: Option<Datagrams>,
    /// The organisation whose buckets an InfluxDB 2 keeps readings in; none where the server is a 1.8.
    pub(crate) organisation: Option<String>,
    /// The one database or bucket that is to be used, where the user or token may not make any.
    pub(crate) given: Option<String>,
}

/// What stands behind a URL's question mark.
#[derive(Default)]
struct Question {
    udp: Option<u16>,
    udp_database: Option<String>,
    organisation: Option<String>,
    token: Option<Secret>,
    given: Option<String>,
    authorities: Option<PathBuf>,
}

/// A listener of datagrams: it writes into one database, which is fixed in the server's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Datagrams {
    /// Its port.
    pub(crate) port: u16,
    /// Its database.
    pub(crate) database: String,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("port", &self.port)
            .field("encrypted", &self.encrypted)
            .field("datagrams", &self.datagrams)
            .field("organisation", &self.organisation)
            .finish_non_exhaustive()
    }
}

fn wrong(text: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Configuration,
        "read the URL of an InfluxDB server",
        format!(
            "{text}; a URL looks like {URL_EXAMPLE} or https://user:password@host/, that of an InfluxDB 2 like {SECOND_URL_EXAMPLE}"
        ),
    )
}

/// What stands behind the URL's question mark.
fn question(url: &Url) -> Result<Question, StoreError> {
    let own = |key: &str, value: &str| {
        if is_plain_name(value) {
            return Ok(Some(value.to_owned()));
        }
        Err(wrong(&format!("{key} is not sensormark_ with lower case letters, digits and underscores")))
    };
    let mut question = Question::default();
    for (key, value) in url.query_pairs() {
        match key.as_ref() {
            "udp" => {
                let number = value.parse().ok().filter(|&number: &u16| number > 0);
                let number = number.ok_or_else(|| wrong("udp is not the number of a port"))?;
                question.udp = Some(number);
            }
            "udp_database" => question.udp_database = own("udp_database", &value)?,
            "org" => question.organisation = Some(value.into_owned()),
            "token" => question.token = Some(Secret::new(value)),
            "tls_ca" => question.authorities = Some(PathBuf::from(value.as_ref())),
            "database" | "bucket" => question.given = own(&key, &value)?,
            other => {
                return Err(wrong(&format!("{other:?} is not an option that it may have")));
            }
        }
    }
    Ok(question)
}

/// Whether a name needs no quoting and begins as sensormark's databases do.
fn is_plain_name(name: &str) -> bool {
    name.strip_prefix("sensormark_").is_some_and(|rest| {
        !rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

impl Question {
    const fn names_organisation(&self) -> bool {
        self.organisation.is_some() || self.token.is_some()
    }

    /// The listener of datagrams.
    fn listener(self) -> Option<Datagrams> {
        let database = self.udp_database.unwrap_or_else(|| "sensormark_udp".to_owned());
        self.udp.map(|port| Datagrams { port, database })
    }

    /// The organisation and the token of an InfluxDB 2: what stands before the host fills in for what does not stand here.
    fn organisation(&mut self, user: Option<(String, Secret)>) -> Result<(String, Secret), StoreError> {
        if self.udp.is_some() || self.udp_database.is_some() {
            return Err(wrong("an InfluxDB 2 listens for no datagrams"));
        }
        let (name, password) = user.unzip();
        let organisation = self.organisation.take().or(name).unwrap_or_default();
        let token = self.token.take().or(password);
        let token = token.filter(|token| !token.expose().is_empty());
        if organisation.is_empty() {
            return Err(wrong("it names no organisation (?org=…)"));
        }
        let Some(token) = token else {
            return Err(wrong("it holds no token (?token=…)"));
        };
        Ok((organisation, token))
    }
}

impl Options {
    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        let (standard, encrypted) = match url.scheme() {
            "influxdb" | "influxdb2" => (8086, false),
            "http" => (80, false),
            "https" => (443, true),
            _ => {
                return Err(wrong("it does not start with influxdb://, influxdb2://, http:// or https://"));
            }
        };
        let authority = authority(&url, standard).map_err(wrong)?;
        if !matches!(url.path(), "" | "/") {
            return Err(wrong("it has a path; sensormark makes databases of its own"));
        }
        let (host, port) = authority.host;
        let user = (!authority.user.is_empty()).then_some((authority.user, authority.password));
        let mut question = question(&url)?;
        let authorities = question.authorities.take();
        if authorities.is_some() && !encrypted {
            return Err(wrong("tls_ca goes with https://"));
        }
        let (organisation, authorization, user) =
            if url.scheme() == "influxdb2" || question.names_organisation() {
                let (organisation, token) = question.organisation(user)?;
                (Some(organisation), Some(Secret::new(format!("Token {}", token.expose()))), None)
            } else {
                let authorization = user.as_ref().map(|(user, password)| basic_authorization(user, password));
                (None, authorization, user)
            };
        Ok(Self {
            host,
            port,
            encrypted,
            authorities,
            authorization,
            user,
            given: question.given.take(),
            datagrams: question.listener(),
            organisation,
        })
    }

    /// The endpoint of an existing server with this URL.
    pub(crate) fn endpoint(&self, url: &str) -> Endpoint {
        existing_server("influxdb", url, vec![self.port])
    }
}

/// Fails where the plan's way of writing does not offer a durability class.
pub(crate) fn check_durability(durability: Durability, datagrams: bool) -> Result<(), StoreError> {
    let reason = match durability {
        Durability::Default | Durability::Durable if datagrams && durability == Durability::Durable => {
            "datagrams are not acknowledged; write over HTTP"
        }
        Durability::Default | Durability::Durable => return Ok(()),
        Durability::Unacknowledged if datagrams => return Ok(()),
        Durability::Unacknowledged => "HTTP is acknowledged; choose the layout udp",
        Durability::Relaxed => {
            "InfluxDB acknowledges a write after its log is on disk, whatever wal-fsync-delay says: the delay only gathers writes"
        }
    };
    Err(StoreError::unsupported("set the durability class", reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_and_where() {
        let options = Options::parse("influxdb://me:p%40ss@db.example:9000/?udp=8089").unwrap();
        assert_eq!((options.host.as_str(), options.port), ("db.example", 9000));
        assert_eq!(options.authorization.as_ref().unwrap().expose(), "Basic bWU6cEBzcw==");
        assert_eq!(options.datagrams.as_ref().unwrap().database, "sensormark_udp");
        assert!(!format!("{options:?}").contains("p@ss"));
    }

    #[test]
    fn an_organisation_makes_it_an_influxdb_2() {
        for (url, name, token, bucket) in [
            ("influxdb2://us:t0ken==@h/", "us", "t0ken==", None),
            ("https://h/?org=a+b&token=x%3D%3D&bucket=sensormark_q", "a b", "x==", Some("sensormark_q")),
            ("influxdb://u:pw@h/?org=o", "o", "pw", None),
        ] {
            let options = Options::parse(url).unwrap();
            assert_eq!((options.organisation.as_deref(), options.given.as_deref()), (Some(name), bucket));
            let header = options.authorization.as_ref().unwrap().expose();
            assert_eq!(header, format!("Token {token}"));
            assert!(!format!("{options:?}").contains(token));
        }
        let first = Options::parse("influxdb://u:p@h/?database=sensormark_q").unwrap();
        assert_eq!((first.organisation, first.given.as_deref()), (None, Some("sensormark_q")));
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "mysql://u:hunter2@h/",
            "influxdb://u:hunter2@h/path",
            "influxdb://u:hunter2@h/?udp=many",
            "influxdb://u:hunter2@h/?ssl=on",
            "influxdb://u:hunter2@h/?tls_ca=/ca.pem",
            "influxdb2://h/?token=hunter2",
            "influxdb2://us@h/",
            "influxdb://h/?org=us",
            "influxdb2://us:hunter2@h/?bucket=other",
            "influxdb://u:hunter2@h/?database=other",
            "influxdb2://us:hunter2@h/?udp=1",
            "influxdb://u:hunter2@h/?udp=1&udp_database=other",
            "influxdb://u:hunter2%4@h/",
            "nonsense",
        ] {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
