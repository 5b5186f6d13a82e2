//! One client's session: writing and asking in its containers.
//!
//! The client blocks, so every future is ready when it is first polled.

use crate::client::Failure;
use crate::config::Options;
use crate::containers::{Containers, open};
use crate::error::{absent, mapped};
use crate::query::Reader;
use crate::schema::{PhysicalSchema, owner};
use crate::{rest::Rest, server, shown, write};
use sensormark_kit::BackendSession;
use sensormark_store::{
    Acknowledgement, Answer, Batch, Durability, EntityReading, ErrorKind, Plan, Query, Statement, StoreError,
    Value,
};
use std::sync::Arc;
use std::time::Duration;

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
    Err(StoreError::new(ErrorKind::Configuration, "choose a durability class", text))
}

/// A client's session.
pub struct GriddbSession {
    containers: Containers,
    durable: bool,
}

impl GriddbSession {
    /// Connects, and looks for the database.
    pub(crate) fn open(plan: &Plan, physical: Arc<PhysicalSchema>) -> Result<Self, StoreError> {
        const OPERATION: &str = "connect to GridDB";
        let options = Options::parse(plan.endpoint.url.expose())?;
        check_durability(plan, &options)?;
        let connection = open(&options, Duration::from_millis(plan.timeout_ms))?;
        let failed = |failure: Failure| mapped(OPERATION, failure).with_doubt(false);
        let name = plan.database.as_str();
        if connection.container(&owner(name)).map_err(failed)?.is_none() {
            let text = format!("there is no database {name}: make it first");
            return Err(absent(OPERATION, text));
        }
        Ok(Self {
            containers: Containers::new(connection, physical, name),
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
}
