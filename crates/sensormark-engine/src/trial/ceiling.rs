//! How fast the same clients are when the database costs nothing. They issue the same load to the null store for a moment.
//!
//! A trial that comes near this measures the engine. Answers of the null store here are empty, so that neither a generator nor a comparison is
//! measured with it.
//!
//! Other programs do not lower it: the time in which a client's thread was ready to run and had no processor is left out. It is measured in turns, before the
//! phase and, while there is doubt, after it. The largest counts, because nothing makes a client faster than it is.

use super::script::{LoadSpec, PhaseSpec};
use crate::answers::Checking;
use crate::clients::{Clients, ClientsError};
use crate::inquiry::{Asker, Inquired};
use crate::judge::client::CEILING_FACTOR;
use crate::operations::{ENDLESS, Operations, Slot};
use crate::phase::{Load, Phase, Target};
use crate::work_distribution::ClientRange;
use sensormark_conformance::null::NullStore;
use sensormark_store::{
    Answer, AnswerSource, Ask, Batch, Derived, LocalFuture, Moment, Plan, Query, SessionKind, StoreError,
    Table, Value,
};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the null store is driven in a turn, unless that is too short for [`FEWEST`] operations.
const TURN: Duration = Duration::from_millis(100);
/// How long turns after a phase may take together.
const LONGEST: Duration = Duration::from_secs(2);
/// Fewer operations than this say nothing.
const FEWEST: u64 = 20;

/// The ceiling of this process's part of a phase. Clients with a schedule go as fast as they can here.
pub struct Ceiling {
    target: Target,
    phase: Phase,
    /// Processors that this process's clients can have.
    processors: f64,
    turn: Duration,
    largest: Option<f64>,
}

impl Ceiling {
    /// That of these clients, who can have so many processors. None for phases of several loads.
    pub fn new(
        plan: &Plan,
        phase: &PhaseSpec,
        clients: ClientRange,
        kind: SessionKind,
        processors: f64,
    ) -> Option<Self> {
        let [load] = phase.loads.as_slice() else {
            return None;
        };
        let store = null_store(plan);
        Some(Self {
            target: Target { kind, ..Target::new(Arc::new(store), Arc::new(plan.clone())) },
            phase: Phase {
                loads: vec![null_load(load, clients)],
                workers: phase.workers,
                ..Phase::default()
            },
            processors,
            turn: TURN,
            largest: None,
        })
    }

    /// Drives the null store once.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn take_turn(&mut self) -> Result<(), ClientsError> {
        let phase = Phase { limit: Some(self.turn), ..self.phase.clone() };
        let mut finished = Clients::connect(&self.target, phase)?.run(&mut |_| {})?;
        let (threads, waited_ns) = finished.waited();
        finished.close();
        let outcome = finished.outcome();
        let operations: u64 = outcome.loads.iter().map(|load| load.operations()).sum();
        if operations < FEWEST {
            self.turn = self.turn.saturating_mul(2).min(LONGEST);
            return Ok(());
        }
        let (threads, cpu_ns) = (threads as f64, outcome.cpu_ns.max(1) as f64);
        let a_second = |thread_ns: f64, threads: f64| operations as f64 * threads * 1e9 / thread_ns;
        // Threads in excess of the processors wait for each other, which no program but this one causes.
        let by_processor = a_second(cpu_ns, threads.min(self.processors));
        let reached = waited_ns.map_or(by_processor, |waited_ns| {
            let ready_ns = threads * outcome.seconds() * 1e9 - waited_ns as f64;
            by_processor.min(a_second(ready_ns.max(cpu_ns), threads))
        });
        self.largest = Some(self.largest.map_or(reached, |before| before.max(reached)));
        Ok(())
    }

    /// Operations a second, against so many that the clients did in the phase: further turns are taken while it seems near. None where too few operations were
    /// done for a figure, and where the clients were faster in the phase: it says nothing then.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn against(mut self, per_second: f64) -> Result<Option<f64>, ClientsError> {
        let begun = Instant::now();
        let enough = per_second * CEILING_FACTOR;
        while self.largest.is_none_or(|largest| largest < enough) && begun.elapsed() < LONGEST {
            self.take_turn()?;
        }
        Ok(self.largest.filter(|largest| *largest >= per_second))
    }
}

fn null_load(load: &LoadSpec, clients: ClientRange) -> Load {
    let operations = Arc::new(Repeated(Arc::clone(&load.operations)));
    Load {
        clients,
        distribution: load.distribution,
        checking: Checking::OneIn(NonZeroU64::MAX),
        ..Load::new(load.name.clone(), operations, clients.count)
    }
}

/// The same operations over and over, with nothing said about their answers.
struct Repeated(Arc<dyn Operations>);

impl Repeated {
    fn index(&self, index: u64) -> u64 {
        index % self.0.len().max(1)
    }
}

impl Operations for Repeated {
    fn len(&self) -> u64 {
        ENDLESS
    }

    fn classes(&self) -> &[String] {
        self.0.classes()
    }

    fn class(&self, index: u64) -> usize {
        self.0.class(self.index(index))
    }

    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        self.0.fill(self.index(index), watermark, slot);
    }

    fn inquire<'a>(
        &'a self,
        index: u64,
        asker: &'a mut dyn Asker,
    ) -> LocalFuture<'a, Result<Inquired, StoreError>> {
        self.0.inquire(self.index(index), asker)
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

/// A database of this plan that costs nothing: it finds every moment at once, and nothing in any range.
fn null_store(plan: &Plan) -> NullStore {
    NullStore::new(Arc::new(Empty { tables: plan.schema.tables.clone() }))
}

/// Answers of the right kind that hold nothing.
struct Empty {
    tables: Vec<Table>,
}

impl AnswerSource for Empty {
    fn answer(&self, query: &Query) -> Answer {
        match query.ask {
            Ask::Point { .. }
            | Ask::Range { .. }
            | Ask::LastReading { .. }
            | Ask::Derived(Derived::RowsByValue { .. }) => {
                Answer::Readings(Batch::new(query.table, &self.tables[query.table]))
            }
            Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => {
                Answer::Moment(Some(Moment { time_ns: query.range.start_ns, value: Value::I64(1) }))
            }
            Ask::Aggregate { .. } | Ask::Derived(_) => Answer::Groups(Vec::new()),
            Ask::SeriesMatching(_) => Answer::Series(Vec::new()),
        }
    }

    fn scan(&self, _table: usize, _sink: &mut dyn FnMut(&Batch)) {}
}
