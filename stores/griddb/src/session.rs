//! One client's session: a connection of the C client, and the containers that it has opened.
//!
//! The client blocks, so every future is ready when it is first polled.

use crate::client::{Connection, Container, Failure, Spare};
use crate::config::Options;
use crate::error::{absent, mapped};
use crate::query::Reader;
use crate::schema::{Model, owner};
use crate::{rest::Rest, server, shown, write};
use sensormark_kit::BackendSession;
use sensormark_store::{
    Acknowledgement, Answer, Batch, Durability, EntityReading, ErrorKind, Plan, Query, Statement,
    StoreError, Value,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Opens a connection, which asks nothing of the server yet.
pub(crate) fn open(options: &Options, time_out: Duration) -> Result<Connection, StoreError> {
    let library = server::client()?;
    let (shared, own) = (Options::factory(time_out), options.properties(time_out));
    Connection::open(library, &shared, &own)
        .map_err(|failure| mapped("connect to GridDB", failure).with_doubt(false))
}

/// Which of a database's containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// Readings, by table and series.
    Series(usize, u32),
    /// A table's tags.
    Tags(usize),
    /// A table's entities.
    Entities(usize),
}

/// The containers of a database, opened when they are first needed.
pub(crate) struct Containers {
    pub(crate) connection: Connection,
    pub(crate) model: Arc<Model>,
    database: String,
    open: HashMap<Place, Container>,
    /// Those in which rows are committed by hand.
    by_hand: HashMap<Place, Container>,
    /// Rows to be used again, by table.
    spare: HashMap<usize, Spare>,
}

impl Containers {
    /// Those of a database.
    pub(crate) fn new(connection: Connection, model: Arc<Model>, database: &str) -> Self {
        Self {
            connection,
            model,
            database: database.to_owned(),
            open: HashMap::new(),
            by_hand: HashMap::new(),
            spare: HashMap::new(),
        }
    }

    /// A container's name.
    pub(crate) fn name(&self, place: Place) -> String {
        match place {
            Place::Series(table, series) => self.model.readings(&self.database, table, series),
            Place::Tags(table) => self.model.tags(&self.database, table),
            Place::Entities(table) => self.model.entities(&self.database, table),
        }
    }

    fn opened(&mut self, place: Place) -> Result<Container, StoreError> {
        let name = self.name(place);
        let spare = match place {
            Place::Series(table, _) => self.spare.entry(table).or_default().clone(),
            Place::Tags(_) | Place::Entities(_) => Spare::default(),
        };
        let found = self
            .connection
            .container_like(&name, spare)
            .map_err(|failure| mapped("open a container", failure))?;
        found.ok_or_else(|| {
            let text = format!("container {name} is not there: was its database dropped, or made with another schema?");
            absent("open a container", text)
        })
    }

    /// A container in which each statement commits by itself.
    pub(crate) fn get(&mut self, place: Place) -> Result<Container, StoreError> {
        if let Some(container) = self.open.get(&place) {
            return Ok(container.clone());
        }
        let container = self.opened(place)?;
        self.open.insert(place, container.clone());
        Ok(container)
    }

    /// A container in which rows are committed by hand.
    pub(crate) fn get_by_hand(&mut self, place: Place) -> Result<Container, StoreError> {
        if let Some(container) = self.by_hand.get(&place) {
            return Ok(container.clone());
        }
        let container = self.opened(place)?;
        container
            .set_auto_commit(false)
            .map_err(|failure| mapped("open a container", failure))?;
        self.by_hand.insert(place, container.clone());
        Ok(container)
    }

    /// Lets the rows go that are kept for other tables than this one, as a large write begins: the client's rows take much memory.
    pub(crate) fn let_rows_go_but_of(&mut self, table: usize) {
        let others = self.spare.iter().filter(|(other, _)| **other != table);
        for (_, spare) in others {
            spare.clear();
        }
    }

    /// Forgets what was opened: after a failure a container may have been dropped, or made anew.
    pub(crate) fn forget(&mut self) {
        self.open.clear();
        self.by_hand.clear();
        self.spare.clear();
    }
}

/// Fails for a durability class that the server does not keep. Its logWriteMode is a setting of its start.
pub(crate) fn check_durability(plan: &Plan, options: &Options) -> Result<(), StoreError> {
    let wanted = server::log_write_mode(plan.durability)?;
    if plan.endpoint.managed || plan.durability != Durability::Durable {
        return Ok(());
    }
    let rest = Rest::new(options, Duration::from_millis(plan.timeout_ms));
    let mode = rest.settings()?["dataStore"]["logWriteMode"].as_u64();
    if mode == Some(u64::from(wanted)) {
        return Ok(());
    }
    let text = format!(
        "the server's logWriteMode is {}; set it to 0 in gs_node.json and start the server again, or ask for another class",
        mode.map_or_else(|| "not known".to_owned(), |mode| mode.to_string())
    );
    Err(StoreError::new(
        ErrorKind::Configuration,
        "choose a durability class",
        text,
    ))
}

/// A client's session.
pub struct GriddbSession {
    containers: Containers,
    durable: bool,
}

impl GriddbSession {
    /// Connects, and looks for the database.
    pub(crate) fn open(plan: &Plan, model: Arc<Model>) -> Result<Self, StoreError> {
        const OPERATION: &str = "connect to GridDB";
        let options = Options::parse(plan.endpoint.url.expose())?;
        check_durability(plan, &options)?;
        let connection = open(&options, Duration::from_millis(plan.timeout_ms))?;
        let failed = |failure: Failure| mapped(OPERATION, failure).with_doubt(false);
        let name = plan.database.as_str();
        if connection
            .container(&owner(name))
            .map_err(failed)?
            .is_none()
        {
            let text = format!("there is no database {name}: make it first");
            return Err(absent(OPERATION, text));
        }
        Ok(Self {
            containers: Containers::new(connection, model, name),
            durable: plan.durability == Durability::Durable,
        })
    }

    fn kept<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if result.is_err() {
            self.containers.forget();
        }
        result
    }
}

impl BackendSession for GriddbSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let written = write::write(&mut self.containers, batch, self.durable);
        self.kept(written)
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        let written = write::upsert(&mut self.containers, write, self.durable);
        self.kept(written)
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let answer = Reader::new(&mut self.containers).query(query);
        self.kept(answer)
    }

    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        let scanned = Reader::new(&mut self.containers).scan(table, sink);
        self.kept(scanned)
    }

    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        let scanned = Reader::new(&mut self.containers).scan_entities(table, sink);
        self.kept(scanned)
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.containers.connection.kept().start();
        Ok(())
    }

    async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        Ok(shown::take(&self.containers.connection, with_plans))
    }

    async fn close(self) -> Result<(), StoreError> {
        Ok(())
    }
}
