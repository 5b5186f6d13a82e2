//! PostgreSQL for sensormark: rows of readings, rows of channels, and records of a span in JSONB or arrays.
//!
//! The modules in the order in which a plan meets them:
//!
//! - `server`: where the server is and how it starts
//! - `config`: the URL
//! - `connection`: one connection
//! - `schema`: which layouts there are
//! - `dialect`: what the relational planner chooses for them
//! - `admin`: making and dropping them
//! - `session`: one client's session
//! - `write`: writing
//! - `query`: asking
//! - `error`: what errors mean
//!
//! It measures nothing and knows no workload.

mod server;

mod config;

mod driver;

mod connection;

mod schema;

mod dialect;

mod admin;

mod session;

mod cell;

mod sent;

mod shown;

mod write;

mod write_size;

mod query;

mod error;

use self::admin::PostgresqlAdministrator;
use self::config::Options;
use self::connection::Link;
use self::schema::layout_options;
use self::session::PostgresqlSession;
use sensormark_kit::{Adapter, Backend};
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Capability, Description, Durability, Endpoint, Family, Installation, Launch, Layout,
    LayoutOption, Limits, Operation, Plan, RepeatedWrite, Schema, ServerOptions, SessionKind,
    StoreError, Table, TimeResolution, Typical, WriteSize,
};
use std::sync::Arc;
use std::time::Duration;

/// PostgreSQL 14 or later.
pub type Postgresql = Adapter<PostgresqlBackend>;

/// What [`Postgresql`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct PostgresqlBackend;

impl Backend for PostgresqlBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = PostgresqlSession;
    type Administrator = PostgresqlAdministrator;

    fn description(&self) -> Description {
        Description {
            name: "postgresql".to_owned(),
            title: "PostgreSQL".to_owned(),
            embedded: false,
            session: SessionKind::Async,
            durability: vec![
                (
                    Durability::Default,
                    "synchronous_commit on: a commit waits until its log is on disk".to_owned(),
                ),
                (
                    Durability::Durable,
                    "synchronous_commit on: a commit waits until its log is on disk".to_owned(),
                ),
                (
                    Durability::Relaxed,
                    "synchronous_commit off: the log is flushed every 200 ms or so".to_owned(),
                ),
            ],
            url_example: config::URL_EXAMPLE.to_owned(),
            repeated_write: RepeatedWrite::KeepsBoth,
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        layout_options::layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        layout_options::capability(operation, layout, table)
    }

    fn limits(&self, layout: &Layout, table: &Table) -> Limits {
        dialect::limits(layout, table)
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        write_size::write_size(layout, table)
    }

    fn native_resolution(&self) -> TimeResolution {
        TimeResolution::Microseconds
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
        PhysicalSchema::new(&dialect::Postgresql, &plan.schema, plan.layout)
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        let options = Options::parse(endpoint.url.expose())?;
        let mut link = Link::open(
            &options,
            &options.maintenance_database,
            Duration::from_secs(10),
        )
        .await?;
        let asking = link
            .client
            .query_one("SELECT current_setting('server_version')", &[]);
        let row = link
            .wire
            .run("ask PostgreSQL for its version", asking)
            .await?;
        let version: String = row.get(0);
        if options.is_named && !endpoint.managed {
            admin::refuse_foreign_tables(&mut link, &options.maintenance_database).await?;
        }
        link.close().await?;
        Ok(version)
    }

    async fn administrator(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<PostgresqlAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        PostgresqlAdministrator::open(options, plan.clone(), model).await
    }

    async fn connect(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<PostgresqlSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        PostgresqlSession::open(&options, plan, model).await
    }
}
