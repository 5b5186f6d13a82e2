//! What the trials of a machine-tool cell have in common on the coordinator's side: it starts and watches the processes, brings the database to rest, and
//! counts what is stored.
//!
//! What a trial goes through is in [`super::write_trial`] and [`super::read_trial`]. What is measured inside the processes is in [`super::writer`] and
//! [`super::reader`].

use super::answers::WrittenSamples;
use super::parameters::Parameters;
use super::{NAME, schema};
use crate::engine::context::{Cell, RunContext, RunEvent, stopped, trial_label};
pub(super) use crate::engine::failure::TrialFailure;
use crate::engine::judge::{Circumstances, Evidence, judge};
use crate::engine::role::{Event, RoleError, RoleProcess};
use crate::engine::site::{Site, block_on};
use crate::engine::trial::watch::start_recorder;
use crate::engine::trial::{account, cell};
use crate::ledger::reconcile::reconcile;
use crate::measurement::record::{LedgerRecord, TrialRecord};
use crate::probe::{Recorder, Recording, monotonic_ns};
use sensormark_store::{Plan, Schema, StoreError, TimeResolution};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How often the coordinator looks around while it waits.
const LOOK: Duration = Duration::from_millis(20);

/// A trial at work.
pub struct Trial<'a> {
    /// What the run works with.
    pub context: &'a RunContext<'a>,
    /// Every number of the run.
    pub parameters: &'a Parameters,
    /// What is measured.
    pub cell: &'a Cell,
    /// Where its database runs.
    pub site: &'a Site,
    /// How it is reached.
    pub plan: &'a Plan,
}

/// How a cell's database is reached.
///
/// # Errors
/// When the owner's mark makes no database's name.
pub fn plan(site: &Site, cell: &Cell, owner: &str, timeout_ms: u64) -> Result<Plan, StoreError> {
    let coarse = schema(TimeResolution::Nanoseconds);
    let resolution = site
        .store()
        .time_resolution(&cell.layout, &coarse.tables[0]);
    let schema = Arc::new(schema(resolution));
    cell::plan(site, cell, schema, 1, (owner, timeout_ms))
}

/// The record of a trial that was broken off.
pub fn broken_off_trial(
    context: &RunContext<'_>,
    mut record: TrialRecord,
    failure: &TrialFailure,
) -> TrialRecord {
    let circumstances = Circumstances::of(context, record.implementation.embedded);
    let evidence = Evidence {
        failure: Some(failure.reason()),
        ..Evidence::default()
    };
    judge(&mut record, evidence, &circumstances);
    record
}

impl Trial<'_> {
    /// Starts sampling: the server, the coordinator and this role.
    ///
    /// # Errors
    /// When processes cannot be watched.
    pub fn recorder(&self, name: &str, role: &RoleProcess) -> Result<Recorder, TrialFailure> {
        start_recorder(self.context, self.site, name, std::slice::from_ref(role))
    }

    /// Starts a role process.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn role(
        &self,
        name: &str,
        configuration: &impl serde::Serialize,
    ) -> Result<RoleProcess, TrialFailure> {
        Ok(RoleProcess::start(
            &self.context.program,
            &format!("{NAME}-{name}"),
            configuration,
        )?)
    }

    /// Tells who watches that the trial begins.
    pub fn announce(&self, record: &TrialRecord, seconds: f64) {
        self.context.observer.event(RunEvent::TrialStarted {
            label: trial_label(record),
            seconds,
        });
    }

    /// Tells who watches that a phase begins.
    pub fn phase(&self, name: &str) {
        self.context.observer.event(RunEvent::Phase {
            name: name.to_owned(),
        });
    }

    /// Lets time pass until an instant of CLOCK_MONOTONIC, and looks around meanwhile.
    ///
    /// # Errors
    /// When a role or the server stops, or the user breaks off.
    pub fn pass_until(
        &mut self,
        until_ns: u64,
        roles: &mut [&mut RoleProcess],
    ) -> Result<(), TrialFailure> {
        loop {
            for role in roles.iter_mut() {
                self.look(role)?;
            }
            let left = until_ns.saturating_sub(monotonic_ns());
            if left == 0 {
                return Ok(());
            }
            thread::sleep(LOOK.min(Duration::from_nanos(left)));
        }
    }

    /// Waits for an event of a role that passes; gives up when the role makes no progress for `limit`.
    ///
    /// # Errors
    /// Like [`Trial::pass_until`], and [`RoleError::Silent`] when it does not come.
    pub fn await_event(
        &mut self,
        role: &mut RoleProcess,
        limit: Duration,
        passes: fn(&Event) -> bool,
    ) -> Result<Event, TrialFailure> {
        let mut deadline = Instant::now() + limit;
        loop {
            if let Some(event) = role.take(passes) {
                return Ok(event);
            }
            if self.look(role)? {
                deadline = Instant::now() + limit;
            }
            if Instant::now() >= deadline {
                return Err(RoleError::Silent {
                    role: role.name().to_owned(),
                    seconds: limit.as_secs(),
                }
                .into());
            }
        }
    }

    /// Looks around once; whether the role made progress.
    fn look(&mut self, role: &mut RoleProcess) -> Result<bool, TrialFailure> {
        if self.context.is_interrupted() {
            return Err(RoleError::Interrupted.into());
        }
        self.site
            .check()
            .inspect_err(|crash| self.context.observer.event(stopped(crash)))?;
        let progress = role.listen(Instant::now() + Duration::from_millis(5))?;
        if let Some(progress) = progress {
            self.context.observer.event(RunEvent::Progress(progress));
        }
        Ok(progress.is_some())
    }

    /// Brings the database to rest.
    ///
    /// # Errors
    /// When it does not come to rest.
    pub fn settle(&self) -> Result<(), TrialFailure> {
        Ok(self.site.administer(self.plan, async |administrator| {
            administrator.settle().await
        })?)
    }

    /// Counts what is stored and compares it with what was written.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn reconcile(
        &self,
        schema: &Schema,
        written: &WrittenSamples,
        ledger: &mut LedgerRecord,
    ) -> Result<(), TrialFailure> {
        Ok(block_on(async {
            let mut session = self.site.store().connect(self.plan).await?;
            reconcile(schema, written, session.as_mut(), ledger).await?;
            session.close().await
        })?)
    }

    /// Takes what the recorder saw into the record, with the operations of the measured phase, and keeps the samples.
    ///
    /// # Errors
    /// When the samples cannot be kept.
    pub fn keep(
        &self,
        record: &mut TrialRecord,
        recording: &Recording,
        operations: u64,
    ) -> Result<(), TrialFailure> {
        let operations = [("measured".to_owned(), operations)].into();
        account::keep(self.context.folder, record, recording, &operations)
    }
}
