//! How the memory that a server may use is divided.

use sensormark_store::server::machine_memory_bytes;
use sensormark_store::{ErrorKind, ServerOptions, StoreError};

/// How the memory asked for is divided, in MiB.
pub(super) struct Memory {
    pub(super) heap: u64,
    pub(super) direct: u64,
    pub(super) memtable: u64,
    /// What the commit log may fill before memtables are written out.
    pub(super) log: u64,
}

/// The smallest heap that Cassandra works with, in MiB.
pub(super) const LEAST_HEAP: u64 = 384;

/// What the commit log may fill as Cassandra comes, on a disk of 32 GiB or more, in MiB.
const LOG_AS_PUBLISHED: u64 = 8_192;

impl Memory {
    /// For these options.
    pub(super) fn new(options: &ServerOptions) -> Result<Self, StoreError> {
        let divided =
            |heap: u64, log: u64| Self { heap, direct: (heap / 2).max(128), memtable: heap / 4, log };
        match options.profile.as_deref() {
            None => Ok(divided((options.memory_bytes >> 20).max(LEAST_HEAP), options.log_bytes() >> 20)),
            Some("as-published") => Ok(divided(own_heap(machine_memory_bytes() >> 20), LOG_AS_PUBLISHED)),
            Some(other) => Err(StoreError::new(
                ErrorKind::Configuration,
                "configure a Cassandra server",
                format!(
                    "there is no profile {other:?} of settings for Cassandra; the only one is as-published (Cassandra's own division of the machine's memory)"
                ),
            )),
        }
    }
}

/// The heap that Cassandra gives itself on a machine with so much memory, in MiB, by the rule of its `cassandra-env.sh`. It is the larger of two: a quarter
/// of the memory up to 8 GiB, and half of it up to 1 GiB.
/// <https://cassandra.apache.org/doc/latest/cassandra/managing/configuration/cass_env_sh_file.html>
pub(super) fn own_heap(machine: u64) -> u64 {
    (machine / 2).min(1_024).max((machine / 4).min(8_192))
}
