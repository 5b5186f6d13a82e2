//! Names of the figures and latencies in trial records, so that who writes and who reads them agree.

/// Latency of a cycle read, from when it was due.
pub const CYCLE_READ: &str = "cycle_read";
/// Service time of a cycle read.
pub const CYCLE_READ_SERVICE: &str = "cycle_read_service";
/// Service time of a write.
pub const WRITE: &str = "write";
/// From when a sample was due at the sensor to its acknowledgement.
pub const SENSOR_DELAY: &str = "sensor_delay";

/// Disk used before anything was written, bytes.
pub const DISK_BEFORE: &str = "disk_before_bytes";
/// Its part of logs.
pub const DISK_BEFORE_LOGS: &str = "disk_before_log_bytes";
/// Disk used right after writing, bytes.
pub const DISK_AFTER: &str = "disk_after_bytes";
/// Its part of logs.
pub const DISK_AFTER_LOGS: &str = "disk_after_log_bytes";
/// Readings that were acknowledged before the database came to rest, by the phase of that name.
pub const READINGS_AT_REST: &str = "readings_at_rest";
/// Memory that the database and the page cache of its host may use together, bytes.
pub const MEMORY_FOR_DATA: &str = "memory_for_data_bytes";
/// Label of a phase: the readings that are stored when its size is loaded.
pub const STORED: &str = "stored";
/// Disk used after settling, bytes.
pub const DISK_SETTLED: &str = "disk_settled_bytes";
/// Its part of logs.
pub const DISK_SETTLED_LOGS: &str = "disk_settled_log_bytes";

/// Documents that hold what a trial wrote, as the database counts them when the trial is over.
pub const DOCUMENTS: &str = "documents";
/// Their bytes before compression, without indexes.
pub const DOCUMENT_BYTES: &str = "document_bytes";

/// Pacing error of the source, 99th percentile, ns.
pub const PACING_P99: &str = "pacing_p99_ns";
/// Pacing error of the source, 99.9th percentile, ns.
pub const PACING_P999: &str = "pacing_p999_ns";
/// Largest pacing error of the source, ns.
pub const PACING_MAX: &str = "pacing_max_ns";
/// Whether the source ran with real-time scheduling, 1 or 0.
pub const REAL_TIME_SOURCE: &str = "source_real_time";
/// What passing on the journal cost the writer, percent of one core.
pub const JOURNAL_PERCENT: &str = "journal_percent_of_core";
/// Bytes that the writer sent in datagrams.
pub const DATAGRAM_BYTES: &str = "datagram_bytes";
/// Statements that carried the writes.
pub const STATEMENTS: &str = "statements";
/// Connections made again.
pub const RECONNECTS: &str = "reconnects";
/// Readings lost at the queue.
pub const LOST_AT_QUEUE: &str = "lost_at_queue";
/// Most readings lost in a row.
pub const LONGEST_LOSS: &str = "longest_loss";
/// The queue's capacity, bytes.
pub const QUEUE_CAPACITY: &str = "queue_capacity_bytes";

/// Reads a second that were reached.
pub const READS_PER_SECOND: &str = "reads_per_second";
/// Reads a second that were due.
pub const READS_PER_SECOND_ASKED: &str = "reads_per_second_asked";
/// Whether the reader kept up, 1 or 0.
pub const KEEPS_UP: &str = "keeps_up";
/// Queries that the reads took.
pub const QUERIES: &str = "queries";

/// Label of a phase: false where its loads are no part of the cost.
pub const SCORED: &str = "scored";
/// Acknowledged readings that are stored after the server was killed, or stopped by itself, and was started again.
pub const SURVIVED: &str = "survived";
/// When the server was killed on request, in seconds after the phase's start.
pub const KILLED_AFTER: &str = "killed_after_seconds";
/// Files that were not flushed as a whole when the power was cut.
pub const DISK_LOST_FILES: &str = "disk_lost_files";
/// What of them the disk lost, in bytes.
pub const DISK_LOST_BYTES: &str = "disk_lost_bytes";
/// How long it took to end the server before a reading trial, drop its files from the page cache, and start it again, in seconds.
pub const RESTART_BEFORE_READING: &str = "restart_before_reading_seconds";
/// How long a server that was killed, or had stopped by itself, took to be ready again on its data, in seconds.
pub const RESTART: &str = "restart_seconds";
/// Before a phase's and a load host's name: operations a second of that host.
pub const HOST_RATE: &str = "host_operations_per_second";
/// Before a phase's and a load host's name: clients of that host.
pub const HOST_CLIENTS: &str = "host_clients";
