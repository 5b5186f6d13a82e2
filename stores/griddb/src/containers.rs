//! A connection of the C client, and the containers that were opened over it.

use crate::client::{Connection, Container, Spare};
use crate::config::Options;
use crate::error::{absent, mapped};
use crate::schema::PhysicalSchema;
use crate::server;
use sensormark_store::StoreError;
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
    pub(crate) physical: Arc<PhysicalSchema>,
    database: String,
    open: HashMap<Place, Container>,
    /// Those in which rows are committed by hand.
    by_hand: HashMap<Place, Container>,
    /// Rows to be used again, by table.
    spare: HashMap<usize, Spare>,
}

impl Containers {
    /// Those of a database.
    pub(crate) fn new(connection: Connection, physical: Arc<PhysicalSchema>, database: &str) -> Self {
        Self {
            connection,
            physical,
            database: database.to_owned(),
            open: HashMap::new(),
            by_hand: HashMap::new(),
            spare: HashMap::new(),
        }
    }

    /// A container's name.
    pub(crate) fn name(&self, place: Place) -> String {
        match place {
            Place::Series(table, series) => self.physical.readings(&self.database, table, series),
            Place::Tags(table) => self.physical.tags(&self.database, table),
            Place::Entities(table) => self.physical.entities(&self.database, table),
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
            let text = format!(
                "container {name} is not there: was its database dropped, or made with another schema?"
            );
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
        container.set_auto_commit(false).map_err(|failure| mapped("open a container", failure))?;
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
