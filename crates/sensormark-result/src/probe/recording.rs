//! What the recorder has seen, as columns: one figure of one role is one list, in order of time. It serialises as it
//! is, so that every total can be derived again from the file. Adding up is in `totals`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::clock::monotonic_ns;
use super::disturbance::DisturbanceLimits;
use super::host::HostSample;
use super::tree::TreeSample;

/// Declares a struct of columns, and how each row gives its figure.
macro_rules! columns {
    ($(#[$meta:meta])* $name:ident of $row:ident { $($(#[$field_meta:meta])* $field:ident: $kind:ty = $get:expr;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        pub struct $name {
            /// When each sample was taken: the machine's monotonic clock, as `CLOCK_MONOTONIC` gives it to any
            /// process of this boot.
            pub monotonic_ns: Vec<u64>,
            $(
                #[doc = concat!("`", stringify!($field), "` of each sample, as in the row.")]
                $(#[$field_meta])*
                pub $field: Vec<$kind>,
            )*
        }

        impl $name {
            /// Appends one row.
            pub fn push(&mut self, monotonic_ns: u64, row: &$row) {
                self.monotonic_ns.push(monotonic_ns);
                $({
                    let get: fn(&$row) -> $kind = $get;
                    self.$field.push(get(row));
                })*
            }

            /// Appends the rows of other columns.
            pub(super) fn append(&mut self, mut other: Self) {
                self.monotonic_ns.append(&mut other.monotonic_ns);
                $(self.$field.append(&mut other.$field);)*
            }

            /// Rows within a span, both ends included: the first and the last index, if there are any.
            #[must_use]
            pub fn within(&self, start_ns: u64, end_ns: u64) -> Option<(usize, usize)> {
                let first = self.monotonic_ns.partition_point(|at| *at < start_ns);
                let after = self.monotonic_ns.partition_point(|at| *at <= end_ns);
                (first < after).then(|| (first, after - 1))
            }

            /// Whether each column has a figure for each sample. Columns of these names may be empty.
            fn is_whole(&self, optional: &[&str]) -> bool {
                let rows = self.monotonic_ns.len();
                let mut whole = true;
                $({
                    let length = self.$field.len();
                    let may_be_empty = optional.contains(&stringify!($field));
                    whole &= length == rows || (length == 0 && may_be_empty);
                })*
                whole
            }
        }
    };
}

columns! {
    /// The history of one tree; see [`TreeSample`] for what the figures mean.
    TreeColumns of TreeSample {
        processes: u64 = |row| row.processes;
        threads: u64 = |row| row.threads;
        cpu_ns: u64 = |row| row.cpu_ns;
        cpu_user_ns: u64 = |row| row.cpu_user_ns;
        cpu_system_ns: u64 = |row| row.cpu_system_ns;
        cpu_wait_ns: u64 = |row| row.cpu_wait_ns;
        context_switches: u64 = |row| row.context_switches;
        anonymous_bytes: u64 = |row| row.anonymous_bytes;
        shared_bytes: u64 = |row| row.shared_bytes;
        resident_bytes: u64 = |row| row.resident_bytes;
        swapped_bytes: u64 = |row| row.swapped_bytes;
        high_water_bytes: u64 = |row| row.high_water_bytes;
        proportional_bytes: Option<u64> = |row| row.proportional_bytes;
        storage_read_bytes: Option<u64> = |row| row.storage_read_bytes;
        storage_written_bytes: Option<u64> = |row| row.storage_written_bytes;
        storage_cancelled_bytes: Option<u64> = |row| row.storage_cancelled_bytes;
        sent_payload_bytes: Option<u64> = |row| row.wire.map(|wire| wire.sent_payload_bytes);
        received_payload_bytes: Option<u64> = |row| row.wire.map(|wire| wire.received_payload_bytes);
        sent_wire_bytes: Option<u64> = |row| row.wire.map(|wire| wire.sent_wire_bytes);
        received_wire_bytes: Option<u64> = |row| row.wire.map(|wire| wire.received_wire_bytes);
        sent_segments: Option<u64> = |row| row.wire.map(|wire| wire.sent_segments);
        received_segments: Option<u64> = |row| row.wire.map(|wire| wire.received_segments);
        open_connections: Option<u64> = |row| row.wire.map(|wire| wire.open_connections);
        #[serde(default)]
        retransmitted_segments: Option<u64> = |row| row.wire.map(|wire| wire.retransmitted_segments);
        #[serde(default)]
        round_trip_ns: Option<u64> = |row| row.wire.and_then(|wire| wire.round_trip_ns);
    }
}

columns! {
    /// The history of the host; see [`HostSample`] for what the figures mean.
    HostColumns of HostSample {
        processors: u64 = |row| row.processors;
        cpu_user_ns: u64 = |row| row.cpu_user_ns;
        cpu_system_ns: u64 = |row| row.cpu_system_ns;
        cpu_iowait_ns: u64 = |row| row.cpu_iowait_ns;
        cpu_idle_ns: u64 = |row| row.cpu_idle_ns;
        cpu_steal_ns: u64 = |row| row.cpu_steal_ns;
        kernel_threads_ns: u64 = |row| row.kernel_threads_ns;
        context_switches: u64 = |row| row.context_switches;
        load_one: f64 = |row| row.load_one;
        memory_total_bytes: u64 = |row| row.memory_total_bytes;
        memory_available_bytes: u64 = |row| row.memory_available_bytes;
        memory_cached_bytes: u64 = |row| row.memory_cached_bytes;
        memory_dirty_bytes: u64 = |row| row.memory_dirty_bytes;
        swap_in_bytes: u64 = |row| row.swap_in_bytes;
        swap_out_bytes: u64 = |row| row.swap_out_bytes;
        disk_reads: Option<u64> = |row| row.disk.map(|disk| disk.reads);
        disk_read_bytes: Option<u64> = |row| row.disk.map(|disk| disk.read_bytes);
        disk_writes: Option<u64> = |row| row.disk.map(|disk| disk.writes);
        disk_written_bytes: Option<u64> = |row| row.disk.map(|disk| disk.written_bytes);
        disk_flushes: Option<u64> = |row| row.disk.and_then(|disk| disk.flushes);
        disk_flush_ns: Option<u64> = |row| row.disk.and_then(|disk| disk.flush_ns);
        disk_busy_ns: Option<u64> = |row| row.disk.map(|disk| disk.busy_ns);
        loopback_bytes: u64 = |row| row.loopback_bytes;
        loopback_packets: u64 = |row| row.loopback_packets;
        #[serde(default)]
        group_periods: Option<u64> = |row| row.group_periods;
        #[serde(default)]
        held_back_periods: Option<u64> = |row| row.held_back_periods;
    }
}

/// The history of one tree, and whose it is. Several may share a role (writers, or a server that was restarted).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeRecord {
    /// The role: source, writer, reader, coordinator, server, trial or probe.
    pub role: String,
    /// The figures.
    pub columns: TreeColumns,
    /// Why figures are missing, each reason once.
    pub notes: Vec<String>,
}

/// A named span. Both ends have a sample of their own, taken when it was marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name: load, settle, run, …
    pub name: String,
    /// Monotonic time of its first sample.
    pub start_ns: u64,
    /// Monotonic time of its last sample.
    pub end_ns: u64,
}

/// What the sampling itself has cost and how punctual it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingCost {
    /// Samples taken.
    pub samples: u64,
    /// CPU time of the sampling thread, all samples together.
    pub cpu_ns: u64,
    /// CPU time of the dearest sample (one with the proportional set size, as a rule).
    pub dearest_ns: u64,
    /// Longest delay of a sample behind its deadline.
    pub latest_ns: u64,
    /// Deadlines that passed without a sample, because the one before took longer than the period.
    pub missed: u64,
}

/// All that was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Version of this shape.
    pub schema_version: u32,
    /// Wall-clock time of the first sample, RFC 3339, UTC.
    pub started_at: String,
    /// Monotonic time at `started_at`.
    pub started_monotonic_ns: u64,
    /// Time between two samples.
    pub period_ns: u64,
    /// One entry a tree, in the order in which they were added.
    pub trees: Vec<TreeRecord>,
    /// The host.
    pub host: HostColumns,
    /// Phases in the order in which they ended.
    pub phases: Vec<Phase>,
    /// Limits that totals judge the host's quiet by.
    pub limits: DisturbanceLimits,
    /// The cost of sampling.
    pub cost: SamplingCost,
    /// Samples that failed, each reason once.
    pub failures: Vec<String>,
}

/// Version of the recording's shape.
const SCHEMA_VERSION: u32 = 1;

/// Columns that older recordings lack.
const LATER_COLUMNS: [&str; 4] =
    ["retransmitted_segments", "round_trip_ns", "group_periods", "held_back_periods"];

impl Recording {
    /// Whether each sample has all its figures. A damaged file may lack some.
    pub fn is_whole(&self) -> bool {
        let mut trees = self.trees.iter();
        trees.all(|tree| tree.columns.is_whole(&LATER_COLUMNS)) && self.host.is_whole(&LATER_COLUMNS)
    }

    /// One that begins now, with nothing in it.
    #[must_use]
    pub fn begun(period: Duration, limits: DisturbanceLimits) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            started_at: jiff::Timestamp::now().to_string(),
            started_monotonic_ns: monotonic_ns(),
            period_ns: u64::try_from(period.as_nanos()).unwrap_or(u64::MAX),
            trees: Vec::new(),
            host: HostColumns::default(),
            phases: Vec::new(),
            limits,
            cost: SamplingCost::default(),
            failures: Vec::new(),
        }
    }
}

impl TreeRecord {
    /// A tree of this role, before its first sample.
    #[must_use]
    pub fn of(role: &str) -> Self {
        Self { role: role.to_owned(), columns: TreeColumns::default(), notes: Vec::new() }
    }

    /// Takes in a sample, with its notes once each.
    pub fn push(&mut self, monotonic_ns: u64, sample: &TreeSample) {
        self.columns.push(monotonic_ns, sample);
        for reason in &sample.notes {
            if !self.notes.contains(reason) {
                self.notes.push(reason.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_takes_the_rows_at_both_its_ends() {
        let mut columns = TreeColumns::default();
        for at in [10, 20, 30, 40] {
            columns.push(at, &TreeSample::default());
        }
        assert_eq!(columns.within(20, 30), Some((1, 2)));
        assert_eq!(columns.within(21, 29), None);
        assert_eq!(columns.within(0, 100), Some((0, 3)));
    }

    #[test]
    fn columns_serialise_as_lists_with_units_in_their_names() {
        let mut columns = TreeColumns::default();
        columns.push(5, &TreeSample::default());
        let json = serde_json::to_value(&columns).expect("json");
        assert_eq!(json["monotonic_ns"], serde_json::json!([5]));
        assert_eq!(json["proportional_bytes"], serde_json::json!([null]));
    }
}
