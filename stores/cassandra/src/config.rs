//! The URL of a cluster, what is in it, and how a connection is made from it.
//!
//! `cassandra://user:password@host1:9042,host2/?datacenter=…&replication=…`. Commas separate several contact points.
//! `consistency=quorum` says how many replicas answer for each request. The part `jmx=7199` names the management port of a server on this machine, which is then
//! flushed when it settles. Several ports, separated by commas, are of several servers, in the order of the contact points. With `tls=true` every connection is
//! encrypted and every node has to show a certificate; `tls_ca=FILE` names authorities of one's own. Nothing here shows a password.

use scylla::statement::Consistency;
use sensormark_kit::url::{existing_server, is_loopback, percent_decoded};
use sensormark_store::{Endpoint, ErrorKind, Secret, StoreError};
use std::fmt;
use std::path::PathBuf;

/// What a URL looks like. Messages show it.
pub(crate) const URL_EXAMPLE: &str =
    "cassandra://user:password@host1:9042,host2:9042/?datacenter=dc1&replication=3";

/// The port of the native protocol, where a URL names none.
const PORT: u16 = 9042;

/// How many replicas answer for each request, by the names that a URL has for it.
/// <https://cassandra.apache.org/doc/latest/cassandra/architecture/dynamo.html#tunable-consistency>
const CONSISTENCIES: [(&str, Consistency); 5] = [
    ("one", Consistency::One),
    ("quorum", Consistency::Quorum),
    ("all", Consistency::All),
    ("local_one", Consistency::LocalOne),
    ("local_quorum", Consistency::LocalQuorum),
];

/// What a URL says.
#[derive(Clone)]
pub(crate) struct Options {
    /// Contact points.
    pub(crate) hosts: Vec<(String, u16)>,
    /// Who comes in, where the cluster asks.
    pub(crate) user: Option<(String, Secret)>,
    /// The data centre that keeps the keyspace; one node keeps it without.
    pub(crate) datacenter: Option<String>,
    /// Copies of each row.
    pub(crate) replication: u16,
    /// How many replicas answer for each request, where the URL says it; see [`Options::level`].
    pub(crate) consistency: Option<Consistency>,
    /// The ports on 127.0.0.1 of the servers' management, which nodetool needs: of servers that sensormark started, or where a user names them.
    pub(crate) jmx: Vec<u16>,
    /// Whether connections go through TLS.
    pub(crate) encrypted: bool,
    /// The file with the certificates of the authorities that are trusted; the public ones without.
    pub(crate) authorities: Option<PathBuf>,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Options").field("replication", &self.replication).finish_non_exhaustive()
    }
}

fn wrong(text: impl fmt::Display) -> StoreError {
    StoreError::new(
        ErrorKind::Configuration,
        "read the URL of a Cassandra cluster",
        format!("{text}; a URL looks like {URL_EXAMPLE}"),
    )
}

impl Options {
    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let rest =
            text.strip_prefix("cassandra://").ok_or_else(|| wrong("it does not start with cassandra://"))?;
        let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = before.split_once('/').unwrap_or((before, ""));
        if !path.is_empty() {
            return Err(wrong("it names a keyspace; sensormark makes keyspaces of its own"));
        }
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(credentials(user)?), hosts),
            None => (None, authority),
        };
        let mut options = Self {
            hosts: hosts.split(',').map(host).collect::<Result<_, _>>()?,
            user,
            datacenter: None,
            replication: 1,
            consistency: None,
            jmx: Vec::new(),
            encrypted: false,
            authorities: None,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            options.set(pair)?;
        }
        if options.authorities.is_some() && !options.encrypted {
            return Err(wrong("tls_ca goes with tls=true"));
        }
        Ok(options)
    }

    fn set(&mut self, pair: &str) -> Result<(), StoreError> {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match key {
            "datacenter" => {
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
                if value.is_empty() || !value.chars().all(plain) {
                    return Err(wrong("the data centre is not of letters, digits, -, _ and ."));
                }
                self.datacenter = Some(value.to_owned());
            }
            "replication" => {
                let copies = value.parse().ok().filter(|copies| (1..=100).contains(copies));
                self.replication = copies.ok_or_else(|| wrong("replication is not 1 to 100"))?;
            }
            "jmx" => {
                let ports = value.split(',').map(str::parse).collect::<Result<_, _>>();
                self.jmx = ports.map_err(|_| wrong("jmx is not a port, or ports with commas"))?;
            }
            "consistency" => {
                let found = CONSISTENCIES.iter().find(|(name, _)| *name == value);
                let names = CONSISTENCIES.map(|(name, _)| name).join(", ");
                let found = found.ok_or_else(|| wrong(format!("consistency is none of {names}")))?;
                self.consistency = Some(found.1);
            }
            "tls" => {
                let chosen = value.parse();
                self.encrypted = chosen.map_err(|_| wrong("tls is neither true nor false"))?;
            }
            "tls_ca" => self.authorities = Some(PathBuf::from(decoded(value)?)),
            other => {
                return Err(wrong(format!(
                    "{other:?} is not an option that it may have; those are datacenter, replication, consistency, jmx, tls and tls_ca"
                )));
            }
        }
        Ok(())
    }

    /// How many replicas answer for each request: what the URL says, else most of the copies.
    pub(crate) fn level(&self) -> Consistency {
        self.consistency.unwrap_or(if self.replication > 1 {
            Consistency::LocalQuorum
        } else {
            Consistency::LocalOne
        })
    }

    /// How many replicas are asked for everything that is stored. All of them are where a write waits for one alone, because any of them may be the one that has
    /// it. Else most are, and a lost member does not matter.
    pub(crate) fn level_of_scans(&self) -> Consistency {
        match self.consistency {
            Some(Consistency::One | Consistency::LocalOne | Consistency::All) => Consistency::All,
            _ => self.level(),
        }
    }

    /// Whether nobody but this machine can reach the contact points.
    pub(crate) fn is_on_loopback(&self) -> bool {
        self.hosts.iter().all(|(host, _)| is_loopback(host))
    }

    /// The same for one contact point alone.
    pub(crate) fn only(&self, place: usize) -> Self {
        let mut one = self.clone();
        one.hosts = self.hosts.get(place).cloned().into_iter().collect();
        one.jmx = self.jmx.get(place).copied().into_iter().collect();
        one
    }

    /// The endpoint of an existing cluster with this URL.
    pub(crate) fn endpoint(&self, url: &str) -> Endpoint {
        existing_server("cassandra", url, self.hosts.iter().map(|host| host.1).collect())
    }

    /// Contact points as the driver reads them.
    pub(crate) fn nodes(&self) -> Vec<String> {
        let text = |(host, port): &(String, u16)| {
            if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
        };
        self.hosts.iter().map(text).collect()
    }
}

fn host(text: &str) -> Result<(String, u16), StoreError> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (name, rest) = rest.split_once(']').ok_or_else(|| wrong("a [ is not closed"))?;
            (name, rest.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    };
    if name.is_empty() {
        return Err(wrong("it names no host"));
    }
    let port = match port {
        Some(port) => port.parse().map_err(|_| wrong("a port is not a number under 65536"))?,
        None => PORT,
    };
    Ok((name.to_owned(), port))
}

fn credentials(text: &str) -> Result<(String, Secret), StoreError> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    if user.is_empty() {
        return Err(wrong("it names no user before the @"));
    }
    Ok((decoded(user)?, Secret::new(decoded(password)?)))
}

fn decoded(text: &str) -> Result<String, StoreError> {
    percent_decoded(text).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_where_and_how() {
        let options = Options::parse(
            "cassandra://me:p%40ss@a.example:9142,[::1]/?datacenter=dc1&replication=3&jmx=7,8",
        )
        .unwrap();
        assert_eq!(options.nodes(), ["a.example:9142", "[::1]:9042"]);
        let (user, password) = options.user.as_ref().unwrap();
        assert_eq!((user.as_str(), password.expose()), ("me", "p@ss"));
        assert_eq!(options.datacenter.as_deref(), Some("dc1"));
        assert_eq!(options.replication, 3);
        assert!(!format!("{options:?}").contains("p@ss"));
        assert!(Options::parse("cassandra://host").unwrap().user.is_none());
        assert_eq!(options.only(1).nodes(), ["[::1]:9042"]);
        assert_eq!(options.only(1).jmx, [8]);
        assert!(!options.encrypted);
        let options = Options::parse("cassandra://host/?tls=true&tls_ca=/my%20ca.pem").unwrap();
        assert!(options.encrypted && options.only(0).encrypted);
        assert_eq!(options.authorities, Some(PathBuf::from("/my ca.pem")));
    }

    #[test]
    fn a_url_says_how_many_replicas_answer() {
        for (text, level, scans) in [
            ("", Consistency::LocalOne, Consistency::LocalOne),
            ("replication=3", Consistency::LocalQuorum, Consistency::LocalQuorum),
            ("replication=3&consistency=one", Consistency::One, Consistency::All),
            ("replication=3&consistency=quorum", Consistency::Quorum, Consistency::Quorum),
            ("replication=3&consistency=all", Consistency::All, Consistency::All),
        ] {
            let options = Options::parse(&format!("cassandra://host/?{text}")).unwrap();
            let levels = (options.level(), options.level_of_scans());
            assert_eq!(levels, (level, scans), "{text}");
        }
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "mysql://u:hunter2@h/",
            "cassandra://u:hunter2@/",
            "cassandra://u:hunter2@h/prod",
            "cassandra://u:hunter2@h/?tls=on",
            "cassandra://u:hunter2@h/?sslmode=require",
            "cassandra://u:hunter2@h/?tls_ca=/ca.pem",
            "cassandra://u:hunter2@h/?tls=false&tls_ca=/ca.pem",
            "cassandra://u:hunter2@h/?replication=0",
            "cassandra://u:hunter2@h/?consistency=two",
            "cassandra://u:hunter2@h/?jmx=7,x",
            "cassandra://u:hunter2@h/?datacenter='x",
            "cassandra://u:hunter2%4@h/",
            "cassandra://u:hunter2@h:port/",
            "nonsense",
        ] {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(error.to_string().contains(URL_EXAMPLE), "{error}");
        }
    }
}
