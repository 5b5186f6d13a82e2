//! Cassandra for sensormark: rows of readings, and records of a span, partitioned by series and bucket of time.
//!
//! The modules in the order in which a plan meets them:
//!
//! - `server`: where the server is and how it starts
//! - `config`: the URL
//! - `connection`: one connection
//! - `schema`: how a schema becomes tables
//! - `admin`: making and dropping them
//! - `session`: one client's session
//! - `write`: writing
//! - `query`: asking
//! - `error`: what errors mean
//!
//! It measures nothing and knows no workload.

mod server;

mod config;

mod connection;

mod schema;

mod admin;

mod statements;

mod session;

mod sent;

mod shown;

mod write;

mod write_size;

mod query;

mod error;

use self::admin::CassandraAdministrator;
use self::config::Options;
use self::schema::{PhysicalSchema, layout_options};
use self::session::CassandraSession;
use sensormark_kit::{Adapter, Backend};
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Capability, Description, Durability, Endpoint, Family, Installation, Launch, Layout,
    LayoutOption, Limits, Operation, Plan, RepeatedWrite, Schema, ServerOptions, SessionKind,
    StoreError, Table, TimeResolution, Typical, WriteSize,
};
use std::sync::Arc;

/// Cassandra 4.0 or later.
pub type Cassandra = Adapter<CassandraBackend>;

/// What [`Cassandra`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct CassandraBackend;

impl Backend for CassandraBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = CassandraSession;
    type Administrator = CassandraAdministrator;

    fn description(&self) -> Description {
        let periodic = "commitlog_sync periodic: the commit log is flushed every 10 s, and an acknowledgement does not wait for it";
        Description {
            name: "cassandra".to_owned(),
            title: "Cassandra".to_owned(),
            embedded: false,
            session: SessionKind::Async,
            durability: vec![
                (Durability::Default, periodic.to_owned()),
                (
                    Durability::Durable,
                    "commitlog_sync batch: a write is acknowledged when the commit log is on disk"
                        .to_owned(),
                ),
                (Durability::Relaxed, periodic.to_owned()),
            ],
            url_example: config::URL_EXAMPLE.to_owned(),
            repeated_write: RepeatedWrite::Replaces,
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        layout_options::layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        layout_options::capability(operation, layout, table)
    }

    fn limits(&self, layout: &Layout, table: &Table) -> Limits {
        write::limits(layout, table)
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        write_size::write_size(layout, table)
    }

    fn native_resolution(&self) -> TimeResolution {
        TimeResolution::Milliseconds
    }

    fn typical(&self) -> Typical {
        server::TYPICAL
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        server::installation()
    }

    fn launch(
        &self,
        installation: &Installation,
        folder: &ServerFolder,
        options: &ServerOptions,
    ) -> Result<Launch, StoreError> {
        server::launch(installation, folder, options)
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        Ok(Options::parse(url)?.endpoint(url))
    }

    fn model(&self, plan: &Plan) -> Result<PhysicalSchema, StoreError> {
        PhysicalSchema::new(&plan.schema, plan.layout)
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        admin::version(endpoint).await
    }

    async fn administrator(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<CassandraAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        CassandraAdministrator::open(options, plan.clone(), model).await
    }

    async fn connect(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<CassandraSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        CassandraSession::open(&options, plan, model).await
    }
}
