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
//! - [`sent`] notes the statements that ran, and [`shown`] shows them with their plans.
//! - [`error`] has SQLite's codes.

use crate::admin::SqliteAdministrator;
use crate::connection::SqliteSession;
use crate::dialect::SqliteDialect;
use sensormark_kit::{Adapter, Backend, Declaration, folder};
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::store::RepeatedWrite;
use sensormark_store::{Endpoint, Plan, SessionKind, StoreError, TimeResolution};
use std::sync::Arc;

pub mod config;

pub mod server;

pub mod schema;

pub mod dialect;

pub mod admin;

pub mod settings;

pub mod connection;

pub mod session;

pub mod sent;

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

    const DECLARATION: Declaration<PhysicalSchema> = Declaration {
        name: config::NAME,
        title: "SQLite",
        embedded: true,
        session: SessionKind::Blocking,
        durability: config::DURABILITY,
        url_example: config::URL_EXAMPLE,
        repeated_write: RepeatedWrite::KeepsBoth,
        logs: &["*-wal"],
        log_bound: Some("wal_autocheckpoint"),
        native_resolution: TimeResolution::Nanoseconds,
        typical: server::TYPICAL,
        layouts: schema::layouts,
        capability: schema::capability,
        limits: schema::limits,
        write_size: write_size::write_size,
        installation: || Ok(server::installation()),
        launch: None,
        endpoint: config::endpoint,
        physical_schema: |plan| PhysicalSchema::new(&SqliteDialect, &plan.schema, plan.layout),
    };

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        folder::check_there(config::NAME, endpoint)?;
        Ok(rusqlite::version().to_owned())
    }

    async fn administrator(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<SqliteAdministrator, StoreError> {
        Ok(SqliteAdministrator::new(plan, physical))
    }

    async fn connect(&self, plan: &Plan, physical: Arc<PhysicalSchema>) -> Result<SqliteSession, StoreError> {
        SqliteSession::connect(plan, physical)
    }
}
