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
//! - [`shown`] keeps the statements that ran.
//! - [`error`] has DuckDB's types of errors.

use crate::admin::DuckdbAdministrator;
use crate::connection::DuckdbSession;
use crate::dialect::DuckdbDialect;
use sensormark_kit::{Adapter, Backend};
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::store::RepeatedWrite;
use sensormark_store::{
    Capability, Description, Endpoint, ErrorKind, Family, Installation, Layout, LayoutOption,
    Limits, Operation, Plan, Schema, SessionKind, StoreError, Table, Typical, WriteSize,
};
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

    fn description(&self) -> Description {
        Description {
            name: config::NAME.to_owned(),
            title: "DuckDB".to_owned(),
            embedded: true,
            session: SessionKind::Blocking,
            durability: config::durability_classes(),
            url_example: server::URL_EXAMPLE.to_owned(),
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

    fn one_process(&self) -> Option<&'static str> {
        Some("DuckDB lets one process write to a database, and no other one read from it meanwhile")
    }

    fn typical(&self) -> Typical {
        server::TYPICAL
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        server::installation()
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        config::endpoint(url)
    }

    fn model(&self, plan: &Plan) -> Result<PhysicalSchema, StoreError> {
        PhysicalSchema::new(&DuckdbDialect, &plan.schema, plan.layout)
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        let folder = config::folder(endpoint);
        if folder.is_dir() || endpoint.managed {
            return Ok(server::library()?.version());
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
    ) -> Result<DuckdbAdministrator, StoreError> {
        Ok(DuckdbAdministrator::new(plan, model))
    }

    async fn connect(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<DuckdbSession, StoreError> {
        DuckdbSession::connect(plan, model)
    }
}
