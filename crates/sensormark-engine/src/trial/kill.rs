//! The end of a database on request, in mid-load: when it is due, whose may be killed at all, and what is known of clients that ended with theirs.
//!
//! A server is killed, and its clients report what was acknowledged. An embedded database ends with its one client. What this client had reported by then is
//! known.

use super::plausible;
use super::script::{LoadSpec, PhaseSpec};
use crate::deployment::Deployment;
use crate::judge::data;
use crate::operations::Slot;
use crate::outcome::{LoadOutcome, PhaseOutcome};
use crate::role::Progress;
use crate::tally::{Exception, Others, WriteCounts};
use crate::work_distribution::Issued;
use sensormark_power::Lost;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, LedgerRecord, TrialRecord};
use sensormark_result::measurement::verdict::Reason;
use sensormark_store::Schema;
use std::time::{Duration, Instant};

/// Operations that a client may have done since it last reported how far it was, at least; and at most as many again as it had reported.
const UNTOLD: u64 = 1_000;

/// The end of a database on request.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kill {
    began: Option<Instant>,
    after: Option<Duration>,
    done: Option<Instant>,
    with_clients: bool,
    told: Progress,
    /// Whether anything was acknowledged before, so that a power cut shows something.
    pub(super) is_written: bool,
    /// What the disk lost with its power.
    pub(super) lost: Option<Lost>,
}

impl Kill {
    /// A phase begins after `lead`, and the database is killed `after` that, if at all.
    pub(super) fn plan(&mut self, after: Option<Duration>, lead: Duration) {
        *self = Self { began: Some(Instant::now() + lead), after, ..Self::default() };
    }

    /// Whether it is time to kill it, and stop the clients.
    pub(super) fn is_due(&self) -> bool {
        let due = self.began.zip(self.after);
        !self.is_done() && due.is_some_and(|(began, after)| Instant::now() >= began + after)
    }

    /// It was killed now, its clients with it or not.
    pub(super) fn done(&mut self, with_clients: bool) {
        self.done = Some(Instant::now());
        self.with_clients = with_clients;
    }

    /// Whether it was killed.
    pub(super) const fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Whether the clients were killed, too.
    pub(super) const fn is_with_clients(&self) -> bool {
        self.is_done() && self.with_clients
    }

    /// How long after the phase's start it was done.
    pub(super) fn done_after(&self) -> Option<Duration> {
        Some(self.done?.saturating_duration_since(self.began?))
    }

    /// The clients say that they are so far.
    pub(super) const fn tell(&mut self, progress: Progress) {
        self.told = progress;
    }

    /// What is known of a phase whose one client was killed. What it had reported was acknowledged; what may have followed is in doubt.
    ///
    /// # Errors
    /// When more is not known: several clients, or failures among what was reported.
    pub(super) fn outcome(&self, phase: &PhaseSpec, schema: &Schema) -> Result<PhaseOutcome, String> {
        let [load] = phase.loads.as_slice() else {
            return Err("several loads ended with their database".to_owned());
        };
        let Progress { done, errors, .. } = self.told;
        if load.clients != 1 || errors > 0 {
            return Err(format!(
                "of {} clients that ended with their database, {errors} operations failed: what was acknowledged is not known",
                load.clients
            ));
        }
        if done > plausible::MOST {
            return Err(format!("its client cannot have done {done} operations"));
        }
        let sent = done + done + UNTOLD;
        let writes = counts(load, schema, (done, sent));
        let doubtful = |index| Exception { index, acknowledged: 0, others: Others::InDoubt };
        let outcome = LoadOutcome {
            name: load.name.clone(),
            clients: load.clients,
            seconds: self.done_after().map_or(0.0, |after| after.as_secs_f64()),
            writes,
            issued: Issued::first(sent, load.operations.len()),
            exceptions: (done..sent).map(doubtful).collect(),
            ..LoadOutcome::default()
        };
        Ok(PhaseOutcome { loads: vec![outcome], ..PhaseOutcome::default() })
    }

    /// Counts what a killed client may have sent only as far as it is found: how much that was nobody knows.
    pub(super) const fn forget_unsent(&self, ledger: &mut LedgerRecord) {
        if self.is_with_clients() {
            ledger.in_doubt -= ledger.in_doubt_not_stored;
            ledger.in_doubt_not_stored = 0;
            ledger.attempted = ledger.acknowledged + ledger.in_doubt;
            ledger.produced = ledger.attempted;
        }
    }

    /// What the counts say against a trial, killed on request or not; what survived, here or after a crash, is put down.
    pub(super) fn account(
        &self,
        crashed: bool,
        ledger: &LedgerRecord,
        record: &mut TrialRecord,
    ) -> Vec<Reason> {
        let mut put = |name: &str, figure| record.figures.insert(name.to_owned(), figure);
        if let Some(lost) = self.lost {
            put(names::DISK_LOST_FILES, Figure::new(lost.files as f64, "files"));
            put(names::DISK_LOST_BYTES, Figure::new(lost.bytes as f64, "bytes"));
        }
        if crashed || self.is_done() {
            let survived = ledger.acknowledged.saturating_sub(ledger.lost);
            put(names::SURVIVED, Figure::new(survived as f64, "readings"));
        }
        if let Some(after) = self.done_after() {
            put(names::KILLED_AFTER, Figure::new(after.as_secs_f64(), "s"));
        }
        if !self.is_done() {
            return data::ledger(ledger);
        }
        let (reasons, told) = data::ledger_of_killed(ledger, record.implementation.durability);
        record.warnings.extend(told);
        reasons
    }
}

/// What is known of the first `sent` writes of a load: the first `done` of them were acknowledged, and the others are in doubt.
fn counts(load: &LoadSpec, schema: &Schema, (done, sent): (u64, u64)) -> WriteCounts {
    let (mut slot, mut writes) = (Slot::new(schema), WriteCounts::default());
    for index in 0..sent {
        load.operations.fill(index, u64::MAX, &mut slot);
        let readings = slot.batch().map_or(0, |batch| batch.len() as u64);
        writes.attempted += readings;
        let count = if index < done { &mut writes.acknowledged } else { &mut writes.in_doubt };
        *count += readings;
    }
    writes
}

/// Why a phase whose database is to be killed cannot be run here.
pub(super) fn not_ours_to_kill(deployment: &Deployment, phase: &PhaseSpec) -> Option<String> {
    if phase.kill_after.is_some() && deployment.elsewhere().is_some() {
        let reason = "sensormark kills servers on its own machine alone; leave --host server=… out";
        return Some(reason.to_owned());
    }
    let ours = deployment.is_ours() || deployment.store().description().embedded;
    let reason = "sensormark kills no server but its own; name the store without a URL";
    (phase.kill_after.is_some() && !ours).then(|| reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::readings::{Readings, schema};
    use std::sync::Arc;

    #[test]
    fn a_kill_is_due_once_and_only_when_it_was_asked_for() {
        let mut kill = Kill::default();
        assert!(!kill.is_due());
        kill.plan(None, Duration::ZERO);
        assert!(!kill.is_due());
        kill.plan(Some(Duration::from_secs(3_600)), Duration::ZERO);
        assert!(!kill.is_due());
        kill.plan(Some(Duration::ZERO), Duration::ZERO);
        assert!(kill.is_due() && !kill.is_done() && kill.done_after().is_none());
        kill.done(false);
        assert!(!kill.is_due() && kill.is_done() && kill.done_after().is_some());
    }

    #[test]
    fn what_a_killed_client_told_was_acknowledged_and_the_rest_is_in_doubt() {
        let readings = Arc::new(Readings::new());
        let phase = |clients| {
            let load = LoadSpec::writing("write", Arc::clone(&readings) as Arc<_>, clients);
            PhaseSpec::new("write", vec![load])
        };
        let mut kill = Kill::default();
        kill.plan(Some(Duration::ZERO), Duration::ZERO);
        kill.tell(Progress { done: 50, ..Progress::default() });
        kill.done(true);
        let outcome = kill.outcome(&phase(1), &schema()).unwrap();
        let load = &outcome.loads[0];
        assert_eq!(load.writes.acknowledged, 500);
        assert_eq!(load.writes.in_doubt, 10 * (50 + UNTOLD));
        assert_eq!(load.exceptions.len() as u64, 50 + UNTOLD);
        assert!(load.issued.contains(1_099) && !load.issued.contains(1_100));
        assert!(kill.outcome(&phase(2), &schema()).is_err());
        let mut ledger = LedgerRecord {
            attempted: 11_000,
            acknowledged: 500,
            in_doubt: 10_500,
            in_doubt_not_stored: 10_480,
            ..LedgerRecord::default()
        };
        kill.forget_unsent(&mut ledger);
        assert_eq!((ledger.attempted, ledger.in_doubt), (520, 20));
        assert_eq!(ledger.in_doubt_not_stored, 0);
    }
}
