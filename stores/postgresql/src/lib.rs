//! PostgreSQL for sensormark: rows of readings, rows of channels, and records of a span in JSONB or arrays.
//!
//! The modules in the order in which a plan meets them:
//!
//! - `server`: where the server is and how it starts
//! - `config`: the URL
//! - `cluster`: how a primary with replicas starts
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

mod cluster;

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
use sensormark_kit::{Adapter, Backend, Declaration};
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Clusters, Durability, Endpoint, Installation, MemberLaunch, Plan, RepeatedWrite, ServerOptions,
    SessionKind, StoreError, TimeResolution,
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

    const DECLARATION: Declaration<PhysicalSchema> = Declaration {
        name: "postgresql",
        title: "PostgreSQL",
        embedded: false,
        session: SessionKind::Async,
        durability: &[
            (Durability::Default, "synchronous_commit on: a commit waits until its log is on disk"),
            (Durability::Durable, "synchronous_commit on: a commit waits until its log is on disk"),
            (Durability::Relaxed, "synchronous_commit off: the log is flushed every 200 ms or so"),
        ],
        url_example: config::URL_EXAMPLE,
        repeated_write: RepeatedWrite::KeepsBoth,
        logs: &["pg_wal"],
        log_bound: Some("max_wal_size"),
        native_resolution: TimeResolution::Microseconds,
        typical: server::TYPICAL,
        layouts: layout_options::layouts,
        capability: layout_options::capability,
        limits: dialect::limits,
        write_size: write_size::write_size,
        installation: server::installation,
        launch: Some(|installation, folder, options| server::launch(installation, folder, options, "")),
        endpoint: |url| Ok(Options::parse(url)?.endpoint(url)),
        physical_schema: |plan| PhysicalSchema::new(&dialect::Postgresql, &plan.schema, plan.layout),
    };

    fn clusters(&self) -> Result<Clusters, String> {
        Ok(cluster::clusters())
    }

    fn survives_loss(&self, consistency: &str) -> bool {
        cluster::survives_loss(consistency)
    }

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        // One user, made by initdb with the password; see `server::access`.
        None
    }

    fn launch_member(
        &self,
        installation: &Installation,
        folders: &[ServerFolder],
        member: usize,
        options: &ServerOptions,
    ) -> Result<MemberLaunch, StoreError> {
        cluster::launch_member(installation, folders, member, options)
    }

    async fn form_cluster(
        &self,
        members: &[Endpoint],
        options: &ServerOptions,
    ) -> Result<Endpoint, StoreError> {
        cluster::form(members, options).await
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        let options = Options::parse(endpoint.url.expose())?;
        let mut link = Link::open(&options, &options.maintenance_database, Duration::from_secs(10)).await?;
        let asking = link.client.query_one("SELECT current_setting('server_version')", &[]);
        let row = link.wire.run("ask PostgreSQL for its version", asking).await?;
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
        physical: Arc<PhysicalSchema>,
    ) -> Result<PostgresqlAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        PostgresqlAdministrator::open(options, plan.clone(), physical).await
    }

    async fn connect(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<PostgresqlSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        PostgresqlSession::open(&options, plan, physical).await
    }
}
