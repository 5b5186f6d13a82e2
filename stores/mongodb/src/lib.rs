//! MongoDB for sensormark: documents of single readings, of a span, of a device's day, of a series, and time-series collections.
//!
//! The modules in the order in which a plan meets them:
//!
//! - `server`: where the server is and how it starts
//! - `config`: the URL
//! - `connection`: one client
//! - `topology`: what kind of deployment it is
//! - `schema`: how a schema becomes collections
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

mod connection;

mod topology;

mod schema;

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
use self::topology::Met;
use sensormark_kit::{Adapter, Backend};
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Capability, Description, Durability, Endpoint, Family, Installation, Launch, Layout,
    LayoutOption, Limits, Operation, Plan, RepeatedWrite, Schema, ServerOptions, SessionKind,
    StoreError, Table, TimeResolution, Typical, WriteSize,
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

fn durability() -> Vec<(Durability, String)> {
    [
        (
            Durability::Default,
            "w:1: acknowledged when written in memory; the journal is flushed every 100 ms",
        ),
        (
            Durability::Durable,
            "w:1, j:true: acknowledged when the journal is on disk",
        ),
        (
            Durability::Relaxed,
            "w:1, j:false: acknowledged when written in memory; the journal is flushed every 100 ms",
        ),
        (
            Durability::Unacknowledged,
            "w:0: the server answers no write; a phase ends when it has done all (a ping on the same connection)",
        ),
    ]
    .map(|(class, words)| (class, words.to_owned()))
    .to_vec()
}

impl Backend for MongodbBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = MongodbSession;
    type Administrator = MongodbAdministrator;

    fn description(&self) -> Description {
        Description {
            name: "mongodb".to_owned(),
            title: "MongoDB".to_owned(),
            embedded: false,
            session: SessionKind::Async,
            durability: durability(),
            url_example: config::URL_EXAMPLE.to_owned(),
            repeated_write: RepeatedWrite::KeepsBoth,
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        layout_options::layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        layout_options::capability(operation, layout, table, self.met.last())
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
        let options = Options::parse(endpoint.url.expose())?;
        let timeout = Duration::from_secs(5);
        let (version, topology) = server::version(&options, endpoint.managed, timeout).await?;
        self.met.remember(topology);
        Ok(version)
    }

    async fn administrator(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<MongodbAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        let administrator = MongodbAdministrator::open(&options, plan.clone(), model).await?;
        self.met.remember(administrator.topology());
        Ok(administrator)
    }

    async fn connect(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<MongodbSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        let session = MongodbSession::open(&options, plan, model).await?;
        self.met.remember(session.topology());
        Ok(session)
    }
}
