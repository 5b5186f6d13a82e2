//! The files that a server of our own is started with: `cassandra.yaml` and where its messages go.

use super::memory::Memory;
use sensormark_store::server::ServerFolder;
use sensormark_store::{Durability, StoreError};
use std::net::Ipv4Addr;

/// Settings that do not depend on anything.
const FIXED: &str = "cluster_name: sensormark
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
start_native_transport: true
cdc_enabled: false
authenticator: PasswordAuthenticator
authorizer: AllowAllAuthorizer
commitlog_segment_size: 32MiB
memtable:
  configurations:
    skiplist: {class_name: SkipListMemtable}
    default: {inherits: skiplist}
memtable_allocation_type: heap_buffers
file_cache_enabled: false
networking_cache_size: 32MiB
concurrent_reads: 16
concurrent_writes: 32
concurrent_compactors: 2
compaction_throughput: 64MiB/s
read_request_timeout: 60s
range_request_timeout: 120s
write_request_timeout: 60s
request_timeout: 120s
native_transport_timeout: 120s
batch_size_warn_threshold: 4096KiB
batch_size_fail_threshold: 16MiB
sstable:
  selected_format: big
column_index_size: 4KiB
auto_snapshot: false
incremental_backups: false
snapshot_before_compaction: false
user_defined_functions_enabled: false
materialized_views_enabled: false
disk_failure_policy: stop
commit_failure_policy: stop
inter_dc_tcp_nodelay: false
";

/// Messages go to standard error, from where the supervisor quotes them.
pub(super) const LOGGING: &str = "<configuration>
  <appender name=\"E\" class=\"ch.qos.logback.core.ConsoleAppender\"><target>System.err</target><encoder><pattern>%d{ISO8601} %-5level %logger{0} %msg%n</pattern></encoder></appender>
  <root level=\"WARN\"><appender-ref ref=\"E\"/></root>
</configuration>
";

/// What tells a member of a cluster from a server alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// From 0.
    pub(super) member: usize,
    /// How many members there are.
    pub(super) members: usize,
}

impl Place {
    /// A server alone.
    pub(super) const ALONE: Self = Self { member: 0, members: 1 };

    /// The token where the member's part of the ring begins: all parts are alike. That of a server alone is 0.
    fn token(self) -> i128 {
        if self.members < 2 {
            return 0;
        }
        let count = |places: usize| i128::try_from(places).unwrap_or(i128::MAX);
        let (member, members) = (count(self.member), count(self.members));
        i128::from(i64::MIN) + member * ((1 << 64) / members)
    }

    /// Settings that differ. A further member copies what the others have of it when it joins. Roles are then everywhere, so a member reads its own copy and answers
    /// while it is the first that was started again. Hints are kept for members that are away, as Cassandra comes. Who comes in is known for an hour: every request
    /// asks for its role, which as Cassandra comes is read again after 2 s. That read may go to a member that comes back and does not answer yet. All requests
    /// waited for it, 7 s long.
    fn settings(self) -> String {
        if self.members < 2 {
            return "auto_bootstrap: false\nhinted_handoff_enabled: false\n".to_owned();
        }
        format!(
            "auto_bootstrap: {}\nhinted_handoff_enabled: true\nauth_read_consistency_level: LOCAL_ONE\nroles_validity: 1h\ncredentials_validity: 1h\n",
            self.member > 0
        )
    }
}

/// The text of `cassandra.yaml`.
pub(super) fn configuration(
    folder: &ServerFolder,
    durability: Durability,
    memory: &Memory,
    place: Place,
) -> Result<String, StoreError> {
    let sync = match durability {
        Durability::Default | Durability::Relaxed => {
            "commitlog_sync: periodic\ncommitlog_sync_period: 10000ms\n"
        }
        Durability::Durable => "commitlog_sync: batch\n",
        Durability::Unacknowledged => {
            return Err(StoreError::unsupported(
                "configure a Cassandra server",
                "Cassandra acknowledges every write",
            ));
        }
    };
    let (data, [native, storage, ..]) = (folder.data.display(), folder.ports);
    let (address, token, differing) = (folder.address, place.token(), place.settings());
    // Other nodes come in by the storage port, which asks for no password. A node alone has none.
    let listen = if address.is_loopback() { address } else { Ipv4Addr::LOCALHOST };
    // The first member is the seed of all.
    let seed = if place.members > 1 { Ipv4Addr::LOCALHOST } else { listen };
    let (memtable, log) = (memory.memtable, memory.log);
    let commit_log = folder.log("commitlog", folder.data.join("commitlog"));
    let commit_log = commit_log.display();
    Ok(format!(
        "{FIXED}{sync}{differing}initial_token: \"{token}\"
listen_address: {listen}
rpc_address: {address}
memtable_heap_space: {memtable}MiB
memtable_offheap_space: {memtable}MiB
commitlog_total_space: {log}MiB
native_transport_port: {native}
storage_port: {storage}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: \"{seed}:{storage}\"
data_file_directories: ['{data}/data']
commitlog_directory: '{commit_log}'
saved_caches_directory: '{data}/saved_caches'
hints_directory: '{data}/hints'
cdc_raw_directory: '{data}/cdc_raw'
"
    ))
}
