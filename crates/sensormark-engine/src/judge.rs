//! The one judge: whether a trial's figures may be believed.
//!
//! Every workload hands over the same evidence: the record of the trial, what was done in its phases ([`work`]), and what the counts of its data
//! say ([`data`]). The host ([`host`]) and the client ([`client`]) are judged from the record. No other place weighs evidence.
//!
//! Two places change a verdict that was given here. A report that reads a record contradicting its own counts takes it for invalid ([`data::as_its_counts_say`]).
//! A search for the highest rate marks the trial that it keeps as invalid where it came to no end, or with what was missed (`own::find_limit` of the workloads).

mod circumstances;
pub mod client;
pub mod data;
mod finding;
pub mod host;
pub mod work;

use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{PhaseRecord, TrialRecord};
use sensormark_result::measurement::verdict::{Excuse, Reason, ReasonKind, Verdict};
use work::{Work, measured_phases};

pub use circumstances::Circumstances;
pub use finding::Finding;

/// What a workload knows of its trial besides the record.
#[derive(Debug, Default)]
pub struct Evidence {
    /// What was done.
    pub works: Vec<Work>,
    /// What the counts of the data say, and whether the server stopped.
    pub data: Vec<Reason>,
    /// Why the trial was broken off, if it was: whatever else was seen, it is not a whole one then.
    pub failure: Option<Reason>,
}

/// Puts the verdict into the record, with the host's disturbances and with warnings of what was tolerated.
pub fn judge(record: &mut TrialRecord, evidence: Evidence, circumstances: &Circumstances) {
    let mut findings: Vec<Finding> = evidence.data.into_iter().map(Finding::from).collect();
    findings.extend(data::wrong_answers(record).map(Finding::from));
    // What fails once the server has been killed on request is no fault of its.
    if !record.figures.contains_key(names::KILLED_AFTER) {
        let mut warnings = Vec::new();
        findings.extend(of_works(record, &evidence.works, circumstances, &mut warnings));
        record.warnings.append(&mut warnings);
    }
    // Why a trial was broken off is certain.
    findings.extend(evidence.failure.map(|reason| Finding { reason, by_host: false }));
    conclude(record, findings, circumstances.tolerate_disturbance);
}

/// Operations of a schedule that started late because their own database had the processors are a warning and no finding. Who waits then waits for the database,
/// and latencies have it: they count from when an operation was due.
fn of_works(
    record: &TrialRecord,
    works: &[Work],
    circumstances: &Circumstances,
    warnings: &mut Vec<String>,
) -> Vec<Finding> {
    let timeout_ms = circumstances.timeout_ms;
    let measured = measured_phases(record, works);
    let mut findings = Vec::new();
    for work in works {
        let had = |phase: &PhaseRecord| {
            let database = host::had_database(phase, circumstances.embedded);
            phase.name == work.phase && database && host::made_late(phase, &[work]).is_none()
        };
        let waited = work.open_loop && record.phases.iter().any(had);
        for one in work.findings(timeout_ms) {
            if waited && one.reason.kind == ReasonKind::SourceLate {
                warnings.push(format!("{}: the database had the processors", one.reason.text));
            } else {
                findings.push(one);
            }
        }
    }
    if !circumstances.embedded {
        let server = record.server.as_ref();
        let confined = client::confined(circumstances.limits);
        findings.extend(confined.map(|text| Finding::new(ReasonKind::ClientBound, text)));
        findings.extend(
            measured.iter().flat_map(|(phase, works)| client::bound(phase, works, server, circumstances)),
        );
    }
    let disturbed = if works.is_empty() {
        // The trial was broken off before anything of it was counted: what is known of the host is said all the same.
        host::disturbed(&record.phases, &circumstances.disturbance)
    } else {
        let phases = measured.iter().map(|(phase, _)| *phase);
        host::disturbed(phases, &circumstances.disturbance)
    };
    if disturbed.is_empty() {
        let mut late = measured.iter();
        findings.extend(late.find_map(|(phase, works)| host::made_late(phase, works)));
    }
    findings.extend(disturbed);
    findings
}

/// The verdict: valid without findings; inconclusive when a disturbed host may be the cause of all of them; else invalid. Toleration excuses the
/// disturbance and a source that it made late; whatever else there is stays as it is without, so that it never makes a verdict harsher.
fn conclude(record: &mut TrialRecord, findings: Vec<Finding>, tolerate: bool) {
    let is_disturbance = |reason: &Reason| reason.kind == ReasonKind::HostDisturbed;
    let disturbed = findings.iter().filter(|one| is_disturbance(&one.reason));
    let disturbances: Vec<String> = disturbed.map(|one| one.reason.text.clone()).collect();
    let is_explained = !disturbances.is_empty() && findings.iter().all(|one| one.by_host);
    let reasons: Vec<Reason> = findings.into_iter().map(|one| one.reason).collect();
    let is_tolerable = reasons.iter().all(|reason| reason.kind.excuse() == Excuse::Toleration);
    record.disturbances = disturbances;
    record.verdict = match (reasons.is_empty(), is_explained) {
        (true, _) => Verdict::Valid,
        (false, true) if tolerate && is_tolerable => {
            let excused = reasons.iter().map(|one| format!("tolerated: {}: {}", one.kind.text(), one.text));
            record.warnings.extend(excused);
            Verdict::Valid
        }
        // Also with toleration: a client that perhaps measured itself, or an answer after the time limit, stays without a conclusion.
        (false, true) => Verdict::Inconclusive(reasons),
        (false, false) => Verdict::Invalid(reasons),
    };
}

#[cfg(test)]
mod tests;
