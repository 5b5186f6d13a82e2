//! One case of a run: opens its database, has its trials gone through, one after the other, and judges each.

use super::attempts::take_quiet_phases;
use super::coordinator::{Coordinator, Ran};
use super::feed::{Journal, SOURCE};
use super::new_record::new_record;
use super::own_line::encode;
use super::place::{drop_database, make_database, open_deployment, plan};
use super::protocol::TrialConfiguration;
use super::role::process_name;
use super::script::{CaseTrials, PhaseSpec, Step, TrialSpec, check, most_clients, phases};
use super::spread::{make_room, over_hosts};
use super::warnings::warn;
use super::{Ending, Subject, Workload, WorkloadFactory, account};
use crate::benchmark_case::BenchmarkCase;
use crate::connection::PlanMessage;
use crate::context::{CaseRunner, RunContext, RunEvent, TrialPosition, trial_label};
use crate::deployment::Deployment;
use crate::estimate::{self, CaseEstimate, Terms};
use crate::failure::TrialFailure;
use crate::judge::{Circumstances, Evidence, judge, work::Work};
use crate::launcher::Launcher;
use crate::placement::named;
use crate::role::RoleProcess;
use crate::run_plan::in_turn;
use crate::study_protocol::Protocol;
use crate::warm_up::warm_up;
use crate::{cold, existing, explain};
use sensormark_result::measurement::record::{Cache, Figure, Side, TrialRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind};
use sensormark_result::measurement::{names, server::ServerRecord, write_size::write_sizes};
use sensormark_store::Plan;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs the cases of a workload.
pub struct TrialRunner {
    /// What makes the workload.
    pub factory: Arc<dyn WorkloadFactory>,
    /// Its parameters.
    pub parameters: Value,
}

/// What a case's trials need, made before the first of them.
struct Prepared {
    deployment: Deployment,
    plan: Plan,
    _noted: Option<existing::Noted>,
}

/// A case whose trials are gone through.
struct Running<'a> {
    runner: &'a TrialRunner,
    context: &'a RunContext<'a>,
    case: &'a BenchmarkCase,
    workload: Box<dyn Workload>,
    /// By trial: how long it takes, about.
    seconds: Vec<f64>,
    /// What its trials depend on by now.
    trials: CaseTrials,
    /// What a trial was fed with.
    journal: Option<Journal>,
}

impl TrialRunner {
    fn workload(&self, case: &BenchmarkCase, seed: u64) -> Result<Box<dyn Workload>, String> {
        let subject = Subject {
            store: case.choice.store.as_ref(),
            layout: &case.layout,
            layout_name: &case.layout_name,
        };
        self.factory.build(&self.parameters, seed, subject)
    }

    /// The trials of a case before anything is measured; what is wrong with the parameters shows when it is run.
    fn planned(&self, case: &BenchmarkCase) -> Vec<TrialSpec> {
        let workload = self.workload(case, 0);
        workload.map_or_else(|_| Vec::new(), |workload| workload.trials(&of(case)))
    }

    /// How long a case of this workload takes.
    fn estimated(&self, case: &BenchmarkCase, workload: &dyn Workload, terms: &Terms) -> CaseEstimate {
        let label = |trial: &TrialSpec| {
            let record = new_record(self.factory.name(), case, TrialPosition::FIRST, Some(trial));
            trial_label(&record)
        };
        estimate::case(case, workload, &of(case), *terms, label)
    }

    /// The trials of a case as this run has them: over hosts, where several make the load.
    fn specs(context: &RunContext<'_>, case: &BenchmarkCase, workload: &dyn Workload) -> Vec<TrialSpec> {
        over_hosts(workload.trials(&of(case)), context.placement.load_hosts())
    }

    fn prepare(
        &self,
        context: &RunContext<'_>,
        case: &BenchmarkCase,
        workload: &dyn Workload,
        trials: &[TrialSpec],
    ) -> Result<Prepared, TrialFailure> {
        for trial in trials {
            check(&trial.steps).map_err(TrialFailure::System)?;
        }
        let clients = trials.iter().map(|trial| most_clients(&trial.steps)).max();
        let clients = clients.unwrap_or(1);
        let mut deployment = open_deployment(context, case, clients)?;
        let reached_by = (context.owner.as_str(), context.timeout_ms);
        let plan = plan(&deployment, case, workload.schema(), clients, reached_by)?;
        let noted = existing::note(&deployment, &plan);
        warm_up(context, &mut deployment, &plan, trials)?;
        make_database(&deployment, &plan)?;
        Ok(Prepared { deployment, plan, _noted: noted })
    }

    fn new_record(
        &self,
        context: &RunContext<'_>,
        case: &BenchmarkCase,
        turn: TrialPosition,
        trial: Option<&TrialSpec>,
    ) -> TrialRecord {
        let mut record = new_record(self.factory.name(), case, turn, trial);
        if record.side != Side::Write {
            record.implementation.cache = context.cache;
        }
        record
    }

    /// Does what [`CaseRunner::run_case`] does, and says of each trial how it ended.
    pub fn go_through(
        &self,
        context: &RunContext<'_>,
        case: &BenchmarkCase,
        turn: TrialPosition,
        earlier: &[TrialRecord],
        finished: &mut dyn FnMut(TrialRecord, Ending),
    ) {
        let made = self.workload(case, context.seed);
        let prepared = made.map_err(TrialFailure::System).and_then(|workload| {
            let trials = Self::specs(context, case, workload.as_ref());
            let prepared = self.prepare(context, case, workload.as_ref(), &trials)?;
            Ok((workload, trials, prepared))
        });
        let (workload, trials, prepared) = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => {
                let planned = self.planned(case);
                let mut record = self.new_record(context, case, turn, planned.first());
                broken_off(context, &mut record, &failure);
                return finished(record, Ending::BrokenOff);
            }
        };
        let estimate = self.estimated(case, workload.as_ref(), &context.terms());
        let mut running = Running {
            runner: self,
            context,
            case,
            seconds: estimate.trials.iter().map(|trial| trial.seconds).collect(),
            workload,
            trials: CaseTrials { load_hosts: context.placement.load_hosts(), ..of(case) },
            journal: None,
        };
        running.go(&prepared, trials, (turn, earlier), finished);
    }
}

impl CaseRunner for TrialRunner {
    fn estimate(&self, case: &BenchmarkCase, terms: &Terms) -> CaseEstimate {
        let made = self.workload(case, 0);
        made.map_or_else(
            |_| CaseEstimate::default(),
            |workload| self.estimated(case, workload.as_ref(), terms),
        )
    }

    fn roles(&self, case: &BenchmarkCase) -> BTreeSet<String> {
        let trials = self.planned(case);
        let fed = |phase: &PhaseSpec| phase.loads.iter().any(|load| load.source.is_some());
        let is_fed = trials.iter().any(|trial| phases(&trial.steps).any(fed));
        let roles = trials.iter().map(|trial| named(trial.role));
        let source = is_fed.then_some(SOURCE);
        roles.chain(source).map(str::to_owned).collect()
    }

    fn only_reads(&self, case: &BenchmarkCase) -> bool {
        let measures = |phase: &PhaseSpec| phase.only_reads() && !phase.warm_up;
        let trials = self.planned(case);
        trials.iter().any(|trial| phases(&trial.steps).any(measures))
    }

    fn run_case(
        &self,
        context: &RunContext<'_>,
        case: &BenchmarkCase,
        turn: TrialPosition,
        earlier: &[TrialRecord],
        finished: &mut dyn FnMut(TrialRecord),
    ) {
        let mut finished = |record, _| finished(record);
        self.go_through(context, case, turn, earlier, &mut finished);
    }
}

impl Running<'_> {
    /// Goes through the case's trials, and drops its database.
    fn go(
        &mut self,
        prepared: &Prepared,
        mut specs: Vec<TrialSpec>,
        (turn, earlier): (TrialPosition, &[TrialRecord]),
        finished: &mut dyn FnMut(TrialRecord, Ending),
    ) {
        let (context, mut succeeded) = (self.context, true);
        let sides: Vec<Side> = specs.iter().map(|trial| trial.side).collect();
        let order = in_turn(context.protocol, &sides, turn.repetition);
        for (place, &number) in order.iter().enumerate() {
            if place > 0 && context.is_interrupted() {
                break;
            }
            if self.trials.stored.is_some() {
                specs = over_hosts(self.workload.trials(&self.trials), self.trials.load_hosts);
            }
            let Some(trial) = specs.get(number) else {
                break;
            };
            let mut record = self.runner.new_record(context, self.case, turn, Some(trial));
            if trial.needs_stored && self.journal.is_none() {
                let why = "what the write trial before it stored is not known".to_owned();
                broken_off(context, &mut record, &TrialFailure::System(why));
                finished(record, Ending::BrokenOff);
                continue;
            }
            let earlier = if specs.len() == 1 { earlier } else { &[] };
            succeeded = self.measure(prepared, (number, trial), earlier, &mut record);
            let is_last = place + 1 == order.len();
            if succeeded && record.repetition == 0 {
                let written: Vec<Step> =
                    specs.iter().filter(|_| is_last).flat_map(|trial| trial.steps.clone()).collect();
                show(prepared, &trial.steps, &written, &mut record);
            }
            finished(record, Ending::of(succeeded));
        }
        // A server of our own is removed with all that it has: nothing more is asked of one that failed.
        if succeeded || !prepared.deployment.is_ours() {
            drop_database(context, &prepared.deployment, &prepared.plan);
        }
    }

    /// Measures one trial and judges it. Whether it came to its end.
    fn measure(
        &mut self,
        prepared: &Prepared,
        (number, trial): (usize, &TrialSpec),
        earlier: &[TrialRecord],
        record: &mut TrialRecord,
    ) -> bool {
        let context = self.context;
        let (data, outcome) = self.carry_out(prepared, (number, trial), record);
        if outcome.is_ok() {
            take_quiet_phases(record, earlier, &context.disturbance);
        }
        let works = self.works(record);
        warn(record);
        cold::warn(record);
        if outcome.is_ok() {
            self.workload.figures(record);
        }
        let came_to_its_end = outcome.is_ok();
        let evidence = Evidence { works, data, failure: outcome.err().map(|failure| failure.reason()) };
        let embedded = record.implementation.embedded;
        judge(record, evidence, &Circumstances::of(context, embedded));
        came_to_its_end
    }

    /// What the loads of a trial did, as far as it could be measured.
    fn works(&self, record: &TrialRecord) -> Vec<Work> {
        let measured = record.loads.iter();
        let measured = measured.filter(|load| load.not_supported.is_none());
        measured.map(|load| self.workload.work(load, record)).collect()
    }

    fn carry_out(
        &mut self,
        prepared: &Prepared,
        (number, trial): (usize, &TrialSpec),
        record: &mut TrialRecord,
    ) -> (Vec<Reason>, Result<(), TrialFailure>) {
        let (context, deployment, plan) = (self.context, &prepared.deployment, &prepared.plan);
        record.server = deployment.record();
        if trial.side != Side::Read {
            record.write_sizes = write_sizes(deployment.store(), &plan.layout, &plan.schema);
        }
        context.observer.event(RunEvent::TrialStarted {
            label: trial_label(record),
            seconds: self.seconds.get(number).copied().unwrap_or(0.0),
        });
        let of = (self.runner.factory.name(), trial);
        let roles =
            begin(context, deployment, trial, record).and_then(|()| self.roles(prepared, (number, trial)));
        let coordinator = roles.and_then(|roles| Coordinator::new(context, deployment, plan, of, roles));
        let Ran { reasons, mut outcome, journal } = match coordinator {
            Ok(coordinator) => coordinator.run(record),
            Err(failure) => Ran { reasons: Vec::new(), outcome: Err(failure), journal: None },
        };
        if let Some(journal) = journal {
            self.trials.stored = Some(journal.stored_path());
            self.journal = Some(journal);
        }
        let is_told = |reason: &Reason| reason.kind == ReasonKind::ServerCrashed;
        if !reasons.iter().any(is_told) {
            outcome = outcome.map_err(|failure| deployment.cause(failure));
        }
        if outcome.is_ok() {
            let settings = deployment.administer(plan, async |administrator| {
                Ok((administrator.settings().await?, administrator.take_notes()))
            });
            match settings {
                Ok((settings, notes)) => {
                    account::add_settings(record, deployment, settings);
                    account::add_notes(record, notes);
                }
                Err(error) => outcome = Err(error.into()),
            }
        }
        record.warnings.extend(deployment.held().map(|held| held.note(&context.server)));
        let probe = record.server.take().and_then(|server| server.probe);
        record.server = deployment.record().map(|server| ServerRecord { probe, ..server });
        (reasons, outcome)
    }

    /// The journal of what is stored, where a process on another host needs it.
    fn stored_for(&self, launcher: &Launcher) -> Result<Option<String>, TrialFailure> {
        let Some(path) = self.trials.stored.as_ref().filter(|_| launcher.host().is_some()) else {
            return Ok(None);
        };
        let read = std::fs::read(path).map(|bytes| Some(encode(&bytes)));
        read.map_err(|error| TrialFailure::System(format!("the journal cannot be read: {error}")))
    }

    /// Starts the trial's processes and waits until they are ready.
    fn roles(
        &self,
        prepared: &Prepared,
        (number, trial): (usize, &TrialSpec),
    ) -> Result<Vec<RoleProcess>, TrialFailure> {
        let store = prepared.deployment.store().description().name;
        let (context, kind) = (self.context, self.runner.factory.name());
        let message = PlanMessage::new(&store, &prepared.plan, context.plant.as_deref());
        let name = process_name(kind, trial.role);
        let (mut roles, begun) = (Vec::new(), Instant::now());
        let processes = phases(&trial.steps).map(|phase| phase.processes).max().unwrap_or(1);
        make_room(processes);
        for process in 0..processes {
            let launcher = context.placement.launcher(trial.role, process);
            let configuration = TrialConfiguration {
                kind: kind.to_owned(),
                parameters: self.runner.parameters.clone(),
                seed: context.seed,
                layout_name: self.case.layout_name.clone(),
                plan: message.clone(),
                process,
                case: self.trials.clone(),
                trial: number,
                stored: self.stored_for(launcher)?,
            };
            let mut role = RoleProcess::launch(launcher, &name)?;
            if let Some(held) = prepared.deployment.held() {
                held.take_in(role.process_id())?;
            }
            // A role that ended at once shows by its missing events, with its messages.
            let _ = role.send(&configuration);
            roles.push(role);
        }
        for role in &mut roles {
            // Making the workload may take a while: a recording is read.
            role.wait_ready(Duration::from_secs(600))?;
        }
        tracing::debug!(processes = roles.len(), took = ?begun.elapsed(), "processes are ready");
        Ok(roles)
    }
}

/// Puts the database where it is to be when a reading trial begins: where the run follows a study that rebooted its machines before, the server is started
/// again. The warm-up that follows is the study's too.
fn begin(
    context: &RunContext<'_>,
    deployment: &Deployment,
    trial: &TrialSpec,
    record: &mut TrialRecord,
) -> Result<(), TrialFailure> {
    let restarts = |study: &Protocol| study.restart_before_reading && deployment.is_ours();
    let is_cold = context.cache == Cache::Cold;
    if trial.side == Side::Read && !is_cold && context.protocol.is_some_and(restarts) {
        let began = Instant::now();
        cold::start(context, deployment, None)?;
        let seconds = Figure::new(began.elapsed().as_secs_f64(), "s");
        let name = names::RESTART_BEFORE_READING.to_owned();
        record.figures.insert(name, seconds);
    }
    Ok(())
}

/// Keeps the statements of a trial that came to its end; what a case writes is shown when nothing more is measured on it.
fn show(prepared: &Prepared, asked: &[Step], written: &[Step], record: &mut TrialRecord) {
    let asks = phases(asked).any(|phase| phase.loads.iter().any(|load| !load.writes));
    if !asks && written.is_empty() {
        return;
    }
    match explain::record(&prepared.deployment, &prepared.plan, asked, written) {
        Ok(statements) => record.statements = Some(statements),
        Err(error) => record.warnings.push(format!("statements are not shown: {error}")),
    }
}

/// Judges a trial that was broken off before anything of it was measured.
fn broken_off(context: &RunContext<'_>, record: &mut TrialRecord, failure: &TrialFailure) {
    let circumstances = Circumstances::of(context, record.implementation.embedded);
    let evidence = Evidence { failure: Some(failure.reason()), ..Evidence::default() };
    judge(record, evidence, &circumstances);
}

/// What a case's trials depend on before the first of them.
fn of(case: &BenchmarkCase) -> CaseTrials {
    CaseTrials { strategies: case.strategies.clone(), stored: None, load_hosts: 0 }
}
