//! The task of a phase: what is done to the database while the phase's clients work, or in their place, and the proof after it.

use super::Coordinator;
use super::proof::ReadBack;
use crate::failure::TrialFailure;
use crate::judge::data;
use crate::lifecycle::{BACKUP, Change, Done, Site, Task};
use crate::trial::script::PhaseSpec;
use sensormark_data::number::count_text;
use sensormark_data::units::ns_to_seconds;
use sensormark_result::measurement::lifecycle::TaskRecord;
use sensormark_result::measurement::record::{LedgerRecord, TrialRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind};
use sensormark_result::probe::monotonic_ns;
use sensormark_server::ScratchFolder;
use sensormark_store::{ErrorKind, StoreError};
use std::thread;
use std::time::Duration;

/// How long the coordinator passes at a time while a task is done, in ns.
const PASS_NS: u64 = 20_000_000;

/// What tasks left behind.
#[derive(Default)]
pub(super) struct Tasks {
    folder: Option<ScratchFolder>,
    /// By step.
    pub(super) changes: Vec<(usize, Change)>,
    /// What is gone may stay so much longer, in ns.
    pub(super) slack_ns: i64,
    /// The step of the latest backup.
    backup: Option<usize>,
}

impl Coordinator<'_> {
    /// Does the task of a phase whose clients are at work since `start_ns`: lets them work for a time before it and after it, and has them stop.
    pub(super) fn do_task(
        &mut self,
        (number, phase, task): (usize, &PhaseSpec, &Task),
        start_ns: u64,
        record: &mut TrialRecord,
    ) -> Result<(), TrialFailure> {
        let (has_clients, name) = (!phase.loads.is_empty(), &phase.name);
        let is_alone = !(has_clients && task.is_round);
        if has_clients {
            self.watch.begin_phase(&if is_alone { format!("{name}, before") } else { name.clone() })?;
            self.pass_until(start_ns + task.beside_ns)?;
        }
        if is_alone {
            self.watch.begin_phase(name)?;
        }
        let (began_ns, mut done) = (monotonic_ns(), Done::default());
        let outcome = self.meanwhile(task, has_clients, &mut done)?;
        let ended_ns = monotonic_ns();
        if is_alone {
            self.watch.end_phase(false)?;
        }
        if has_clients && is_alone {
            self.watch.begin_phase(&format!("{name}, after"))?;
            self.pass_until(ended_ns + task.beside_ns)?;
            self.watch.end_phase(false)?;
            self.stop_clients();
        }
        if let Some(root) = self.deployment.root().filter(|_| !has_clients) {
            self.watch.recorder().follow("server", root)?;
        }
        let not_supported = match outcome {
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::NotInstalled) => {
                Some(error.context().to_owned())
            }
            outcome => outcome.map(|()| None)?,
        };
        let is_done = not_supported.is_none();
        record.tasks.push(TaskRecord {
            phase: name.clone(),
            task: task.name.clone(),
            began: ns_to_seconds(began_ns.saturating_sub(start_ns)),
            seconds: ns_to_seconds(ended_ns - began_ns),
            not_supported,
            ..std::mem::take(&mut done.record)
        });
        self.done = is_done.then_some((number, done));
        Ok(())
    }

    /// Runs a task. Looks around while clients work.
    fn meanwhile(
        &mut self,
        task: &Task,
        has_clients: bool,
        done: &mut Done,
    ) -> Result<Result<(), StoreError>, TrialFailure> {
        let folder = match self.tasks.folder.take() {
            Some(folder) => folder,
            None => self.context.supervisor.scratch("backup", self.context.data_folder.as_deref())?,
        };
        folder.let_others_through()?;
        let site = Site {
            deployment: self.deployment,
            plan: self.plan,
            folder: folder.path(),
            supervisor: self.context.supervisor,
            options: &self.context.server,
        };
        let outcome = thread::scope(|scope| {
            if !has_clients {
                return Ok(task.run(&site, done));
            }
            let running = scope.spawn(|| task.run(&site, done));
            while !running.is_finished() {
                self.pass_until(monotonic_ns() + PASS_NS)?;
            }
            let gone = |_| TrialFailure::System(format!("the task {} ended by itself", task.name));
            running.join().map_err(gone)
        });
        self.tasks.folder = Some(folder);
        outcome
    }

    /// Reads back what has to be stored after the latest task, if one was done.
    pub(super) fn prove_task(
        &mut self,
        phase: &PhaseSpec,
        record: &mut TrialRecord,
    ) -> Result<(), TrialFailure> {
        let (Some((number, done)), Some(task)) = (self.done.take(), &phase.task) else { return Ok(()) };
        if task.is_round {
            // The latest of them says all.
            self.tasks.changes.retain(|(_, change)| !matches!(change, Change::Gone(..)));
            self.tasks.slack_ns = done.slack_ns;
        }
        self.tasks.changes.extend(task.change.clone().map(|change| (number, change)));
        let is_backup = task.name == BACKUP;
        if is_backup {
            self.tasks.backup = Some(number);
        }
        if is_backup || task.is_round {
            return Ok(());
        }
        let (ledger, wrong) = match &done.restored {
            Some(plan) => {
                let read = || self.read_back(plan, self.tasks.backup);
                // InfluxDB shows what was restored a moment later: it came while it was read, or its shard was disabled until then.
                let is_whole =
                    |it: &ReadBack| it.ledger.lost > 0 || it.ledger.stored >= it.ledger.acknowledged;
                let ReadBack { ledger, entities, .. } = match read().ok().filter(is_whole) {
                    Some(read) => read,
                    None => {
                        thread::sleep(Duration::from_secs(1));
                        read()?
                    }
                };
                let of = if done.drop.is_empty() { plan } else { self.plan };
                let dropped = self.deployment.administer(of, async |administrator| match &*done.drop {
                    "" => administrator.drop_database().await,
                    statement => administrator.perform(statement).await.map(drop),
                });
                let left = dropped.err().map(|error| format!("what was restored is not dropped: {error}"));
                record.warnings.extend(left);
                let altered = entities.map(|text| Reason::new(ReasonKind::AlteredData, text));
                let wrong = data::ledger(&ledger).into_iter().chain(altered).collect();
                (ledger, wrong)
            }
            None => {
                self.counted = 0;
                self.prove(record)?;
                // What is proved later does not take it back.
                (record.ledger.clone().unwrap_or_default(), std::mem::take(&mut self.miscounted))
            }
        };
        if let Some(task) = record.tasks.last_mut() {
            task.proven = wrong.is_empty();
            task.found = Some(words(&ledger, &wrong));
        }
        self.reasons.extend(wrong);
        Ok(())
    }
}

/// What was found.
fn words(ledger: &LedgerRecord, wrong: &[Reason]) -> String {
    let texts: Vec<&str> = wrong.iter().map(|reason| &*reason.text).collect();
    let said = if texts.is_empty() { ", all as they must be" } else { &format!(": {}", texts.join("; ")) };
    format!("{} readings{said}", count_text(ledger.stored as f64))
}
