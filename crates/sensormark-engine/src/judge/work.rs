//! What was done in a phase, as far as a verdict depends on it: the same of every workload.

use crate::operations::ENDLESS;
use sensormark_data::units::Total;
use sensormark_result::measurement::record::{LoadRecord, PhaseRecord, TrialRecord};
use sensormark_result::measurement::verdict::ReasonKind;
use sensormark_store::ErrorKind;
use std::collections::BTreeMap;

use super::finding::Finding;

/// The share of failed operations that makes a trial invalid.
const ERROR_SHARE: f64 = 0.01;
/// Operations of a load that are too few for a figure, unless there are no more.
const FEWEST: u64 = 10;
/// The largest lateness of the engine's own, 99th percentile, in ns.
pub const PACING_LIMIT_NS: u64 = 1_000_000;

/// What one group of clients did in a phase.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// The phase, by its name in [`TrialRecord::phases`].
    pub phase: String,
    /// Whether it only prepares what follows: only its failures count.
    pub warm_up: bool,
    /// What succeeds or fails, in the plural ("operations", "writes", "reads").
    pub what: &'static str,
    /// What its rate counts ("operations", "samples").
    pub unit: &'static str,
    /// What is said of a late source.
    pub paced: &'static str,
    /// Clients that did it.
    pub clients: u32,
    /// How many succeeded.
    pub succeeded: u64,
    /// How many failed, by kind.
    pub errors: BTreeMap<String, u64>,
    /// The first failure.
    pub first_error: Option<String>,
    /// How many succeeded after the time limit of an operation.
    pub late: u64,
    /// What there is to count against `fewest`, and what became of it ("operations were issued", "samples arrived").
    pub counted: (u64, &'static str),
    /// Fewer are too few for a figure.
    pub fewest: u64,
    /// How many there were to be; none where there is no end to them.
    pub planned: Option<u64>,
    /// How long after it was due an operation was sent whose client was free, or a sample by its source, 99th percentile, in ns.
    pub pacing_p99_ns: Option<u64>,
    /// Whether its operations have instants at which they are due, so that its rate is the workload's and not its own.
    pub open_loop: bool,
    /// How many a second succeeded.
    pub per_second: Option<f64>,
    /// How many a second the same clients reach over the null store, as fast as they can.
    pub ceiling: Option<f64>,
}

impl Work {
    /// What a load of a trial of phases did.
    pub fn of(load: &LoadRecord) -> Self {
        let done = load.operations() + load.failed();
        Self {
            phase: load.phase.clone(),
            warm_up: load.warm_up,
            what: "operations",
            unit: "operations",
            paced: "operations whose client was free started late",
            clients: load.clients,
            succeeded: load.operations(),
            errors: load.errors.clone(),
            first_error: load.first_error.clone(),
            late: load.late,
            counted: (done, "operations were issued"),
            // At a size that is large for it, a database answers little in the time that there is.
            fewest: if load.stored().is_some() { 1 } else { FEWEST.min(load.planned) },
            planned: (load.planned < ENDLESS).then_some(load.planned),
            pacing_p99_ns: load.pacing_p99_ns,
            open_loop: load.open_loop,
            per_second: load.operations_per_second(),
            ceiling: load.ceiling,
        }
    }

    /// Whether its source was late.
    pub fn is_late(&self) -> bool {
        self.pacing_p99_ns > Some(PACING_LIMIT_NS)
    }

    /// What speaks against it.
    pub fn findings(&self, timeout_ms: u64) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.failures().into_iter().collect();
        if !self.warm_up {
            findings.extend(self.lateness(timeout_ms));
            findings.extend(self.too_short());
        }
        findings
    }

    fn failures(&self) -> Option<Finding> {
        let failed: u64 = self.errors.values().total();
        let all = failed.saturating_add(self.succeeded);
        let share = failed as f64 / all.max(1) as f64;
        let first = self.first_error.as_deref().unwrap_or_default();
        let timed_out = self.errors.get(ErrorKind::Timeout.text());
        let only_late = timed_out == Some(&failed);
        (share > ERROR_SHARE).then(|| {
            let (phase, what) = (&self.phase, self.what);
            let text = format!("{phase}: {failed} of {all} {what} failed; the first: {first}");
            let found = Finding::new(ReasonKind::Errors, text);
            Finding { by_host: only_late, ..found }
        })
    }

    fn lateness(&self, timeout_ms: u64) -> Vec<Finding> {
        let (phase, what) = (&self.phase, self.what);
        let mut findings = Vec::new();
        if let Some(hung) = self.errors.get(ErrorKind::Timeout.text()) {
            let text = format!("{phase}: {hung} {what} did not come back in time");
            findings.push(Finding::new(ReasonKind::Hung, text));
        } else if self.late > 0 {
            let late = self.late;
            let text = format!("{phase}: {late} {what} came back after the time limit of {timeout_ms} ms");
            findings.push(Finding::new(ReasonKind::LateAnswers, text));
        }
        if let Some(p99) = self.pacing_p99_ns.filter(|_| self.is_late()) {
            let text = format!("{phase}: {}, p99 {:.2} ms, over 1 ms", self.paced, p99 as f64 / 1e6);
            findings.push(Finding::new(ReasonKind::SourceLate, text));
        }
        findings
    }

    fn too_short(&self) -> Option<Finding> {
        let (done, became) = self.counted;
        (done < self.fewest).then(|| {
            let of = self.planned.map_or_else(String::new, |all| format!(" of {all}"));
            let text = format!("{}: only {done}{of} {became}", self.phase);
            Finding::new(ReasonKind::TooShort, text)
        })
    }
}

/// What the loads of a trial of phases did, as far as it could be measured.
pub fn of_loads(record: &TrialRecord) -> Vec<Work> {
    let measured = record.loads.iter();
    let measured = measured.filter(|load| load.not_supported.is_none());
    measured.map(Work::of).collect()
}

/// The phases in which something was measured, with what was done in them.
pub fn measured_phases<'a>(
    record: &'a TrialRecord,
    works: &'a [Work],
) -> Vec<(&'a PhaseRecord, Vec<&'a Work>)> {
    let with_works = record.phases.iter().map(|phase| {
        let own = works.iter();
        let own = own.filter(|work| work.phase == phase.name && !work.warm_up);
        (phase, own.collect::<Vec<_>>())
    });
    with_works.filter(|(_, works)| !works.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work() -> Work {
        Work {
            phase: "ask".into(),
            what: "operations",
            succeeded: 1_000,
            counted: (1_000, "operations were issued"),
            fewest: FEWEST,
            ..Work::default()
        }
    }

    fn kinds(work: &Work) -> Vec<ReasonKind> {
        let findings = work.findings(100);
        findings.iter().map(|found| found.reason.kind).collect()
    }

    #[test]
    fn one_failure_in_a_hundred_is_borne() {
        let with = |failed: u64| {
            let mut work = work();
            work.errors.insert("rejected".into(), failed);
            kinds(&work)
        };
        assert_eq!(with(10), []);
        assert_eq!(with(11), [ReasonKind::Errors]);
    }

    #[test]
    fn lateness_is_named_for_what_it_is() {
        let mut late = work();
        late.late = 1;
        assert_eq!(kinds(&late), [ReasonKind::LateAnswers]);
        late.errors.insert(ErrorKind::Timeout.text().into(), 1);
        assert_eq!(kinds(&late), [ReasonKind::Hung]);
        let mut paced = work();
        paced.pacing_p99_ns = Some(PACING_LIMIT_NS);
        assert_eq!(kinds(&paced), []);
        paced.pacing_p99_ns = Some(PACING_LIMIT_NS + 1);
        assert_eq!(kinds(&paced), [ReasonKind::SourceLate]);
        paced.warm_up = true;
        assert_eq!(kinds(&paced), [], "warm-up has no figures");
    }

    /// On a busy host each of these was invalid, while an answer that came a moment later than the limit was "disturbed".
    #[test]
    fn a_disturbed_host_explains_what_was_slow_and_no_other_failure() {
        let by_host = |kind: ErrorKind| {
            let mut failed = work();
            failed.errors.insert(kind.text().into(), 20);
            failed.counted.0 = 5;
            let findings = failed.findings(100);
            let explained = findings.iter().filter(|one| one.by_host);
            explained.map(|one| one.reason.kind).collect::<Vec<_>>()
        };
        use ReasonKind::{Errors, Hung, TooShort};
        assert_eq!(by_host(ErrorKind::Timeout), [Errors, Hung, TooShort]);
        assert_eq!(by_host(ErrorKind::Rejected), [TooShort]);
    }

    #[test]
    fn too_little_is_short_unless_there_is_no_more() {
        let mut short = work();
        short.counted.0 = 9;
        assert_eq!(kinds(&short), [ReasonKind::TooShort]);
        short.fewest = 0;
        assert_eq!(kinds(&short), []);
    }
}
