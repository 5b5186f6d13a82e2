//! Clocks of the trial's processes that run on other hosts: asked before and after each phase, and used where instants of two hosts meet. These are the common
//! start, and when a phase came to its end. Processes of this host share its clock.

use super::super::protocol::Command;
use super::super::script::PhaseSpec;
use super::{Coordinator, LEAD_NS};
use crate::clock::{HostClock, smallest_round_trip};
use crate::failure::TrialFailure;
use crate::many_hosts::Aligned;
use crate::outcome::PhaseOutcome;
use crate::role::{RoleError, RoleProcess};
use sensormark_data::units::{duration_ns, ns_to_seconds};
use sensormark_result::measurement::clock::MARKED_SHARE;
use sensormark_result::measurement::record::TrialRecord;
use std::time::{Duration, Instant};

/// How often a process is asked for its clock, each time.
const PINGS: u32 = 30;
/// So many processes are asked at the same time. With more of them, their answers would wait for each other here.
const TOGETHER: usize = 16;
/// How long all of that may take of those that are asked together.
const PATIENCE: Duration = Duration::from_secs(15);
/// How many round trips a common start lies ahead.
const ROUND_TRIPS: u64 = 10;

impl Coordinator<'_> {
    /// Asks the processes on other hosts for their clocks.
    pub(super) fn read_clocks(&mut self, processes: usize) -> Result<(), TrialFailure> {
        let roles = self.roles.iter_mut().zip(&mut self.clocks).take(processes);
        let mut elsewhere: Vec<_> = roles.filter(|(role, _)| role.host().is_some()).collect();
        let begun = Instant::now();
        for together in elsewhere.chunks_mut(TOGETHER) {
            read_together(together)?;
        }
        tracing::debug!(hosts = elsewhere.len(), took = ?begun.elapsed(), "clocks are read");
        Ok(())
    }

    /// How long the processes have to come to their common start, in ns: those of other hosts have to hear of it.
    pub(super) fn lead_ns(&self) -> u64 {
        let clocks = self.clocks.iter().flatten();
        let farthest_ns = clocks.map(HostClock::uncertainty_ns).max().unwrap_or(0);
        LEAD_NS + ROUND_TRIPS * 2 * farthest_ns
    }

    /// Tells each process the common start by its own clock.
    pub(super) fn send_start(&mut self, processes: usize, start_ns: u64) -> Result<(), TrialFailure> {
        let roles = self.roles.iter_mut().zip(&self.clocks);
        for (role, clock) in roles.take(processes) {
            let start_ns = shown_ns(clock.as_ref(), start_ns);
            role.send(&Command::Start { start_ns })?;
        }
        Ok(())
    }

    /// What the process of this number did, by this host's clock.
    pub(super) fn by_own_clock(&self, process: usize, start_ns: u64, mut outcome: PhaseOutcome) -> Aligned {
        let Some(clock) = self.clocks.get(process).and_then(Option::as_ref) else {
            return Aligned::here(outcome);
        };
        let began_ns = outcome.start_ns;
        let lasted = outcome.loads.iter().map(|load| load.seconds).collect();
        for load in &mut outcome.loads {
            let lasted_ns = duration_ns(Duration::from_secs_f64(load.seconds.max(0.0)));
            let ended_ns = clock.own_ns(began_ns.saturating_add(lasted_ns));
            load.seconds = ns_to_seconds(ended_ns.saturating_sub(start_ns));
        }
        outcome.start_ns = start_ns;
        outcome.end_ns = clock.own_ns(outcome.end_ns);
        Aligned { delay: ns_to_seconds(clock.own_ns(began_ns).saturating_sub(start_ns)), lasted, outcome }
    }

    /// Keeps what is known of the clocks over a phase, and marks a figure that they leave open.
    pub(super) fn keep_clocks(&self, phase: &PhaseSpec, seconds: f64, record: &mut TrialRecord) {
        let mut worst_ns = 0;
        let roles = self.roles.iter().zip(&self.clocks);
        // Only those that took part have samples of this phase.
        for (role, clock) in roles.take(phase.processes as usize) {
            let known = role.host().zip(clock.as_ref());
            let Some(known) = known.and_then(|(host, clock)| clock.record(&phase.name, host)) else {
                continue;
            };
            worst_ns = worst_ns.max(known.uncertainty_ns);
            if !record.clocks.contains(&known) {
                record.clocks.push(known);
            }
        }
        let uncertain = 2.0 * ns_to_seconds(worst_ns);
        if uncertain > MARKED_SHARE * seconds {
            record.warnings.push(format!(
                "{}: its throughput is uncertain. It counts over {seconds:.4} s, and the clocks of its hosts are known to {uncertain:.4} s",
                phase.name
            ));
        }
    }
}

/// Asks these processes for their clocks, all of them again and again. Of each the answer counts that took the least time.
fn read_together(asked: &mut [(&mut RoleProcess, &mut Option<HostClock>)]) -> Result<(), RoleError> {
    let deadline = Instant::now() + PATIENCE;
    let mut samples = vec![Vec::new(); asked.len()];
    for _ in 0..PINGS {
        let questions = asked.iter_mut().map(|(role, _)| role.ask_clock());
        let questions: Vec<_> = questions.collect::<Result<_, _>>()?;
        for (((role, _), question), samples) in asked.iter_mut().zip(questions).zip(&mut samples) {
            samples.extend(role.hear_clock(question, deadline)?);
        }
        if Instant::now() >= deadline {
            break;
        }
    }
    for ((role, clock), samples) in asked.iter_mut().zip(samples) {
        let best = smallest_round_trip(&samples);
        let best = best.ok_or_else(|| role.without_clock(PATIENCE))?;
        clock.get_or_insert_with(HostClock::default).add(best);
    }
    Ok(())
}

/// An instant of this host's clock by that of a process.
fn shown_ns(clock: Option<&HostClock>, own_ns: u64) -> u64 {
    clock.map_or(own_ns, |clock| clock.shown_ns(own_ns))
}
