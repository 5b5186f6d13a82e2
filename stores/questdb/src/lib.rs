//! QuestDB for sensormark: rows of readings with a designated timestamp, written as lines over HTTP, asked in SQL over PostgreSQL's protocol.
//!
//! The modules in the order in which a plan meets them:
//!
//! - `server`: where the server is and how it starts
//! - `config`: the URL
//! - `asking` and `sending`: the two connections
//! - `schema`: which layouts there are
//! - `dialect`: what the relational planner chooses for them
//! - `admin`: making and dropping them
//! - `session`: one client's session
//! - `write`: writing
//! - `visible`: waiting until writes show
//! - `query`: asking
//! - `error`: what errors mean
//!
//! It measures nothing and knows no workload.

mod server;

mod config;

mod asking;

mod sending;

mod schema;

mod dialect;

mod admin;

mod session;

mod write;

mod write_size;

mod visible;

mod query;

mod sent;

mod shown;

mod error;

use self::admin::QuestdbAdministrator;
use self::asking::Link;
use self::config::Options;
use self::schema::Tables;
use self::session::QuestdbSession;
use sensormark_kit::{Adapter, Backend};
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Capability, Description, Durability, Endpoint, Family, Installation, Launch, Layout,
    LayoutOption, Limits, Operation, Plan, RepeatedWrite, Schema, ServerOptions, SessionKind,
    StoreError, Table, TimeResolution, Typical, WriteSize,
};
use std::sync::Arc;
use std::time::Duration;

/// QuestDB 9.1 or later.
pub type Questdb = Adapter<QuestdbBackend>;

/// What [`Questdb`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuestdbBackend;

impl Backend for QuestdbBackend {
    type PhysicalSchema = Tables;
    type Session = QuestdbSession;
    type Administrator = QuestdbAdministrator;

    /// <https://questdb.com/docs/configuration/cairo-engine/#cairocommitmode>
    fn description(&self) -> Description {
        let nosync = "cairo.commit.mode nosync: a commit is in the write-ahead log, and the kernel writes it to disk when it likes";
        Description {
            name: "questdb".to_owned(),
            title: "QuestDB".to_owned(),
            embedded: false,
            session: SessionKind::Async,
            durability: vec![
                (Durability::Default, nosync.to_owned()),
                (
                    Durability::Durable,
                    "cairo.commit.mode sync: a commit waits until its write-ahead log is on disk"
                        .to_owned(),
                ),
                (Durability::Relaxed, nosync.to_owned()),
            ],
            url_example: config::URL_EXAMPLE.to_owned(),
            repeated_write: RepeatedWrite::Replaces,
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        schema::layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        schema::capability(operation, layout, table)
    }

    fn limits(&self, _: &Layout, _: &Table) -> Limits {
        Limits {
            readings_per_statement: write_size::READINGS,
        }
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        write_size::write_size(layout, table)
    }

    fn native_resolution(&self) -> TimeResolution {
        TimeResolution::Nanoseconds
    }

    fn refuses_least_number(&self) -> Option<&'static str> {
        Some("QuestDB's LONG keeps it as NULL")
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

    fn model(&self, plan: &Plan) -> Result<Tables, StoreError> {
        Tables::new(&plan.schema, plan.layout)
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        let options = Options::parse(endpoint.url.expose())?;
        let patience = Duration::from_secs(10);
        sending::Link::open(&options, patience).await?;
        let link = Link::open(&options, patience).await?;
        admin::version(&link).await
    }

    async fn administrator(
        &self,
        plan: &Plan,
        model: Arc<Tables>,
    ) -> Result<QuestdbAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        QuestdbAdministrator::open(&options, plan.clone(), model).await
    }

    async fn connect(&self, plan: &Plan, model: Arc<Tables>) -> Result<QuestdbSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        QuestdbSession::open(&options, plan, model).await
    }
}
