//! The coordinator's side of a machine-tool cell: one write trial, then a read trial for each strategy on what it stored.
//!
//! It starts and watches the processes, marks the phases, settles the database, counts what is stored and judges. What is
//! measured inside the processes is in [`super::writer`] and [`super::reader`].

use super::answers::WrittenSamples;
use super::parameters::Parameters;
use super::reader::Strategy;
use super::{NAME, explain, read_trial, schema, write_trial};
pub(super) use crate::engine::failure::TrialFailure;
use crate::engine::judge::{Circumstances, broken_off};
use crate::engine::role::{Event, RoleError, RoleProcess};
use crate::engine::run::{
    Cell, CellRunner, RunContext, RunEvent, Turn, open_site, stopped, trial_label,
};
use crate::engine::site::{Site, block_on};
use crate::ledger::reconcile::reconcile;
use crate::measurement::record::{
    Cache, Implementation, LedgerRecord, PhaseRecord, Side, TrialRecord,
};
use crate::measurement::statements::StatementsRecord;
use crate::measurement::write_size::write_sizes;
use crate::probe::{HostSampler, ProcessTree, Recorder, Recording, Scope, WireScope, monotonic_ns};
use crate::units::ns_to_seconds;
use crate::workload::as_study::Protocol;
use sensormark_store::{Plan, Schema, StoreError};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How often the coordinator looks around while it waits.
const LOOK: Duration = Duration::from_millis(20);

/// The machine-tool workload with these numbers.
pub struct MachineToolRunner {
    /// Every number of the run.
    pub parameters: Parameters,
}

impl CellRunner for MachineToolRunner {
    fn trials(&self, cell: &Cell) -> usize {
        1 + cell.strategies.len()
    }

    fn seconds(&self, cell: &Cell) -> f64 {
        let write = self.parameters.warmup_seconds + self.parameters.measured_seconds + 1.5;
        let read = self.parameters.warmup_seconds
            + f64::from(self.parameters.reads) / self.parameters.reads_per_second
            + 0.7;
        write + read * cell.strategies.len() as f64
    }

    fn only_reads(&self, cell: &Cell) -> bool {
        !cell.strategies.is_empty()
    }

    fn run_cell(
        &self,
        context: &RunContext<'_>,
        cell: &Cell,
        turn: Turn,
        _earlier: &[TrialRecord],
        finished: &mut dyn FnMut(TrialRecord),
    ) {
        let mut write = new_record(cell, Side::Write, None, turn);
        let site = match open_site(context, cell) {
            Ok(site) => site,
            Err(error) => {
                return finished(broken_off_trial(context, write, &TrialFailure::from(error)));
            }
        };
        let plan = match prepare(context, cell, &site) {
            Ok(plan) => plan,
            Err(error) => {
                return finished(broken_off_trial(context, write, &TrialFailure::from(error)));
            }
        };
        write.write_sizes = write_sizes(site.store(), &plan.layout, &plan.schema);
        let mut trial = Trial {
            context,
            parameters: &self.parameters,
            cell,
            site: &site,
            plan: &plan,
        };
        let (mut write, written) = write_trial::run(&mut trial, write);
        let strategies = in_turn(context.protocol, &cell.strategies, turn.repetition);
        if let (Some(written), true) = (&written, strategies.is_empty()) {
            show_write(&trial, &mut write, written);
        }
        finished(write);
        for (number, &strategy) in strategies.iter().enumerate() {
            let mut record = new_record(cell, Side::Read, Some(strategy), turn);
            record.implementation.cache = context.cache;
            finished(match &written {
                _ if context.is_interrupted() => break,
                Some(written) => {
                    let mut record = read_trial::run(&mut trial, record, strategy, written);
                    show_read(&trial, &mut record, strategy, written);
                    if number + 1 == strategies.len() {
                        show_write(&trial, &mut record, written);
                    }
                    record
                }
                None => broken_off_trial(
                    context,
                    record,
                    &TrialFailure::System(
                        "what the write trial before it stored is not known".to_owned(),
                    ),
                ),
            });
        }
        drop_database(context, &site, &plan);
    }
}

fn drop_database(context: &RunContext<'_>, site: &Site, plan: &Plan) {
    let dropped = site.administer(plan, async |administrator| {
        administrator.drop_database().await
    });
    if let Err(error) = dropped
        && !context.is_interrupted()
    {
        let text = format!("the database could not be dropped: {error}");
        context.observer.event(RunEvent::Note(text));
    }
}

/// Keeps the statements of one cycle's reading, in the first repetition and where the trial came to its end.
fn show_read(
    trial: &Trial<'_>,
    record: &mut TrialRecord,
    strategy: Strategy,
    written: &WrittenSamples,
) {
    if let Some(bounds) = written.bounds_ns()
        && record.answers.is_some()
    {
        let numbers = (trial.parameters, trial.context.seed);
        keep_shown(record, || {
            explain::record_read(trial.site, trial.plan, strategy, numbers, bounds)
        });
    }
}

/// Keeps the statements of one more write, in the record of a cell's last trial: readers are checked against what was stored before.
fn show_write(trial: &Trial<'_>, record: &mut TrialRecord, written: &WrittenSamples) {
    let came_to_its_end = record.answers.is_some() || record.ledger.is_some();
    if let Some((_, last_ns)) = written.bounds_ns()
        && came_to_its_end
    {
        keep_shown(record, || {
            explain::record_write(trial.site, trial.plan, trial.context.seed, last_ns)
        });
    }
}

fn keep_shown(
    record: &mut TrialRecord,
    show: impl FnOnce() -> Result<StatementsRecord, StoreError>,
) {
    if record.repetition > 0 {
        return;
    }
    match show() {
        Ok(shown) => {
            let kept = record.statements.get_or_insert_default();
            kept.schema = shown.schema;
            kept.operations.extend(shown.operations);
        }
        Err(error) => {
            let text = format!("statements are not shown: {error}");
            record.warnings.push(text);
        }
    }
}

/// The cell's reading strategies; where the run follows the study, each repetition begins with the next one.
fn in_turn(protocol: Option<&Protocol>, named: &[String], repetition: u32) -> Vec<Strategy> {
    let mut strategies: Vec<Strategy> = Strategy::ALL
        .into_iter()
        .filter(|strategy| named.iter().any(|name| name == strategy.name()))
        .collect();
    if protocol.is_some_and(|study| study.strategies_turn) && !strategies.is_empty() {
        let first = repetition as usize % strategies.len();
        strategies.rotate_left(first);
    }
    strategies
}

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

fn prepare(context: &RunContext<'_>, cell: &Cell, site: &Site) -> Result<Plan, StoreError> {
    let plan = plan(site, cell, &context.owner, context.timeout_ms)?;
    site.administer(&plan, async |administrator| administrator.create().await)?;
    Ok(plan)
}

/// How a cell's database is reached.
///
/// # Errors
/// When the owner's mark makes no database's name.
pub fn plan(site: &Site, cell: &Cell, owner: &str, timeout_ms: u64) -> Result<Plan, StoreError> {
    let coarse = schema(sensormark_store::TimeResolution::Nanoseconds);
    let resolution = site
        .store()
        .time_resolution(&cell.layout, &coarse.tables[0]);
    Ok(Plan {
        endpoint: site.endpoint().clone(),
        database: sensormark_store::DatabaseName::new(owner)?,
        owner: owner.to_owned(),
        schema: Arc::new(schema(resolution)),
        layout: cell.layout,
        durability: cell.durability,
        clients: 1,
        timeout_ms,
    })
}

fn new_record(cell: &Cell, side: Side, strategy: Option<Strategy>, turn: Turn) -> TrialRecord {
    let description = cell.choice.store.description();
    let implementation = Implementation {
        store: description.name,
        server: cell.choice.server.clone(),
        title: cell.choice.title(),
        layout_name: cell.layout_name.clone(),
        layout: cell.layout,
        strategy: strategy.map(|strategy| strategy.name().to_owned()),
        durability: cell.durability,
        cache: Cache::Hot,
        embedded: description.embedded,
    };
    let side_name = strategy.map_or_else(
        || "write".to_owned(),
        |strategy| format!("read-{}", strategy.name()),
    );
    let name = format!(
        "{}-{}-{}-{side_name}-r{}-a{}",
        NAME,
        cell.choice.file_name(),
        cell.layout_name,
        turn.repetition,
        turn.attempt
    );
    turn.record(name, implementation, side)
}

/// The record of a trial that was broken off.
pub fn broken_off_trial(
    context: &RunContext<'_>,
    mut record: TrialRecord,
    failure: &TrialFailure,
) -> TrialRecord {
    let circumstances = Circumstances::of(context, record.implementation.embedded);
    broken_off(&mut record, failure.reason(), &circumstances);
    record
}

impl Trial<'_> {
    /// Starts sampling: the server and the coordinator now, roles as they are added.
    ///
    /// # Errors
    /// When processes cannot be watched.
    pub fn recorder(&self) -> Result<Recorder, TrialFailure> {
        let own = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        let mut trees = vec![ProcessTree::attach(
            "coordinator",
            own,
            Scope::Process,
            None,
        )?];
        trees.extend(self.site.tree()?);
        let folders = self.site.folders();
        let host = HostSampler::new(folders.iter().map(PathBuf::as_path))?;
        Ok(Recorder::start(
            host,
            trees,
            Duration::from_secs(1),
            self.context.disturbance,
        )?)
    }

    /// Watches a role from now on.
    ///
    /// # Errors
    /// When it is gone already.
    pub fn watch(
        &self,
        recorder: &Recorder,
        name: &str,
        role: &RoleProcess,
    ) -> Result<(), TrialFailure> {
        let root = i32::try_from(role.process_id()).unwrap_or(i32::MAX);
        let wire = (!self.site.store().description().embedded && name != "source")
            .then_some(WireScope::Sockets);
        Ok(recorder.add(ProcessTree::attach(name, root, Scope::Descendants, wire)?)?)
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

    /// Takes what the recorder saw into the record and keeps the samples.
    ///
    /// # Errors
    /// When the samples cannot be kept.
    pub fn keep(
        &self,
        record: &mut TrialRecord,
        recording: &Recording,
        operations: u64,
    ) -> Result<(), TrialFailure> {
        for phase in &recording.phases {
            let totals = recording.phase_totals(phase);
            let counted = if phase.name == "measured" {
                operations
            } else {
                0
            };
            record.phases.push(PhaseRecord {
                name: phase.name.clone(),
                seconds: ns_to_seconds(phase.end_ns - phase.start_ns),
                totals,
                operations: counted,
            });
        }
        for tree in &recording.trees {
            record.warnings.extend(
                tree.notes
                    .iter()
                    .map(|note| format!("{}: {note}", tree.role)),
            );
        }
        let name = format!("samples/{}.json", record.name);
        self.context
            .folder
            .write_json(&name, recording)
            .map_err(|error| TrialFailure::System(error.to_string()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::as_study;

    #[test]
    fn as_the_study_did_each_repetition_begins_with_the_next_strategy() {
        let named = ["bulk-1", "individual", "bulk"].map(str::to_owned);
        let order = |protocol: Option<&Protocol>, repetition| {
            let strategies = in_turn(protocol, &named, repetition).into_iter();
            strategies.map(Strategy::name).collect::<Vec<_>>()
        };
        let study = as_study::protocol(NAME);
        assert!(study.is_some());
        assert_eq!(order(study, 0), ["individual", "bulk", "bulk-1"]);
        assert_eq!(order(study, 1), ["bulk", "bulk-1", "individual"]);
        assert_eq!(order(study, 2), ["bulk-1", "individual", "bulk"]);
        assert_eq!(order(study, 3), order(study, 0));
        assert_eq!(order(None, 1), order(study, 0), "ours stays");
        assert!(in_turn(study, &[], 1).is_empty());
    }
}
