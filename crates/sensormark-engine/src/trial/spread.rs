//! Trials whose clients are spread over several load hosts. Hosts have no counter in common, so each client gets its share of the operations by stride.

use super::script::{PhaseSpec, Step, TrialSpec};
use crate::work_distribution::WorkDistribution;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

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
