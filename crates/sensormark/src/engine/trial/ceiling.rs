//! How fast the same clients are when the database costs nothing. They issue the same load to the null store for a moment.
//!
//! A trial that comes near this measures the engine. Answers of the null store here are empty, so that neither a generator nor a comparison is
//! measured with it.

use super::script::{LoadSpec, PhaseSpec};
use crate::engine::answers::Checking;
use crate::engine::clients::{Clients, ClientsError};
use crate::engine::inquiry::{Asker, Inquired};
use crate::engine::operations::{Operations, Slot};
use crate::engine::phase::{Load, Phase, Target};
use crate::engine::work_distribution::ClientRange;
use sensormark_conformance::null::NullStore;
use sensormark_store::{
    Answer, AnswerSource, Ask, Batch, LocalFuture, Moment, Plan, Query, SessionKind, StoreError,
    Table, Value,
};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// How long the null store is driven.
const DURATION: Duration = Duration::from_millis(200);
/// Fewer operations than this say nothing.
const FEWEST: u64 = 20;

/// Operations a second of this process's part of a phase over the null store. Clients with a schedule go as fast as they can here. None for phases of several
/// loads, and where too few operations are done for a figure.
///
/// # Errors
/// When a thread cannot be started.
pub fn ceiling(
    plan: &Plan,
    phase: &PhaseSpec,
    clients: ClientRange,
    kind: SessionKind,
) -> Result<Option<f64>, ClientsError> {
    let [load] = phase.loads.as_slice() else {
        return Ok(None);
    };
    let store = null_store(plan);
    let target = Target {
        kind,
        ..Target::new(Arc::new(store), Arc::new(plan.clone()))
    };
    let phase = Phase {
        loads: vec![null_load(load, clients)],
        limit: Some(DURATION),
        workers: phase.workers,
        ..Phase::default()
    };
    let mut finished = Clients::connect(&target, phase)?.run(&mut |_| {})?;
    finished.close();
    let outcome = finished.outcome();
    let operations: u64 = outcome.loads.iter().map(|load| load.operations()).sum();
    Ok((operations >= FEWEST).then(|| operations as f64 / outcome.seconds().max(1e-9)))
}

fn null_load(load: &LoadSpec, clients: ClientRange) -> Load {
    let operations = Arc::new(Unchecked(Arc::clone(&load.operations)));
    Load {
        clients,
        distribution: load.distribution,
        checking: Checking::OneIn(NonZeroU64::MAX),
        ..Load::new(load.name.clone(), operations, clients.count)
    }
}

/// The same operations, with nothing said about their answers.
struct Unchecked(Arc<dyn Operations>);

impl Operations for Unchecked {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn classes(&self) -> &[String] {
        self.0.classes()
    }

    fn class(&self, index: u64) -> usize {
        self.0.class(index)
    }

    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        self.0.fill(index, watermark, slot);
    }

    fn inquire<'a>(
        &'a self,
        index: u64,
        asker: &'a mut dyn Asker,
    ) -> LocalFuture<'a, Result<Inquired, StoreError>> {
        self.0.inquire(index, asker)
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

/// A database of this plan that costs nothing: it finds every moment at once, and nothing in any range.
fn null_store(plan: &Plan) -> NullStore {
    NullStore::new(Arc::new(Empty {
        tables: plan.schema.tables.clone(),
    }))
}

/// Answers of the right kind that hold nothing.
struct Empty {
    tables: Vec<Table>,
}

impl AnswerSource for Empty {
    fn answer(&self, query: &Query) -> Answer {
        match query.ask {
            Ask::Point { .. } | Ask::Range { .. } | Ask::LastReading { .. } => {
                Answer::Readings(Batch::new(query.table, &self.tables[query.table]))
            }
            Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => Answer::Moment(Some(Moment {
                time_ns: query.range.start_ns,
                value: Value::I64(1),
            })),
            Ask::Aggregate { .. } => Answer::Groups(Vec::new()),
            Ask::SeriesMatching(_) => Answer::Series(Vec::new()),
        }
    }

    fn scan(&self, _table: usize, _sink: &mut dyn FnMut(&Batch)) {}
}
