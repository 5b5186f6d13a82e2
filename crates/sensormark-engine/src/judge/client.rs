//! Whether the client was the bottleneck, so that the engine or a limit was measured and not the database. An embedded database is part of its
//! client, and nothing here is said of it.
//!
//! Four things show it. The client used up the processors that its threads can have. It was less than twice as fast over the null store. The control
//! group that it runs in held it back. That group gives it less than one processor. All are certain: none depends on what other programs take of the machine.

use super::circumstances::Circumstances;
use super::finding::Finding;
use super::work::Work;
use crate::trial::script::ROLE;
use sensormark_data::units::Total;
use sensormark_result::measurement::record::PhaseRecord;
use sensormark_result::measurement::server::ServerRecord;
use sensormark_result::measurement::verdict::ReasonKind;
use sensormark_result::probe::{Limits, RoleTotals};
use std::collections::BTreeMap;

/// The processes of a trial that are its client.
const CLIENTS: [&str; 3] = [ROLE, "writer", "reader"];
/// The largest share of the cores that its threads can have that a client may use.
const CLIENT_SHARE: f64 = 0.9;
/// How many times as fast as measured the client must be over the null store.
pub const CEILING_FACTOR: f64 = 2.0;
/// The share of its processor time that a group may use without being held back now and then.
const GROUP_SHARE: f64 = 0.9;
/// The share of its periods in which a group may be held back.
const HELD_BACK_SHARE: f64 = 0.1;
/// Periods in which a group is held back that are no chance.
const HELD_BACK: u64 = 2;

/// The least that a control group has to give a client, in processors.
const LEAST_CORES: f64 = 1.0;

/// Why no client can measure in the control group that it runs in, if that gives it less than one processor. One thread at work then waits for the
/// kernel in every tenth of a second, which latencies show, whether it needs much on average or little.
pub fn confined(limits: Limits) -> Option<String> {
    let quota = limits.cgroup_cores.filter(|quota| *quota < LEAST_CORES)?;
    Some(format!(
        "the control group may use {quota:.2} cores, and a client needs one or more: give it a quota of at least one core"
    ))
}

/// Why the client was the bottleneck in this phase, if it was.
pub fn bound(
    phase: &PhaseRecord,
    works: &[&Work],
    server: Option<&ServerRecord>,
    circumstances: &Circumstances,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(out_of_cores(phase, works, circumstances.cores));
    findings.extend(works.iter().filter_map(|work| near_ceiling(work)));
    findings.extend(held_back(phase, works, server, circumstances.limits));
    findings
}

/// Each host by itself: clients on one host cannot use the processors of another.
fn out_of_cores(phase: &PhaseRecord, works: &[&Work], cores: usize) -> Vec<Finding> {
    let Some(totals) = &phase.totals else {
        return Vec::new();
    };
    let used = |roles: &BTreeMap<String, RoleTotals>| -> f64 {
        let clients = CLIENTS.iter().filter_map(|name| roles.get(*name));
        clients.map(|role| role.cpu_percent_of_core).sum()
    };
    let all: usize = works.iter().map(|work| work.clients as usize).sum();
    let hosts = &totals.client_hosts;
    let there: f64 = hosts.iter().map(|host| used(&host.roles)).sum();
    let clients_there: usize = hosts.iter().map(|host| host.clients as usize).sum();
    let clients_here = all.saturating_sub(clients_there);
    let here = over_share("", used(&totals.roles) - there, clients_here.min(cores));
    let elsewhere = hosts.iter().map(|host| {
        let cores = usize::try_from(host.host.processors).unwrap_or(usize::MAX);
        let place = format!("on {} ", host.title());
        over_share(&place, used(&host.roles), cores.min(host.clients as usize))
    });
    let texts = std::iter::once(here).chain(elsewhere).flatten();
    let finding = |text| {
        let text = format!("{}: {text}", phase.name);
        Finding::new(ReasonKind::ClientBound, text)
    };
    texts.map(finding).collect()
}

/// That a client used so many percent of a core, where it is too many of those that its clients can use.
fn over_share(place: &str, used: f64, usable: usize) -> Option<String> {
    let usable = usable.max(1) as f64;
    (used > CLIENT_SHARE * 100.0 * usable).then(|| {
        format!(
            "{place}the client used {used:.0} % of a core, of {:.0} % that its clients can use",
            usable * 100.0
        )
    })
}

fn near_ceiling(work: &Work) -> Option<Finding> {
    let (rate, ceiling) = work.per_second.zip(work.ceiling)?;
    (rate * CEILING_FACTOR > ceiling).then(|| {
        let text = format!(
            "{}: {rate:.0} {} a second, and without a database no more than {ceiling:.0}",
            work.phase, work.unit
        );
        Finding::new(ReasonKind::ClientBound, text)
    })
}

/// The kernel stops every process of a group that has had its share of a period until the next one. A stop lasts up to a tenth of a second. What is measured
/// then is the limit. Sharing a core with others is another matter: see the host's disturbance and the warning about few cores.
fn held_back(
    phase: &PhaseRecord,
    works: &[&Work],
    server: Option<&ServerRecord>,
    limits: Limits,
) -> Option<Finding> {
    let quota = limits.cgroup_cores?;
    let cores = limits.allowed_cores;
    if confined(limits).is_some() || cores.is_some_and(|cores| quota >= cores as f64) {
        return None;
    }
    let totals = phase.totals.as_ref().filter(|totals| totals.span_ns > 0)?;
    // A server that we started here is one of us; one that was there, or is on another host, is not.
    let is_here = totals.server_host.is_none() && server.is_some_and(|server| server.managed);
    let is_ours = |role: &str| role != "server" || is_here;
    let roles = totals.roles.iter().filter(|(name, _)| is_ours(name));
    let used_ns: u64 = roles.map(|(_, role)| role.cpu_ns).total();
    // The group holds nothing of what runs on other hosts.
    let there = totals.client_hosts.iter().flat_map(|host| host.roles.values());
    let there_ns: u64 = there.map(|role| role.cpu_ns).total();
    let used = used_ns.saturating_sub(there_ns) as f64 / totals.span_ns as f64;
    let group = format!("{}: the control group may use {quota:.2} cores", phase.name);
    // A closed loop takes what it gets. A schedule asks for no more than its rate, and has to leave room for twice of it, as over the null store.
    let is_open = !works.is_empty() && works.iter().all(|work| work.open_loop);
    let share = if is_open { 1.0 / CEILING_FACTOR } else { GROUP_SHARE };
    if used > share * quota {
        let most = share * 100.0;
        let text = format!("{group}, and all that belongs to the run used {used:.2}, over {most:.0} % of it");
        return Some(Finding::new(ReasonKind::ClientBound, text));
    }
    let (held, periods) = (totals.host.held_back_periods?, totals.host.group_periods?);
    let is_held = held >= HELD_BACK && held as f64 > HELD_BACK_SHARE * periods as f64;
    is_held.then(|| {
        let text = format!(
            "{group}, and the kernel held it back in {held} of the {periods} periods in which it worked"
        );
        Finding::new(ReasonKind::ClientBound, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::trials::phase;
    use sensormark_result::probe::ClientHost;

    #[test]
    fn a_client_near_its_own_limits_measures_itself() {
        let bound = |role: &str, cpu_percent: f64, clients: u32| {
            let work = Work { clients, ..Work::default() };
            !out_of_cores(&phase(role, cpu_percent), &[&work], 2).is_empty()
        };
        for role in CLIENTS {
            assert!(!bound(role, 89.0, 1) && bound(role, 91.0, 1), "{role}");
            // Two clients can use both cores, sixteen no more than those.
            assert!(!bound(role, 91.0, 2) && bound(role, 181.0, 16), "{role}");
        }
        assert!(!bound("source", 91.0, 1) && !bound("server", 91.0, 1));
        let near = |ceiling: f64| {
            let work = Work { per_second: Some(1_000.0), ceiling: Some(ceiling), ..Work::default() };
            near_ceiling(&work).is_some()
        };
        assert!(!near(2_000.0) && near(1_999.0));
        assert!(near_ceiling(&Work::default()).is_none());
    }

    /// Two hosts of one processor each have two in all, and each client only that of its own host.
    #[test]
    fn each_host_is_judged_by_its_own_processors() {
        let found = |a: f64, b: f64| {
            let mut phase = phase(ROLE, a + b);
            let totals = phase.totals.as_mut().expect("totals");
            for (name, percent) in [("a", a), ("b", b)] {
                let mut host = ClientHost { name: name.to_owned(), clients: 4, ..ClientHost::default() };
                host.host.processors = 1;
                let used = RoleTotals { cpu_percent_of_core: percent, ..RoleTotals::default() };
                host.roles.insert(ROLE.to_owned(), used);
                totals.client_hosts.push(host);
            }
            let work = Work { clients: 8, ..Work::default() };
            let found = out_of_cores(&phase, &[&work], 2);
            let texts = found.into_iter().map(|one| one.reason.text);
            texts.collect::<Vec<_>>()
        };
        assert!(found(89.0, 89.0).is_empty());
        let texts = found(20.0, 95.0);
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(texts[0].contains("on load host b the client used 95 % of a core"), "{texts:?}");
        assert_eq!(found(99.0, 95.0).len(), 2);
    }

    fn limits(cores: f64) -> Limits {
        Limits { allowed_cores: Some(2), cgroup_cores: Some(cores), cgroup_memory_bytes: None }
    }

    #[test]
    fn a_group_that_used_up_its_share_was_held_back() {
        let seen = |cores: f64, cpu_percent: f64| {
            held_back(&phase(ROLE, cpu_percent), &[], None, limits(cores)).is_some()
        };
        assert!(!seen(1.25, 112.0) && seen(1.25, 113.0));
        assert!(!seen(2.0, 199.0), "no less than the machine has");
    }

    /// A built release of machine-tool needs 0.05 cores, and its latencies show the pauses of a group of 0.2 all the same.
    #[test]
    fn a_group_of_less_than_a_core_is_too_small() {
        let text = confined(limits(0.2)).expect("too small");
        assert!(text.contains("may use 0.20 cores"), "{text}");
        assert!(confined(limits(0.99)).is_some() && confined(limits(1.0)).is_none());
        assert!(confined(Limits::default()).is_none());
        // Said once for a trial, not in each of its phases.
        assert!(held_back(&phase(ROLE, 100.0), &[], None, limits(0.2)).is_none());
    }

    /// A schedule that uses over half of its group could not have gone twice as fast.
    #[test]
    fn a_schedule_leaves_room_for_twice_its_rate_in_its_group() {
        let seen = |open_loop: bool, cpu_percent: f64| {
            let work = Work { open_loop, ..Work::default() };
            held_back(&phase("writer", cpu_percent), &[&work], None, limits(1.2)).is_some()
        };
        assert!(!seen(true, 59.0) && seen(true, 61.0));
        assert!(!seen(false, 61.0));
    }

    /// A load may need little on average, and wait for the kernel in most periods all the same.
    #[test]
    fn a_group_that_the_kernel_held_back_is_one_whatever_it_used_on_average() {
        let seen = |held: u64, periods: u64| {
            let mut phase = phase("writer", 5.0);
            let totals = phase.totals.as_mut().expect("totals");
            totals.host.held_back_periods = Some(held);
            totals.host.group_periods = Some(periods);
            held_back(&phase, &[], None, limits(1.2)).is_some()
        };
        assert!(seen(34, 35) && seen(4, 35));
        assert!(!seen(3, 35) && !seen(1, 1) && !seen(0, 0));
    }
}
