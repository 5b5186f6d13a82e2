//! What probes saw of the trial's processes on other hosts, as part of the trial's record.

use super::role_probes::SeenRole;
use super::watch::Seen;
use crate::server_probe::Probed;
use sensormark_result::measurement::record::LoadRecord;
use sensormark_result::measurement::server::{ClientProbeRecord, ProbeRecord};
use sensormark_result::probe::{ClientSeen, PhaseTotals};
use std::collections::BTreeSet;

/// Adds what the processes of the trial's role used on other hosts in the phase of this number and name. Where one of them was not seen, the role has no figures:
/// a sum without it would be too small.
pub fn add(totals: &mut PhaseTotals, phase: (usize, &str), role: &str, seen: &Seen, loads: &[LoadRecord]) {
    if seen.roles.is_empty() {
        return;
    }
    let loads: Vec<&LoadRecord> = loads.iter().filter(|load| load.phase == phase.1).collect();
    let clients = seen.roles.iter().map(|one| of_phase(one, phase, &loads));
    let clients: Option<Vec<ClientSeen>> = clients.collect();
    let Some(clients) = clients else {
        totals.roles.remove(role);
        return;
    };
    let server = seen.probed.as_ref().and_then(|probed| {
        let theirs = probed.phase_totals(phase.0, phase.1)?;
        Some((probed.boot.as_str(), theirs.cpu_ns()))
    });
    totals.add_clients(role, clients, server, &seen.recording.limits);
}

/// What was seen of one process in a phase with these loads.
fn of_phase(one: &SeenRole, (number, name): (usize, &str), loads: &[&LoadRecord]) -> Option<ClientSeen> {
    let probed = one.probed.as_ref()?;
    let totals = probed.phase_totals(number, name)?;
    Some(ClientSeen {
        host: one.host.clone(),
        boot: probed.boot.clone(),
        is_here: probed.is_here,
        clients: loads.iter().map(|load| clients_of(load, one.process)).sum(),
        used: totals.roles.get(&one.whose)?.clone(),
        totals,
    })
}

/// How many of a load's clients this process has: client 3 of 8 is that of process 1 of 2.
fn clients_of(load: &LoadRecord, process: usize) -> u32 {
    let process = u32::try_from(process).unwrap_or(u32::MAX);
    let (processes, clients) = (load.processes.max(1), load.clients);
    if process >= processes {
        return 0;
    }
    clients / processes + u32::from(process < clients % processes)
}

/// The samples of each process that was seen, by a name of their own: role and host.
pub fn samples(roles: &[SeenRole]) -> Vec<(String, &Probed)> {
    let mut used = BTreeSet::new();
    let seen = roles.iter().filter_map(|one| Some((one, one.probed.as_ref()?)));
    let named = seen.map(|(one, probed)| {
        let mut name = format!("{}-{}", one.whose, plain(&one.host));
        if !used.insert(name.clone()) {
            name = format!("{name}.{}", one.process);
            used.insert(name.clone());
        }
        (name, probed)
    });
    named.collect()
}

/// A host's name as part of a file's name.
fn plain(host: &str) -> String {
    let is_plain = |character: &char| character.is_ascii_alphanumeric() || "._-".contains(*character);
    let replaced = host.chars();
    replaced.map(|character| if is_plain(&character) { character } else { '_' }).collect()
}

/// The probes, and what kinds of hosts they were on.
pub fn records(roles: &[SeenRole]) -> Vec<ClientProbeRecord> {
    let seen = roles.iter().filter_map(|one| Some((one, one.probed.as_ref()?)));
    let records = seen.map(|(one, probed)| ClientProbeRecord {
        role: one.whose.clone(),
        probe: ProbeRecord {
            // A client has no folder of data.
            missing: without_disk(&probed.record.missing),
            ..probed.record.clone()
        },
    });
    records.collect()
}

fn without_disk(missing: &[String]) -> Vec<String> {
    let others = missing.iter().filter(|text| !text.starts_with("disk: "));
    others.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::trials::load;

    fn role(process: usize, host: &str) -> SeenRole {
        SeenRole { process, whose: "load".to_owned(), host: host.to_owned(), probed: None }
    }

    #[test]
    fn clients_are_shared_out_by_process() {
        let load = LoadRecord { clients: 8, processes: 3, ..load() };
        let shares = [0, 1, 2, 3].map(|process| clients_of(&load, process));
        assert_eq!(shares, [3, 3, 2, 0]);
    }

    #[test]
    fn a_process_that_was_not_seen_leaves_the_columns_empty() {
        let mut totals = PhaseTotals::default();
        totals.roles.insert("trial".to_owned(), Default::default());
        let seen = Seen {
            recording: sensormark_result::probe::Recording::begun(Default::default(), Default::default()),
            probed: None,
            roles: vec![role(0, "a")],
            warnings: Vec::new(),
        };
        add(&mut totals, (0, "load"), "trial", &seen, &[]);
        assert!(totals.roles.is_empty() && totals.client_hosts.is_empty());
    }

    #[test]
    fn a_hosts_name_becomes_a_files() {
        assert_eq!(plain("me@db-1.lan:22/x"), "me_db-1.lan_22_x");
    }
}
