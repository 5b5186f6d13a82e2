//! The URL of a server and what is in it.
//!
//! `influxdb://user:password@host:8086/` (or `http://`, `https://`), with `?udp=PORT&udp_database=NAME` where the server listens for
//! datagrams. Nothing here shows a password.

use sensormark_store::{Endpoint, ErrorKind, Secret, StoreError};
use std::fmt;
use url::Url;

/// What a URL looks like, for messages.
pub(crate) const URL_EXAMPLE: &str = "influxdb://user:password@host:8086/";

/// What a URL says.
#[derive(Clone)]
pub(crate) struct Options {
    /// The host's name or address.
    pub(crate) host: String,
    /// The port of HTTP.
    pub(crate) port: u16,
    /// Whether HTTP goes through TLS.
    pub(crate) encrypted: bool,
    /// The header that says who asks, where anybody must.
    pub(crate) authorization: Option<Secret>,
    /// User and password, for making the first user.
    pub(crate) user: Option<(String, Secret)>,
    /// The listener of datagrams, where it is known.
    pub(crate) datagrams: Option<Datagrams>,
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
            .finish_non_exhaustive()
    }
}

fn wrong(text: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Configuration,
        "read the URL of an InfluxDB server",
        format!("{text}; a URL looks like {URL_EXAMPLE} or https://user:password@host/"),
    )
}

/// The listener of datagrams that a URL names.
fn listener(url: &Url) -> Result<Option<Datagrams>, StoreError> {
    let (mut port, mut database) = (None, None);
    for (key, value) in url.query_pairs() {
        match key.as_ref() {
            "udp" => {
                let number = value.parse().ok().filter(|&number: &u16| number > 0);
                port = Some(number.ok_or_else(|| wrong("udp is not the number of a port"))?);
            }
            "udp_database" => {
                if !is_plain_name(&value) {
                    return Err(wrong(
                        "udp_database is not sensormark_ with lower case letters, digits and underscores",
                    ));
                }
                database = Some(value.into_owned());
            }
            other => {
                return Err(wrong(&format!(
                    "{other:?} is not an option that it may have"
                )));
            }
        }
    }
    Ok(port.map(|port| Datagrams {
        port,
        database: database.unwrap_or_else(|| "sensormark_udp".to_owned()),
    }))
}

/// Whether a name needs no quoting and begins as sensormark's databases do.
fn is_plain_name(name: &str) -> bool {
    name.strip_prefix("sensormark_").is_some_and(|rest| {
        !rest.is_empty()
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

impl Options {
    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        let (standard, encrypted) = match url.scheme() {
            "influxdb" => (8086, false),
            "http" => (80, false),
            "https" => (443, true),
            _ => {
                return Err(wrong(
                    "it does not start with influxdb://, http:// or https://",
                ));
            }
        };
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or_else(|| wrong("it names no host"))?;
        if !matches!(url.path(), "" | "/") {
            return Err(wrong(
                "it has a path; sensormark makes databases of its own",
            ));
        }
        let user = if url.username().is_empty() {
            None
        } else {
            let password = decoded(url.password().unwrap_or_default())?;
            Some((decoded(url.username())?, Secret::new(password)))
        };
        let authorization = user.as_ref().map(|(user, password)| {
            let pair = format!("{user}:{}", password.expose());
            Secret::new(format!("Basic {}", base64(pair.as_bytes())))
        });
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(standard),
            encrypted,
            authorization,
            user,
            datagrams: listener(&url)?,
        })
    }

    /// The endpoint of an existing server with this URL.
    pub(crate) fn endpoint(&self, url: &str) -> Endpoint {
        Endpoint {
            url: Secret::new(url),
            label: "influxdb (existing server)".to_owned(),
            managed: false,
            ports: vec![self.port],
        }
    }
}

fn decoded(text: &str) -> Result<String, StoreError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits: Option<u32> = (|| {
            let high = char::from(rest.next()?).to_digit(16)?;
            Some(high * 16 + char::from(rest.next()?).to_digit(16)?)
        })();
        let byte = digits.and_then(|value| u8::try_from(value).ok());
        bytes.push(byte.ok_or_else(|| wrong("a % is not followed by two hexadecimal digits"))?);
    }
    String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8"))
}

/// Base64 (RFC 4648), for HTTP's basic authentication.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut bits = 0_u32;
        for place in 0..3 {
            bits = bits << 8 | u32::from(group.get(place).copied().unwrap_or(0));
        }
        for place in 0..4 {
            if place <= group.len() {
                let digit = (bits >> (18 - 6 * place)) & 63;
                text.push(char::from(DIGITS[digit as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_and_where() {
        let options = Options::parse("influxdb://me:p%40ss@db.example:9000/?udp=8089").unwrap();
        assert_eq!((options.host.as_str(), options.port), ("db.example", 9000));
        assert_eq!(
            options.authorization.as_ref().unwrap().expose(),
            "Basic bWU6cEBzcw=="
        );
        assert_eq!(
            options.datagrams.as_ref().unwrap().database,
            "sensormark_udp"
        );
        assert!(!format!("{options:?}").contains("p@ss"));
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "mysql://u:hunter2@h/",
            "influxdb://u:hunter2@h/path",
            "influxdb://u:hunter2@h/?udp=many",
            "influxdb://u:hunter2@h/?ssl=on",
            "influxdb2://h/?token=hunter2",
            "influxdb://u:hunter2@h/?udp=1&udp_database=other",
            "influxdb://u:hunter2%4@h/",
            "nonsense",
        ] {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn base64_pads() {
        assert_eq!(
            ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes())),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
    }
}
