//! One client's connection: what it keeps between calls, and how statements are bound and run under a deadline.

use crate::config;
use crate::error;
use crate::sent::Kept;
use crate::write::writer::{Writer, bind};
use crate::writer_queue::{WriterQueue, WriterTurn};
use rusqlite::{CachedStatement, Connection};
use sensormark_relational::cell::Cell;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::plan::slot::{Bindings, Slot};
use sensormark_relational::plan::{Plans, Statement};
use sensormark_store::{ErrorKind, Plan, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Instructions of SQLite's virtual machine between two looks at the clock.
const LOOK_EVERY: i32 = 20_000;

/// One client's connection.
pub struct SqliteSession {
    pub(crate) connection: Connection,
    pub(crate) physical: Arc<PhysicalSchema>,
    pub(crate) plans: Plans,
    pub(crate) writers: Vec<Writer>,
    pub(crate) queue: Arc<WriterQueue>,
    pub(crate) deadline: Deadline,
    pub(crate) kept: Option<Kept>,
}

/// When the running operation has taken too long: shared with SQLite's progress handler.
pub(crate) struct Deadline {
    pub(crate) base: Instant,
    pub(crate) allowed: Duration,
    /// Nanoseconds after `base`.
    pub(crate) at: Arc<AtomicU64>,
}

impl Deadline {
    fn new(allowed: Duration) -> Self {
        Self { base: Instant::now(), allowed, at: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// Starts the time of an operation.
    pub(crate) fn start(&self) {
        let end = self.base.elapsed() + self.allowed;
        let end = u64::try_from(end.as_nanos()).unwrap_or(u64::MAX);
        self.at.store(end, Ordering::Relaxed);
    }

    /// Lets an operation take as long as it takes.
    pub(crate) fn lift(&self) {
        self.at.store(u64::MAX, Ordering::Relaxed);
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
    pub fn connect(plan: &Plan, physical: Arc<PhysicalSchema>) -> Result<Self, StoreError> {
        let mut connection = config::open(plan)?;
        let deadline = Deadline::new(Duration::from_millis(plan.timeout_ms));
        let (base, at) = (deadline.base, Arc::clone(&deadline.at));
        let late = move || base.elapsed().as_nanos() > u128::from(at.load(Ordering::Relaxed));
        connection
            .progress_handler(LOOK_EVERY, Some(late))
            .map_err(|cause| error::native("set a time-out", cause))?;
        let writers = (0..physical.tables.len()).map(|table| Writer::new(&physical, table)).collect();
        Ok(Self {
            connection,
            plans: Plans::default(),
            writers,
            queue: WriterQueue::of(&config::file(&plan.endpoint, &plan.database)),
            deadline,
            physical,
            kept: None,
        })
    }

    /// Waits for the turn to write.
    pub(crate) fn turn(&self) -> Result<WriterTurn, StoreError> {
        self.queue.enter(self.deadline.instant()).ok_or_else(|| {
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
        let mut prepared = self.connection.prepare_cached(&statement.text).map_err(wrong)?;
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
