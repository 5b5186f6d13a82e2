//! The coordinator's side of one trial of phases. It leads the trial's processes through the steps together, and watches them and the server.
//! It brings the database to rest, and counts what is stored.

use super::account::{self, DiskMoment};
use super::files;
use super::kill::{Kill, not_ours_to_kill};
use super::protocol::{
    Command, DoubtfulLoad, Prepare, Report, is_connected, is_finished, is_report,
};
use super::role::{ROLE, asked_about};
use super::script::{About, PhaseSpec, Step, find};
use super::support::{Support, support};
use super::watch::start_recorder;
use crate::engine::cold;
use crate::engine::context::{RunContext, RunEvent, stopped};
use crate::engine::failure::TrialFailure;
use crate::engine::outcome::{LoadOutcome, PhaseOutcome};
use crate::engine::phase::{Pacing, acknowledges};
use crate::engine::role::{Event, RoleError, RoleProcess};
use crate::engine::site::{Site, block_on};
use crate::engine::written::WrittenLoads;
use crate::ledger::reconcile::reconcile;
use crate::measurement::names;
use crate::measurement::record::{Cache, Figure, LedgerRecord, TrialRecord};
use crate::measurement::verdict::{Reason, ReasonKind};
use crate::probe::{Recorder, monotonic_ns};
use sensormark_store::{Plan, RepeatedWrite, StoreError};
use std::sync::Arc;
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
    pub site: &'a Site,
    /// How it is reached.
    pub plan: &'a Plan,
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
}

/// What one writing load has written.
struct Written {
    step: usize,
    load: usize,
    outcome: LoadOutcome,
}

impl<'a> Coordinator<'a> {
    /// A trial of these processes, which are ready; sampling begins.
    ///
    /// # Errors
    /// When processes cannot be watched.
    pub fn new(
        context: &'a RunContext<'a>,
        site: &'a Site,
        plan: &'a Plan,
        steps: &'a [Step],
        roles: Vec<RoleProcess>,
    ) -> Result<Self, TrialFailure> {
        let recorder = start_recorder(context, site, ROLE, &roles)?;
        Ok(Self {
            context,
            site,
            plan,
            steps,
            roles,
            recorder,
            written: Vec::new(),
            crash: None,
            kill: Kill::default(),
            reasons: Vec::new(),
        })
    }

    /// Goes through all steps, and keeps what was seen, also when it fails. Gives the reasons that speak against the trial so far.
    ///
    /// # Errors
    /// When the trial was broken off.
    pub fn run(mut self, record: &mut TrialRecord) -> (Vec<Reason>, Result<(), TrialFailure>) {
        let outcome = self.go(record);
        for role in &mut self.roles {
            match &outcome {
                // A process that is gone already needs no word.
                Ok(()) => drop(role.send(&Command::End)),
                Err(_) => role.kill(),
            }
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
        (self.reasons, outcome.and(kept))
    }

    fn go(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        account::add_disk(record, DiskMoment::Before, None, self.site.disk()?);
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
        if self.crash.is_none() {
            account::add_documents(record, self.site, self.plan);
        }
        Ok(())
    }

    /// Starts a server that has stopped again, on the same data.
    fn restart(&self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        if !self.site.is_ours() {
            return Ok(());
        }
        self.announce("start again");
        let began = Instant::now();
        self.site.restart()?;
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
        self.site.administer(self.plan, async |administrator| {
            administrator.drop_database().await?;
            administrator.create().await
        })?;
        Ok(())
    }

    fn settle(&mut self, name: &str, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        self.announce(name);
        self.recorder.begin_phase(name)?;
        self.site.administer(self.plan, async |administrator| {
            administrator.settle().await
        })?;
        self.recorder.end_phase(false)?;
        let disk = self.site.disk()?;
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
                .or_else(|| not_ours_to_kill(self.site, phase))
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
            cold::start(self.context, self.site, Some(&self.recorder))?;
        }
        self.announce(&phase.name);
        let (outcome, ceiling) = self.work(phase, prepare, record)?;
        for (load, outcome) in outcome.loads.iter().enumerate() {
            if phase.loads[load].writes {
                self.written.push(Written {
                    step: number,
                    load,
                    outcome: outcome.clone(),
                });
            }
        }
        files::write(self.context.folder, &record.name, phase, &outcome)
            .map_err(|error| TrialFailure::System(error.to_string()))?;
        let loads = account::load_records(phase, outcome, ceiling, &client_side);
        account::add_loads(record, loads);
        Ok(())
    }

    /// By load: what the client does; and why the phase cannot be measured.
    fn supported(&self, phase: &PhaseSpec) -> (Vec<Option<String>>, Option<String>) {
        let (mut client_side, mut missing) = (Vec::new(), None);
        for load in &phase.loads {
            let store = self.site.store();
            let schema = &self.plan.schema;
            client_side.push(match support(store, &self.plan.layout, schema, load) {
                Support::Native => None,
                Support::ClientSide(reason) => Some(reason),
                Support::Not(reason) => {
                    missing.get_or_insert(reason);
                    None
                }
            });
        }
        (client_side, missing)
    }

    /// Why a phase cannot be measured that needs all of earlier loads, when one of them was cut, or that asks about one that was not measured itself.
    fn incomplete(&self, phase: &PhaseSpec) -> Option<String> {
        let is_whole = |need: &&About| {
            let place = find(self.steps, need);
            let mut written = self.written.iter();
            let found = written.find(|one| Some((one.step, one.load)) == place);
            found.is_some_and(|one| one.outcome.issued.first_missing().is_none())
        };
        if let Some(missing) = phase.needs.iter().find(|need| !is_whole(need)) {
            let before = &missing.phase;
            return Some(format!("{before} before it did not come to its end"));
        }
        let is_written = |place| self.written.iter().any(|one| (one.step, one.load) == place);
        let loads = phase.loads.iter();
        let mut earlier = loads.filter_map(|load| {
            let place = asked_about(self.steps, load, &phase.name)?;
            Some((load.about.as_ref()?, place))
        });
        let (missing, _) = earlier.find(|(_, place)| !is_written(*place))?;
        Some(format!("{} before it was not measured", missing.phase))
    }

    fn prepare(&self, number: usize, phase: &PhaseSpec) -> Prepare {
        let doubtful = self.written.iter().map(|written| {
            let exceptions = written.outcome.exceptions.iter();
            DoubtfulLoad {
                step: written.step,
                load: written.load,
                indices: exceptions.map(|exception| exception.index).collect(),
            }
        });
        let cut_at = |place: (usize, usize)| {
            let written = self.written.iter();
            let mut same = written.filter(|written| (written.step, written.load) == place);
            same.next()
                .and_then(|written| written.outcome.issued.first_missing())
        };
        let watermarks = phase.loads.iter().map(|load| {
            let place = asked_about(self.steps, load, &phase.name)?;
            cut_at(place)
        });
        Prepare {
            step: number,
            doubtful: doubtful.filter(|one| !one.indices.is_empty()).collect(),
            watermarks: watermarks.collect(),
        }
    }

    /// Has the processes do the phase: connect, work, report.
    fn work(
        &mut self,
        phase: &PhaseSpec,
        prepare: Prepare,
        record: &mut TrialRecord,
    ) -> Result<(PhaseOutcome, Option<f64>), TrialFailure> {
        let processes = phase.processes as usize;
        let patience = self.patience(phase);
        self.send(processes, &Command::Prepare(prepare))?;
        self.await_all(processes, patience, is_connected)?;
        self.recorder.begin_phase(&phase.name)?;
        let start_ns = monotonic_ns() + LEAD_NS;
        self.send(processes, &Command::Start { start_ns })?;
        self.kill
            .plan(phase.kill_after, Duration::from_nanos(LEAD_NS));
        self.await_all(processes, patience, is_finished)?;
        self.recorder.end_phase(!phase.warm_up)?;
        if self.kill.is_with_clients() {
            let outcome = self.kill.outcome(phase, &self.plan.schema);
            return Ok((outcome.map_err(TrialFailure::System)?, None));
        }
        self.look_at_server()?;
        if phase.loads.iter().any(|load| load.writes) {
            let disk = self.site.disk()?;
            account::add_disk(record, DiskMoment::After, Some(&phase.name), disk);
        }
        self.send(processes, &Command::Report)?;
        let reports = self.await_all(processes, LONGEST_REPORT, is_report)?;
        merge(reports)
    }

    /// How long nothing may happen: a few operations' time limits, and the longest wait of a schedule.
    fn patience(&self, phase: &PhaseSpec) -> Duration {
        let gap_ns = |pacing: &Pacing| match pacing {
            Pacing::Closed => 0,
            Pacing::Open(schedule) => schedule.longest_gap_ns(),
        };
        let longest = phase.loads.iter().map(|load| gap_ns(&load.pacing)).max();
        let limit = Duration::from_millis(self.context.timeout_ms.saturating_mul(4));
        limit + Duration::from_secs(1) + Duration::from_nanos(longest.unwrap_or(0))
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
            if self.context.is_interrupted() {
                return Err(RoleError::Interrupted.into());
            }
            self.look_at_server()?;
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
            if self.site.is_ours() {
                self.site.kill()?;
                self.stop_clients();
            } else {
                self.roles.iter_mut().for_each(RoleProcess::kill);
            }
            self.kill.done(!self.site.is_ours());
        }
        if self.crash.is_none() && !self.kill.is_done() {
            self.crash = self.site.check().err();
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
    }

    /// Whether the layout keeps one of several readings of one series and time, in every table.
    fn replaces(&self) -> bool {
        let (store, layout) = (self.site.store(), &self.plan.layout);
        let tables = &self.plan.schema.tables;
        let replaces = |table| store.repeated_write(layout, table) == RepeatedWrite::Replaces;
        tables.iter().all(replaces)
    }

    /// Counts what is stored and compares it with everything that was written since the database was made.
    fn count(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        let written = std::mem::take(&mut self.written);
        if written.is_empty() {
            return Ok(());
        }
        self.announce("count");
        let mut ledger = LedgerRecord::default();
        let mut loads = WrittenLoads::default().replacing(self.replaces());
        for one in &written {
            let Some(Step::Run(phase)) = self.steps.get(one.step) else {
                continue;
            };
            let writes = &one.outcome.writes;
            ledger.produced += writes.attempted;
            ledger.attempted += writes.attempted;
            ledger.refused += writes.refused;
            loads.add(
                Arc::clone(&phase.loads[one.load].operations),
                Arc::clone(&self.plan.schema),
                &one.outcome,
                acknowledges(self.plan),
            );
        }
        let entities = block_on(async {
            let mut session = self.site.store().connect(self.plan).await?;
            let schema = &self.plan.schema;
            reconcile(schema, &loads, session.as_mut(), &mut ledger).await?;
            let entities = loads.entities().compare(session.as_mut()).await?;
            session.close().await?;
            Ok::<_, StoreError>(entities)
        })?;
        self.kill.forget_unsent(&mut ledger);
        let (crashed, class) = (self.crash.is_some(), self.plan.durability);
        let judged = self.kill.account(crashed, class, &ledger, record);
        self.reasons.extend(judged);
        self.reasons
            .extend(entities.map(|text| Reason::new(ReasonKind::AlteredData, text)));
        account::add_ledger(record, &ledger);
        Ok(())
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
