//! What several processes of a phase do together: one trial's own, and those of several ranks ([`crate::engine::ranks`]), each with a coordinator on its host.
//!
//! Ranks start by their hosts' clocks, which nobody compared. So each rank's start is kept, and starts that are far apart make the trial invalid.

use super::super::plausible;
use super::super::protocol::Report;
use super::super::script::PhaseSpec;
use super::slowest::Slowest;
use super::{Coordinator, LEAD_NS, Worked, Written};
use crate::engine::failure::TrialFailure;
use crate::engine::many_hosts::{self, Aligned};
use crate::engine::operations::ENDLESS;
use crate::engine::outcome::PhaseOutcome;
use crate::engine::ranks::lines::Share;
use crate::engine::ranks::unix_less_monotonic_ns;
use crate::engine::role::Event;
use crate::measurement::names;
use crate::measurement::record::{Figure, TrialRecord};
use crate::measurement::verdict::{Reason, ReasonKind};
use crate::probe::monotonic_ns;
use crate::units::ns_to_seconds;
use serde_json::Value;
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

/// Ranks may start apart by this share of a phase.
const APART_SHARE: f64 = 0.1;
/// How often a rank that waits for the common start looks around.
const LOOK: Duration = Duration::from_millis(20);
/// A rank that takes so many times as long as the fastest one is named.
const SLOW_TIMES: f64 = 1.1;

/// What one rank's clients did, by the clock of rank 0.
struct Part {
    rank: usize,
    /// Its start after the first one's, in seconds.
    delay: f64,
    report: Report,
}

impl Coordinator<'_> {
    /// How many of the phase's processes are this program's.
    pub(super) fn own_processes(&self, phase: &PhaseSpec) -> usize {
        match self.context.ranks {
            None => phase.processes as usize,
            Some(ranks) => usize::from(ranks.rank() < phase.processes),
        }
    }

    /// Waits until all ranks are here, where there are several.
    pub(super) fn meet(&mut self, what: &str) -> Result<(), TrialFailure> {
        let Some(ranks) = self.context.ranks else {
            return Ok(());
        };
        let scope = self.name.clone();
        ranks.pass(&scope, what, &mut || self.look_around())
    }

    /// Agrees on the phase's start with the other ranks, and waits until it is near: an instant of CLOCK_MONOTONIC. Nothing where there are none.
    pub(super) fn common_start(&mut self, phase: &PhaseSpec) -> Result<Option<u64>, TrialFailure> {
        let Some(ranks) = self.context.ranks else {
            return Ok(None);
        };
        let scope = self.name.clone();
        let start = ranks.start(&scope, &phase.name, &mut || self.look_around())?;
        let wanted_ns = start.saturating_sub(unix_less_monotonic_ns());
        // A rank that heard of it too late starts late, which its start shows.
        let start_ns = wanted_ns.max(monotonic_ns() + LEAD_NS);
        while monotonic_ns() + LEAD_NS < start_ns {
            self.look_around()?;
            thread::sleep(LOOK);
        }
        Ok(Some(start_ns))
    }

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

    /// By load: how many operations are this rank's to issue, where its record is about its own share.
    pub(super) fn own_due(&self, outcome: &PhaseOutcome) -> Vec<u64> {
        if self.context.leads() {
            return Vec::new();
        }
        let due = outcome.loads.iter().map(|load| load.issued.due());
        due.map(|due| due.unwrap_or(ENDLESS)).collect()
    }

    /// What the processes of this program did, by its host's clock, as one. Nothing of none.
    pub(super) fn merge(
        &mut self,
        reports: Vec<Event>,
        (phase, start_ns): (&PhaseSpec, u64),
        record: &mut TrialRecord,
    ) -> Result<Option<Report>, TrialFailure> {
        let (mut parts, mut rates) = (Vec::new(), Vec::new());
        let (mut ceilings, mut journal) = (Vec::new(), None);
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
            journal = journal.or(report.journal);
            parts.push(self.by_own_clock(process, start_ns, report.outcome));
        }
        let hosts = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
        let joined = many_hosts::join(parts, hosts);
        let joined = joined.map_err(|(place, problem)| self.roles[place].implausible(problem))?;
        tracing::debug!(phase = phase.name, took = ?begun.elapsed(), "reports are merged");
        self.judge_hosts(phase, rates, record);
        Ok(joined.map(|outcome| Report { outcome, ceiling: ceilings.into_iter().sum(), journal }))
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

    /// Puts together what all ranks have done, in the one that leads. The others keep their own, and get to know what was written.
    pub(super) fn join(
        &mut self,
        phase: &PhaseSpec,
        own: Option<Report>,
        start_ns: u64,
        record: &mut TrialRecord,
    ) -> Result<Worked, TrialFailure> {
        let mut worked = Worked { outcome: None, whole: None, ceiling: None, brought: None };
        let keep = |worked: &mut Worked, report: Option<Report>| {
            worked.ceiling = report.as_ref().and_then(|report| report.ceiling);
            worked.outcome = report.map(|report| report.outcome);
        };
        let Some(ranks) = self.context.ranks else {
            let missing = || TrialFailure::System("a trial sent no report".to_owned());
            keep(&mut worked, Some(own.ok_or_else(missing)?));
            return Ok(worked);
        };
        let started_unix_ns = start_ns + unix_less_monotonic_ns();
        let share = Share { started_unix_ns, report: own.clone() };
        let scope = self.name.clone();
        let shares = ranks.share(&scope, &phase.name, share, &mut || self.look_around())?;
        let writes = phase.loads.iter().any(|load| load.writes);
        if ranks.is_first() {
            for (rank, share) in (0..).zip(&shares) {
                let checked = of_rank(share, phase);
                checked.map_err(|problem| implausible(rank, &problem))?;
            }
            let parts = by_one_clock(shares, start_ns);
            self.judge_starts(phase, &parts, record);
            let whole = whole(parts)?;
            if writes {
                let told = without_figures(&whole.outcome);
                ranks.whole(&scope, &phase.name, Some(told), &mut || Ok(()))?;
            }
            keep(&mut worked, Some(whole));
        } else {
            keep(&mut worked, own);
            if writes {
                let told = ranks.whole(&scope, &phase.name, None, &mut || self.look_around())?;
                let checked = plausible::outcome(&told, phase);
                checked.map_err(|problem| implausible(0, &problem))?;
                worked.whole = Some(told);
            }
        }
        Ok(worked)
    }

    /// Keeps when each rank started and how long it took, and finds starts that are too far apart.
    fn judge_starts(&mut self, phase: &PhaseSpec, parts: &[Part], record: &mut TrialRecord) {
        let took = |part: &Part| {
            let loads = part.report.outcome.loads.iter();
            loads.map(|load| load.seconds).fold(0.0, f64::max)
        };
        for part in parts {
            let mut keep = |name: &str, seconds: f64| {
                let name = format!("{name}/{}/{}", phase.name, part.rank);
                record.figures.insert(name, Figure::new(seconds, "s"));
            };
            keep(names::RANK_START, part.delay);
            keep(names::RANK_SECONDS, took(part));
        }
        let by_seconds = |a: &&Part, b: &&Part| took(a).total_cmp(&took(b));
        let (fast, slow) = (parts.iter().min_by(by_seconds), parts.iter().max_by(by_seconds));
        let (Some(fast), Some(slow)) = (fast, slow) else {
            return;
        };
        let last = parts.iter().max_by(|a, b| a.delay.total_cmp(&b.delay));
        if let Some(last) = last.filter(|last| last.delay > took(slow) * APART_SHARE)
            && !phase.warm_up
        {
            let text = format!(
                "{}: rank {} started {:.3} s after the first one. That is more than a tenth of the {:.3} s that it took. Set the hosts' clocks by NTP or PTP",
                phase.name,
                last.rank,
                last.delay,
                took(slow)
            );
            self.reasons.push(Reason::new(ReasonKind::ClientFailed, text));
        }
        let times = took(slow) / took(fast).max(1e-9);
        if times > self.slowest.as_ref().map_or(SLOW_TIMES, |before| before.times) {
            let text = format!(
                "rank {} was the slowest in {}: {:.2} s, where rank {} took {:.2} s",
                slow.rank,
                phase.name,
                took(slow),
                fast.rank,
                took(fast)
            );
            self.slowest = Some(Slowest { times, text });
        }
    }

    /// Says what a reader should know of a load that several ranks made.
    pub(super) fn warn_of_ranks(&mut self, record: &mut TrialRecord) {
        if self.context.ranks.is_some() && self.context.leads() {
            record.warnings.push(
                "several hosts made the load: their starts agree only as well as their clocks, which nobody compared"
                    .to_owned(),
            );
            let slowest = self.slowest.take();
            record.warnings.extend(slowest.map(|one| one.text));
        }
    }
}

/// How long these reports are as they were sent, in bytes.
fn length(reports: &[Event]) -> usize {
    let lengths = reports.iter().map(serde_json::to_vec);
    lengths.flatten().map(|line| line.len() + 1).sum()
}

/// That a rank said what cannot be.
fn implausible(rank: u32, problem: &str) -> TrialFailure {
    TrialFailure::Rank(format!(
        "rank {rank} sent a report that cannot be right: {problem}; start all ranks with the same program"
    ))
}

/// Checks what a rank says of a phase.
fn of_rank(share: &Share, phase: &PhaseSpec) -> Result<(), String> {
    if share.started_unix_ns > plausible::LATEST_NS {
        return Err(format!("{} ns is no instant", share.started_unix_ns));
    }
    let report = share.report.as_ref();
    report.map_or(Ok(()), |report| plausible::report(report, phase))
}

/// What the ranks with clients did, each brought to rank 0's clock. Rank 0 started at this instant of its own.
fn by_one_clock(shares: Vec<Share>, start_ns: u64) -> Vec<Part> {
    let own = shares.first().map_or(0, |share| share.started_unix_ns);
    let working = || shares.iter().filter(|share| share.report.is_some());
    let first = working().map(|share| share.started_unix_ns).min();
    let first = first.unwrap_or(own);
    let parts = shares.into_iter().enumerate();
    let parts = parts.filter_map(|(rank, share)| {
        let mut report = share.report?;
        let delay = ns_to_seconds(share.started_unix_ns - first);
        let outcome = &mut report.outcome;
        let lasted = outcome.end_ns.saturating_sub(outcome.start_ns);
        outcome.start_ns = (start_ns + share.started_unix_ns).saturating_sub(own);
        outcome.end_ns = outcome.start_ns + lasted;
        Some(Part { rank, delay, report })
    });
    parts.collect()
}

/// What the clients of all ranks did. The ceiling is where the first of the ranks would come to its own, if all went on at their present shares.
fn whole(parts: Vec<Part>) -> Result<Report, TrialFailure> {
    let rate = |outcome: &PhaseOutcome| {
        let loads = outcome.loads.iter();
        loads.map(|load| load.operations_per_second()).sum::<f64>()
    };
    let room = parts.iter().map(|part| {
        let own = rate(&part.report.outcome);
        part.report.ceiling.map(|ceiling| ceiling / own.max(1e-9))
    });
    let room: Option<Vec<f64>> = room.collect();
    let least = room.map(|room| room.into_iter().fold(f64::INFINITY, f64::min));
    let ranks = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let parts = parts.into_iter();
    let parts = parts.map(|part| Aligned::late(part.delay, part.report.outcome));
    let joined = many_hosts::join(parts.collect(), ranks);
    let joined = joined.map_err(|(_, problem)| TrialFailure::System(problem))?;
    let missing = || TrialFailure::System("no rank sent a report".to_owned());
    let outcome = joined.ok_or_else(missing)?;
    Ok(Report {
        ceiling: least.map(|least| least * rate(&outcome)).filter(|ceiling| ceiling.is_finite()),
        outcome,
        journal: None,
    })
}

/// Which operations were issued and acknowledged, without latencies and answers: what other ranks need of a load.
fn without_figures(outcome: &PhaseOutcome) -> PhaseOutcome {
    let mut told = outcome.clone();
    for load in &mut told.loads {
        load.classes.clear();
        load.lines.clear();
    }
    told
}
