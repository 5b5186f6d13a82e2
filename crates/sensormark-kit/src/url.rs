//! What URLs of servers have in common, whatever their scheme. Which parts one has is its store's matter.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use sensormark_store::{Endpoint, Secret};
use std::collections::HashSet;
use std::net::IpAddr;
use url::Url;

/// Undoes the percent encoding of a part of a URL (RFC 3986, section 2.1).
///
/// # Errors
/// What is wrong: a percent sign without two hexadecimal digits after it, or bytes that are not UTF-8.
pub fn percent_decoded(text: &str) -> Result<String, &'static str> {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    for (place, _) in text.match_indices('%') {
        let bytes = text.as_bytes();
        if !is_digit(bytes.get(place + 1)) || !is_digit(bytes.get(place + 2)) {
            return Err("a % is not followed by two hexadecimal digits");
        }
    }
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| "a part of it, decoded, is not UTF-8")?;
    Ok(decoded.into_owned())
}

/// The value of an HTTP header `Authorization` for a user and a password (RFC 7617).
pub fn basic_authorization(user: &str, password: &Secret) -> Secret {
    let pair = format!("{user}:{}", password.expose());
    Secret::new(format!("Basic {}", STANDARD.encode(pair)))
}

/// The endpoint of a server that was there before, of the store of this name. Its ports stay in their order, each once: the first is the one that is asked.
pub fn existing_server(name: &str, url: &str, mut ports: Vec<u16>) -> Endpoint {
    let mut known = HashSet::new();
    ports.retain(|port| known.insert(*port));
    Endpoint { url: Secret::new(url), label: format!("{name} (existing server)"), managed: false, ports }
}

/// The endpoint of a server that sensormark starts, of the store of this name.
pub fn own_server(name: &str, url: String, port: u16) -> Endpoint {
    Endpoint {
        url: Secret::new(url),
        label: format!("{name} (started by sensormark)"),
        managed: true,
        ports: vec![port],
    }
}

/// Whether a host, as a URL names it, is a loopback address. A name is not, whatever it stands for.
pub fn is_loopback(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A host's name or address, and its port.
pub type HostAndPort = (String, u16);

/// What a URL has before its path: the server, and who comes in. The user may be empty.
#[derive(Debug)]
pub struct Authority {
    /// The server's host, an IPv6 address without brackets, and its port.
    pub host: HostAndPort,
    /// The user's name.
    pub user: String,
    /// The password, which may be empty.
    pub password: Secret,
}

/// Reads what a URL has before its path (`port` where it names none).
///
/// # Errors
/// What is wrong: no host, or a percent sign that is none of an encoding.
pub fn authority(url: &Url, port: u16) -> Result<Authority, &'static str> {
    let host = url.host_str().filter(|host| !host.is_empty());
    let host = host.ok_or("it names no host")?.trim_matches(['[', ']']);
    Ok(Authority {
        host: (host.to_owned(), url.port().unwrap_or(port)),
        user: percent_decoded(url.username())?,
        password: Secret::new(percent_decoded(url.password().unwrap_or_default())?),
    })
}

/// The URL with its first host alone, as a URL may be, and the further hosts with their ports (`port` where it names none).
///
/// # Errors
/// What is wrong with a host, in words.
pub fn without_further_hosts(text: &str, port: u16) -> Result<(String, Vec<HostAndPort>), &'static str> {
    let start = text.find("://").map_or(0, |at| at + 3);
    let length = text[start..].find(['/', '?', '#']);
    let end = length.map_or(text.len(), |length| start + length);
    let hosts = text[start..end].rfind('@').map_or(start, |at| start + at + 1);
    let mut items = text[hosts..end].split(',');
    let first = items.next().unwrap_or_default();
    let further: Result<Vec<_>, &'static str> = items
        .map(|item| {
            let (host, port) = match item.rsplit_once(':') {
                Some((host, port)) if !port.ends_with(']') => {
                    (host, port.parse().map_err(|_| "a host has no port number")?)
                }
                _ => (item, port),
            };
            if host.is_empty() {
                return Err("one of its hosts has no name");
            }
            Ok((host.trim_matches(['[', ']']).to_owned(), port))
        })
        .collect();
    let alone = format!("{}{first}{}", &text[..hosts], &text[end..]);
    Ok((alone, further?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_become_bytes() {
        assert_eq!(percent_decoded("p%40s%c3%A9"), Ok("p@s\u{e9}".to_owned()));
        for wrong in ["%", "%4", "%4x", "%+1", "%ff"] {
            assert!(percent_decoded(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_port_is_the_one_that_was_named_first() {
        assert_eq!(
            existing_server("store", "store://h/", vec![30_001, 20_001, 30_001]).ports,
            [30_001, 20_001]
        );
    }

    #[test]
    fn an_authority_has_defaults() {
        let read = |text: &str| authority(&Url::parse(text).expect("a URL"), 9);
        let found = read("store://u%40:p%3a@[::1]:7/x").expect("a host");
        assert_eq!(found.host, ("::1".to_owned(), 7));
        assert_eq!((found.user.as_str(), found.password.expose()), ("u@", "p:"));
        let found = read("store://host").expect("a host");
        assert_eq!(found.host, ("host".to_owned(), 9));
        assert!(found.user.is_empty() && found.password.expose().is_empty());
        assert!(read("store:///path").is_err() && read("store://%4@host").is_err());
    }

    #[test]
    fn user_and_password_are_padded() {
        for (user, password, header) in [
            ("", "", "Basic Og=="),
            ("a", "", "Basic YTo="),
            ("a", "b", "Basic YTpi"),
            ("a", "b?>", "Basic YTpiPz4="),
        ] {
            let made = basic_authorization(user, &Secret::new(password));
            assert_eq!(made.expose(), header);
        }
    }
}
