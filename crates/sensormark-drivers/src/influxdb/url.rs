//! The URL of a server and what is in it. Nothing here shows a password or token.
//!
//! `influxdb://user:password@host:8086/` (or `http://`, `https://`), with `?udp=PORT&udp_database=NAME` where the server listens for
//! datagrams, and `?tls_ca=FILE` where its certificate is of an authority of one's own. An InfluxDB 2: `influxdb2://ORGANISATION:TOKEN@host:8086/`, or any of the
//! others with `?org=…&token=…`. `database=NAME` (or `bucket=NAME`) names the one that a user or token may write into.

use sensormark_kit::url::{authority, basic_authorization};
use sensormark_store::{ErrorKind, Plan, Secret, StoreError, WriteMethod};
use std::path::PathBuf;
use url::Url;

/// What a URL looks like.
pub(super) const FIRST: &str = "influxdb://user:password@host:8086/";
/// The same of an InfluxDB 2.
pub(super) const SECOND: &str = "influxdb2://organisation:token@host:8086/";

/// What a URL says.
#[derive(Clone, Default)]
pub(super) struct Options {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) encrypted: bool,
    /// The file of the authorities that certificates must be of, instead of the public ones.
    pub(super) authorities: Option<PathBuf>,
    /// The header that says who asks, where anybody must.
    pub(super) authorization: Option<Secret>,
    /// User and password with which the first user is made.
    pub(super) user: Option<(String, Secret)>,
    /// The port of the listener of datagrams, where it is known.
    pub(super) udp: Option<u16>,
    /// The database into which it writes, which is fixed in the server's configuration.
    udp_database: Option<String>,
    /// The organisation whose buckets an InfluxDB 2 keeps readings in; none where the server is a 1.8.
    pub(super) organisation: Option<String>,
    token: Option<Secret>,
    /// The one database or bucket that is to be used, where the user or token may not make any.
    pub(super) given: Option<String>,
}

fn wrong(text: &str) -> StoreError {
    let text = format!(
        "{text}; a URL looks like {FIRST} or https://user:password@host/, that of an InfluxDB 2 like {SECOND}"
    );
    StoreError::new(ErrorKind::Configuration, "read the URL of an InfluxDB server", text)
}

/// A name that needs no quoting and begins as sensormark's databases do.
fn own(key: &str, name: &str) -> Result<Option<String>, StoreError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    match name.strip_prefix("sensormark_") {
        Some(rest) if !rest.is_empty() && rest.bytes().all(is_plain) => Ok(Some(name.to_owned())),
        _ => Err(wrong(&format!("{key} is not sensormark_ with lower case letters, digits and underscores"))),
    }
}

impl Options {
    /// Reads a URL.
    ///
    /// # Errors
    /// What is wrong with it, without its password.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        let (standard, encrypted) = match url.scheme() {
            "influxdb" | "influxdb2" => (8086, false),
            "http" => (80, false),
            "https" => (443, true),
            _ => return Err(wrong("it does not start with influxdb://, influxdb2://, http:// or https://")),
        };
        let authority = authority(&url, standard).map_err(wrong)?;
        if !matches!(url.path(), "" | "/") {
            return Err(wrong("it has a path; sensormark makes databases of its own"));
        }
        let (host, port) = authority.host;
        let mut options = Self { host, port, encrypted, ..Self::default() };
        options.ask(&url)?;
        if options.authorities.is_some() && !encrypted {
            return Err(wrong("tls_ca goes with https://"));
        }
        let user = (!authority.user.is_empty()).then_some((authority.user, authority.password));
        if url.scheme() == "influxdb2" || options.organisation.is_some() || options.token.is_some() {
            options.second(user)?;
        } else {
            options.authorization = user.as_ref().map(|(user, password)| basic_authorization(user, password));
            options.user = user;
        }
        Ok(options)
    }

    /// Reads what stands behind the URL's question mark.
    fn ask(&mut self, url: &Url) -> Result<(), StoreError> {
        for (key, value) in url.query_pairs() {
            match &*key {
                "udp" => {
                    let port = value.parse().ok().filter(|&port| port > 0);
                    self.udp = Some(port.ok_or_else(|| wrong("udp is not the number of a port"))?);
                }
                "udp_database" => self.udp_database = own(&key, &value)?,
                "org" => self.organisation = Some(value.into_owned()),
                "token" => self.token = Some(Secret::new(value)),
                "tls_ca" => self.authorities = Some(PathBuf::from(&*value)),
                "database" | "bucket" => self.given = own(&key, &value)?,
                other => return Err(wrong(&format!("{other:?} is not an option that it may have"))),
            }
        }
        Ok(())
    }

    /// The organisation and the token of an InfluxDB 2: what stands before the host fills in for what does not stand behind it.
    fn second(&mut self, user: Option<(String, Secret)>) -> Result<(), StoreError> {
        if self.udp.is_some() || self.udp_database.is_some() {
            return Err(wrong("an InfluxDB 2 listens for no datagrams"));
        }
        let (name, password) = user.unzip();
        self.organisation = self.organisation.take().or(name).filter(|name| !name.is_empty());
        let token = self.token.take().or(password).filter(|token| !token.expose().is_empty());
        match (&self.organisation, token) {
            (None, _) => Err(wrong("it names no organisation (?org=…)")),
            (_, None) => Err(wrong("it holds no token (?token=…)")),
            (Some(_), Some(token)) => {
                self.authorization = Some(Secret::new(format!("Token {}", token.expose())));
                Ok(())
            }
        }
    }

    /// The name of the plan's database on the server, where it is another one: datagrams go where their listener puts them.
    ///
    /// # Errors
    /// Where the URL names no listener of datagrams.
    pub(super) fn name_there(self, plan: &Plan) -> Result<Option<String>, StoreError> {
        let refused = |text: &str| Err(StoreError::unsupported("send datagrams", text));
        match (plan.layout.write, self.udp) {
            (WriteMethod::Datagram, _) if self.organisation.is_some() => {
                refused("InfluxDB 2 listens for none; choose another layout")
            }
            (WriteMethod::Datagram, None) => refused(
                "the URL names no listener of UDP; add ?udp=PORT&udp_database=sensormark_NAME as in the server's [[udp]] section (a server that sensormark starts has one on loopback alone, because datagrams ask for no password)",
            ),
            (WriteMethod::Datagram, _) => {
                Ok(Some(self.udp_database.unwrap_or_else(|| "sensormark_udp".to_owned())))
            }
            _ => Ok(self.given),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_and_where() {
        let options = Options::parse("influxdb://me:p%40ss@db.example:9000/?udp=8089").unwrap();
        assert_eq!((options.host.as_str(), options.port, options.udp), ("db.example", 9000, Some(8089)));
        assert_eq!(options.authorization.as_ref().unwrap().expose(), "Basic bWU6cEBzcw==");
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
            let error = Options::parse(url).err().expect(url);
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
