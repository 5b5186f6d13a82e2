//! One client's connection: what it keeps between calls, and how statements are run.

use crate::client::{Connection, Failure, Parameter, Prepared, Rows};
use crate::config;
use crate::error;
use crate::instance::Use;
use crate::sent::Kept;
use crate::write::writer::Writer;
use sensormark_kit::MOST_SHAPES;
use sensormark_relational::cell::Cell;
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::plan::Plans;
use sensormark_store::{ErrorKind, Plan, StoreError};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// One client's connection. Fields are dropped in this order: statements before their connection, and that before the use of the database.
pub struct DuckdbSession {
    prepared: HashMap<Rc<str>, Prepared>,
    pub(crate) kept: Kept,
    pub(crate) connection: Connection,
    used: Use,
    pub(crate) physical: Arc<PhysicalSchema>,
    pub(crate) plans: Plans,
    pub(crate) writers: Rc<[Writer]>,
    /// How long an operation may take.
    pub(crate) allowed: Duration,
}

/// A parameter for this value and type of column.
pub(crate) const fn parameter(cell: Cell<'_>, kind: ColumnType) -> Parameter<'_> {
    match (cell, kind) {
        (Cell::I64(time_ns), ColumnType::Timestamp) => Parameter::Time(time_ns),
        (cell, _) => Parameter::Cell(cell),
    }
}

impl DuckdbSession {
    /// Connects to the plan's database, which exists.
    ///
    /// # Errors
    /// As [`config::open`].
    pub(crate) fn connect(plan: &Plan, physical: Arc<PhysicalSchema>) -> Result<Self, StoreError> {
        let (connection, used) = config::open(plan)?;
        let writers = (0..physical.tables.len()).map(|table| Writer::new(&physical, table));
        let session = Self {
            prepared: HashMap::new(),
            kept: Kept::default(),
            connection,
            used,
            plans: Plans::default(),
            writers: writers.collect(),
            physical,
            allowed: Duration::from_millis(plan.timeout_ms),
        };
        session.limit(plan.timeout_ms)?;
        Ok(session)
    }

    /// Sets how long a statement of this connection may run, in ms; 0 for as long as it takes.
    pub(crate) fn limit(&self, milliseconds: u64) -> Result<(), StoreError> {
        let setting = format!("SET SESSION max_execution_time = {milliseconds}");
        let set = self.connection.run(&setting);
        set.map_err(|failure| error::native("set a time-out", failure))
    }

    /// Fails when the database was dropped under the session.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if !self.used.is_dropped() {
            return Ok(());
        }
        Err(StoreError::new(
            ErrorKind::NotFound,
            "use the DuckDB database",
            "it was dropped while this session had it open; create it again",
        ))
    }

    /// Makes sure that a statement is prepared.
    pub(crate) fn prepare(&mut self, text: &str) -> Result<&Prepared, Failure> {
        if !self.prepared.contains_key(text) {
            if self.prepared.len() >= MOST_SHAPES {
                self.prepared.clear();
            }
            let prepared = self.connection.prepare(text)?;
            self.prepared.insert(text.into(), prepared);
        }
        // It was put there a line ago.
        self.prepared
            .get(text)
            .ok_or_else(|| Failure::of(crate::client::codes::INTERNAL, "a statement is not kept"))
    }

    /// Runs a statement with these parameters, and gives its rows.
    pub(crate) fn send<'a>(
        &mut self,
        text: &str,
        parameters: impl Iterator<Item = Parameter<'a>>,
    ) -> Result<Rows, Failure> {
        let mut kept = std::mem::take(&mut self.kept);
        let library = self.connection.library();
        let prepared = self.prepare(text);
        let sent = prepared.and_then(|prepared| {
            let mut note = kept.statement(text);
            for (place, parameter) in parameters.enumerate() {
                if let Some(note) = &mut note {
                    note.value(library, &parameter)?;
                }
                prepared.bind(place + 1, &parameter)?;
            }
            prepared.execute()
        });
        self.kept = kept;
        sent
    }

    /// Runs a statement without parameters and rows.
    pub(crate) fn run(&mut self, text: &str) -> Result<(), Failure> {
        self.kept.text(text);
        self.connection.run(text)
    }
}
