//! Cassandra for sensormark: rows of readings, and records of a span, partitioned by series and bucket of time.
//!
//! The modules in the order in which a plan meets them:
//!
//! - `server`: where the server is and how it starts
//! - `config`: the URL
//! - `tls`: whose certificates are taken
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

mod tls;

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
use sensormark_kit::{Adapter, Backend, Declaration};
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Clusters, Durability, Endpoint, Installation, MemberLaunch, Plan, RepeatedWrite, ServerOptions,
    SessionKind, StoreError, TimeResolution,
};
use std::sync::Arc;

/// Cassandra 4.0 or later.
pub type Cassandra = Adapter<CassandraBackend>;

/// What [`Cassandra`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct CassandraBackend;

/// What a class of durability is here, in words.
const PERIODIC: &str = "commitlog_sync periodic: the commit log is flushed every 10 s, and an acknowledgement does not wait for it";

impl Backend for CassandraBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = CassandraSession;
    type Administrator = CassandraAdministrator;

    const DECLARATION: Declaration<PhysicalSchema> = Declaration {
        name: "cassandra",
        title: "Cassandra",
        embedded: false,
        session: SessionKind::Async,
        durability: &[
            (Durability::Default, PERIODIC),
            (
                Durability::Durable,
                "commitlog_sync batch: a write is acknowledged when the commit log is on disk",
            ),
            (Durability::Relaxed, PERIODIC),
        ],
        url_example: config::URL_EXAMPLE,
        repeated_write: RepeatedWrite::Replaces,
        logs: &["commitlog"],
        log_bound: Some("commitlog_total_space"),
        native_resolution: TimeResolution::Milliseconds,
        layouts: layout_options::layouts,
        capability: layout_options::capability,
        limits: write::limits,
        write_size: write_size::write_size,
        installation: server::installation,
        launch: Some(server::launch),
        endpoint: |url| Ok(Options::parse(url)?.endpoint(url)),
        physical_schema: |plan| PhysicalSchema::new(&plan.schema, plan.layout),
    };

    fn runs_on_java(&self) -> bool {
        true
    }

    fn clusters(&self) -> Result<Clusters, String> {
        Ok(server::clusters())
    }

    fn survives_loss(&self, consistency: &str) -> bool {
        server::survives_loss(consistency)
    }

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        // The account with the known password is replaced in a start on loopback. The native port alone is on the named address.
        None
    }

    fn launch_member(
        &self,
        installation: &Installation,
        folders: &[ServerFolder],
        member: usize,
        options: &ServerOptions,
    ) -> Result<MemberLaunch, StoreError> {
        server::launch_member(installation, folders, member, options)
    }

    async fn form_cluster(&self, members: &[Endpoint], _: &ServerOptions) -> Result<Endpoint, StoreError> {
        server::form_cluster(members).await
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        admin::version(endpoint).await
    }

    async fn administrator(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<CassandraAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        CassandraAdministrator::open(options, plan.clone(), physical).await
    }

    async fn connect(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<CassandraSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        CassandraSession::open(&options, plan, physical).await
    }
}
