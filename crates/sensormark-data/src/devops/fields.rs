//! The nine measurements, their fields, and how each field moves.
//!
//! Names and motions are the study's generator's. Where that leaves a field without a motion of its own ("the others follow") or is loose, what is
//! done here is said at the field's [`Rule`].

use super::*;

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
    Follows(fn(&Reading) -> i64),
    /// Such a number of bytes in percent of the host's memory.
    PercentOfMemory(fn(&Reading) -> i64),
}

/// What the fields without a walk of their own follow from.
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
            Self::Percent | Self::PercentOfMemory(_) => F64,
            _ => I64,
        }
    }

    /// Whether the field has a walk of its own.
    pub fn moves(self) -> bool {
        !matches!(self, Self::Follows(_) | Self::PercentOfMemory(_))
    }
}

/// A measurement: a table.
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

/// All measurements. A line is `measurement`, its name and its further tags, or a rule and the fields that have it ([`rule`]).
const TABLE: &str = "
measurement cpu
percent usage_user usage_system usage_idle usage_nice usage_iowait usage_irq usage_softirq usage_steal usage_guest usage_guest_nice
measurement diskio serial
many reads writes
hundred read_bytes write_bytes
few read_time write_time io_time
measurement disk path fstype
follows total
free free
follows used used_percent inodes_total inodes_free inodes_used
measurement kernel
follows boot_time
few interrupts context_switches processes_forked disk_pages_in disk_pages_out
measurement mem
follows total available
memory used
follows free
memory cached buffered
percent_of_memory used_percent available_percent buffered_percent
measurement net interface
many bytes_sent bytes_recv packets_sent packets_recv
few err_in err_out drop_in drop_out
measurement nginx port server
few accepts handled requests
small active reading waiting writing
measurement postgresql
gauge numbackends xact_commit xact_rollback blks_read blks_hit tup_returned tup_fetched tup_inserted tup_updated tup_deleted conflicts temp_files
bytes temp_bytes
gauge deadlocks blk_read_time blk_write_time
measurement redis port server
follows uptime_in_seconds
few total_connections_received
many expired_keys evicted_keys keyspace_hits keyspace_misses
gauge instantaneous_ops_per_sec instantaneous_input_kbps instantaneous_output_kbps connected_clients
bytes used_memory used_memory_rss used_memory_peak used_memory_lua
gauge rdb_changes_since_last_save
few sync_full sync_partial_ok sync_partial_err
gauge pubsub_channels pubsub_patterns latest_fork_usec connected_slaves
many master_repl_offset
gauge repl_backlog_active repl_backlog_size repl_backlog_histlen
small mem_fragmentation_ratio
few used_cpu_sys used_cpu_user used_cpu_sys_children used_cpu_user_children
";

/// All measurements.
pub static MEASUREMENTS: LazyLock<Vec<Measurement>> = LazyLock::new(|| {
    let mut all: Vec<Measurement> = Vec::new();
    for (kind, names) in TABLE.lines().filter_map(|line| line.split_once(' ')) {
        let mut names = names.split(' ');
        if kind == "measurement" {
            let name = names.next().unwrap_or_default();
            all.push(Measurement { name, tags: names.collect(), fields: Vec::new() });
            continue;
        }
        let Measurement { name, fields, .. } = all.last_mut().expect("fields are of a measurement");
        fields.extend(names.map(|field| (field, rule(kind, name, field))));
    }
    all
});

/// The rule of a field.
fn rule(kind: &str, measurement: &str, field: &str) -> Rule {
    let counter = |mean| Whole { mean, top: None, start: 0 };
    let climb = |mean, top| Whole { mean, top: Some(top), start: 0 };
    match kind {
        "percent" => Percent,
        "memory" => Memory,
        "few" => counter(5),
        "many" => counter(50),
        "hundred" => counter(100),
        "small" => climb(5, 100),
        "gauge" => climb(5, 1_000),
        // Up to 1 GiB.
        "bytes" => climb(1_024, 1 << 30),
        // The disk's free bytes.
        "free" => Whole { mean: 50, top: Some(DISK_BYTES), start: DISK_BYTES / 2 },
        "percent_of_memory" => PercentOfMemory(following(measurement, field)),
        _ => Follows(following(measurement, field)),
    }
}

/// What a field follows from.
fn following(measurement: &str, field: &str) -> fn(&Reading) -> i64 {
    match (measurement, field) {
        ("disk", "total") => |_| DISK_BYTES,
        ("disk", "used") => |of| DISK_BYTES - of.field(1),
        // In whole percent, rounded down.
        ("disk", "used_percent") => |of| (DISK_BYTES - of.field(1)) * 100 / DISK_BYTES,
        ("disk", "inodes_total") => |_| DISK_BYTES / INODE_BYTES,
        ("disk", "inodes_free") => |of| of.field(1) / INODE_BYTES,
        ("disk", _) => |of| DISK_BYTES / INODE_BYTES - of.field(1) / INODE_BYTES,
        ("kernel", _) => |of| of.boot,
        ("mem", "total") => |of| of.memory,
        ("mem", "available" | "available_percent") => |of| of.memory - of.field(2),
        ("mem", "used_percent") => |of| of.field(2),
        ("mem", "buffered_percent") => |of| of.field(5),
        // What is available and, of a share of it as large as the caches are of the memory, not cache: available · (1 − cached/total). The total is
        // whole GiB and the parts are under 2^35: nothing overflows or is lost.
        ("mem", _) => {
            |of| ((of.memory - of.field(2)) >> 10) * ((of.memory - of.field(4)) >> 10) / (of.memory >> 20)
        }
        _ => |of| (of.batch.times_ns[of.row] - START_NS) / 1_000_000_000,
    }
}

/// The number of a field among all fields of all measurements: its stream.
pub fn number(measurement: usize, field: usize) -> u64 {
    let fields: usize = MEASUREMENTS[..measurement].iter().map(|measurement| measurement.fields.len()).sum();
    (fields + field) as u64
}
