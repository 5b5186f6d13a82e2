//! The nine measurements, their fields, and how each field moves.
//!
//! Names and motions are the study's generator's. Where that leaves a field without a motion of its own ("the others follow") or is loose, what is
//! done here is said at the field's [`Rule`].

use sensormark_store::{Batch, FieldType, Values};
use std::sync::LazyLock;

/// How a field gets its value.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// A float's walk of N(0, 1) within 0 to 100 from a uniform start.
    Percent,
    /// A walk of whole numbers by steps of N(mean, 1): within 0 to a top by the step, or by its absolute value where there is no top.
    Whole {
        /// The steps' mean.
        mean: i64,
        /// The upper bound.
        top: Option<i64>,
        /// Where it starts.
        start: i64,
    },
    /// A walk of N(0, total/64) within 0 to the host's memory from a uniform start, cut to whole bytes.
    Memory,
    /// A whole number that follows from the fields that walk.
    Follows(fn(&Reading<'_>) -> i64),
    /// Such a number of bytes in percent of the host's memory.
    PercentOfMemory(fn(&Reading<'_>) -> i64),
}

/// What the fields without a walk of their own follow from.
#[derive(Debug)]
pub struct Reading<'b> {
    /// The batch, in which the fields that walk are filled.
    pub batch: &'b Batch,
    /// The row of the reading.
    pub row: usize,
    /// Bytes of the host's memory.
    pub memory: i64,
    /// When the host was booted, in seconds since the Unix epoch.
    pub boot: i64,
}

impl Reading<'_> {
    /// The value of a field of whole numbers that walks.
    fn field(&self, number: usize) -> i64 {
        match &self.batch.columns[number].values {
            Values::I64(values) => values[self.row],
            _ => unreachable!("fields follow whole numbers of their measurement"),
        }
    }
}

impl Rule {
    /// The type of the field's values.
    pub fn kind(self) -> FieldType {
        match self {
            Self::Percent | Self::PercentOfMemory(_) => FieldType::F64,
            _ => FieldType::I64,
        }
    }

    /// Whether the field has a walk of its own.
    pub fn moves(self) -> bool {
        !matches!(self, Self::Follows(_) | Self::PercentOfMemory(_))
    }
}

/// A measurement: a table.
#[derive(Debug)]
pub struct Measurement {
    /// Its name.
    pub name: &'static str,
    /// Tags beside the ten of a host.
    pub tags: Vec<&'static str>,
    /// Fields by name, with their rules.
    pub fields: Vec<(&'static str, Rule)>,
}

/// The disk's size in bytes.
const DISK_BYTES: i64 = 1 << 40;
/// Bytes of the disk an inode.
const INODE_BYTES: i64 = 4_096;

const fn counter(mean: i64) -> Rule {
    Rule::Whole { mean, top: None, start: 0 }
}

const fn climb(mean: i64, top: i64) -> Rule {
    Rule::Whole { mean, top: Some(top), start: 0 }
}

const FEW: Rule = counter(5);
const MANY: Rule = counter(50);
const GAUGE: Rule = climb(5, 1_000);
/// A walk of bytes up to 1 GiB.
const BYTES: Rule = climb(1_024, 1 << 30);
const SMALL: Rule = climb(5, 100);
/// The disk's free bytes.
const FREE: Rule = Rule::Whole { mean: 50, top: Some(DISK_BYTES), start: DISK_BYTES / 2 };

/// The number of the measurement that questions are about, cpu.
pub const CPU: usize = 0;
/// The number of the field that questions are about, usage_user.
pub const USAGE_USER: usize = 0;

/// A measurement's name, further tags, and rules with the fields that have them.
type Layout = (&'static str, &'static str, &'static [(Rule, &'static str)]);

const LAYOUTS: [Layout; 9] = [
    (
        "cpu",
        "",
        &[(
            Rule::Percent,
            "usage_user usage_system usage_idle usage_nice usage_iowait usage_irq usage_softirq usage_steal usage_guest usage_guest_nice",
        )],
    ),
    (
        "diskio",
        "serial",
        &[
            (MANY, "reads writes"),
            (counter(100), "read_bytes write_bytes"),
            (FEW, "read_time write_time io_time"),
        ],
    ),
    (
        "disk",
        "path fstype",
        &[
            (Rule::Follows(|_| DISK_BYTES), "total"),
            (FREE, "free"),
            (Rule::Follows(|of| DISK_BYTES - of.field(1)), "used"),
            // In whole percent, rounded down.
            (Rule::Follows(|of| (DISK_BYTES - of.field(1)) * 100 / DISK_BYTES), "used_percent"),
            (Rule::Follows(|_| DISK_BYTES / INODE_BYTES), "inodes_total"),
            (Rule::Follows(|of| of.field(1) / INODE_BYTES), "inodes_free"),
            (Rule::Follows(|of| DISK_BYTES / INODE_BYTES - of.field(1) / INODE_BYTES), "inodes_used"),
        ],
    ),
    (
        "kernel",
        "",
        &[
            (Rule::Follows(|of| of.boot), "boot_time"),
            (FEW, "interrupts context_switches processes_forked disk_pages_in disk_pages_out"),
        ],
    ),
    (
        "mem",
        "",
        &[
            (Rule::Follows(|of| of.memory), "total"),
            (Rule::Follows(|of| of.memory - of.field(2)), "available"),
            (Rule::Memory, "used"),
            // What is available and, of a share of it as large as the caches are of the memory, not cache: available · (1 − cached/total). The total is
            // whole GiB and the parts are under 2^35: nothing overflows or is lost.
            (
                Rule::Follows(|of| {
                    ((of.memory - of.field(2)) >> 10) * ((of.memory - of.field(4)) >> 10) / (of.memory >> 20)
                }),
                "free",
            ),
            (Rule::Memory, "cached buffered"),
            (Rule::PercentOfMemory(|of| of.field(2)), "used_percent"),
            (Rule::PercentOfMemory(|of| of.memory - of.field(2)), "available_percent"),
            (Rule::PercentOfMemory(|of| of.field(5)), "buffered_percent"),
        ],
    ),
    (
        "net",
        "interface",
        &[
            (MANY, "bytes_sent bytes_recv packets_sent packets_recv"),
            (FEW, "err_in err_out drop_in drop_out"),
        ],
    ),
    ("nginx", "port server", &[(FEW, "accepts handled requests"), (SMALL, "active reading waiting writing")]),
    (
        "postgresql",
        "",
        &[
            (
                GAUGE,
                "numbackends xact_commit xact_rollback blks_read blks_hit tup_returned tup_fetched tup_inserted tup_updated tup_deleted conflicts temp_files",
            ),
            (BYTES, "temp_bytes"),
            (GAUGE, "deadlocks blk_read_time blk_write_time"),
        ],
    ),
    (
        "redis",
        "port server",
        &[
            (
                Rule::Follows(|of| (of.batch.times_ns[of.row] - super::START_NS) / 1_000_000_000),
                "uptime_in_seconds",
            ),
            (FEW, "total_connections_received"),
            (MANY, "expired_keys evicted_keys keyspace_hits keyspace_misses"),
            (
                GAUGE,
                "instantaneous_ops_per_sec instantaneous_input_kbps instantaneous_output_kbps connected_clients",
            ),
            (BYTES, "used_memory used_memory_rss used_memory_peak used_memory_lua"),
            (GAUGE, "rdb_changes_since_last_save"),
            (FEW, "sync_full sync_partial_ok sync_partial_err"),
            (GAUGE, "pubsub_channels pubsub_patterns latest_fork_usec connected_slaves"),
            (MANY, "master_repl_offset"),
            (GAUGE, "repl_backlog_active repl_backlog_size repl_backlog_histlen"),
            (SMALL, "mem_fragmentation_ratio"),
            (FEW, "used_cpu_sys used_cpu_user used_cpu_sys_children used_cpu_user_children"),
        ],
    ),
];

/// All measurements.
pub static MEASUREMENTS: LazyLock<Vec<Measurement>> = LazyLock::new(|| {
    let measurement = |&(name, tags, rules): &Layout| Measurement {
        name,
        tags: tags.split_whitespace().collect(),
        fields: rules
            .iter()
            .flat_map(|&(rule, names)| names.split(' ').map(move |name| (name, rule)))
            .collect(),
    };
    LAYOUTS.iter().map(measurement).collect()
});

/// The number of a field among all fields of all measurements: its stream.
pub fn number(measurement: usize, field: usize) -> u64 {
    let before = MEASUREMENTS[..measurement].iter();
    let fields: usize = before.map(|measurement| measurement.fields.len()).sum();
    (fields + field) as u64
}
