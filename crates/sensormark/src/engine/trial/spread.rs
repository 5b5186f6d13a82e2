//! Trials whose clients are spread over several hosts: over load hosts, whose processes this program starts, or over ranks ([`crate::engine::ranks`]), which
//! start their own. Hosts have no counter in common, so each client gets its share of the operations by stride.

use super::script::{LoadSpec, PhaseSpec, Step, TrialSpec, phases};
use crate::engine::judge::work::Work;
use crate::engine::phase::Pacing;
use crate::engine::ranks::Ranks;
use crate::engine::work_distribution::WorkDistribution;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::ops::Range;

/// Descriptors that a process takes here: its three pipes.
const PIPES: u64 = 3;
/// Descriptors of all else, with room to spare.
const OTHERS: u64 = 200;

/// The trials with each phase spread over so many load hosts, a process on each, where its clients can be: a single load with a client for each host. Other
/// phases stay in the processes that they have.
pub fn over_hosts(mut trials: Vec<TrialSpec>, hosts: u32) -> Vec<TrialSpec> {
    let steps = trials.iter_mut().flat_map(|trial| &mut trial.steps);
    for step in steps.filter(|_| hosts > 0) {
        if let Step::Run(phase) = step
            && let [load] = phase.loads.as_slice()
            && load.source.is_none()
            && load.clients >= hosts
        {
            let processes = phase.processes.max(hosts);
            share_out(phase, processes);
        }
    }
    trials
}

/// The trials with each phase spread over so many ranks, a process in as many of them as it has clients for.
///
/// # Errors
/// Why one process has to make the load, in words.
pub fn over_ranks(mut trials: Vec<TrialSpec>, ranks: u32) -> Result<Vec<TrialSpec>, String> {
    let steps = trials.iter_mut().flat_map(|trial| &mut trial.steps);
    for step in steps {
        if let Step::Run(phase) = step {
            if let Some(why) = one_process(phase) {
                return Err(format!("{}: {why}", phase.name));
            }
            let clients = phase.loads.iter().map(|load| load.clients).min();
            let processes = ranks.min(clients.unwrap_or(1)).max(1);
            share_out(phase, processes);
        }
    }
    Ok(trials)
}

/// The numbers of the processes that this program starts: its own rank's, or all.
pub fn own_processes(ranks: Option<&Ranks>, steps: &[Step]) -> Range<u32> {
    let most = phases(steps).map(|phase| phase.processes).max();
    match ranks.map(Ranks::rank) {
        None => 0..most.unwrap_or(1),
        Some(rank) => rank..rank + 1,
    }
}

/// Raises this program's limit of open files where so many processes need more, as far as the system allows.
pub fn make_room(processes: u32) {
    let wanted = u64::from(processes) * PIPES + OTHERS;
    let limits = getrlimit(Resource::Nofile);
    if limits.current.is_some_and(|now| now < wanted) {
        let allowed = limits.maximum.unwrap_or(wanted);
        let raised = Rlimit { current: Some(wanted.min(allowed)), maximum: limits.maximum };
        // A limit that stays shows when a process cannot be started, with the system's words.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

/// What the judge of one rank's host sees of a load: the clients are at most those of this host.
pub fn on_one_host(mut work: Work, ranks: Option<&Ranks>) -> Work {
    if let Some(ranks) = ranks {
        let hosts = ranks.of().min(work.clients).max(1);
        work.clients = work.clients.div_ceil(hosts);
    }
    work
}

/// Why a phase's clients have to be in one process.
fn one_process(phase: &PhaseSpec) -> Option<&'static str> {
    let is_fed = |load: &LoadSpec| matches!(load.pacing, Pacing::Fed);
    if phase.loads.iter().any(is_fed) {
        return Some("its source hands readings to the writer over a queue of one machine");
    }
    if phase.kill_after.is_some() {
        return Some("it kills the server, which sensormark has to have started");
    }
    (phase.loads.len() > 1)
        .then_some("it writes and asks at the same time, and one process has to know what was written")
}

/// Has so many processes share the phase's operations.
fn share_out(phase: &mut PhaseSpec, processes: u32) {
    phase.processes = processes;
    for load in &mut phase.loads {
        if let WorkDistribution::Counter { block } = load.distribution {
            load.distribution = WorkDistribution::Stride { block };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_load_hosts_have_room_under_a_shells_usual_limit() {
        let limits = getrlimit(Resource::Nofile);
        let wanted = 1_000 * PIPES + OTHERS;
        if limits.maximum.is_some_and(|most| most < wanted) {
            eprintln!("ignored: this system allows no more than {:?} open files", limits.maximum);
            return;
        }
        let usual = Rlimit { current: Some(1_024), maximum: limits.maximum };
        setrlimit(Resource::Nofile, usual).expect("lower is always allowed");
        make_room(10);
        assert_eq!(getrlimit(Resource::Nofile).current, Some(1_024));
        make_room(1_000);
        assert_eq!(getrlimit(Resource::Nofile).current, Some(wanted));
        setrlimit(Resource::Nofile, limits).expect("as before");
    }
}
