//! The nine measurements, their fields, and how each field moves.
//!
//! Names and motions are the study's generator's. Where that leaves a field without a motion of its own ("the others follow") or is loose, what is
//! done here is said at the field's [`Rule`].

use sensormark_store::FieldType;

/// How a walk of whole numbers moves; steps are N(mean, 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// From 0, by the absolute value of the step.
    Counter {
        /// The steps' mean.
        mean: i64,
    },
    /// Within 0 to a top, by the step.
    Bounded {
        /// The steps' mean.
        mean: i64,
        /// The upper bound.
        top: i64,
        /// Where it starts.
        start: i64,
    },
}

/// How a field gets its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A float's walk of N(0, 1) within 0 to 100 from a uniform start.
    Percent,
    /// A walk of whole numbers.
    Whole(Motion),
    /// A walk of N(0, total/64) within 0 to the host's memory from a uniform start, cut to whole bytes.
    Memory,
    /// Seconds since the first tick.
    Uptime,
    /// When the host was booted, in seconds since the Unix epoch: once for all, up to 30 days before the first tick.
    Boot,
    /// 2^40 bytes.
    DiskTotal,
    /// What is not free of the disk.
    DiskUsed,
    /// The same in whole percent, rounded down.
    DiskUsedPercent,
    /// A 4,096th of the disk.
    InodesTotal,
    /// A 4,096th of what is free.
    InodesFree,
    /// The others.
    InodesUsed,
    /// The host's memory: 8, 12 or 16 GiB.
    MemoryTotal,
    /// What is not used of it.
    MemoryAvailable,
    /// What is available and, of a share of it as large as the caches are of the memory, not cache: available · (1 − cached/total).
    MemoryFree,
    /// Used, in percent of the total.
    UsedPercent,
    /// Available, in percent of the total.
    AvailablePercent,
    /// Buffered, in percent of the total.
    BufferedPercent,
}

impl Rule {
    /// The type of the field's values.
    #[must_use]
    pub const fn kind(self) -> FieldType {
        match self {
            Self::Percent | Self::UsedPercent | Self::AvailablePercent | Self::BufferedPercent => {
                FieldType::F64
            }
            _ => FieldType::I64,
        }
    }

    /// Whether the field has a walk of its own.
    #[must_use]
    pub const fn moves(self) -> bool {
        matches!(self, Self::Percent | Self::Whole(_) | Self::Memory)
    }
}

/// A measurement: a table.
#[derive(Debug, Clone, Copy)]
pub struct Measurement {
    /// Its name.
    pub name: &'static str,
    /// Tags beside the ten of a host.
    pub tags: &'static [&'static str],
    /// Fields by name, with their rules.
    pub fields: &'static [(&'static str, Rule)],
}

/// The disk's size in bytes.
pub const DISK_BYTES: i64 = 1 << 40;
/// Bytes of the disk an inode.
pub const INODE_BYTES: i64 = 4_096;
/// The largest that a walk of bytes gets.
const LARGEST_BYTES: i64 = 1 << 30;

const fn counter(mean: i64) -> Rule {
    Rule::Whole(Motion::Counter { mean })
}

const fn climb(mean: i64, top: i64) -> Rule {
    Rule::Whole(Motion::Bounded { mean, top, start: 0 })
}

const FEW: Rule = counter(5);
const MANY: Rule = counter(50);
const GAUGE: Rule = climb(5, 1_000);
const BYTES: Rule = climb(1_024, LARGEST_BYTES);
const SMALL: Rule = climb(5, 100);

/// The number of the measurement that questions are about, cpu.
pub const CPU: usize = 0;
/// The number of the field that questions are about, usage_user.
pub const USAGE_USER: usize = 0;

/// All measurements.
pub const MEASUREMENTS: [Measurement; 9] = [
    Measurement {
        name: "cpu",
        tags: &[],
        fields: &[
            ("usage_user", Rule::Percent),
            ("usage_system", Rule::Percent),
            ("usage_idle", Rule::Percent),
            ("usage_nice", Rule::Percent),
            ("usage_iowait", Rule::Percent),
            ("usage_irq", Rule::Percent),
            ("usage_softirq", Rule::Percent),
            ("usage_steal", Rule::Percent),
            ("usage_guest", Rule::Percent),
            ("usage_guest_nice", Rule::Percent),
        ],
    },
    Measurement {
        name: "diskio",
        tags: &["serial"],
        fields: &[
            ("reads", MANY),
            ("writes", MANY),
            ("read_bytes", counter(100)),
            ("write_bytes", counter(100)),
            ("read_time", FEW),
            ("write_time", FEW),
            ("io_time", FEW),
        ],
    },
    Measurement {
        name: "disk",
        tags: &["path", "fstype"],
        fields: &[
            ("total", Rule::DiskTotal),
            ("free", Rule::Whole(Motion::Bounded { mean: 50, top: DISK_BYTES, start: DISK_BYTES / 2 })),
            ("used", Rule::DiskUsed),
            ("used_percent", Rule::DiskUsedPercent),
            ("inodes_total", Rule::InodesTotal),
            ("inodes_free", Rule::InodesFree),
            ("inodes_used", Rule::InodesUsed),
        ],
    },
    Measurement {
        name: "kernel",
        tags: &[],
        fields: &[
            ("boot_time", Rule::Boot),
            ("interrupts", FEW),
            ("context_switches", FEW),
            ("processes_forked", FEW),
            ("disk_pages_in", FEW),
            ("disk_pages_out", FEW),
        ],
    },
    Measurement {
        name: "mem",
        tags: &[],
        fields: &[
            ("total", Rule::MemoryTotal),
            ("available", Rule::MemoryAvailable),
            ("used", Rule::Memory),
            ("free", Rule::MemoryFree),
            ("cached", Rule::Memory),
            ("buffered", Rule::Memory),
            ("used_percent", Rule::UsedPercent),
            ("available_percent", Rule::AvailablePercent),
            ("buffered_percent", Rule::BufferedPercent),
        ],
    },
    Measurement {
        name: "net",
        tags: &["interface"],
        fields: &[
            ("bytes_sent", MANY),
            ("bytes_recv", MANY),
            ("packets_sent", MANY),
            ("packets_recv", MANY),
            ("err_in", FEW),
            ("err_out", FEW),
            ("drop_in", FEW),
            ("drop_out", FEW),
        ],
    },
    Measurement {
        name: "nginx",
        tags: &["port", "server"],
        fields: &[
            ("accepts", FEW),
            ("handled", FEW),
            ("requests", FEW),
            ("active", SMALL),
            ("reading", SMALL),
            ("waiting", SMALL),
            ("writing", SMALL),
        ],
    },
    Measurement {
        name: "postgresql",
        tags: &[],
        fields: &[
            ("numbackends", GAUGE),
            ("xact_commit", GAUGE),
            ("xact_rollback", GAUGE),
            ("blks_read", GAUGE),
            ("blks_hit", GAUGE),
            ("tup_returned", GAUGE),
            ("tup_fetched", GAUGE),
            ("tup_inserted", GAUGE),
            ("tup_updated", GAUGE),
            ("tup_deleted", GAUGE),
            ("conflicts", GAUGE),
            ("temp_files", GAUGE),
            ("temp_bytes", BYTES),
            ("deadlocks", GAUGE),
            ("blk_read_time", GAUGE),
            ("blk_write_time", GAUGE),
        ],
    },
    Measurement {
        name: "redis",
        tags: &["port", "server"],
        fields: &[
            ("uptime_in_seconds", Rule::Uptime),
            ("total_connections_received", FEW),
            ("expired_keys", MANY),
            ("evicted_keys", MANY),
            ("keyspace_hits", MANY),
            ("keyspace_misses", MANY),
            ("instantaneous_ops_per_sec", GAUGE),
            ("instantaneous_input_kbps", GAUGE),
            ("instantaneous_output_kbps", GAUGE),
            ("connected_clients", GAUGE),
            ("used_memory", BYTES),
            ("used_memory_rss", BYTES),
            ("used_memory_peak", BYTES),
            ("used_memory_lua", BYTES),
            ("rdb_changes_since_last_save", GAUGE),
            ("sync_full", FEW),
            ("sync_partial_ok", FEW),
            ("sync_partial_err", FEW),
            ("pubsub_channels", GAUGE),
            ("pubsub_patterns", GAUGE),
            ("latest_fork_usec", GAUGE),
            ("connected_slaves", GAUGE),
            ("master_repl_offset", MANY),
            ("repl_backlog_active", GAUGE),
            ("repl_backlog_size", GAUGE),
            ("repl_backlog_histlen", GAUGE),
            ("mem_fragmentation_ratio", SMALL),
            ("used_cpu_sys", FEW),
            ("used_cpu_user", FEW),
            ("used_cpu_sys_children", FEW),
            ("used_cpu_user_children", FEW),
        ],
    },
];

/// The number of a field among all fields of all measurements: its stream.
#[must_use]
pub fn number(measurement: usize, field: usize) -> u64 {
    let before = MEASUREMENTS[..measurement].iter();
    let fields: usize = before.map(|measurement| measurement.fields.len()).sum();
    (fields + field) as u64
}
