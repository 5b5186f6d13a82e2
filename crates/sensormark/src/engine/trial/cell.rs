//! One cell of a run of phases: opens its site, starts the trial's processes, has the steps gone through, and judges.

use super::attempts::take_quiet_phases;
use super::coordinator::Coordinator;
use super::protocol::TrialConfiguration;
use super::role::ROLE;
use super::script::{Step, check};
use super::warnings::warn;
use super::{Subject, Workload, WorkloadFactory};
use crate::engine::cold;
use crate::engine::connection::PlanMessage;
use crate::engine::context::{Cell, CellRunner, RunContext, RunEvent, TrialPosition, trial_label};
use crate::engine::explain;
use crate::engine::failure::TrialFailure;
use crate::engine::judge::work::of_loads;
use crate::engine::judge::{Circumstances, Evidence, judge};
use crate::engine::role::RoleProcess;
use crate::engine::site::Site;
use crate::measurement::record::{Cache, Implementation, Side, TrialRecord};
use crate::measurement::verdict::{Reason, ReasonKind};
use crate::measurement::write_size::write_sizes;
use sensormark_store::{DatabaseName, Plan, Schema, ServerOptions, StoreError};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Runs the cells of a workload that is made of phases.
pub struct TrialRunner {
    /// The kind of workload.
    pub kind: Arc<dyn WorkloadFactory>,
    /// Its parameters.
    pub parameters: Value,
}

impl TrialRunner {
    fn workload(&self, cell: &Cell, seed: u64) -> Result<Box<dyn Workload>, String> {
        let subject = Subject {
            store: cell.choice.store.as_ref(),
            layout: &cell.layout,
            layout_name: &cell.layout_name,
        };
        self.kind.build(&self.parameters, seed, subject)
    }

    fn measure(
        &self,
        context: &RunContext<'_>,
        cell: &Cell,
        earlier: &[TrialRecord],
        record: &mut TrialRecord,
    ) {
        let (data, outcome) = match self.prepare(context, cell) {
            Err(failure) => (Vec::new(), Err(failure)),
            Ok(prepared) => {
                let (data, outcome) = self.go(context, cell, &prepared, record);
                if outcome.is_ok() {
                    take_quiet_phases(record, earlier, &context.disturbance);
                    prepared.workload.figures(record);
                }
                cold::warn(record);
                (data, outcome)
            }
        };
        warn(record);
        let evidence = Evidence {
            works: of_loads(record),
            data,
            failure: outcome.err().map(|failure| failure.reason()),
        };
        let embedded = record.implementation.embedded;
        judge(record, evidence, &Circumstances::of(context, embedded));
    }

    fn prepare(&self, context: &RunContext<'_>, cell: &Cell) -> Result<Prepared, TrialFailure> {
        let workload = self.workload(cell, context.seed);
        let workload = workload.map_err(TrialFailure::System)?;
        let steps = workload.steps();
        check(&steps).map_err(TrialFailure::System)?;
        let site = open_site(context, cell, most_clients(&steps))?;
        let clients = most_clients(&steps);
        let reached_by = (context.owner.as_str(), context.timeout_ms);
        let plan = plan(&site, cell, workload.schema(), clients, reached_by)?;
        site.administer(&plan, async |administrator| administrator.create().await)?;
        Ok(Prepared {
            workload,
            steps,
            site,
            plan,
        })
    }

    fn go(
        &self,
        context: &RunContext<'_>,
        cell: &Cell,
        prepared: &Prepared,
        record: &mut TrialRecord,
    ) -> (Vec<Reason>, Result<(), TrialFailure>) {
        let Prepared {
            workload,
            steps,
            site,
            plan,
        } = prepared;
        record.server = site.record();
        record.write_sizes = write_sizes(site.store(), &plan.layout, &plan.schema);
        context.observer.event(RunEvent::TrialStarted {
            label: trial_label(record),
            seconds: workload.seconds(),
        });
        let roles = self.roles(context, cell, prepared);
        let coordinator =
            roles.and_then(|roles| Coordinator::new(context, site, plan, steps, roles));
        let (reasons, mut outcome) = match coordinator {
            Ok(coordinator) => coordinator.run(record),
            Err(failure) => (Vec::new(), Err(failure)),
        };
        let is_told = |reason: &Reason| reason.kind == ReasonKind::ServerCrashed;
        if !reasons.iter().any(is_told) {
            outcome = outcome.map_err(|failure| site.cause(failure));
        }
        if outcome.is_ok() {
            let settings =
                site.administer(plan, async |administrator| administrator.settings().await);
            match settings {
                Ok(settings) => record.settings = settings,
                Err(error) => outcome = Err(error.into()),
            }
        }
        record.server = site.record();
        if outcome.is_ok() && record.repetition == 0 {
            match explain::record(site, plan, steps) {
                Ok(statements) => record.statements = Some(statements),
                Err(error) => record
                    .warnings
                    .push(format!("statements are not shown: {error}")),
            }
        }
        // A server of our own is removed with all that it has: nothing more is asked of one that failed.
        if outcome.is_ok() || !site.is_ours() {
            drop_database(context, site, plan);
        }
        (reasons, outcome)
    }

    /// Starts the trial's processes and waits until they are ready.
    fn roles(
        &self,
        context: &RunContext<'_>,
        cell: &Cell,
        prepared: &Prepared,
    ) -> Result<Vec<RoleProcess>, TrialFailure> {
        let store = prepared.site.store().description().name;
        let message = PlanMessage::new(&store, &prepared.plan, context.plant.as_deref());
        let mut roles = Vec::new();
        for process in 0..most_processes(&prepared.steps) {
            let configuration = TrialConfiguration {
                kind: self.kind.name().to_owned(),
                parameters: self.parameters.clone(),
                seed: context.seed,
                layout_name: cell.layout_name.clone(),
                plan: message.clone(),
                process,
            };
            roles.push(RoleProcess::start(&context.program, ROLE, &configuration)?);
        }
        for role in &mut roles {
            // Making the workload may take a while: a recording is read.
            role.wait_ready(Duration::from_secs(600))?;
        }
        Ok(roles)
    }
}

impl CellRunner for TrialRunner {
    fn trials(&self, _cell: &Cell) -> usize {
        1
    }

    fn seconds(&self, cell: &Cell) -> f64 {
        // What is wrong with the parameters shows when the cell is run.
        self.workload(cell, 0)
            .map_or(0.0, |workload| workload.seconds())
    }

    fn supposes(&self, cell: &Cell) -> Option<String> {
        self.workload(cell, 0).ok()?.supposes()
    }

    fn only_reads(&self, cell: &Cell) -> bool {
        let workload = self.workload(cell, 0);
        workload.is_ok_and(|workload| {
            phases(&workload.steps()).any(|phase| phase.only_reads() && !phase.warm_up)
        })
    }

    fn run_cell(
        &self,
        context: &RunContext<'_>,
        cell: &Cell,
        turn: TrialPosition,
        earlier: &[TrialRecord],
        finished: &mut dyn FnMut(TrialRecord),
    ) {
        let mut record = new_record(self.kind.name(), cell, turn, None, (Side::Mixed, None));
        record.implementation.cache = context.cache;
        self.measure(context, cell, earlier, &mut record);
        finished(record);
    }
}

/// What a trial needs, made before it.
struct Prepared {
    workload: Box<dyn Workload>,
    steps: Vec<Step>,
    site: Site,
    plan: Plan,
}

fn phases(steps: &[Step]) -> impl Iterator<Item = &super::script::PhaseSpec> {
    steps.iter().filter_map(|step| match step {
        Step::Run(phase) => Some(phase),
        _ => None,
    })
}

fn most_clients(steps: &[Step]) -> u32 {
    let clients =
        |phase: &super::script::PhaseSpec| phase.loads.iter().map(|load| load.clients).sum();
    phases(steps).map(clients).max().unwrap_or(1)
}

fn most_processes(steps: &[Step]) -> u32 {
    phases(steps)
        .map(|phase| phase.processes)
        .max()
        .unwrap_or(1)
}

/// Connections that a server has to offer besides the clients': the coordinator's.
const FURTHER_CONNECTIONS: u32 = 8;

/// Opens the site of a cell for this many clients.
///
/// # Errors
/// When the server cannot be started or reached.
pub fn open_site(context: &RunContext<'_>, cell: &Cell, clients: u32) -> Result<Site, StoreError> {
    context.observer.event(RunEvent::Opening {
        title: cell.choice.title(),
    });
    let options = ServerOptions {
        durability: cell.durability,
        clients: context.server.clients.max(clients + FURTHER_CONNECTIONS),
        ..context.server.clone()
    };
    let data = context.data_folder.as_deref();
    Site::open(context.supervisor, &cell.choice, &options, data)
}

/// Drops a cell's database; a failure is told, and is nothing against its trials.
pub fn drop_database(context: &RunContext<'_>, site: &Site, plan: &Plan) {
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

/// How a cell's database is reached by this many clients.
///
/// # Errors
/// When the owner's mark makes no database's name.
pub fn plan(
    site: &Site,
    cell: &Cell,
    schema: Arc<Schema>,
    clients: u32,
    (owner, timeout_ms): (&str, u64),
) -> Result<Plan, StoreError> {
    Ok(Plan {
        endpoint: site.endpoint().clone(),
        database: DatabaseName::new(owner)?,
        owner: owner.to_owned(),
        schema,
        layout: cell.layout,
        durability: cell.durability,
        clients,
        timeout_ms,
    })
}

/// The record of a trial of a cell that begins now. `part` is what tells it from other trials of the cell, where there are any ("write").
pub fn new_record(
    workload: &str,
    cell: &Cell,
    position: TrialPosition,
    part: Option<&str>,
    (side, strategy): (Side, Option<&str>),
) -> TrialRecord {
    let description = cell.choice.store.description();
    let part = part.map_or_else(String::new, |part| format!("-{part}"));
    let name = format!(
        "{workload}-{}-{}{part}-r{}-a{}",
        cell.choice.file_name(),
        cell.layout_name,
        position.repetition,
        position.attempt
    );
    let implementation = Implementation {
        store: description.name,
        server: cell.choice.server.clone(),
        title: cell.choice.title(),
        layout_name: cell.layout_name.clone(),
        layout: cell.layout,
        strategy: strategy.map(str::to_owned),
        durability: cell.durability,
        cache: Cache::Hot,
        embedded: description.embedded,
    };
    position.record(name, implementation, side)
}
