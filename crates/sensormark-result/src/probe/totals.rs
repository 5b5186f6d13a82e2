//! Totals of a phase from a recording: pure arithmetic on columns, so that a report can derive them again at any time.

use std::collections::BTreeMap;

use sensormark_data::units::round_u64;
use serde::{Deserialize, Serialize};

use super::disturbance::{Disturbance, DisturbanceLimits};
use super::host::HostSample;
use super::recording::{HostColumns, Phase, Recording, TreeColumns};

/// What the processes of one role used in a phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleTotals {
    /// CPU time, the finest that the kernel gives.
    pub cpu_ns: u64,
    /// CPU time in user mode, in ticks of 10 ms: quote nothing of a phase under 2 s from it.
    pub cpu_user_ns: u64,
    /// CPU time in system mode, in ticks of 10 ms.
    pub cpu_system_ns: u64,
    /// Time in which threads were ready to run and had no core.
    pub cpu_wait_ns: u64,
    /// `cpu_ns` as percent of one core over the phase.
    pub cpu_percent_of_core: f64,
    /// Times that a thread was put on a core.
    pub context_switches: u64,
    /// Largest resident memory of any sample of the phase, summed over the role's trees at that time.
    pub peak_resident_bytes: u64,
    /// Resident memory at the end.
    pub end_resident_bytes: u64,
    /// Proportional set size at the end, where it was asked for.
    pub end_proportional_bytes: Option<u64>,
    /// Fetched from storage.
    pub storage_read_bytes: Option<u64>,
    /// Written to storage: what the kernel charged to the processes ([`RoleTotals::storage_dirtied_bytes`]), at most what the data
    /// folder's device wrote in the phase. The charge alone misleads where the kernel counts whole folios: on ext4 of Linux 6.18
    /// a synced write of 8 kB is charged with up to 2 MB. Other programs' writes raise the bound; what is written back
    /// after the phase is not in it.
    pub storage_written_bytes: Option<u64>,
    /// Pages dirtied, as the kernel charges them.
    pub storage_dirtied_bytes: Option<u64>,
    /// Dirtied pages dropped before they were written.
    pub storage_cancelled_bytes: Option<u64>,
    /// TCP payload sent.
    pub sent_payload_bytes: Option<u64>,
    /// TCP payload received.
    pub received_payload_bytes: Option<u64>,
    /// Sent on the wire, headers included.
    pub sent_wire_bytes: Option<u64>,
    /// Received on the wire, headers included.
    pub received_wire_bytes: Option<u64>,
    /// TCP segments that were sent more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmitted_segments: Option<u64>,
    /// Mean over the samples of the connections' round-trip time, as the kernel smooths it, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_round_trip_ns: Option<u64>,
}

impl RoleTotals {
    /// What a server holds at the end, each page once: the proportional set size, or resident memory where that was not read. The latter counts what
    /// processes share since one was forked from the other for each of them, and of shared memory what one process has touched.
    pub fn end_held_bytes(&self) -> u64 {
        self.end_proportional_bytes.unwrap_or(self.end_resident_bytes)
    }

    /// Read from storage and written to it. None where the kernel did not say.
    pub fn storage_bytes(&self) -> Option<u64> {
        let read = self.storage_read_bytes?;
        Some(read.saturating_add(self.storage_written_bytes?))
    }

    /// Sent and received, with headers. None where it was not counted.
    pub fn wire_bytes(&self) -> Option<u64> {
        let sent = self.sent_wire_bytes?;
        Some(sent.saturating_add(self.received_wire_bytes?))
    }
}

/// What the host did in a phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostTotals {
    /// Processors online.
    pub processors: u64,
    /// User mode, all processors.
    pub cpu_user_ns: u64,
    /// System mode, interrupts included.
    pub cpu_system_ns: u64,
    /// Idle while a disk was waited for.
    pub cpu_iowait_ns: u64,
    /// Given to another guest.
    pub cpu_steal_ns: u64,
    /// The kernel's own threads.
    pub kernel_threads_ns: u64,
    /// Mean of the one-minute load average over the samples.
    pub mean_load: f64,
    /// Least memory available in any sample.
    pub least_available_bytes: u64,
    /// Swap traffic, both ways.
    pub swapped_bytes: u64,
    /// Bytes that the disk read.
    pub disk_read_bytes: Option<u64>,
    /// Bytes that the disk wrote, everybody's.
    pub disk_written_bytes: Option<u64>,
    /// Flushes that the disk completed.
    pub disk_flushes: Option<u64>,
    /// Time in which the disk was busy.
    pub disk_busy_ns: Option<u64>,
    /// Bytes over the loopback interface, everybody's.
    pub loopback_bytes: u64,
    /// Periods in which the control group that limits the run most worked; absent without such a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_periods: Option<u64>,
    /// Periods in which the kernel held that group back until the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back_periods: Option<u64>,
}

/// Totals of one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseTotals {
    /// Its length.
    pub span_ns: u64,
    /// By role.
    pub roles: BTreeMap<String, RoleTotals>,
    /// The host.
    pub host: HostTotals,
    /// How quiet the host was. All watched trees count as ours: the coordinator has to be one of them.
    pub disturbance: Disturbance,
    /// The host of a server that a probe watched on another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_host: Option<ServerHost>,
    /// Other hosts that ran a part of the client, as probes there saw them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_hosts: Vec<ClientHost>,
}

/// What another host did in a phase, on which a probe watched the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerHost {
    /// The phase's length by its own clock.
    pub span_ns: u64,
    /// The host.
    pub host: HostTotals,
    /// How quiet it was: the server and the probe count as ours.
    pub disturbance: Disturbance,
}

/// What another host did in a phase, on which a part of the client ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientHost {
    /// Its name, as the user gave it; several, where one kernel has them all.
    pub name: String,
    /// Clients that worked there.
    pub clients: u32,
    /// The phase's length by its own clock.
    pub span_ns: u64,
    /// What the client's processes used there.
    pub roles: BTreeMap<String, RoleTotals>,
    /// The host.
    pub host: HostTotals,
    /// How quiet it was: the client, the server if it is there, and their probes count as ours.
    pub disturbance: Disturbance,
}

impl PhaseTotals {
    /// Takes in what a probe has seen of the server in the same phase. `is_here`: on the same host, so that its processes are no disturbance.
    pub fn add_server(&mut self, seen: &Self, is_here: bool, limits: &DisturbanceLimits) {
        if let Some(server) = seen.roles.get("server") {
            self.roles.insert("server".to_owned(), server.clone());
        }
        if !is_here {
            self.server_host = Some(ServerHost {
                span_ns: seen.span_ns,
                host: seen.host.clone(),
                disturbance: seen.disturbance.clone(),
            });
            return;
        }
        self.count_as_ours(seen.roles.values().map(|role| role.cpu_ns).sum(), limits);
        let (own, theirs) = (&mut self.host, &seen.host);
        // The coordinator does not know the folder of the data, and so follows no disk.
        own.disk_read_bytes = own.disk_read_bytes.or(theirs.disk_read_bytes);
        own.disk_written_bytes = own.disk_written_bytes.or(theirs.disk_written_bytes);
        own.disk_flushes = own.disk_flushes.or(theirs.disk_flushes);
        own.disk_busy_ns = own.disk_busy_ns.or(theirs.disk_busy_ns);
    }

    /// Takes in what programs of a task used, such as those that back up: they are on the database's side, whose role this is.
    pub fn add_programs(&mut self, role: &str, seconds: f64, limits: &DisturbanceLimits) {
        let cpu_ns = round_u64(seconds * 1e9);
        let used = self.roles.entry(role.to_owned()).or_default();
        used.cpu_ns += cpu_ns;
        used.cpu_percent_of_core = used.cpu_ns as f64 * 100.0 / self.span_ns.max(1) as f64;
        self.count_as_ours(cpu_ns, limits);
    }

    fn count_as_ours(&mut self, cpu_ns: u64, limits: &DisturbanceLimits) {
        self.disturbance = self.disturbance.less(cpu_ns, self.span_ns * self.host.processors, limits);
    }
}

impl Recording {
    /// The phase of this name; the last one, if there are several.
    #[must_use]
    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().rev().find(|phase| phase.name == name)
    }

    /// Totals between two instants of the monotonic clock, from the samples between them, both ends included. `None`
    /// when there are fewer than two samples.
    #[must_use]
    pub fn totals(&self, start_ns: u64, end_ns: u64) -> Option<PhaseTotals> {
        let (first, last) = self.host.within(start_ns, end_ns)?;
        if first == last {
            return None;
        }
        let span_ns = self.host.monotonic_ns[last] - self.host.monotonic_ns[first];
        let mut roles: BTreeMap<String, RoleTotals> = BTreeMap::new();
        let mut resident: BTreeMap<(&str, u64), u64> = BTreeMap::new();
        for tree in &self.trees {
            let Some(rows) = tree.columns.within(start_ns, end_ns) else {
                continue;
            };
            let is_first = !roles.contains_key(&tree.role);
            let role = roles.entry(tree.role.clone()).or_default();
            add_tree(role, &tree.columns, rows, is_first);
            for row in rows.0..=rows.1 {
                let at = tree.columns.monotonic_ns[row];
                *resident.entry((&tree.role, at)).or_default() += tree.columns.resident_bytes[row];
            }
        }
        for ((name, _), bytes) in resident {
            if let Some(role) = roles.get_mut(name) {
                role.peak_resident_bytes = role.peak_resident_bytes.max(bytes);
            }
        }
        let host = host_totals(&self.host, first, last);
        for role in roles.values_mut() {
            role.storage_written_bytes = bounded(role.storage_dirtied_bytes, host.disk_written_bytes);
            role.cpu_percent_of_core = role.cpu_ns as f64 * 100.0 / span_ns.max(1) as f64;
        }
        let our_cpu_ns = roles.values().map(|role| role.cpu_ns).sum();
        Some(PhaseTotals {
            span_ns,
            host,
            disturbance: Disturbance::between(
                &host_row(&self.host, first),
                &host_row(&self.host, last),
                span_ns,
                our_cpu_ns,
                &self.limits,
            ),
            server_host: None,
            client_hosts: Vec::new(),
            roles,
        })
    }

    /// Totals of a phase; see [`Recording::totals`].
    #[must_use]
    pub fn phase_totals(&self, phase: &Phase) -> Option<PhaseTotals> {
        self.totals(phase.start_ns, phase.end_ns)
    }
}

fn add_tree(role: &mut RoleTotals, columns: &TreeColumns, (first, last): (usize, usize), is_first: bool) {
    let rise = |column: &[u64]| column[last].saturating_sub(column[first]);
    let rise_of = |sum: &mut Option<u64>, column: &[Option<u64>]| {
        let rise = column[last].zip(column[first]).map(|(last, first)| last.saturating_sub(first));
        *sum = plus(*sum, rise, is_first);
    };
    role.cpu_ns += rise(&columns.cpu_ns);
    role.cpu_user_ns += rise(&columns.cpu_user_ns);
    role.cpu_system_ns += rise(&columns.cpu_system_ns);
    role.cpu_wait_ns += rise(&columns.cpu_wait_ns);
    role.context_switches += rise(&columns.context_switches);
    role.end_resident_bytes += columns.resident_bytes[last];
    role.end_proportional_bytes =
        plus(role.end_proportional_bytes, columns.proportional_bytes[last], is_first);
    rise_of(&mut role.storage_read_bytes, &columns.storage_read_bytes);
    rise_of(&mut role.storage_dirtied_bytes, &columns.storage_written_bytes);
    rise_of(&mut role.storage_cancelled_bytes, &columns.storage_cancelled_bytes);
    rise_of(&mut role.sent_payload_bytes, &columns.sent_payload_bytes);
    rise_of(&mut role.received_payload_bytes, &columns.received_payload_bytes);
    rise_of(&mut role.sent_wire_bytes, &columns.sent_wire_bytes);
    rise_of(&mut role.received_wire_bytes, &columns.received_wire_bytes);
    // Samples that were kept before there were such columns have none.
    if columns.retransmitted_segments.len() > last && columns.round_trip_ns.len() > last {
        rise_of(&mut role.retransmitted_segments, &columns.retransmitted_segments);
        let round_trips = columns.round_trip_ns[first..=last].iter().flatten();
        let count = round_trips.clone().count() as u64;
        let mean = round_trips.sum::<u64>().checked_div(count);
        role.mean_round_trip_ns = role.mean_round_trip_ns.max(mean);
    }
}

/// A charge, at most the bound where there is one.
fn bounded(charge: Option<u64>, bound: Option<u64>) -> Option<u64> {
    charge.map(|charge| bound.map_or(charge, |bound| charge.min(bound)))
}

/// A sum with an unknown part is unknown.
fn plus(sum: Option<u64>, part: Option<u64>, is_first: bool) -> Option<u64> {
    if is_first {
        return part;
    }
    sum.zip(part).map(|(sum, part)| sum + part)
}

fn host_totals(host: &HostColumns, first: usize, last: usize) -> HostTotals {
    let rise = |column: &[u64]| column[last].saturating_sub(column[first]);
    let rise_of = |column: &[Option<u64>]| {
        // Recordings of older versions lack some columns.
        let of = |row: usize| column.get(row).copied().flatten();
        let (last, first) = of(last).zip(of(first))?;
        Some(last.saturating_sub(first))
    };
    let loads = &host.load_one[first..=last];
    let available = &host.memory_available_bytes[first..=last];
    HostTotals {
        processors: host.processors[last],
        cpu_user_ns: rise(&host.cpu_user_ns),
        cpu_system_ns: rise(&host.cpu_system_ns),
        cpu_iowait_ns: rise(&host.cpu_iowait_ns),
        cpu_steal_ns: rise(&host.cpu_steal_ns),
        kernel_threads_ns: rise(&host.kernel_threads_ns),
        mean_load: loads.iter().sum::<f64>() / loads.len() as f64,
        least_available_bytes: available.iter().copied().min().unwrap_or(0),
        swapped_bytes: rise(&host.swap_in_bytes) + rise(&host.swap_out_bytes),
        disk_read_bytes: rise_of(&host.disk_read_bytes),
        disk_written_bytes: rise_of(&host.disk_written_bytes),
        disk_flushes: rise_of(&host.disk_flushes),
        disk_busy_ns: rise_of(&host.disk_busy_ns),
        loopback_bytes: rise(&host.loopback_bytes),
        group_periods: rise_of(&host.group_periods),
        held_back_periods: rise_of(&host.held_back_periods),
    }
}

/// The part of a host sample that a disturbance is judged by.
fn host_row(host: &HostColumns, row: usize) -> HostSample {
    HostSample {
        processors: host.processors[row],
        cpu_user_ns: host.cpu_user_ns[row],
        cpu_system_ns: host.cpu_system_ns[row],
        cpu_steal_ns: host.cpu_steal_ns[row],
        kernel_threads_ns: host.kernel_threads_ns[row],
        swap_in_bytes: host.swap_in_bytes[row],
        swap_out_bytes: host.swap_out_bytes[row],
        ..HostSample::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_of_whole_folios_is_bounded_by_what_the_device_wrote() {
        assert_eq!(bounded(Some(2 << 20), Some(16_384)), Some(16_384));
        assert_eq!(bounded(Some(4_096), Some(16_384)), Some(4_096));
        assert_eq!(bounded(Some(4_096), None), Some(4_096));
        assert_eq!(bounded(None, Some(16_384)), None);
    }

    use crate::probe::recording::{SamplingCost, TreeRecord};
    use crate::probe::tree::TreeSample;

    fn record(role: &str, rows: &[(u64, u64, u64)]) -> TreeRecord {
        let mut columns = TreeColumns::default();
        for (at, cpu_ns, resident_bytes) in rows {
            let sample = TreeSample {
                cpu_ns: *cpu_ns,
                resident_bytes: *resident_bytes,
                storage_read_bytes: Some(*cpu_ns),
                ..TreeSample::default()
            };
            columns.push(*at, &sample);
        }
        TreeRecord { role: role.to_owned(), columns, notes: Vec::new() }
    }

    fn recording(trees: Vec<TreeRecord>) -> Recording {
        let mut host = HostColumns::default();
        for at in [0, 100, 200, 300] {
            let sample = HostSample { processors: 2, cpu_user_ns: at, ..HostSample::default() };
            host.push(at, &sample);
        }
        Recording {
            schema_version: 1,
            started_at: String::new(),
            started_monotonic_ns: 0,
            period_ns: 100,
            trees,
            host,
            phases: Vec::new(),
            limits: crate::probe::DisturbanceLimits::default(),
            cost: SamplingCost::default(),
            failures: Vec::new(),
        }
    }

    #[test]
    fn trees_of_one_role_add_up_and_peaks_are_of_one_time() {
        let recording = recording(vec![
            record("writer", &[(0, 0, 5), (100, 60, 50), (200, 80, 10)]),
            record("writer", &[(100, 0, 5), (200, 30, 60)]),
            record("server", &[(0, 10, 1), (200, 20, 1)]),
        ]);
        let totals = recording.totals(0, 200).expect("totals");
        let writer = &totals.roles["writer"];
        assert_eq!((writer.cpu_ns, writer.storage_read_bytes), (110, Some(110)));
        assert_eq!((writer.peak_resident_bytes, writer.end_resident_bytes), (70, 70));
        assert!((writer.cpu_percent_of_core - 55.0).abs() < 1e-9);
        assert_eq!(totals.roles["server"].cpu_ns, 10);
        assert_eq!(totals.span_ns, 200);
        assert!((totals.disturbance.other_share - 80.0 / 400.0).abs() < 1e-9);
        assert_eq!(writer.sent_wire_bytes, None);
    }

    #[test]
    fn a_server_that_a_probe_saw_is_ours_here_and_has_its_own_host_elsewhere() {
        let limits = DisturbanceLimits::default();
        let busy = Disturbance { other_share: 0.5, ..Disturbance::default() };
        let own = PhaseTotals {
            span_ns: 1_000,
            host: HostTotals { processors: 2, ..HostTotals::default() },
            disturbance: busy.clone(),
            ..PhaseTotals::default()
        };
        let role = |cpu_ns| RoleTotals { cpu_ns, ..RoleTotals::default() };
        let mut seen = PhaseTotals { disturbance: busy, ..PhaseTotals::default() };
        seen.host.disk_written_bytes = Some(7);
        seen.roles.insert("server".to_owned(), role(900));
        seen.roles.insert("probe".to_owned(), role(20));
        let mut here = own.clone();
        here.add_server(&seen, true, &limits);
        assert!((here.disturbance.other_share - 0.04).abs() < 1e-9);
        assert!(!here.disturbance.is_disturbed() && here.server_host.is_none());
        assert_eq!(here.roles.keys().collect::<Vec<_>>(), ["server"]);
        assert_eq!(here.host.disk_written_bytes, Some(7));
        let mut there = own;
        there.add_server(&seen, false, &limits);
        let host = there.server_host.expect("another host");
        assert_eq!(host.host.disk_written_bytes, Some(7));
        assert_eq!(there.host.disk_written_bytes, None);
    }

    /// A backup's program was taken for somebody else's.
    #[test]
    fn programs_of_a_task_are_on_the_databases_side_and_disturb_nobody() {
        let limits = DisturbanceLimits::default();
        let mut totals = PhaseTotals {
            span_ns: 1_000_000_000,
            host: HostTotals { processors: 2, ..HostTotals::default() },
            disturbance: Disturbance { other_share: 0.5, ..Disturbance::default() },
            ..PhaseTotals::default()
        };
        totals.roles.insert("server".to_owned(), RoleTotals { cpu_ns: 100_000_000, ..RoleTotals::default() });
        totals.add_programs("server", 0.9, &limits);
        assert!((totals.disturbance.other_share - 0.05).abs() < 1e-9);
        assert!(!totals.disturbance.is_disturbed());
        assert_eq!(totals.roles["server"].cpu_ns, 1_000_000_000);
        assert!((totals.roles["server"].cpu_percent_of_core - 100.0).abs() < 1e-9);
    }

    #[test]
    fn one_sample_gives_no_totals() {
        assert_eq!(recording(Vec::new()).totals(100, 150), None);
    }
}
