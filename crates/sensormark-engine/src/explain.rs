//! Showing what a workload's operations are made of: each is done once, by a session that keeps the statements that it sends.
//!
//! Nothing is measured here, and nothing here runs while something is measured. What a session keeps is what it sent: the
//! contract's [`Session::keep_statements`].

use crate::deployment::{Deployment, block_on};
use crate::inquiry::Plain;
use crate::operations::{Operations, Request, Slot};
use crate::trial::script::{LoadSpec, PhaseSpec, Step, find};
use crate::trial::support::{Support, support};
use sensormark_result::measurement::statements::{ShownOperation, StatementsRecord};
use sensormark_store::{EntityReading, ErrorKind, Plan, Schema, Session, Statement, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How long each writing load writes before questions are asked: enough for plans to mean something.
const LOADING: Duration = Duration::from_secs(3);
/// How long a run may spend on showing the statements of a trial.
const RECORDING: Duration = Duration::from_secs(1);
/// So many operations of a load are looked at to find one of each class, and written at most for questions that need them.
const LOOKED_AT: u64 = 1_000;

/// Goes through a trial's steps in miniature, on a database that was made for it, and shows one operation of each kind with its plan.
///
/// # Errors
/// When the database cannot be reached, loaded or asked for its schema. An operation that fails is shown with its statements and the error.
pub fn explain(
    deployment: &Deployment,
    plan: &Plan,
    steps: &[Step],
    stop: &dyn Fn() -> bool,
) -> Result<StatementsRecord, StoreError> {
    let mut showing = Showing::new(deployment.store(), plan);
    let mut schema = Vec::new();
    let (mut loaded, mut is_in_size) = (BTreeMap::new(), false);
    for (number, step) in steps.iter().enumerate() {
        if stop() {
            break;
        }
        match step {
            Step::Reset => deployment.administer(plan, async |administrator| {
                administrator.drop_database().await?;
                administrator.create().await
            })?,
            Step::Settle(_) => {
                schema = deployment.administer(plan, async |administrator| {
                    administrator.settle().await?;
                    administrator.schema_text().await
                })?;
            }
            // Every size is made of the same operations.
            Step::Size(_) if std::mem::replace(&mut is_in_size, true) => break,
            Step::Size(_) => {}
            Step::Run(phase) => {
                block_on(showing.carry_out(phase, (number, steps), &mut loaded))?;
            }
        }
    }
    if schema.is_empty() {
        schema = stated_schema(deployment, plan)?;
    }
    Ok(StatementsRecord { schema, operations: showing.operations })
}

/// Shows one operation of each kind of trials that are over, before their database is dropped. The questions of the steps `asked` come first, then one write of
/// each kind of the steps `written`. What does not fit into a second is named, without its statements.
///
/// # Errors
/// When the database cannot be reached or asked for its schema.
pub fn record(
    deployment: &Deployment,
    plan: &Plan,
    asked: &[Step],
    written: &[Step],
) -> Result<StatementsRecord, StoreError> {
    let mut showing = Showing::new(deployment.store(), plan);
    let until = Instant::now() + RECORDING;
    let schema = stated_schema(deployment, plan)?;
    block_on(async {
        let mut session = match showing.keeping().await {
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            session => session?,
        };
        for (writes, steps) in [(false, asked), (true, written)] {
            for phase in phases(steps) {
                for load in phase.loads.iter().filter(|load| load.writes == writes) {
                    for (index, name) in showing.unseen(load) {
                        if Instant::now() < until {
                            showing.show(session.as_mut(), load, index, u64::MAX, name).await;
                        } else {
                            showing.tell(load, name, "left out for time: sensormark explain shows it");
                        }
                    }
                }
            }
        }
        session.close().await
    })?;
    Ok(StatementsRecord {
        schema,
        operations: showing
            .operations
            .into_iter()
            .map(|mut operation| {
                let statements = operation.statements.into_iter();
                operation.statements = statements.map(Statement::for_report).collect();
                operation
            })
            .collect(),
    })
}

fn stated_schema(deployment: &Deployment, plan: &Plan) -> Result<Vec<String>, StoreError> {
    deployment.administer(plan, async |administrator| administrator.schema_text().await)
}

fn phases(steps: &[Step]) -> impl Iterator<Item = &PhaseSpec> {
    steps.iter().filter_map(|step| match step {
        Step::Run(phase) => Some(phase),
        _ => None,
    })
}

/// Statements as people read them.
fn told(statements: Vec<Statement>) -> Vec<Statement> {
    let merged = Statement::merged(statements).into_iter();
    merged.map(Statement::shortened).collect()
}

/// What has been shown so far.
struct Showing<'a> {
    store: &'a dyn Store,
    plan: &'a Plan,
    seen: BTreeSet<(bool, String)>,
    slot: Slot,
    operations: Vec<ShownOperation>,
}

impl<'a> Showing<'a> {
    fn new(store: &'a dyn Store, plan: &'a Plan) -> Self {
        Self { store, plan, seen: BTreeSet::new(), slot: Slot::new(&plan.schema), operations: Vec::new() }
    }

    /// A session that keeps its statements.
    async fn keeping(&self) -> Result<Box<dyn Session>, StoreError> {
        let mut session = self.store.connect(self.plan).await?;
        session.keep_statements()?;
        Ok(session)
    }

    /// Does a phase in miniature: what it writes, then each of its questions once.
    async fn carry_out(
        &mut self,
        phase: &PhaseSpec,
        (number, steps): (usize, &[Step]),
        loaded: &mut BTreeMap<(usize, usize), u64>,
    ) -> Result<(), StoreError> {
        let mut keeping = self.keeping().await?;
        let all = phases(steps).flat_map(|phase| &phase.loads);
        let least = all.map(|load| load.operations.least_watermark()).max().unwrap_or(0);
        for (place, load) in phase.loads.iter().enumerate().filter(|one| one.1.writes) {
            let written = self.load(keeping.as_mut(), load, least).await?;
            loaded.insert((number, place), written);
        }
        for load in phase.loads.iter().filter(|load| !load.writes) {
            let about = load.about.as_ref().and_then(|about| find(steps, about));
            let watermark = about.and_then(|place| loaded.get(&place)).copied().unwrap_or(u64::MAX);
            for (index, name) in self.unseen(load) {
                if watermark < load.operations.least_watermark() {
                    self.tell(load, name, "not asked: what was loaded is too little for it");
                    continue;
                }
                self.show(keeping.as_mut(), load, index, watermark, name).await;
            }
        }
        keeping.close().await
    }

    /// Writes a load, or as much of it as there is time for and questions need. Gives the number of the first operation that was not written, `u64::MAX` where all were.
    async fn load(
        &mut self,
        keeping: &mut dyn Session,
        load: &LoadSpec,
        least: u64,
    ) -> Result<u64, StoreError> {
        let shown: BTreeMap<u64, String> = self.unseen(load).into_iter().collect();
        if let Some(reason) = self.unsupported(load) {
            for name in shown.into_values() {
                self.tell(load, name, &reason);
            }
            return Ok(0);
        }
        let mut session = self.store.connect(self.plan).await?;
        let until = Instant::now() + LOADING;
        let last = shown.keys().last().copied().unwrap_or(0);
        let mut written = u64::MAX;
        let fewest = load.operations.fewest_shown().max(least.min(LOOKED_AT));
        for index in 0..load.operations.len() {
            if index > last && index >= fewest && Instant::now() >= until {
                written = index;
                break;
            }
            if let Some(name) = shown.get(&index) {
                self.show(keeping, load, index, u64::MAX, name.clone()).await;
            } else {
                load.operations.fill(index, u64::MAX, &mut self.slot);
                issue(session.as_mut(), load, index, &self.slot).await?;
            }
        }
        session.close().await?;
        Ok(written)
    }

    /// The first operation of each of a load's classes that was not shown yet, with the class's name.
    fn unseen(&mut self, load: &LoadSpec) -> Vec<(u64, String)> {
        let operations = load.operations.as_ref();
        let (mut classes, mut found) = (BTreeSet::new(), Vec::new());
        for index in 0..operations.len().min(LOOKED_AT) {
            if classes.len() == operations.classes().len() {
                break;
            }
            let class = operations.class(index);
            if !classes.insert(class) {
                continue;
            }
            let name = operations.classes().get(class).unwrap_or(&load.name);
            for (index, name) in self.tables(operations, index, class, name, load.writes) {
                if self.seen.insert((load.writes, name.clone())) {
                    found.push((index, name));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// One operation for each table that a writing class writes, with the table's name where there are several; one for a question.
    fn tables(
        &mut self,
        operations: &dyn Operations,
        first: u64,
        class: usize,
        name: &str,
        writes: bool,
    ) -> Vec<(u64, String)> {
        let schema: &Schema = &self.plan.schema;
        if !writes || schema.tables.len() == 1 {
            return vec![(first, name.to_owned())];
        }
        let mut found = BTreeMap::new();
        for index in first..operations.len().min(LOOKED_AT) {
            if found.len() == schema.tables.len() {
                break;
            }
            if operations.class(index) == class {
                operations.outline(index, &mut self.slot);
                if let Request::Write(table) | Request::Upsert(table, _) = self.slot.request() {
                    found.entry(table).or_insert(index);
                }
            }
        }
        let named =
            |(table, index): (usize, u64)| (index, format!("{name}, table {}", schema.tables[table].name));
        found.into_iter().map(named).collect()
    }

    fn unsupported(&self, load: &LoadSpec) -> Option<String> {
        let plan = self.plan;
        match support(self.store, &plan.layout, &plan.schema, load) {
            Support::Not(reason) => Some(format!("not supported: {reason}")),
            Support::Native | Support::ClientSide(_) => None,
        }
    }

    /// Does one operation, and keeps what was sent for it.
    async fn show(
        &mut self,
        session: &mut dyn Session,
        load: &LoadSpec,
        index: u64,
        watermark: u64,
        name: String,
    ) {
        if let Some(reason) = self.unsupported(load) {
            return self.tell(load, name, &reason);
        }
        load.operations.fill(index, watermark, &mut self.slot);
        let done = issue(session, load, index, &self.slot).await;
        let taken = session.take_statements(true).await;
        let readings = self.slot.batch().map(|batch| batch.len() as u64);
        let plan = self.plan;
        let client_side = match support(self.store, &plan.layout, &plan.schema, load) {
            Support::ClientSide(reason) => Some(format!("partly done in the client: {reason}")),
            _ => None,
        };
        let (nothing, failed) = match done {
            Ok(nothing) => (nothing, None),
            Err(error) => (None, Some(error)),
        };
        let failed = failed.map(|error| match error.kind() {
            // A trial's readings are written again, in a database that is dropped next.
            ErrorKind::Conflict => "refused, because these readings are stored already".to_owned(),
            _ => format!("it failed: {error}"),
        });
        let (statements, untaken) = match taken {
            Ok(statements) => (told(statements), None),
            Err(error) => (Vec::new(), Some(format!("there is no plan: {error}"))),
        };
        let none = (statements.is_empty() && failed.is_none() && untaken.is_none())
            .then(|| "nothing was sent: the answer is known without the database".to_owned());
        let nothing = nothing.map(|why| format!("nothing was found: {why}"));
        let notes: Vec<String> =
            [client_side, failed, untaken, none, nothing].into_iter().flatten().collect();
        self.operations.push(ShownOperation {
            name,
            writes: load.writes,
            readings: readings.filter(|_| load.writes),
            statements,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        });
    }

    /// Names an operation that was not done.
    fn tell(&mut self, load: &LoadSpec, name: String, note: &str) {
        self.operations.push(ShownOperation {
            name,
            writes: load.writes,
            note: Some(note.to_owned()),
            ..ShownOperation::default()
        });
    }
}

/// Does the operation in the slot. Gives why questions that depend on each other found nothing.
///
/// # Errors
/// What the database refuses, or cannot do.
pub(super) async fn issue(
    session: &mut dyn Session,
    load: &LoadSpec,
    index: u64,
    slot: &Slot,
) -> Result<Option<String>, StoreError> {
    match (slot.request(), slot.batch()) {
        (Request::Write(_), Some(batch)) => session.write(batch).await.map(drop)?,
        (Request::Upsert(_, atomicity), Some(reading)) => {
            let entity = slot.entity();
            let write = EntityReading { reading, entity, atomicity };
            session.upsert(write).await.map(drop)?;
        }
        (Request::Inquiry(..), _) => {
            let mut asker = Plain(session);
            let inquired = load.operations.inquire(index, &mut asker).await?;
            return Ok(inquired.nothing);
        }
        _ => session.query(slot.query()).await.map(drop)?,
    }
    Ok(None)
}
