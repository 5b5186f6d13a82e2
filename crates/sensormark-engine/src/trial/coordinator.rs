//! The coordinator's side of one trial of phases. It leads the trial's processes through the steps together, and watches them and the server.
//! It brings the database to rest. What a phase needs is in [`prepare`], and what feeds a load in [`feeding`]. What processes say is in [`hearing`]. Counting what
//! is stored is in [`count`], and what several processes of a phase do together in [`together`].

mod clocks;
mod count;
mod feeding;
mod hearing;
mod hosts;
mod killing;
mod prepare;
mod together;

use super::account::{self, DiskMoment};
use super::feed::{Brought, Feeding, Journal};
use super::files;
use super::kill::{Kill, not_ours_to_kill};
use super::protocol::{Command, Prepare, is_connected, is_finished, is_report};
use super::script::{PhaseSpec, Step, TrialSpec};
use super::watch::Watch;
use crate::bell::Bell;
use crate::clock::HostClock;
use crate::cold;
use crate::context::{RunContext, RunEvent};
use crate::deployment::Deployment;
use crate::failure::TrialFailure;
use crate::outcome::{LoadOutcome, PhaseOutcome};
use crate::role::RoleProcess;
use sensormark_result::measurement::record::{Cache, LoadRecord, TrialRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind};
use sensormark_result::probe::monotonic_ns;
use sensormark_store::{ErrorKind, Plan, StoreError};
use serde_json::Value;
use std::time::Duration;

/// How long processes have to come to their common start, in ns.
const LEAD_NS: u64 = 50_000_000;
/// How long a process may take to compare the answers of a phase.
const LONGEST_REPORT: Duration = Duration::from_secs(3_600);

/// One trial at work.
pub struct Coordinator<'a> {
    /// What the run works with.
    pub context: &'a RunContext<'a>,
    /// Where the database runs.
    pub deployment: &'a Deployment,
    /// How it is reached.
    pub plan: &'a Plan,
    /// The workload's name.
    pub kind: &'a str,
    /// What the trial goes through.
    pub steps: &'a [Step],
    /// The role of its processes.
    role: &'a str,
    /// The trial's processes.
    roles: Vec<RoleProcess>,
    /// By which they are heard.
    bell: Bell,
    /// By process: the clock of its host, where that is another.
    clocks: Vec<Option<HostClock>>,
    watch: Watch,
    /// What was written since the database was made.
    written: Vec<Written>,
    /// How the server ended, when it did.
    crash: Option<StoreError>,
    /// The end of the server on request.
    kill: Kill,
    reasons: Vec<Reason>,
    /// What feeds the present phase's load.
    feeding: Option<Feeding>,
    /// What a fed load has written.
    journal: Option<Journal>,
}

/// What one writing load has written.
struct Written {
    step: usize,
    load: usize,
    outcome: LoadOutcome,
    /// Readings that its source made, of a load that was fed.
    produced: Option<u64>,
}

/// What a trial came to.
pub struct Ran {
    /// What speaks against it so far.
    pub reasons: Vec<Reason>,
    /// Whether it came to its end.
    pub outcome: Result<(), TrialFailure>,
    /// What a fed load has written, as far as it could be counted.
    pub journal: Option<Journal>,
}

/// What a phase of the trial's processes led to.
struct Worked {
    outcome: PhaseOutcome,
    ceiling: Option<f64>,
    brought: Option<Brought>,
}

impl<'a> Coordinator<'a> {
    /// A trial of these processes, which are ready; sampling begins.
    ///
    /// # Errors
    /// When processes cannot be watched.
    pub fn new(
        context: &'a RunContext<'a>,
        deployment: &'a Deployment,
        plan: &'a Plan,
        (kind, trial): (&'a str, &'a TrialSpec),
        roles: Vec<RoleProcess>,
    ) -> Result<Self, TrialFailure> {
        let watch = Watch::start(context, deployment, trial.role, &roles)?;
        let bell = Bell::default();
        for (number, role) in roles.iter().enumerate() {
            bell.hang(role.rope(), number);
        }
        Ok(Self {
            context,
            deployment,
            plan,
            kind,
            steps: &trial.steps,
            role: trial.role,
            clocks: vec![None; roles.len()],
            roles,
            bell,
            watch,
            written: Vec::new(),
            crash: None,
            kill: Kill::default(),
            reasons: Vec::new(),
            feeding: None,
            journal: None,
        })
    }

    /// Goes through all steps, and keeps what was seen, also when it fails.
    pub fn run(mut self, record: &mut TrialRecord) -> Ran {
        let outcome = self.go(record);
        if outcome.is_err() {
            self.hear_out();
        }
        for role in &mut self.roles {
            match &outcome {
                // A process that is gone already needs no word.
                Ok(()) => drop(role.send(&Command::End)),
                Err(_) => role.kill(),
            }
        }
        if outcome.is_err() {
            self.count_survivors(record);
        }
        if let Some(crash) = self.crash.take() {
            let text = crash.to_string();
            self.reasons.push(Reason::new(ReasonKind::ServerCrashed, text));
        }
        let kept = self.watch.stop().and_then(|seen| {
            let operations = account::operations_by_phase(record);
            account::keep(self.context.folder, record, &seen, (self.role, &operations))
        });
        Ran { reasons: self.reasons, outcome: outcome.and(kept), journal: self.journal }
    }

    fn go(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        if self.writes() {
            // At rest before as after: QuestDB gives back what a new table has too much, and its data took less than nothing.
            self.deployment.administer(self.plan, async |administrator| administrator.settle().await)?;
            let disk = self.watch.disk(self.deployment)?;
            account::add_disk(record, DiskMoment::Before, None, disk);
        }
        for (number, step) in self.steps.iter().enumerate() {
            match step {
                Step::Reset => self.reset(record)?,
                Step::Settle(name) => self.settle(name, record)?,
                Step::Run(phase) => self.run_phase(number, phase, record)?,
            }
            if self.crash.is_some() || self.kill.is_done() {
                self.bring_back(record)?;
                break;
            }
            if self.met_a_full_disk(record) {
                let text = "the disk was full, so the rest of the trial was left out";
                record.warnings.push(text.to_owned());
                break;
            }
        }
        self.count(record)?;
        if self.crash.is_none() && self.writes() {
            account::add_documents(record, self.deployment, self.plan);
        }
        Ok(())
    }

    /// Whether an operation failed because the disk was full. A server may wait for room without end when it settles, so nothing more is asked of it then.
    fn met_a_full_disk(&self, record: &TrialRecord) -> bool {
        let full = ErrorKind::DiskFull.text();
        let fails = |load: &LoadRecord| load.errors.contains_key(full);
        record.loads.iter().any(fails)
    }

    /// Whether the trial writes anything.
    fn writes(&self) -> bool {
        let writes = |step: &Step| matches!(step, Step::Run(phase) if !phase.only_reads());
        self.steps.iter().any(writes)
    }

    fn announce(&self, name: &str) {
        self.context.observer.event(RunEvent::Phase { name: name.to_owned() });
    }

    fn reset(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        self.count(record)?;
        self.deployment.administer(self.plan, async |administrator| {
            administrator.drop_database().await?;
            administrator.create().await
        })?;
        Ok(())
    }

    fn settle(&mut self, name: &str, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        self.announce(name);
        self.watch.begin_phase(name)?;
        let notes = self.deployment.administer(self.plan, async |administrator| {
            administrator.settle().await?;
            Ok(administrator.take_notes())
        })?;
        account::add_notes(record, notes);
        self.watch.end_phase(false)?;
        let disk = self.watch.disk(self.deployment)?;
        account::add_disk(record, DiskMoment::Settled, Some(name), disk);
        Ok(())
    }

    fn run_phase(
        &mut self,
        number: usize,
        phase: &PhaseSpec,
        record: &mut TrialRecord,
    ) -> Result<(), TrialFailure> {
        let (client_side, missing) = self.supported(phase);
        let prepare = self.prepare(number, phase);
        let incomplete = || {
            self.incomplete(phase)
                .or_else(|| prepare.too_little(phase))
                .or_else(|| not_ours_to_kill(self.deployment, phase))
        };
        if let Some(reason) = missing.or_else(incomplete) {
            for load in &phase.loads {
                let mut unmeasured = account::empty_record(phase, load);
                unmeasured.not_supported = Some(reason.clone());
                record.loads.push(unmeasured);
            }
            return Ok(());
        }
        if self.context.cache == Cache::Cold && phase.only_reads() {
            if phase.warm_up {
                return Ok(());
            }
            cold::start(self.context, self.deployment, Some(self.watch.recorder()))?;
        }
        self.announce(&phase.name);
        let Worked { outcome, ceiling, brought } = self.work(phase, prepare, record)?;
        let produced = brought.as_ref().map(|brought| brought.produced);
        self.note_written((number, phase), &outcome, produced);
        for load in &outcome.loads {
            let notes = load.notes.iter();
            let told = notes.map(|(note, count)| format!("{count} {note}"));
            record.warnings.extend(told);
        }
        files::write(self.context.folder, &record.name, phase, &outcome)
            .map_err(|error| TrialFailure::System(error.to_string()))?;
        let mut loads = account::load_records(phase, outcome, ceiling, &client_side);
        if let Some(brought) = brought {
            self.add_brought(brought, &mut loads, record);
        }
        account::add_loads(record, loads);
        Ok(())
    }

    /// Has the processes do the phase: connect, work, report.
    fn work(
        &mut self,
        phase: &PhaseSpec,
        mut prepare: Prepare,
        record: &mut TrialRecord,
    ) -> Result<Worked, TrialFailure> {
        let processes = phase.processes as usize;
        let patience = self.patience(phase);
        prepare.feed = self.open_line(phase)?;
        prepare.own_line = self.feeding.is_some() && prepare.feed.is_none();
        self.send(processes, &Command::Prepare(prepare))?;
        self.await_all(processes, patience, is_connected)?;
        if phase.window.is_none() {
            self.watch.begin_phase(&phase.name)?;
        }
        let start_ns = self.start_together(processes)?;
        let lead = Duration::from_nanos(self.lead_ns());
        self.kill.plan(phase.kill_after, phase.kill_member, lead);
        match phase.window {
            Some(window) => self.pass_window(phase, window, start_ns)?,
            None => {
                self.await_all(processes, patience, is_finished)?;
                self.watch.end_phase(!phase.warm_up)?;
            }
        }
        if self.kill.is_with_clients() {
            let outcome = self.kill.outcome(phase, &self.plan.schema);
            let outcome = outcome.map_err(TrialFailure::System)?;
            return Ok(Worked { outcome, ceiling: None, brought: None });
        }
        if phase.window.is_some() {
            self.await_all(processes, patience, is_finished)?;
        }
        self.read_clocks(processes)?;
        let from_source = self.source_report(patience)?;
        self.look_at_server()?;
        if phase.loads.iter().any(|load| load.writes) {
            let disk = self.watch.disk(self.deployment)?;
            account::add_disk(record, DiskMoment::After, Some(&phase.name), disk);
        }
        self.send(processes, &Command::Report)?;
        let reports = self.await_all(processes, LONGEST_REPORT, is_report)?;
        self.take_journal(&reports)?;
        let (outcome, ceiling) = self.merge(reports, (phase, start_ns), record)?;
        self.keep_clocks(phase, outcome.counted_seconds(), record);
        self.kill.hear(&outcome);
        let brought = brought(phase, from_source, &outcome)?;
        Ok(Worked { outcome, ceiling, brought })
    }

    /// Has all processes begin at one instant, the source too. Gives it by this host's clock.
    fn start_together(&mut self, processes: usize) -> Result<u64, TrialFailure> {
        self.read_clocks(processes)?;
        let fed = self.launch_source()?;
        let start_ns = fed.unwrap_or_else(|| monotonic_ns() + self.lead_ns());
        self.send_start(processes, start_ns)?;
        self.start_source(start_ns)?;
        Ok(start_ns)
    }

    /// How long nothing may happen: a few operations' time limits, and the longest wait of a schedule.
    fn patience(&self, phase: &PhaseSpec) -> Duration {
        let gaps = phase.loads.iter().map(|load| load.pacing.longest_gap_ns());
        let longest = gaps.max();
        let questions = phase.loads.iter();
        let questions = questions.map(|load| load.operations.most_questions());
        let limit = Duration::from_millis(self.context.timeout_ms.saturating_mul(4));
        limit.saturating_mul(questions.max().unwrap_or(1))
            + Duration::from_secs(1)
            + Duration::from_nanos(longest.unwrap_or(0))
    }

    fn send(&mut self, processes: usize, command: &Command) -> Result<(), TrialFailure> {
        for role in self.roles.iter_mut().take(processes) {
            role.send(command)?;
        }
        Ok(())
    }

    /// Has the clients stop; a process that is not at work, or gone, needs no word.
    fn stop_clients(&mut self) {
        for role in &mut self.roles {
            drop(role.send(&Command::Stop));
        }
        self.end_feeding();
    }
}

/// What the phase's source brought, if it has one and that reported.
fn brought(
    phase: &PhaseSpec,
    report: Option<Value>,
    outcome: &PhaseOutcome,
) -> Result<Option<Brought>, TrialFailure> {
    if let Some(why) = outcome.loads.iter().find_map(|load| load.broken.clone()) {
        return Err(TrialFailure::System(why));
    }
    let fed = phase.loads.iter().zip(&outcome.loads);
    let mut fed = fed.filter_map(|(load, outcome)| Some((load.source.as_ref()?, outcome)));
    match (fed.next(), report) {
        (Some((source, outcome)), Some(report)) => {
            source.came_to(report, outcome).map(Some).map_err(TrialFailure::System)
        }
        _ => Ok(None),
    }
}
