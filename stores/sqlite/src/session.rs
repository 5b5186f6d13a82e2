//! One client's connection: what it keeps between calls, and how statements are run under a deadline.
//!
//! What is written and asked is in [`crate::write`] and [`crate::query`].

use crate::config;
use crate::dialect::SqliteDialect;
use crate::error;
use crate::gate::{Gate, Turn};
use crate::query;
use crate::shown::Kept;
use crate::write::{self, Writer, bind};
use rusqlite::{CachedStatement, Connection};
use sensormark_relational::cell::Cell;
use sensormark_relational::model::Model;
use sensormark_relational::plan::Statement;
use sensormark_relational::plan::shape::QueryShape;
use sensormark_relational::plan::slot::{Bindings, Slot};
use sensormark_store::{
    Acknowledgement, Answer, Batch, EntityReading, ErrorKind, LocalFuture, Plan, Query, Session,
    StoreError, Value,
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
    /// As [`config::open`] and [`Model::new`].
    pub fn connect(plan: &Plan) -> Result<Self, StoreError> {
        let model = Arc::new(Model::new(&SqliteDialect, &plan.schema, plan.layout)?);
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

    /// A failure of kind [`ErrorKind::NotFound`] for a table number that the schema does not have.
    pub(crate) fn check_table(&self, table: usize) -> Result<(), StoreError> {
        if table < self.model.tables.len() {
            return Ok(());
        }
        Err(StoreError::new(
            ErrorKind::NotFound,
            "find a table",
            format!("the schema has no table number {table}"),
        ))
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

    fn answer(&mut self, query: &Query) -> Result<Answer, StoreError> {
        self.check_table(query.table)?;
        self.deadline.start();
        query::answer(self, query)
    }

    fn write_batch(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.check_table(batch.table)?;
        self.deadline.start();
        write::write(self, batch)
    }
}

impl Session for SqliteSession {
    fn write<'a>(
        &'a mut self,
        batch: &'a Batch,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(async move { self.write_batch(batch) })
    }

    fn upsert<'a>(
        &'a mut self,
        write: EntityReading<'a>,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(async move {
            self.check_table(write.reading.table)?;
            self.deadline.start();
            write::upsert(self, write)
        })
    }

    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        Box::pin(async move { self.answer(query) })
    }

    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.check_table(table)?;
            self.deadline.at.store(u64::MAX, Ordering::Relaxed);
            query::scan::readings(self, table, sink)
        })
    }

    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.check_table(table)?;
            self.deadline.at.store(u64::MAX, Ordering::Relaxed);
            query::scan::entities(self, table, sink)
        })
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.kept = Some(Kept::start(&mut self.connection)?);
        Ok(())
    }

    fn take_statements(
        &mut self,
        with_plans: bool,
    ) -> LocalFuture<'_, Result<Vec<sensormark_store::Statement>, StoreError>> {
        Box::pin(async move {
            self.deadline.start();
            self.kept.as_ref().map_or(Ok(Vec::new()), |kept| {
                kept.take(&self.connection, with_plans)
            })
        })
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>> {
        Box::pin(async move {
            self.connection
                .close()
                .map_err(|(_, cause)| error::native("close the database", cause))
        })
    }
}
