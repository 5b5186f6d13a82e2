//! DuckDB, embedded: a database of columns, whose library is loaded when it is first used.
//!
//! Data flows through the modules in this order:
//!
//! - [`server`] finds the library, and [`client`] wraps it.
//! - [`config`] finds the folder.
//! - [`instance`] opens a file once for all of the process.
//! - [`schema`] offers layouts, and [`dialect`] chooses for the relational planner, which makes tables of a layout.
//! - [`admin`] makes and drops the file.
//! - [`session`] is one client's session, which writes ([`mod@write`]) and asks ([`query`]).
//! - [`mod@array`] encodes records of a span.
//! - [`sent`] notes the statements that ran, and [`shown`] shows them with their plans.
//! - [`error`] has DuckDB's types of errors.

use crate::admin::DuckdbAdministrator;
use crate::connection::DuckdbSession;
use crate::dialect::DuckdbDialect;
use sensormark_kit::{Adapter, Backend, Declaration, folder};
use sensormark_relational::layouts;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::store::RepeatedWrite;
use sensormark_store::{Endpoint, Layout, Operation, Plan, SessionKind, StoreError, Table, TimeResolution};
use std::sync::Arc;

mod admin;
mod array;
mod client;
mod config;
mod connection;
mod dialect;
mod error;
mod instance;
mod query;
mod schema;
mod sent;
mod server;
mod session;
mod shown;
mod write;
mod write_size;

/// DuckDB, embedded.
pub type Duckdb = Adapter<DuckdbBackend>;

/// What [`Duckdb`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct DuckdbBackend;

impl Backend for DuckdbBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = DuckdbSession;
    type Administrator = DuckdbAdministrator;

    const DECLARATION: Declaration<PhysicalSchema> = Declaration {
        name: config::NAME,
        title: "DuckDB",
        embedded: true,
        session: SessionKind::Blocking,
        durability: config::DURABILITY,
        url_example: server::URL_EXAMPLE,
        repeated_write: RepeatedWrite::KeepsBoth,
        logs: &["*.wal"],
        log_bound: Some("checkpoint_threshold"),
        native_resolution: TimeResolution::Nanoseconds,
        layouts: schema::layouts,
        capability: schema::capability,
        limits: schema::limits,
        write_size: write_size::write_size,
        installation: server::installation,
        launch: None,
        endpoint: config::endpoint,
        physical_schema: |plan| PhysicalSchema::new(&DuckdbDialect, &plan.schema, plan.layout),
    };

    fn derives(operation: Operation, layout: &Layout, _: &Table) -> bool {
        layouts::derives(operation, layout)
    }

    fn one_process(&self) -> Option<&'static str> {
        Some("DuckDB lets one process write to a database, and no other one read from it meanwhile")
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        folder::check_there(config::NAME, endpoint)?;
        Ok(server::library()?.version())
    }

    async fn administrator(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<DuckdbAdministrator, StoreError> {
        Ok(DuckdbAdministrator::new(plan, physical))
    }

    async fn connect(&self, plan: &Plan, physical: Arc<PhysicalSchema>) -> Result<DuckdbSession, StoreError> {
        DuckdbSession::connect(plan, physical)
    }
}
