//! The kinds of hosts that roles ran on besides the coordinator's, as the probes there tell them.

use crate::prelude::*;

/// Each such host; none where all roles ran on one.
pub fn table(field: &Field) -> Table {
    let mut table = Table::new(
        "role_hosts",
        "Other hosts that roles ran on",
        &["role", "host", "kernel", "processors", "memory [GB]", "phases within [± ms]"],
    );
    for (role, seen) in hosts(field) {
        table.row(row![
            role,
            seen.host,
            seen.kernel,
            seen.processors,
            seen.memory_bytes as f64 / 1e9,
            fixed(seen.longest_round_trip_ns as f64 / 1e6, 1),
        ]);
        for missing in seen.missing {
            table.note(format!("{role} on {}: not measured: {missing}", seen.host));
        }
    }
    table.note("A phase there begins and ends within this time of the phase here, at worst.");
    table
}

/// A host with what any trial's probe said of it.
struct Host<'a> {
    host: &'a str,
    kernel: &'a str,
    processors: u64,
    memory_bytes: u64,
    longest_round_trip_ns: u64,
    missing: Vec<&'a str>,
}

fn hosts(field: &Field) -> Vec<(&str, Host<'_>)> {
    let mut hosts: Vec<(&str, Host<'_>)> = vec![];
    for one in field.by_arm().flat_map(|trial| &trial.client_probes) {
        let (role, probe) = (one.role.as_str(), &one.probe);
        let host = probe.host.as_deref().unwrap_or("this machine");
        let mut known = hosts.iter();
        let place = match known.position(|(name, known)| *name == role && known.host == host) {
            Some(place) => place,
            None => {
                let seen = Host {
                    host,
                    kernel: &probe.kernel,
                    processors: probe.processors,
                    memory_bytes: probe.memory_bytes,
                    longest_round_trip_ns: 0,
                    missing: vec![],
                };
                hosts.push((role, seen));
                hosts.len() - 1
            }
        };
        let seen = &mut hosts[place].1;
        seen.longest_round_trip_ns = seen.longest_round_trip_ns.max(probe.longest_round_trip_ns);
        for missing in &probe.missing {
            if !seen.missing.contains(&missing.as_str()) {
                seen.missing.push(missing);
            }
        }
    }
    hosts.sort_by_key(|(role, host)| (*role, host.host));
    hosts
}
