//! Whether the host was disturbed while something was measured, and whether that can have made a source late.

use super::finding::Finding;
use super::work::Work;
use sensormark_result::measurement::record::PhaseRecord;
use sensormark_result::measurement::verdict::ReasonKind;
use sensormark_result::probe::{ClientHost, Disturbance, DisturbanceLimits, HostTotals, PhaseTotals};
use std::collections::BTreeSet;

/// Whether the host was quiet in phases shorter than this, in ns, is judged of all of them together: the kernel counts processor time in ticks of 10 ms.
const MOMENT_NS: u64 = 500_000_000;

/// The share of one processor's time that, taken by the hypervisor, is enough to make a source late: the limit is one of the 99th percentile.
const ENOUGH: f64 = 0.01;

/// In which of these phases a host was disturbed.
pub fn disturbed<'a>(
    phases: impl IntoIterator<Item = &'a PhaseRecord>,
    limits: &DisturbanceLimits,
) -> Vec<Finding> {
    let phases: Vec<&PhaseRecord> = phases.into_iter().collect();
    let disturbances = disturbances(&phases, limits).into_iter();
    let findings = disturbances.map(|(place, names, found)| {
        let name = match names.as_slice() {
            [one] => (*one).to_owned(),
            [first, others @ ..] => format!("{first} and {} more short phases", others.len()),
            [] => String::new(),
        };
        let text = format!("{name}: {place}{}", found.reasons.join(", "));
        Finding::new(ReasonKind::HostDisturbed, text)
    });
    findings.collect()
}

/// The phases, by name, in which a host was disturbed, and how; short ones are judged all together. What comes first says which host, where it is not this one.
pub fn disturbances<'a>(
    phases: &[&'a PhaseRecord],
    limits: &DisturbanceLimits,
) -> Vec<(String, Vec<&'a str>, Disturbance)> {
    let mut all = Vec::new();
    let mut add = |place: &str, found: Vec<(Vec<&'a str>, Disturbance)>| {
        let found = found.into_iter();
        all.extend(found.map(|(names, how)| (place.to_owned(), names, how)));
    };
    let here = of_hosts(phases, limits, |totals| Some((totals.span_ns, &totals.disturbance)));
    add("", here);
    let servers = of_hosts(phases, limits, |totals| {
        let other = totals.server_host.as_ref()?;
        Some((other.span_ns, &other.disturbance))
    });
    add("on the server's host ", servers);
    let totals = phases.iter().filter_map(|phase| phase.totals.as_ref());
    let hosts = totals.flat_map(|totals| &totals.client_hosts);
    let titles: BTreeSet<String> = hosts.map(ClientHost::title).collect();
    for title in titles {
        let clients = of_hosts(phases, limits, |totals| {
            let mut hosts = totals.client_hosts.iter();
            let host = hosts.find(|host| host.title() == title)?;
            Some((host.span_ns, &host.disturbance))
        });
        add(&format!("{title}: "), clients);
    }
    all
}

/// The same of the host that is chosen of each phase's totals, with the phase's length there.
fn of_hosts<'a>(
    phases: &[&'a PhaseRecord],
    limits: &DisturbanceLimits,
    chosen: impl Fn(&'a PhaseTotals) -> Option<(u64, &'a Disturbance)>,
) -> Vec<(Vec<&'a str>, Disturbance)> {
    let (mut found, mut moments, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for phase in phases {
        let Some((span_ns, disturbance)) = phase.totals.as_ref().and_then(&chosen) else {
            continue;
        };
        if span_ns < MOMENT_NS {
            moments.push(disturbance);
            names.push(phase.name.as_str());
        } else {
            found.push((vec![phase.name.as_str()], disturbance.clone()));
        }
    }
    found.extend(Disturbance::together(&moments, limits).map(|together| (names, together)));
    found.retain(|(_, disturbance)| disturbance.is_disturbed());
    found
}

/// Whether only the database can have had the processors that its clients waited for: nobody disturbed their host, and it runs in their process, or beside
/// clients that used half of one core at most.
pub fn had_database(phase: &PhaseRecord, embedded: bool) -> bool {
    let Some(totals) = &phase.totals else { return false };
    let clients = totals.roles.iter().filter(|(role, _)| *role != "server");
    let used_ns: u64 = clients.map(|(_, used)| used.cpu_ns).sum();
    let is_beside = totals.roles.contains_key("server") && used_ns <= totals.span_ns / 2;
    let is_here = totals.server_host.is_none() && totals.client_hosts.is_empty();
    is_here && totals.disturbance.reasons.is_empty() && (embedded || is_beside)
}

/// That the hypervisor took enough of a phase to make its source late, where it was late. Late means the engine's own wake-ups, never the database.
pub fn made_late(phase: &PhaseRecord, works: &[&Work]) -> Option<Finding> {
    let totals = phase.totals.as_ref()?;
    let share = |host: &HostTotals, span_ns: u64| host.cpu_steal_ns as f64 / span_ns.max(1) as f64;
    let there = totals.client_hosts.iter();
    let there = there.map(|host| share(&host.host, host.span_ns));
    // A source that is paced elsewhere is late by what was taken there.
    let share = there.fold(share(&totals.host, totals.span_ns), f64::max);
    let is_late = works.iter().any(|work| work.is_late());
    (is_late && share >= ENOUGH).then(|| {
        let text = format!(
            "{}: the hypervisor took {:.1} % of one processor's time, and {:.1} % are enough to make a source late",
            phase.name,
            share * 100.0,
            ENOUGH * 100.0
        );
        Finding::new(ReasonKind::HostDisturbed, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::trials::with_others;
    use sensormark_result::probe::{RoleTotals, ServerHost};

    #[test]
    fn a_tick_in_a_moment_disturbs_nothing_and_busy_moments_do() {
        let judged = |phases: &[PhaseRecord]| disturbed(phases, &DisturbanceLimits::default());
        let (tick, quiet) = (with_others(60_000_000, 0.16), with_others(60_000_000, 0.0));
        assert_eq!(judged(&[tick.clone(), quiet.clone(), quiet]).len(), 0);
        let busy = judged(&[tick.clone(), tick.clone(), tick]);
        assert_eq!(busy.len(), 1);
        assert!(busy[0].reason.text.contains("ask and 2 more short phases"));
        let long = with_others(MOMENT_NS, 0.16);
        assert_eq!(judged(&[long.clone(), long]).len(), 2);
    }

    /// QuestDB's idle threads made clients that used 4 % of a core wait for up to 1.65 ms.
    #[test]
    fn a_server_beside_clients_that_do_little_makes_them_late() {
        let mut phase = with_others(2 * MOMENT_NS, 0.0);
        let totals = phase.totals.as_mut().expect("totals");
        totals.disturbance.reasons.clear();
        let used = |share: f64| RoleTotals {
            cpu_ns: sensormark_data::units::round_u64(share * 2.0 * MOMENT_NS as f64),
            ..RoleTotals::default()
        };
        totals.roles.clear();
        totals.roles.insert("trial".to_owned(), used(0.04));
        assert!(!had_database(&phase, false), "no server is here");
        let roles = |phase: &mut PhaseRecord, name: &str, share| {
            phase.totals.as_mut().expect("totals").roles.insert(name.to_owned(), used(share));
        };
        roles(&mut phase, "server", 0.8);
        assert!(had_database(&phase, false));
        roles(&mut phase, "trial", 0.6);
        assert!(!had_database(&phase, false), "the clients were busy");
        roles(&mut phase, "trial", 0.04);
        phase.totals.as_mut().expect("totals").server_host = Some(ServerHost::default());
        assert!(!had_database(&phase, false), "the server's processors are others");
    }

    #[test]
    fn a_disturbed_load_host_disturbs_the_trial_and_is_named() {
        let mut phase = with_others(2 * MOMENT_NS, 0.0);
        let totals = phase.totals.as_mut().expect("totals");
        for (name, other_share) in [("a", 0.0), ("b", 0.4)] {
            let busy = with_others(2 * MOMENT_NS, other_share).totals.expect("totals");
            totals.client_hosts.push(ClientHost {
                name: name.to_owned(),
                span_ns: 2 * MOMENT_NS,
                disturbance: busy.disturbance,
                ..ClientHost::default()
            });
        }
        let found = disturbed([&phase], &DisturbanceLimits::default());
        assert_eq!(found.len(), 1, "{found:?}");
        let text = &found[0].reason.text;
        assert!(text.contains("load host b: other programs used 40.0 %"), "{text}");
    }

    /// A trial of 3.5 s was called invalid for a source whose p99 was 3.57 ms late, while the hypervisor took 130 ms: 1.9 % of two processors.
    #[test]
    fn a_source_that_the_hypervisor_made_late_is_no_fault_of_the_trial() {
        let excuse = |p99_ns: u64, steal_ms: u64| {
            let mut phase = with_others(3_500_000_000, 0.0);
            let totals = phase.totals.as_mut().expect("totals");
            totals.host.cpu_steal_ns = steal_ms * 1_000_000;
            let work = Work { pacing_p99_ns: Some(p99_ns), ..Work::default() };
            made_late(&phase, &[&work]).is_some()
        };
        assert!(excuse(3_570_000, 130));
        assert!(!excuse(3_570_000, 30), "too little was taken");
        assert!(!excuse(900_000, 130), "it was not late");
    }
}
