//! The kinds of hosts that roles ran on besides the coordinator's, as the probes there tell them.

use crate::prelude::*;

/// Each such host; none where all roles ran on one.
pub fn table(field: &Field) -> Table {
    let mut table = Table::new(
        "role_hosts",
        "Other hosts that roles ran on",
        "role; host; kernel; processors; memory [GB]; phases within [± ms]",
    );
    let mut hosts: BTreeMap<(&str, &str), Vec<&ProbeRecord>> = BTreeMap::new();
    for one in field.by_arm().flat_map(|trial| &trial.client_probes) {
        let host = one.probe.host.as_deref().unwrap_or("this machine");
        hosts.entry((one.role.as_str(), host)).or_default().push(&one.probe);
    }
    for ((role, host), probes) in hosts {
        let round_trips = probes.iter().map(|probe| probe.longest_round_trip_ns);
        table.row(row![
            role,
            host,
            &probes[0].kernel,
            probes[0].processors,
            probes[0].memory_bytes as f64 / 1e9,
            fixed(round_trips.max().unwrap_or(0) as f64 / 1e6, 1),
        ]);
        for missing in probes.iter().flat_map(|probe| &probe.missing) {
            table.note(format!("{role} on {host}: not measured: {missing}"));
        }
    }
    table.note("A phase there begins and ends within this time of the phase here, at worst.");
    table
}
