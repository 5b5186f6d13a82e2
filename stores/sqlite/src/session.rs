//! One client's connection: what it keeps between calls, and how statements are run under a deadline.
//!
//! What is written and asked is in [`crate::write`] and [`crate::query`].

use crate::config;
use crate::error;
use crate::gate::{Gate, Turn};
use crate::query;
use crate::shown::Kept;
use crate::write::{self, Writer, bind};
use rusqlite::{CachedStatement, Connection};
use sensormark_kit::BackendSession;
use sensormark_relational::cell::Cell;
use sensormark_relational::model::Model;
use sensormark_relational::plan::Statement;
use sensormark_relational::plan::shape::QueryShape;
use sensormark_relational::plan::slot::{Bindings, Slot};
use sensormark_store::{
    Acknowledgement, Answer, Batch, EntityReading, ErrorKind, Plan, Query, StoreError, Value,
};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Instructions of SQLite's virtual machine between two looks at the clock.
const LOOK_EVERY: i32 = 20_000;

/// One client's connection.
pub struct SqliteSession {
    pub(crate) connection: Connection,
    pub(crate) model: Arc<Model>,
    pub(crate) plans: HashMap<QueryShape, Rc<sensormark_relational::plan::Plan>>,
    pub(crate) writers: Vec<Writer>,
    gate: Arc<Gate>,
    deadline: Deadline,
    kept: Option<Kept>,
}

/// When the running operation has taken too long: shared with SQLite's progress handler.
struct Deadline {
    base: Instant,
    allowed: Duration,
    /// Nanoseconds after `base`.
    at: Arc<AtomicU64>,
}

impl Deadline {
    fn new(allowed: Duration) -> Self {
        Self {
            base: Instant::now(),
            allowed,
            at: Arc::new(AtomicU64::new(u64::MAX)),
        }
    }

    /// Starts the time of an operation.
    fn start(&self) {
        let end = self.base.elapsed() + self.allowed;
        let end = u64::try_from(end.as_nanos()).unwrap_or(u64::MAX);
        self.at.store(end, Ordering::Relaxed);
    }

    fn instant(&self) -> Instant {
        self.base + Duration::from_nanos(self.at.load(Ordering::Relaxed))
    }
}

impl SqliteSession {
    /// Connects to the plan's database, which exists.
    ///
    /// # Errors
    /// As [`config::open`].
    pub fn connect(plan: &Plan, model: Arc<Model>) -> Result<Self, StoreError> {
        let mut connection = config::open(plan)?;
        let deadline = Deadline::new(Duration::from_millis(plan.timeout_ms));
        let (base, at) = (deadline.base, Arc::clone(&deadline.at));
        let late = move || base.elapsed().as_nanos() > u128::from(at.load(Ordering::Relaxed));
        connection
            .progress_handler(LOOK_EVERY, Some(late))
            .map_err(|cause| error::native("set a time-out", cause))?;
        let writers = (0..model.tables.len())
            .map(|table| Writer::new(&model, table))
            .collect();
        Ok(Self {
            connection,
            plans: HashMap::new(),
            writers,
            gate: Gate::of(&config::file(&plan.endpoint, &plan.database)),
            deadline,
            model,
            kept: None,
        })
    }

    /// Waits for the turn to write.
    pub(crate) fn turn(&self) -> Result<Turn, StoreError> {
        self.gate.enter(self.deadline.instant()).ok_or_else(|| {
            StoreError::new(
                ErrorKind::Timeout,
                "wait for other writers",
                "SQLite has one writer at a time, and others wrote for the whole time allowed; fewer clients or a longer time-out help",
            )
            .with_doubt(false)
        })
    }

    /// The statement, prepared and given what it needs from the question.
    pub(crate) fn bound(
        &self,
        statement: &Statement,
        asked: Bindings<'_>,
    ) -> Result<CachedStatement<'_>, StoreError> {
        let wrong = |cause| error::native("prepare a question", cause);
        let mut prepared = self
            .connection
            .prepare_cached(&statement.text)
            .map_err(wrong)?;
        for (place, &slot) in statement.slots.iter().enumerate() {
            let bound = match slot {
                Slot::JsonSet => bind(&mut prepared, place + 1, Cell::Text(&asked.json_set())),
                slot => bind(&mut prepared, place + 1, asked.value(slot)),
            };
            bound.map_err(wrong)?;
        }
        Ok(prepared)
    }
}

impl BackendSession for SqliteSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.deadline.start();
        write::write(self, batch)
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        self.deadline.start();
        write::upsert(self, write)
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        self.deadline.start();
        query::answer(self, query)
    }

    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        self.deadline.at.store(u64::MAX, Ordering::Relaxed);
        query::scan::readings(self, table, sink)
    }

    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        self.deadline.at.store(u64::MAX, Ordering::Relaxed);
        query::scan::entities(self, table, sink)
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.kept = Some(Kept::start(&mut self.connection)?);
        Ok(())
    }

    async fn take_statements(
        &mut self,
        with_plans: bool,
    ) -> Result<Vec<sensormark_store::Statement>, StoreError> {
        self.deadline.start();
        self.kept.as_ref().map_or(Ok(Vec::new()), |kept| {
            kept.take(&self.connection, with_plans)
        })
    }

    async fn close(self) -> Result<(), StoreError> {
        self.connection
            .close()
            .map_err(|(_, cause)| error::native("close the database", cause))
    }
}
