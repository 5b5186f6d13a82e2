//! The URL of a cluster. Nothing here shows a password.
//!
//! `cassandra://user:password@host1:9042,host2/?datacenter=…&replication=…`. Commas separate several contact points. `consistency=quorum` says how many replicas
//! answer for each request. `jmx=7199` is the management port of a server on this machine, of several servers with commas. With `tls=true` every connection is
//! encrypted and every node has to show a certificate; `tls_ca=FILE` names authorities of one's own.

use scylla::statement::Consistency;
use sensormark_kit::url::{HostAndPort, authority, is_loopback, without_further_hosts};
use sensormark_store::{ErrorKind, Secret, StoreError};
use std::fmt;
use std::path::PathBuf;
use url::Url;

/// What a URL looks like. Messages show it.
pub(super) const URL_EXAMPLE: &str =
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
pub(super) struct Options {
    /// Contact points.
    pub(super) hosts: Vec<HostAndPort>,
    /// Who comes in, where the cluster asks.
    pub(super) user: Option<(String, Secret)>,
    /// The data centre that keeps the keyspace; one node keeps it without.
    pub(super) datacenter: Option<String>,
    /// Copies of each row.
    pub(super) replication: u16,
    /// How many replicas answer for each request, where the URL says it; see [`Options::level`].
    pub(super) consistency: Option<Consistency>,
    /// The ports on 127.0.0.1 of the servers' management, which nodetool needs.
    pub(super) jmx: Vec<u16>,
    /// Whether connections go through TLS.
    pub(super) encrypted: bool,
    /// The file with the certificates of the authorities that are trusted; the public ones without.
    pub(super) authorities: Option<PathBuf>,
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
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        let (text, further) = without_further_hosts(text, PORT).map_err(wrong)?;
        let url = Url::parse(&text).map_err(wrong)?;
        if url.scheme() != "cassandra" {
            return Err(wrong("it does not start with cassandra://"));
        }
        let authority = authority(&url, PORT).map_err(wrong)?;
        if !matches!(url.path(), "" | "/") {
            return Err(wrong("it names a keyspace; sensormark makes keyspaces of its own"));
        }
        let user = (!authority.user.is_empty()).then_some((authority.user, authority.password));
        let mut options = Self {
            hosts: std::iter::once(authority.host).chain(further).collect(),
            user,
            datacenter: None,
            replication: 1,
            consistency: None,
            jmx: Vec::new(),
            encrypted: false,
            authorities: None,
        };
        for (key, value) in url.query_pairs() {
            options.set(&key, &value).map_err(wrong)?;
        }
        if options.authorities.is_some() && !options.encrypted {
            return Err(wrong("tls_ca goes with tls=true"));
        }
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "datacenter" => {
                let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
                if value.is_empty() || !value.chars().all(plain) {
                    return Err("the data centre is not of letters, digits, -, _ and .".to_owned());
                }
                self.datacenter = Some(value.to_owned());
            }
            "replication" => {
                let copies = value.parse().ok().filter(|copies| (1..=100).contains(copies));
                self.replication = copies.ok_or("replication is not 1 to 100")?;
            }
            "jmx" => {
                let ports: Result<_, _> = value.split(',').map(str::parse).collect();
                self.jmx = ports.map_err(|_| "jmx is not a port, or ports with commas")?;
            }
            "consistency" => {
                let found = CONSISTENCIES.iter().find(|(name, _)| *name == value);
                let names = CONSISTENCIES.map(|(name, _)| name).join(", ");
                self.consistency = Some(found.ok_or(format!("consistency is none of {names}"))?.1);
            }
            "tls" => self.encrypted = value.parse().map_err(|_| "tls is neither true nor false")?,
            "tls_ca" => self.authorities = Some(PathBuf::from(value)),
            other => {
                return Err(format!(
                    "{other:?} is not an option that it may have; those are datacenter, replication, consistency, jmx, tls and tls_ca"
                ));
            }
        }
        Ok(())
    }

    /// How many replicas answer for each request: what the URL says, else most of the copies.
    pub(super) fn level(&self) -> Consistency {
        self.consistency.unwrap_or(if self.replication > 1 {
            Consistency::LocalQuorum
        } else {
            Consistency::LocalOne
        })
    }

    /// How many replicas are asked for everything that is stored. All of them are where a write waits for one alone, because any of them may be the one that has
    /// it. Else most are, and a lost member does not matter.
    pub(super) fn level_of_scans(&self) -> Consistency {
        match self.consistency {
            Some(Consistency::One | Consistency::LocalOne) => Consistency::All,
            _ => self.level(),
        }
    }

    /// How a keyspace keeps copies, in CQL.
    pub(super) fn keyspace(&self) -> String {
        let copies = self.replication;
        match &self.datacenter {
            Some(datacenter) => format!("{{'class': 'NetworkTopologyStrategy', '{datacenter}': {copies}}}"),
            None => format!("{{'class': 'SimpleStrategy', 'replication_factor': {copies}}}"),
        }
    }

    /// Whether nobody but this machine can reach the contact points.
    pub(super) fn is_on_loopback(&self) -> bool {
        self.hosts.iter().all(|(host, _)| is_loopback(host))
    }

    /// Contact points as the crate reads them.
    pub(super) fn nodes(&self) -> Vec<String> {
        let text = |(host, port): &HostAndPort| {
            if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
        };
        self.hosts.iter().map(text).collect()
    }
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
        assert_eq!(options.keyspace(), "{'class': 'NetworkTopologyStrategy', 'dc1': 3}");
        assert_eq!(options.jmx, [7, 8]);
        assert!(!options.encrypted);
        let options = Options::parse("cassandra://host").unwrap();
        assert!(options.user.is_none());
        assert_eq!(options.keyspace(), "{'class': 'SimpleStrategy', 'replication_factor': 1}");
        let options = Options::parse("cassandra://host/?tls=true&tls_ca=/my%20ca.pem").unwrap();
        assert!(options.encrypted);
        assert_eq!(options.authorities, Some(PathBuf::from("/my ca.pem")));
    }

    #[test]
    fn a_url_says_how_many_replicas_answer() {
        for (text, level, scans) in [
            ("", Consistency::LocalOne, Consistency::LocalOne),
            ("replication=3", Consistency::LocalQuorum, Consistency::LocalQuorum),
            ("replication=3&consistency=one", Consistency::One, Consistency::All),
            ("replication=3&consistency=local_one", Consistency::LocalOne, Consistency::All),
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
            let error = Options::parse(url).err().expect(url);
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(error.to_string().contains(URL_EXAMPLE), "{error}");
        }
    }
}
