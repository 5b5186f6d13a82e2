//! What each host of a load did by itself: a client-bound host spoils the whole, however little its share shows in the sum.

use super::super::protocol::Report;
use super::super::script::PhaseSpec;
use super::Coordinator;
use crate::judge::client::CEILING_FACTOR;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, TrialRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind};

/// The report names a host that is slower than this share of the fastest one.
const SLOW_SHARE: f64 = 0.8;

/// What one process did in a phase, or those of one host.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HostRate {
    host: String,
    clients: usize,
    per_second: f64,
    ceiling: Option<f64>,
}

impl Coordinator<'_> {
    /// What this process did, if it ran on another host.
    pub(super) fn host_rate(&self, process: usize, report: &Report) -> Option<HostRate> {
        let host = self.roles.get(process)?.host()?;
        let load = report.outcome.loads.first()?;
        Some(HostRate {
            host: host.to_owned(),
            clients: load.issued.clients(),
            per_second: load.operations_per_second(),
            ceiling: report.ceiling,
        })
    }

    /// Judges each host of a phase by itself, and keeps its rate. The rates are those of processes.
    pub(super) fn judge_hosts(&mut self, phase: &PhaseSpec, rates: Vec<HostRate>, record: &mut TrialRecord) {
        let rates = by_host(rates);
        if rates.len() < 2 || phase.warm_up {
            return;
        }
        for rate in &rates {
            let mut keep = |name: &str, figure: Figure| {
                let name = format!("{name}/{}/{}", phase.name, rate.host);
                record.figures.insert(name, figure);
            };
            keep(names::HOST_RATE, Figure::new(rate.per_second, "1/s"));
            let clients = rate.clients as f64;
            keep(names::HOST_CLIENTS, Figure::new(clients, "clients"));
        }
        let bound = rates.iter().filter_map(|rate| near_ceiling(phase, rate));
        self.reasons.extend(bound);
        record.warnings.extend(slowest(phase, &rates));
    }
}

/// What the processes of each host did together.
fn by_host(rates: Vec<HostRate>) -> Vec<HostRate> {
    let mut hosts: Vec<HostRate> = Vec::new();
    for rate in rates {
        let Some(host) = hosts.iter_mut().find(|one| one.host == rate.host) else {
            hosts.push(rate);
            continue;
        };
        host.clients += rate.clients;
        host.per_second += rate.per_second;
        let ceilings = host.ceiling.zip(rate.ceiling);
        host.ceiling = ceilings.map(|(one, more)| one + more);
    }
    hosts
}

fn near_ceiling(phase: &PhaseSpec, rate: &HostRate) -> Option<Reason> {
    let ceiling = rate.ceiling?;
    (rate.per_second * CEILING_FACTOR > ceiling).then(|| {
        let text = format!(
            "{}: {} did {:.0} operations a second, and without a database no more than {ceiling:.0}",
            phase.name, rate.host, rate.per_second
        );
        Reason::new(ReasonKind::ClientBound, text)
    })
}

/// The host with the slowest clients, where it is far behind: hosts may have unequal numbers of clients.
fn slowest(phase: &PhaseSpec, rates: &[HostRate]) -> Option<String> {
    let of_client = |rate: &HostRate| rate.per_second / rate.clients.max(1) as f64;
    let by_rate = |one: &&HostRate, other: &&HostRate| of_client(one).total_cmp(&of_client(other));
    let slow = rates.iter().min_by(by_rate)?;
    let fast = rates.iter().max_by(by_rate)?;
    (of_client(slow) < SLOW_SHARE * of_client(fast)).then(|| {
        format!(
            "{}: {} was the slowest load host: each of its clients did {:.1} operations a second, and each of {} did {:.1}",
            phase.name,
            slow.host,
            of_client(slow),
            fast.host,
            of_client(fast)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(host: &str, per_second: f64, ceiling: Option<f64>) -> HostRate {
        HostRate { host: host.to_owned(), clients: 2, per_second, ceiling }
    }

    #[test]
    fn a_host_at_its_own_limit_counts_and_the_slowest_is_named() {
        let phase = PhaseSpec::new("load", Vec::new());
        assert!(near_ceiling(&phase, &rate("a", 400.0, Some(1_000.0))).is_none());
        assert!(near_ceiling(&phase, &rate("a", 400.0, None)).is_none());
        let reason = near_ceiling(&phase, &rate("a", 600.0, Some(1_000.0))).expect("bound");
        assert!(reason.text.contains("a did 600 operations"));
        let rates = [rate("a", 100.0, None), rate("b", 70.0, None)];
        let told = slowest(&phase, &rates).expect("far behind");
        assert!(told.contains("b was the slowest load host: each of its clients did 35.0"), "{told}");
        assert_eq!(slowest(&phase, &rates[..1]), None);
    }

    #[test]
    fn processes_of_one_host_add_up_and_fewer_clients_are_not_slower() {
        let phase = PhaseSpec::new("load", Vec::new());
        // Five processes of two clients each, over two hosts in turn.
        let rates = ["a", "b", "a", "b", "a"].map(|host| rate(host, 100.0, Some(400.0)));
        let hosts = by_host(rates.to_vec());
        let a = HostRate { clients: 6, ..rate("a", 300.0, Some(1_200.0)) };
        let b = HostRate { clients: 4, ..rate("b", 200.0, Some(800.0)) };
        assert_eq!(hosts, [a, b]);
        assert_eq!(slowest(&phase, &hosts), None);
    }
}
