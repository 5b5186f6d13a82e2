//! What several processes of a phase did, as one outcome.

use super::super::plausible;
use super::super::protocol::Report;
use super::super::script::PhaseSpec;
use super::{Coordinator, Written};
use crate::failure::TrialFailure;
use crate::many_hosts;
use crate::outcome::PhaseOutcome;
use crate::role::Event;
use sensormark_result::measurement::record::TrialRecord;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Instant;

impl Coordinator<'_> {
    /// Takes down what the loads of a phase have written.
    pub(super) fn note_written(
        &mut self,
        (step, phase): (usize, &PhaseSpec),
        outcome: &PhaseOutcome,
        produced: Option<u64>,
    ) {
        for (load, outcome) in outcome.loads.iter().enumerate() {
            if phase.loads[load].writes {
                self.written.push(Written { step, load, outcome: outcome.clone(), produced });
            }
        }
    }

    /// What the processes did, by this host's clock, as one, and the highest rate that they could have come to.
    pub(super) fn merge(
        &mut self,
        reports: Vec<Event>,
        (phase, start_ns): (&PhaseSpec, u64),
        record: &mut TrialRecord,
    ) -> Result<(PhaseOutcome, Option<f64>), TrialFailure> {
        let (mut parts, mut rates, mut ceilings) = (Vec::new(), Vec::new(), Vec::new());
        let mut hosts = BTreeSet::new();
        tracing::debug!(reports = reports.len(), bytes = length(&reports), "reports are here");
        let begun = Instant::now();
        for (process, event) in reports.into_iter().enumerate() {
            let Event::Report(value) = event else {
                continue;
            };
            let report = self.plausible(process, value, phase)?;
            rates.extend(self.host_rate(process, &report));
            hosts.insert(self.roles[process].host());
            ceilings.push(report.ceiling);
            parts.push(self.by_own_clock(process, start_ns, report.outcome));
        }
        let hosts = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
        let joined = many_hosts::join(parts, hosts);
        let joined = joined.map_err(|(place, problem)| self.roles[place].implausible(problem))?;
        tracing::debug!(phase = phase.name, took = ?begun.elapsed(), "reports are merged");
        self.judge_hosts(phase, rates, record);
        let missing = || TrialFailure::System("a trial sent no report".to_owned());
        Ok((joined.ok_or_else(missing)?, ceilings.into_iter().sum()))
    }

    /// The report of this process, as far as it can be true.
    fn plausible(&self, process: usize, value: Value, phase: &PhaseSpec) -> Result<Report, TrialFailure> {
        let read = serde_json::from_value(value).map_err(|error| error.to_string());
        let checked = read.and_then(|report| {
            plausible::report(&report, phase)?;
            Ok(report)
        });
        checked.map_err(|problem| match self.roles.get(process) {
            Some(role) => role.implausible(problem).into(),
            None => TrialFailure::System(problem),
        })
    }
}

/// How long these reports are as they were sent, in bytes.
fn length(reports: &[Event]) -> usize {
    let lengths = reports.iter().map(serde_json::to_vec);
    lengths.flatten().map(|line| line.len() + 1).sum()
}
