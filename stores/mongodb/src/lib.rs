//! MongoDB for sensormark: documents of single readings, of a span, of a device's day, of a series, and time-series collections.
//!
//! The modules in the order in which a plan meets them:
//!
//! - `server`: where the server is and how it starts
//! - `config`: the URL, `consistency`: what it says of a replica set
//! - `connection`: one client
//! - `topology`: what kind of deployment it is
//! - `schema`: how a schema becomes collections
//! - `members`: bringing the members of a replica set to rest
//! - `admin`: making and dropping them
//! - `session`: one client's session
//! - `unacknowledged`: a connection on which no write is answered
//! - `wire`: BSON from columns
//! - `write`: writing
//! - `query`: asking
//! - `error`: what errors mean
//!
//! It measures nothing and knows no workload.

mod server;

mod config;

mod consistency;

mod connection;

mod topology;

mod schema;

mod members;

mod admin;

mod session;

mod sent;

mod shown;

mod unacknowledged;

mod wire;

mod write;

mod write_size;

mod query;

mod error;

use self::admin::MongodbAdministrator;
use self::config::Options;
use self::schema::{PhysicalSchema, layout_options};
use self::session::MongodbSession;
use self::topology::{Met, Topology};
use sensormark_kit::{Adapter, Backend, Declaration};
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Capability, Clusters, Durability, Endpoint, Installation, Layout, MemberLaunch, Operation, Plan,
    RepeatedWrite, ServerOptions, SessionKind, StoreError, Table, TimeResolution,
};
use std::sync::Arc;
use std::time::Duration;

/// MongoDB 6.0 or later.
pub type Mongodb = Adapter<MongodbBackend>;

/// What [`Mongodb`] is made of.
#[derive(Debug, Default)]
pub struct MongodbBackend {
    met: Met,
}

/// What each class of durability is here.
const DURABILITY: &[(Durability, &str)] = &[
    (Durability::Default, "w:1: acknowledged when written in memory; the journal is flushed every 100 ms"),
    (Durability::Durable, "w:1, j:true: acknowledged when the journal is on disk"),
    (
        Durability::Relaxed,
        "w:1, j:false: acknowledged when written in memory; the journal is flushed every 100 ms",
    ),
    (
        Durability::Unacknowledged,
        "w:0: the server answers no write; a phase ends when it has done all (a ping on the same connection)",
    ),
];

impl Backend for MongodbBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = MongodbSession;
    type Administrator = MongodbAdministrator;

    const DECLARATION: Declaration<PhysicalSchema> = Declaration {
        name: "mongodb",
        title: "MongoDB",
        embedded: false,
        session: SessionKind::Async,
        durability: DURABILITY,
        url_example: config::URL_EXAMPLE,
        repeated_write: RepeatedWrite::KeepsBoth,
        logs: &["journal"],
        log_bound: None,
        native_resolution: TimeResolution::Milliseconds,
        typical: server::TYPICAL,
        layouts: layout_options::layouts,
        capability: |operation, layout, table| {
            layout_options::capability(operation, layout, table, Topology::Unknown)
        },
        limits: write::limits,
        write_size: write_size::write_size,
        installation: server::installation,
        launch: Some(server::launch),
        endpoint: |url| Ok(Options::parse(url)?.endpoint(url)),
        physical_schema: |plan| PhysicalSchema::new(&plan.schema, plan.layout),
    };

    fn derives(operation: Operation, layout: &Layout, _: &Table) -> bool {
        query::derived::derives(operation, layout)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        layout_options::capability(operation, layout, table, self.met.last())
    }

    fn clusters(&self) -> Result<Clusters, String> {
        Ok(server::clusters())
    }

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        // The first user is made over loopback, by the localhost exception; on the named address nobody comes in before.
        None
    }

    fn survives_loss(&self, consistency: &str) -> bool {
        server::survives_loss(consistency)
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

    async fn form_cluster(
        &self,
        members: &[Endpoint],
        options: &ServerOptions,
    ) -> Result<Endpoint, StoreError> {
        let endpoint = server::form_cluster(members, options).await?;
        self.met.remember(topology::Topology::Replicated);
        Ok(endpoint)
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        let options = Options::parse(endpoint.url.expose())?;
        let timeout = Duration::from_secs(5);
        let (version, topology) = server::version(&options, endpoint.managed, timeout).await?;
        self.met.remember(topology);
        Ok(version)
    }

    async fn administrator(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<MongodbAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        let administrator = MongodbAdministrator::open(&options, plan.clone(), physical).await?;
        self.met.remember(administrator.topology());
        Ok(administrator)
    }

    async fn connect(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<MongodbSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        let latest = self.met.latest_of(&options.hosts());
        let options = options.sharing(latest);
        let session = MongodbSession::open(&options, plan, physical).await?;
        self.met.remember(session.topology());
        Ok(session)
    }
}
