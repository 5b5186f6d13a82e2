//! Totals of a phase that several hosts made together. What each of them saw is in [`super::totals`].

use super::disturbance::DisturbanceLimits;
use super::totals::{ClientHost, PhaseTotals, RoleTotals};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// What a probe saw of one process of the client in a phase.
#[derive(Debug, Clone)]
pub struct ClientSeen {
    /// The host's name.
    pub host: String,
    /// The boot of its kernel.
    pub boot: String,
    /// Whether that kernel is the coordinator's too.
    pub is_here: bool,
    /// Clients that the process had in the phase.
    pub clients: u32,
    /// What it used.
    pub used: RoleTotals,
    /// The host, and what the probe saw of all its own processes there.
    pub totals: PhaseTotals,
}

impl ClientHost {
    /// What the host is to the trial, with its name: "load host b", "the writer's host pi1".
    pub fn title(&self) -> String {
        match self.roles.keys().next().map(String::as_str) {
            Some(role @ ("writer" | "reader")) => format!("the {role}'s host {}", self.name),
            _ => format!("load host {}", self.name),
        }
    }

    /// That of the first process there.
    fn of(role: &str, seen: ClientSeen) -> Self {
        Self {
            name: seen.host,
            clients: seen.clients,
            span_ns: seen.totals.span_ns,
            roles: BTreeMap::from([(role.to_owned(), seen.used)]),
            host: seen.totals.host,
            disturbance: seen.totals.disturbance,
        }
    }

    /// Takes in another process on the same kernel, which its own probe saw.
    fn add(&mut self, role: &str, more: ClientSeen, limits: &DisturbanceLimits) {
        if !self.name.split(", ").any(|name| name == more.host) {
            self.name = format!("{}, {}", self.name, more.host);
        }
        self.clients += more.clients;
        self.count_ours(more.totals.cpu_ns(), limits);
        add_role(&mut self.roles, role.to_owned(), more.used);
    }

    /// So much of what others used there was ours.
    fn count_ours(&mut self, cpu_ns: u64, limits: &DisturbanceLimits) {
        let capacity_ns = self.span_ns * self.host.processors;
        self.disturbance = self.disturbance.less(cpu_ns, capacity_ns, limits);
    }
}

impl PhaseTotals {
    /// Adds what probes saw of the processes of this role on other hosts. Processes on one kernel are one host, and no disturbance of each other.
    ///
    /// Where a probe watched the server, `server` has its kernel's boot and the processor time of its processes.
    pub fn add_clients(
        &mut self,
        role: &str,
        seen: Vec<ClientSeen>,
        server: Option<(&str, u64)>,
        limits: &DisturbanceLimits,
    ) {
        let mut hosts: BTreeMap<String, ClientHost> = BTreeMap::new();
        for one in seen {
            let used_ns = one.totals.cpu_ns();
            if let Some(host) = &mut self.server_host
                && server.is_some_and(|(boot, _)| boot == one.boot)
            {
                let capacity_ns = host.span_ns * host.host.processors;
                host.disturbance = host.disturbance.less(used_ns, capacity_ns, limits);
            }
            add_role(&mut self.roles, role.to_owned(), one.used.clone());
            if one.is_here {
                let capacity_ns = self.span_ns * self.host.processors;
                self.disturbance = self.disturbance.less(used_ns, capacity_ns, limits);
                continue;
            }
            match hosts.entry(one.boot.clone()) {
                Entry::Occupied(mut host) => host.get_mut().add(role, one, limits),
                Entry::Vacant(host) => {
                    let server = server.filter(|(boot, _)| *boot == one.boot);
                    let host = host.insert(ClientHost::of(role, one));
                    host.count_ours(server.map_or(0, |(_, cpu_ns)| cpu_ns), limits);
                }
            }
        }
        self.client_hosts.extend(hosts.into_values());
        let by_name = |one: &ClientHost, other: &ClientHost| one.name.cmp(&other.name);
        self.client_hosts.sort_by(by_name);
    }

    /// Processor time of all roles.
    pub fn cpu_ns(&self) -> u64 {
        self.roles.values().map(|role| role.cpu_ns).sum()
    }
}

/// Adds what processes of a role used on another host to those of the same name.
fn add_role(roles: &mut BTreeMap<String, RoleTotals>, name: String, more: RoleTotals) {
    match roles.entry(name) {
        Entry::Occupied(mut role) => role.get_mut().add(&more),
        Entry::Vacant(role) => {
            role.insert(more);
        }
    }
}

impl RoleTotals {
    /// Adds what processes of the same role used on another host.
    fn add(&mut self, more: &Self) {
        for (sum, more) in [
            (&mut self.cpu_ns, more.cpu_ns),
            (&mut self.cpu_user_ns, more.cpu_user_ns),
            (&mut self.cpu_system_ns, more.cpu_system_ns),
            (&mut self.cpu_wait_ns, more.cpu_wait_ns),
            (&mut self.context_switches, more.context_switches),
            (&mut self.peak_resident_bytes, more.peak_resident_bytes),
            (&mut self.end_resident_bytes, more.end_resident_bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.cpu_percent_of_core += more.cpu_percent_of_core;
        // What one host does not know is not known of both.
        for (sum, more) in [
            (&mut self.end_proportional_bytes, more.end_proportional_bytes),
            (&mut self.storage_read_bytes, more.storage_read_bytes),
            (&mut self.storage_written_bytes, more.storage_written_bytes),
            (&mut self.storage_dirtied_bytes, more.storage_dirtied_bytes),
            (&mut self.storage_cancelled_bytes, more.storage_cancelled_bytes),
            (&mut self.sent_payload_bytes, more.sent_payload_bytes),
            (&mut self.received_payload_bytes, more.received_payload_bytes),
            (&mut self.sent_wire_bytes, more.sent_wire_bytes),
            (&mut self.received_wire_bytes, more.received_wire_bytes),
            (&mut self.retransmitted_segments, more.retransmitted_segments),
        ] {
            *sum = sum.zip(more).map(|(sum, more): (u64, u64)| sum.saturating_add(more));
        }
        // A mean has no sum: the host that is farther away says it.
        let round_trips = self.mean_round_trip_ns.zip(more.mean_round_trip_ns);
        self.mean_round_trip_ns = round_trips.map(|(one, more)| one.max(more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Disturbance;

    #[test]
    fn what_one_host_does_not_know_is_not_known_of_both() {
        let of = |cpu_ns, retransmitted, round_trip_ns| RoleTotals {
            cpu_ns,
            retransmitted_segments: retransmitted,
            mean_round_trip_ns: round_trip_ns,
            ..RoleTotals::default()
        };
        let mut load = of(3, Some(1), Some(50));
        load.add(&of(4, Some(2), Some(70)));
        assert_eq!((load.cpu_ns, load.retransmitted_segments), (7, Some(3)));
        assert_eq!(load.mean_round_trip_ns, Some(70), "the farther host's");
        load.add(&of(5, None, None));
        assert_eq!((load.cpu_ns, load.retransmitted_segments), (12, None));
        assert_eq!(load.mean_round_trip_ns, None);
    }

    fn seen(host: &str, boot: &str, cpu_ns: u64, is_here: bool) -> ClientSeen {
        let role = |cpu_ns| RoleTotals { cpu_ns, sent_wire_bytes: Some(5), ..RoleTotals::default() };
        let roles = [("load", cpu_ns), ("probe", 10)];
        let mut totals = PhaseTotals {
            span_ns: 1_000,
            roles: roles.map(|(name, ns)| (name.to_owned(), role(ns))).into(),
            disturbance: Disturbance { other_share: 0.5, ..Disturbance::default() },
            ..PhaseTotals::default()
        };
        totals.host.processors = 2;
        ClientSeen {
            host: host.to_owned(),
            boot: boot.to_owned(),
            is_here,
            clients: 3,
            used: role(cpu_ns),
            totals,
        }
    }

    /// Two roles on one kernel are no disturbance of each other, nor is the server there; others' work on a host is one.
    #[test]
    fn processes_on_one_kernel_are_one_host() {
        let limits = DisturbanceLimits::default();
        let mut totals = PhaseTotals { span_ns: 1_000, ..PhaseTotals::default() };
        totals.host.processors = 2;
        totals.disturbance.other_share = 0.6;
        let all = vec![
            seen("a", "one", 300, false),
            seen("b", "two", 100, false),
            seen("c", "two", 390, false),
            seen("d", "own", 890, true),
        ];
        totals.add_clients("trial", all, Some(("two", 600)), &limits);
        let load = &totals.roles["trial"];
        assert_eq!((load.cpu_ns, load.sent_wire_bytes), (1_680, Some(20)));
        assert_eq!(totals.roles.len(), 1, "no probes");
        // 0.6 less 900 of 2,000.
        assert!((totals.disturbance.other_share - 0.15).abs() < 1e-9);
        let [a, both] = totals.client_hosts.as_slice() else {
            panic!("{:?}", totals.client_hosts);
        };
        assert_eq!((a.title().as_str(), a.clients), ("load host a", 3));
        assert!(a.disturbance.other_share == 0.5);
        assert_eq!((both.name.as_str(), both.clients), ("b, c", 6));
        assert_eq!(both.roles["trial"].cpu_ns, 490);
        assert!(both.disturbance.other_share.abs() < 1e-9, "{both:?}");
    }
}
