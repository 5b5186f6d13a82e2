//! The coordinator's side of one trial of phases. It leads the trial's processes through the steps together, and watches them and the server.
//! It brings the database to rest. What a phase needs is in [`prepare`], what feeds a load in [`feeding`], counting what is stored in [`count`].

mod count;
mod feeding;
mod prepare;

use super::account::{self, DiskMoment};
use super::feed::{Brought, Feeding, Journal};
use super::files;
use super::kill::{Kill, not_ours_to_kill};
use super::protocol::{Command, Prepare, Report, is_connected, is_finished, is_report};
use super::script::{PhaseSpec, Step, TrialSpec};
use super::watch::start_recorder;
use crate::engine::cold;
use crate::engine::context::{RunContext, RunEvent, stopped};
use crate::engine::deployment::Deployment;
use crate::engine::failure::TrialFailure;
use crate::engine::outcome::{LoadOutcome, PhaseOutcome};
use crate::engine::role::{Event, RoleError, RoleProcess};
use crate::measurement::names;
use crate::measurement::record::{Cache, Figure, TrialRecord};
use crate::measurement::verdict::{Reason, ReasonKind};
use crate::probe::{Recorder, monotonic_ns};
use sensormark_store::{Plan, StoreError};
use serde_json::Value;
use std::time::{Duration, Instant};

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
    /// The trial's processes.
    roles: Vec<RoleProcess>,
    recorder: Recorder,
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
        let recorder = start_recorder(context, deployment, trial.role, &roles)?;
        Ok(Self {
            context,
            deployment,
            plan,
            kind,
            steps: &trial.steps,
            roles,
            recorder,
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
            self.reasons
                .push(Reason::new(ReasonKind::ServerCrashed, text));
        }
        let kept = self.recorder.stop().map_err(TrialFailure::from);
        let kept = kept.and_then(|recording| {
            let operations = account::operations_by_phase(record);
            account::keep(self.context.folder, record, &recording, &operations)
        });
        Ran {
            reasons: self.reasons,
            outcome: outcome.and(kept),
            journal: self.journal,
        }
    }

    fn go(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        if self.writes() {
            account::add_disk(record, DiskMoment::Before, None, self.deployment.disk()?);
        }
        for (number, step) in self.steps.iter().enumerate() {
            match step {
                Step::Reset => self.reset(record)?,
                Step::Settle(name) => self.settle(name, record)?,
                Step::Run(phase) => self.run_phase(number, phase, record)?,
            }
            if self.crash.is_some() || self.kill.is_done() {
                self.restart(record)?;
                break;
            }
        }
        self.count(record)?;
        if self.crash.is_none() && self.writes() {
            account::add_documents(record, self.deployment, self.plan);
        }
        Ok(())
    }

    /// Whether the trial writes anything.
    fn writes(&self) -> bool {
        let writes = |step: &Step| matches!(step, Step::Run(phase) if !phase.only_reads());
        self.steps.iter().any(writes)
    }

    /// Starts a server that has stopped again, on the same data.
    fn restart(&self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        if !self.deployment.is_ours() {
            return Ok(());
        }
        self.announce("start again");
        let began = Instant::now();
        self.deployment.restart()?;
        let seconds = began.elapsed().as_secs_f64();
        let figure = Figure::new(seconds, "s");
        record.figures.insert(names::RESTART.to_owned(), figure);
        Ok(())
    }

    fn announce(&self, name: &str) {
        self.context.observer.event(RunEvent::Phase {
            name: name.to_owned(),
        });
    }

    fn reset(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        self.count(record)?;
        self.deployment
            .administer(self.plan, async |administrator| {
                administrator.drop_database().await?;
                administrator.create().await
            })?;
        Ok(())
    }

    fn settle(&mut self, name: &str, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        self.announce(name);
        self.recorder.begin_phase(name)?;
        self.deployment
            .administer(self.plan, async |administrator| {
                administrator.settle().await
            })?;
        self.recorder.end_phase(false)?;
        let disk = self.deployment.disk()?;
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
            cold::start(self.context, self.deployment, Some(&self.recorder))?;
        }
        self.announce(&phase.name);
        let Worked {
            outcome,
            ceiling,
            brought,
        } = self.work(phase, prepare, record)?;
        for (load, outcome) in outcome.loads.iter().enumerate() {
            if phase.loads[load].writes {
                self.written.push(Written {
                    step: number,
                    load,
                    outcome: outcome.clone(),
                    produced: brought.as_ref().map(|brought| brought.produced),
                });
            }
            let notes = outcome.notes.iter();
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
        self.send(processes, &Command::Prepare(prepare))?;
        self.await_all(processes, patience, is_connected)?;
        if phase.window.is_none() {
            self.recorder.begin_phase(&phase.name)?;
        }
        let start_ns = match self.start_source()? {
            Some(start_ns) => start_ns,
            None => monotonic_ns() + LEAD_NS,
        };
        self.send(processes, &Command::Start { start_ns })?;
        self.kill
            .plan(phase.kill_after, Duration::from_nanos(LEAD_NS));
        match phase.window {
            Some(window) => self.pass_window(phase, window, start_ns)?,
            None => {
                self.await_all(processes, patience, is_finished)?;
                self.recorder.end_phase(!phase.warm_up)?;
            }
        }
        if self.kill.is_with_clients() {
            let outcome = self.kill.outcome(phase, &self.plan.schema);
            return Ok(Worked {
                outcome: outcome.map_err(TrialFailure::System)?,
                ceiling: None,
                brought: None,
            });
        }
        if phase.window.is_some() {
            self.await_all(processes, patience, is_finished)?;
        }
        let from_source = self.source_report(patience)?;
        self.look_at_server()?;
        if phase.loads.iter().any(|load| load.writes) {
            let disk = self.deployment.disk()?;
            account::add_disk(record, DiskMoment::After, Some(&phase.name), disk);
        }
        self.send(processes, &Command::Report)?;
        let reports = self.await_all(processes, LONGEST_REPORT, is_report)?;
        let (outcome, ceiling) = merge(reports)?;
        let brought = brought(phase, from_source, &outcome)?;
        Ok(Worked {
            outcome,
            ceiling,
            brought,
        })
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

    /// Waits for an event of each process that passes; gives up when none of them makes progress for `limit`.
    fn await_all(
        &mut self,
        processes: usize,
        limit: Duration,
        passes: fn(&Event) -> bool,
    ) -> Result<Vec<Event>, TrialFailure> {
        let mut deadline = Instant::now() + limit;
        let mut events: Vec<Option<Event>> = (0..processes).map(|_| None).collect();
        while events.iter().any(Option::is_none) {
            self.look_around()?;
            if self.kill.is_with_clients() {
                return Ok(Vec::new());
            }
            for (role, event) in self.roles.iter_mut().zip(&mut events) {
                if event.is_some() {
                    continue;
                }
                let progress = role.listen(Instant::now() + Duration::from_millis(5))?;
                if let Some(progress) = progress {
                    deadline = Instant::now() + limit;
                    self.kill.tell(progress);
                    self.context.observer.event(RunEvent::Progress(progress));
                }
                *event = role.take(passes);
                if Instant::now() >= deadline && event.is_none() {
                    return Err(RoleError::Silent {
                        role: role.name().to_owned(),
                        seconds: limit.as_secs(),
                    }
                    .into());
                }
            }
        }
        Ok(events.into_iter().flatten().collect())
    }

    /// Notes a server that has stopped, and kills it when it is time for that. The clients will say what they had of it: that is waited for.
    fn look_at_server(&mut self) -> Result<(), TrialFailure> {
        if self.kill.is_due() {
            if self.deployment.is_ours() {
                self.deployment.kill()?;
                self.stop_clients();
            } else {
                self.roles.iter_mut().for_each(RoleProcess::kill);
            }
            self.kill.done(!self.deployment.is_ours());
        }
        if self.crash.is_none() && !self.kill.is_done() {
            self.crash = self.deployment.check().err();
            if let Some(crash) = &self.crash {
                self.context.observer.event(stopped(crash));
                self.stop_clients();
            }
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
        (Some((source, outcome)), Some(report)) => source
            .came_to(report, outcome)
            .map(Some)
            .map_err(TrialFailure::System),
        _ => Ok(None),
    }
}

fn merge(reports: Vec<Event>) -> Result<(PhaseOutcome, Option<f64>), TrialFailure> {
    let mut whole: Option<(PhaseOutcome, Option<f64>)> = None;
    for event in reports {
        let Event::Report(value) = event else {
            continue;
        };
        let report: Report = serde_json::from_value(value).map_err(|error| {
            TrialFailure::System(format!("a trial's report cannot be understood: {error}"))
        })?;
        match &mut whole {
            None => whole = Some((report.outcome, report.ceiling)),
            Some((outcome, ceiling)) => {
                outcome
                    .merge(report.outcome)
                    .map_err(TrialFailure::System)?;
                *ceiling = ceiling.zip(report.ceiling).map(|(one, more)| one + more);
            }
        }
    }
    whole.ok_or_else(|| TrialFailure::System("a trial sent no report".to_owned()))
}
