//! The coordinator's side of one trial of phases. It leads the trial's processes through the steps together, watches them and the server, and brings the database
//! to rest. At the end of a trial, or of a part of it, it counts what is stored and compares it with what was written. What happens in a phase is in [`phase`], and what is stored is compared in [`proof`].
//!
//! Processes of other hosts have clocks of their own. They are asked before and after each phase, and used where instants of two hosts meet: the common start,
//! and when a phase came to its end.

use crate::clock::{HostClock, smallest_round_trip};
use crate::cold;
use crate::context::{RunContext, RunEvent};
use crate::deployment::Deployment;
use crate::failure::TrialFailure;
use crate::lifecycle::Done;
use crate::many_hosts::Aligned;
use crate::notifications::Notifications;
use crate::outcome::{LoadOutcome, PhaseOutcome};
use crate::role::{RoleError, RoleProcess};
use crate::trial::account::{self, DiskMoment};
use crate::trial::feed::{Brought, Feeding, Journal};
use crate::trial::files;
use crate::trial::growth::{Growth, Whole};
use crate::trial::kill::{Kill, not_ours_to_kill};
use crate::trial::protocol::{Command, Prepare, is_connected, is_finished, is_report};
use crate::trial::script::{PhaseSpec, Step, TrialSpec};
use crate::trial::watch::Watch;
use sensormark_data::number::count_text;
use sensormark_data::quantity::duration_text;
use sensormark_data::units::{duration_ns, ns_to_seconds};
use sensormark_result::measurement::clock::MARKED_SHARE;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Cache, Figure, LedgerRecord, LoadRecord, TrialRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind};
use sensormark_result::probe::monotonic_ns;
use sensormark_store::{ErrorKind, Plan, StoreError};
use serde_json::Value;
use std::time::{Duration, Instant};

mod phase;
mod proof;
mod task;

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
    notifications: Notifications,
    /// By process: the clock of its host, where that is another.
    clocks: Vec<Option<HostClock>>,
    watch: Watch,
    /// What was written since the database was made.
    written: Vec<Written>,
    /// How much of that is counted already, and the counts of databases before this one.
    counted: usize,
    counted_before: Option<LedgerRecord>,
    /// What the last count says against the trial.
    miscounted: Vec<Reason>,
    growth: Growth,
    /// The number of the step that a trial was cut at.
    cut_at: Option<usize>,
    /// How the server ended, when it did.
    crash: Option<StoreError>,
    /// The end of the server on request.
    kill: Kill,
    reasons: Vec<Reason>,
    /// What feeds the present phase's load.
    feeding: Option<Feeding>,
    tasks: task::Tasks,
    /// What the present phase's task did, and the phase's step.
    done: Option<(usize, Done)>,
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
        let notifications = Notifications::default();
        for (number, role) in roles.iter().enumerate() {
            notifications.register(role.notifier(), number);
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
            notifications,
            watch,
            written: Vec::new(),
            counted: 0,
            counted_before: None,
            miscounted: Vec::new(),
            growth: Growth::new(context.budget),
            cut_at: None,
            crash: None,
            kill: Kill::default(),
            reasons: Vec::new(),
            feeding: None,
            tasks: task::Tasks::default(),
            done: None,
            journal: None,
        })
    }

    /// Goes through all steps, and keeps what was seen, also when it fails.
    pub fn run(mut self, record: &mut TrialRecord) -> Ran {
        let mut outcome = self.go(record);
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
        if let Err(TrialFailure::OutOfTime | TrialFailure::Role(RoleError::Interrupted)) = &outcome
            && self.keep_whole_sizes(record)
        {
            outcome = Ok(());
        }
        self.reasons.append(&mut self.miscounted);
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
        if let Some(step) = self.cut_at {
            let done = &self.steps[..step];
            record.phases.retain(|phase| done.iter().any(|step| step.is_phase(&phase.name)));
        }
        Ran { reasons: self.reasons, outcome: outcome.and(kept), journal: self.journal }
    }

    fn go(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        if self.writes() {
            // At rest before as after: QuestDB gives back what a new table has too much, and its data took less than nothing.
            self.deployment.administer(self.plan, async |administrator| administrator.settle().await)?;
            let disk = self.watch.disk(self.deployment)?;
            account::add_disk(record, DiskMoment::Before, None, disk);
            self.add_memory(record);
        }
        for (number, step) in self.steps.iter().enumerate() {
            let began = Instant::now();
            match step {
                Step::Reset => self.reset(record)?,
                Step::Settle(name) => self.settle(name, record)?,
                Step::Size(readings) if !self.grow((number, *readings), record)? => break,
                Step::Size(_) => {}
                Step::Run(phase) => self.run_phase(number, phase, record)?,
            }
            self.growth.add(step, began.elapsed());
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

    /// The memory that data may lie in, where the server is on this host.
    fn add_memory(&self, record: &mut TrialRecord) {
        if self.deployment.is_existing() || self.deployment.elsewhere().is_some() {
            return;
        }
        let bounds = [self.context.limits.memory_bytes(), self.context.server.memory_limit_bytes];
        if let Some(bytes) = bounds.into_iter().flatten().min() {
            let figure = Figure::new(bytes as f64, "bytes");
            record.figures.insert(names::MEMORY_FOR_DATA.to_owned(), figure);
        }
    }

    /// Proves the size that is whole. Whether there is time for the next.
    fn grow(
        &mut self,
        (step, readings): (usize, u64),
        record: &mut TrialRecord,
    ) -> Result<bool, TrialFailure> {
        if self.growth.is_at_work() {
            let began = Instant::now();
            self.prove(record)?;
            let whole = Whole { record: record.clone(), reasons: self.reasons.len(), step };
            self.growth.finish(whole, began.elapsed());
        }
        // What was cut is not built upon: answers could not be told right from wrong.
        let is_written = |phase: &str| self.written.iter().any(|one| self.steps[one.step].is_phase(phase));
        if let Some(cut) = record.loads.iter().find(|load| load.is_cut_load() && is_written(&load.phase)) {
            let (readings, phase) = (count_text(readings as f64), &cut.phase);
            record.warnings.push(format!("{readings} readings were not begun: {phase} before them was cut"));
            return Ok(false);
        }
        let next = &self.steps[step + 1..];
        let end = next.iter().position(|step| matches!(step, Step::Size(_))).unwrap_or(next.len());
        if let Some(missing) = self.growth.missing_seconds(&next[..end], readings) {
            let (readings, missing) = (count_text(readings as f64), duration_text(missing * 1e9));
            record.warnings.push(format!(
                "{readings} readings were not begun: they take {missing} more than the budget has"
            ));
            return Ok(false);
        }
        self.growth.begin(readings);
        Ok(true)
    }

    /// After the trial was broken off: goes back to the last size that is whole. Whether there is one.
    fn keep_whole_sizes(&mut self, record: &mut TrialRecord) -> bool {
        let Some(Whole { record: whole, reasons, step }) = self.growth.give_up() else {
            return false;
        };
        *record = whole;
        self.reasons.truncate(reasons);
        self.cut_at = Some(step);
        if let Some(Step::Size(readings)) = self.steps.get(step) {
            let readings = count_text(*readings as f64);
            record
                .warnings
                .push(format!("{readings} readings were begun and not ended, so they are left out"));
        }
        true
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
        self.counted_before.clone_from(&record.ledger);
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
        let acknowledged = self.written.iter().map(|one| one.outcome.writes.acknowledged);
        let stored = Figure::new(acknowledged.sum::<u64>() as f64, "readings");
        record.figures.insert(format!("{}/{name}", names::READINGS_AT_REST), stored);
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
        if let (Some(task), true) = (&phase.task, phase.loads.is_empty()) {
            self.do_task((number, phase, task), monotonic_ns(), record)?;
            return self.prove_task(phase, record);
        }
        let Worked { outcome, ceiling, brought } = self.work((number, phase), prepare, record)?;
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
        self.prove_task(phase, record)
    }

    /// Has the processes do the phase: connect, work, report.
    fn work(
        &mut self,
        (number, phase): (usize, &PhaseSpec),
        mut prepare: Prepare,
        record: &mut TrialRecord,
    ) -> Result<Worked, TrialFailure> {
        let processes = phase.processes as usize;
        let patience = self.patience(phase);
        prepare.feed = self.open_line(phase)?;
        prepare.own_line = self.feeding.is_some() && prepare.feed.is_none();
        self.send(processes, &Command::Prepare(prepare))?;
        self.await_all(processes, patience, is_connected)?;
        if phase.window.is_none() && phase.task.is_none() {
            self.watch.begin_phase(&phase.name)?;
        }
        let start_ns = self.start_together(processes)?;
        let lead = Duration::from_nanos(self.lead_ns());
        self.kill.plan(phase.kill_after, lead);
        match (phase.window, &phase.task) {
            (Some(window), _) => self.pass_window(phase, window, start_ns)?,
            (_, Some(task)) => {
                self.do_task((number, phase, task), start_ns, record)?;
                self.await_all(processes, patience, is_finished)?;
                if task.is_round {
                    self.watch.end_phase(!phase.warm_up)?;
                }
            }
            (None, None) => {
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

/// How often a process is asked for its clock, each time.
const PINGS: u32 = 30;
/// So many processes are asked at the same time. With more of them, their answers would wait for each other here.
const TOGETHER: usize = 16;
/// How long all of that may take of those that are asked together.
const PATIENCE: Duration = Duration::from_secs(15);
/// How many round trips a common start lies ahead.
const ROUND_TRIPS: u64 = 10;

impl Coordinator<'_> {
    /// Asks the processes on other hosts for their clocks.
    pub(super) fn read_clocks(&mut self, processes: usize) -> Result<(), TrialFailure> {
        let roles = self.roles.iter_mut().zip(&mut self.clocks).take(processes);
        let mut elsewhere: Vec<_> = roles.filter(|(role, _)| role.host().is_some()).collect();
        let begun = Instant::now();
        for together in elsewhere.chunks_mut(TOGETHER) {
            read_together(together)?;
        }
        tracing::debug!(hosts = elsewhere.len(), took = ?begun.elapsed(), "clocks are read");
        Ok(())
    }

    /// How long the processes have to come to their common start, in ns: those of other hosts have to hear of it.
    pub(super) fn lead_ns(&self) -> u64 {
        let clocks = self.clocks.iter().flatten();
        let farthest_ns = clocks.map(HostClock::uncertainty_ns).max().unwrap_or(0);
        LEAD_NS + ROUND_TRIPS * 2 * farthest_ns
    }

    /// Tells each process the common start by its own clock.
    pub(super) fn send_start(&mut self, processes: usize, start_ns: u64) -> Result<(), TrialFailure> {
        let roles = self.roles.iter_mut().zip(&self.clocks);
        for (role, clock) in roles.take(processes) {
            let start_ns = shown_ns(clock.as_ref(), start_ns);
            role.send(&Command::Start { start_ns })?;
        }
        Ok(())
    }

    /// What the process of this number did, by this host's clock.
    pub(super) fn by_own_clock(&self, process: usize, start_ns: u64, mut outcome: PhaseOutcome) -> Aligned {
        let Some(clock) = self.clocks.get(process).and_then(Option::as_ref) else {
            return Aligned::here(outcome);
        };
        let began_ns = outcome.start_ns;
        let lasted = outcome.loads.iter().map(|load| load.seconds).collect();
        for load in &mut outcome.loads {
            let lasted_ns = duration_ns(Duration::from_secs_f64(load.seconds.max(0.0)));
            let ended_ns = clock.own_ns(began_ns.saturating_add(lasted_ns));
            load.seconds = ns_to_seconds(ended_ns.saturating_sub(start_ns));
        }
        outcome.start_ns = start_ns;
        outcome.end_ns = clock.own_ns(outcome.end_ns);
        Aligned { delay: ns_to_seconds(clock.own_ns(began_ns).saturating_sub(start_ns)), lasted, outcome }
    }

    /// Keeps what is known of the clocks over a phase, and marks a figure that they leave open.
    pub(super) fn keep_clocks(&self, phase: &PhaseSpec, seconds: f64, record: &mut TrialRecord) {
        let mut worst_ns = 0;
        let roles = self.roles.iter().zip(&self.clocks);
        // Only those that took part have samples of this phase.
        for (role, clock) in roles.take(phase.processes as usize) {
            let known = role.host().zip(clock.as_ref());
            let Some(known) = known.and_then(|(host, clock)| clock.record(&phase.name, host)) else {
                continue;
            };
            worst_ns = worst_ns.max(known.uncertainty_ns);
            if !record.clocks.contains(&known) {
                record.clocks.push(known);
            }
        }
        let uncertain = 2.0 * ns_to_seconds(worst_ns);
        if uncertain > MARKED_SHARE * seconds {
            record.warnings.push(format!(
                "{}: its throughput is uncertain. It counts over {seconds:.4} s, and the clocks of its hosts are known to {uncertain:.4} s",
                phase.name
            ));
        }
    }
}

/// Asks these processes for their clocks, all of them again and again. Of each the answer counts that took the least time.
fn read_together(asked: &mut [(&mut RoleProcess, &mut Option<HostClock>)]) -> Result<(), RoleError> {
    let deadline = Instant::now() + PATIENCE;
    let mut samples = vec![Vec::new(); asked.len()];
    for _ in 0..PINGS {
        let questions = asked.iter_mut().map(|(role, _)| role.ask_clock());
        let questions: Vec<_> = questions.collect::<Result<_, _>>()?;
        for (((role, _), question), samples) in asked.iter_mut().zip(questions).zip(&mut samples) {
            samples.extend(role.hear_clock(question, deadline)?);
        }
        if Instant::now() >= deadline {
            break;
        }
    }
    for ((role, clock), samples) in asked.iter_mut().zip(samples) {
        let best = smallest_round_trip(&samples);
        let best = best.ok_or_else(|| role.without_clock(PATIENCE))?;
        clock.get_or_insert_with(HostClock::default).add(best);
    }
    Ok(())
}

/// An instant of this host's clock by that of a process.
fn shown_ns(clock: Option<&HostClock>, own_ns: u64) -> u64 {
    clock.map_or(own_ns, |clock| clock.shown_ns(own_ns))
}
