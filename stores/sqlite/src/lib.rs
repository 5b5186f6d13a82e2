//! SQLite, embedded: the store that needs nothing installed.
//!
//! Data flows through the modules in this order:
//!
//! - [`config`] finds the folder and opens connections.
//! - [`server`] says which library it is.
//! - [`schema`] offers layouts, and [`dialect`] chooses for the relational planner, which makes tables of a layout.
//! - [`admin`] makes and drops the file.
//! - [`session`] is one client's session, which writes ([`mod@write`]) and asks ([`query`]).
//! - [`sensormark_store::record`], of the contract, has the records of a span.
//! - [`writer_queue`] is the queue of writers.
//! - [`settings`] is what is read back.
//! - [`shown`] has the statements that ran.
//! - [`error`] has SQLite's codes.

use crate::admin::SqliteAdministrator;
use crate::connection::SqliteSession;
use crate::dialect::SqliteDialect;
use sensormark_kit::{Adapter, Backend};
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::store::RepeatedWrite;
use sensormark_store::{
    Capability, Description, Endpoint, ErrorKind, Family, Installation, Layout, LayoutOption,
    Limits, Operation, Plan, Schema, SessionKind, StoreError, Table, Typical, WriteSize,
};
use std::sync::Arc;

pub mod config;

pub mod server;

pub mod schema;

pub mod dialect;

pub mod admin;

pub mod settings;

pub mod connection;

pub mod session;

pub mod shown;

pub mod write;

pub mod write_size;

pub mod query;

pub mod writer_queue;

pub mod error;

/// SQLite, embedded.
pub type Sqlite = Adapter<SqliteBackend>;

/// What [`Sqlite`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct SqliteBackend;

impl Backend for SqliteBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = SqliteSession;
    type Administrator = SqliteAdministrator;

    fn description(&self) -> Description {
        Description {
            name: config::NAME.to_owned(),
            title: "SQLite".to_owned(),
            embedded: true,
            session: SessionKind::Blocking,
            durability: config::durability_classes(),
            url_example: config::URL_EXAMPLE.to_owned(),
            repeated_write: RepeatedWrite::KeepsBoth,
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        schema::layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        schema::capability(operation, layout, table)
    }

    fn limits(&self, layout: &Layout, table: &Table) -> Limits {
        schema::limits(layout, table)
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        write_size::write_size(layout, table)
    }

    fn typical(&self) -> Typical {
        server::TYPICAL
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        Ok(server::installation())
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        config::endpoint(url)
    }

    fn model(&self, plan: &Plan) -> Result<PhysicalSchema, StoreError> {
        PhysicalSchema::new(&SqliteDialect, &plan.schema, plan.layout)
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        let folder = config::folder(endpoint);
        if folder.is_dir() || endpoint.managed {
            return Ok(rusqlite::version().to_owned());
        }
        Err(StoreError::new(
            ErrorKind::NotFound,
            "look at the folder",
            "the folder is no longer there; name another one",
        ))
    }

    async fn administrator(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<SqliteAdministrator, StoreError> {
        Ok(SqliteAdministrator::new(plan, model))
    }

    async fn connect(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<SqliteSession, StoreError> {
        SqliteSession::connect(plan, model)
    }
}
