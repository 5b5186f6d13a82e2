//! The end of a database on request, in mid-load: when it is due, whose may be killed at all, and what is known of clients that ended with theirs.
//!
//! A server is killed, and its clients report what was acknowledged. An embedded database ends with its one client. What this client had reported by then is
//! known. What survives is counted by the coordinator; whether it is enough is decided there too.

use super::script::{LoadSpec, PhaseSpec};
use crate::engine::deployment::Deployment;
use crate::engine::judge::data;
use crate::engine::operations::Slot;
use crate::engine::outcome::{LoadOutcome, PhaseOutcome};
use crate::engine::role::Progress;
use crate::engine::tally::{Exception, Others, WriteCounts};
use crate::engine::work_distribution::Issued;
use crate::measurement::names;
use crate::measurement::record::{AnswersRecord, Figure, LedgerRecord, TrialRecord};
use crate::measurement::verdict::Reason;
use sensormark_store::{Durability, Schema};
use std::collections::BTreeMap;
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
}

impl Kill {
    /// A phase begins after `lead`, and the database is killed `after` that, if at all.
    pub(super) fn plan(&mut self, after: Option<Duration>, lead: Duration) {
        *self = Self {
            began: Some(Instant::now() + lead),
            after,
            ..Self::default()
        };
    }

    /// Whether it is time.
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
    pub(super) fn outcome(
        &self,
        phase: &PhaseSpec,
        schema: &Schema,
    ) -> Result<PhaseOutcome, String> {
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
        let sent = done + done + UNTOLD;
        let writes = counts(load, schema, (done, sent));
        let doubtful = |index| Exception {
            index,
            acknowledged: 0,
            others: Others::InDoubt,
        };
        let outcome = LoadOutcome {
            name: load.name.clone(),
            clients: load.clients,
            open_loop: false,
            seconds: self.done_after().map_or(0.0, |after| after.as_secs_f64()),
            classes: BTreeMap::new(),
            errors: BTreeMap::new(),
            first_error: None,
            late: 0,
            not_started: 0,
            longest_ns: 0,
            writes,
            issued: Issued::first(sent, load.operations.len()),
            exceptions: (done..sent).map(doubtful).collect(),
            answers: AnswersRecord::default(),
            pacing: None,
            reconnects: 0,
            datagram_bytes: 0,
            lines: BTreeMap::new(),
            notes: BTreeMap::new(),
            broken: None,
            journal_ns: 0,
        };
        Ok(PhaseOutcome {
            start_ns: 0,
            end_ns: 0,
            cpu_ns: 0,
            cut: None,
            loads: vec![outcome],
        })
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
        class: Durability,
        ledger: &LedgerRecord,
        record: &mut TrialRecord,
    ) -> Vec<Reason> {
        let mut put = |name: &str, figure| record.figures.insert(name.to_owned(), figure);
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
        let (reasons, told) = data::ledger_of_killed(ledger, class);
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
        let count = if index < done {
            &mut writes.acknowledged
        } else {
            &mut writes.in_doubt
        };
        *count += readings;
    }
    writes
}

/// Why a phase whose database is to be killed cannot be run here.
pub(super) fn not_ours_to_kill(deployment: &Deployment, phase: &PhaseSpec) -> Option<String> {
    let ours = deployment.is_ours() || deployment.store().description().embedded;
    let reason = "sensormark kills no server but its own; name the store without a URL";
    (phase.kill_after.is_some() && !ours).then(|| reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::durability::readings::{Readings, schema};
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
        let readings = Arc::new(Readings::new(1, 4, 10));
        let phase = |clients| {
            let load = LoadSpec::writing("write", Arc::clone(&readings) as Arc<_>, clients);
            PhaseSpec::new("write", vec![load])
        };
        let mut kill = Kill::default();
        kill.plan(Some(Duration::ZERO), Duration::ZERO);
        kill.tell(Progress {
            done: 50,
            of: 0,
            errors: 0,
        });
        kill.done(true);
        let outcome = kill.outcome(&phase(1), &schema(4)).unwrap();
        let load = &outcome.loads[0];
        assert_eq!(load.writes.acknowledged, 500);
        assert_eq!(load.writes.in_doubt, 10 * (50 + UNTOLD));
        assert_eq!(load.exceptions.len() as u64, 50 + UNTOLD);
        assert!(load.issued.contains(1_099) && !load.issued.contains(1_100));
        assert!(kill.outcome(&phase(2), &schema(4)).is_err());
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
