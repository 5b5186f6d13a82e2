//! Servers that sensormark starts: what a store says about its own, and what the supervisor needs to run it.
//!
//! A store describes ([`Launch`]); the supervisor alone starts, watches, stops and cleans up.

use crate::durability::Durability;
use crate::endpoint::Secret;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

pub use crate::launch::{Command, Launch, SetUp, StopSignal};

/// How a server's note ends that says to how many cores it is held.
pub const CPU_LIMIT: &str = " (--cpu-limit)";

/// A server's program that was found on this machine, or an embedded library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    /// The folder or program that was found; empty for an embedded library.
    pub path: PathBuf,
    /// The version that the program states.
    pub version: String,
    /// Where it came from, in words: "Debian package", "found on PATH", "bundled".
    pub origin: String,
}

impl Installation {
    /// A library of this version that is part of the program.
    pub fn bundled(version: &str) -> Self {
        Self { path: PathBuf::new(), version: version.to_owned(), origin: "bundled".to_owned() }
    }
}

/// What the user asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerOptions {
    /// The memory that the server may use for caches and heaps, in bytes, set by its own setting.
    pub memory_bytes: u64,
    /// Connections that it must accept at once.
    pub clients: u32,
    /// The durability class, where it is a setting of the server.
    pub durability: Durability,
    /// "as it comes" or a named profile of settings ("as-published").
    pub profile: Option<String>,
    /// How long it may take to be ready, in seconds, instead of [`Launch::start_seconds`].
    pub start_seconds: Option<u64>,
    /// The processors that it is held to, as the kernel lists them ("0-2,4"); all that there are when it is not said.
    #[serde(default)]
    pub processors: Option<String>,
    /// A folder on the disk where the server's logs (write-ahead log, commit log, journal) shall be; beside its data when it is not said.
    #[serde(default)]
    pub log_folder: Option<PathBuf>,
    /// The most memory, in bytes, that all its processes and the page cache of their files may take together; without a limit when it is
    /// not said. At least [`ServerOptions::least_memory_limit_bytes`].
    #[serde(default)]
    pub memory_limit_bytes: Option<u64>,
    /// Thousandths of a core that all its processes get together; without a limit when it is not said. Only with a memory limit.
    #[serde(default)]
    pub cpu_millicores: Option<u32>,
    /// The address of its host that it shall listen on; a loopback address when it is not said. Only a store that allows it
    /// ([`crate::Store::keeps_to_loopback`]) is started on an address that other hosts reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Ipv4Addr>,
}

/// Why a store's server keeps to loopback, where the store does not say more.
pub const KEEPS_TO_LOOPBACK: &str =
    "sensormark does not know that every way into its server asks for the password";

impl ServerOptions {
    /// The smallest memory limit that a server is held to, in bytes: one and a half times its memory for caches and heaps, and what its kind needs `beside` it,
    /// in bytes. Memory that is a quarter of the limit grows with it.
    pub fn least_memory_limit_bytes(&self, beside: u64) -> u64 {
        if self.memory_limit_bytes.is_some_and(|limit| limit / 4 == self.memory_bytes) {
            return (beside / 5 * 8).next_multiple_of(1 << 20);
        }
        (self.memory_bytes / 2).saturating_add(self.memory_bytes).saturating_add(beside)
    }

    /// What a report says of its limit of processors.
    pub fn cpu_limit_note(&self) -> Option<String> {
        self.cpu_millicores.map(|cores| format!("held to {} cores{CPU_LIMIT}", f64::from(cores) / 1e3))
    }

    /// How large a server's log may get, in bytes: the write-ahead log, redo log or commit log, with changes that are not yet in its data files.
    /// It is as large as its memory for caches, from 96 MiB to 1 GiB. Databases with such a setting advise to raise it with the cache, and
    /// MySQL's manual says how far: "even as big as the buffer pool"
    /// (<https://dev.mysql.com/doc/refman/5.7/en/optimizing-innodb-logging.html>,
    /// <https://www.postgresql.org/docs/current/runtime-config-resource.html>). The least is MariaDB's own default, and three
    /// of Cassandra's segments; the most is PostgreSQL's own default.
    pub fn log_bytes(&self) -> u64 {
        self.memory_bytes.clamp(96 << 20, 1 << 30)
    }
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            memory_bytes: 1 << 30,
            clients: 32,
            durability: Durability::Default,
            profile: None,
            start_seconds: None,
            processors: None,
            log_folder: None,
            memory_limit_bytes: None,
            cpu_millicores: None,
            address: None,
        }
    }
}

/// The machine's memory in bytes, as the kernel tells it.
pub fn machine_memory_bytes() -> u64 {
    let machine = rustix::system::sysinfo();
    machine.totalram.saturating_mul(machine.mem_unit.into())
}

/// The scratch folder of one server, made and marked by the supervisor, and what it reserved there.
#[derive(Debug, Clone)]
pub struct ServerFolder {
    /// The folder: everything that the server writes goes below it. Owned by the user that the server will run as.
    pub root: PathBuf,
    /// A folder below it (or on the disk that the user chose) for the data alone.
    pub data: PathBuf,
    /// A folder on another disk for the logs alone, where the user chose one. A store that cannot keep its logs there refuses
    /// with [`crate::ErrorKind::Unsupported`].
    pub logs: Option<PathBuf>,
    /// The address that the server listens on: 127.0.0.1, or [`ServerOptions::address`].
    pub address: Ipv4Addr,
    /// Free ports on that address, as many as [`ServerFolder::PORTS`].
    pub ports: [u16; ServerFolder::PORTS],
    /// A generated password: letters and digits.
    pub password: Secret,
    /// The unprivileged user that the server runs as, when sensormark runs as root.
    pub user: Option<String>,
}

impl ServerFolder {
    /// How many free ports are reserved for a server.
    pub const PORTS: usize = 5;

    /// Where a log of this name goes: into the folder for logs, or else the place beside the data.
    pub fn log(&self, name: &str, beside_data: PathBuf) -> PathBuf {
        self.logs.as_ref().map_or(beside_data, |logs| logs.join(name))
    }

    /// A path below the folder.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(mebibytes: u64) -> ServerOptions {
        ServerOptions { memory_bytes: mebibytes << 20, ..ServerOptions::default() }
    }

    #[test]
    fn a_log_is_as_large_as_the_memory_within_bounds() {
        for (memory, log) in [(16, 96), (96, 96), (256, 256), (1_024, 1_024), (9_000, 1_024)] {
            assert_eq!(with(memory).log_bytes() >> 20, log, "{memory} MiB");
        }
    }

    #[test]
    fn a_memory_limit_leaves_room_beside_the_memory() {
        assert_eq!(with(1_024).least_memory_limit_bytes(512 << 20) >> 20, 2_048);
        assert_eq!(with(64).least_memory_limit_bytes(256 << 20) >> 20, 352);
        assert_eq!(with(u64::MAX >> 20).least_memory_limit_bytes(1), u64::MAX);
    }
}
