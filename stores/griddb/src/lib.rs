//! GridDB as a store of sensormark: a container for each series, spoken to through GridDB's own C client, which is loaded when it is needed.
//!
//! The modules in the order in which a plan meets them:
//!
//! - `client`: the C client
//! - `server`: where the server is and how it starts
//! - `rest`: its administration
//! - `config`: the URL
//! - `schema`: how a schema becomes containers
//! - `admin`: making and dropping them
//! - `session`: one client's session
//! - `write`: writing
//! - `query`: asking
//! - `error`: what errors mean
//!
//! It measures nothing and knows no workload.

mod client;

mod server;

mod rest;

mod config;

mod schema;

mod admin;

mod containers;

mod session;

mod sent;

mod shown;

mod write;

mod write_size;

mod query;

mod error;

use self::admin::GriddbAdministrator;
use self::config::Options;
use self::schema::{PhysicalSchema, layout_options};
use self::session::GriddbSession;
use sensormark_kit::{Adapter, Backend};
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Capability, Description, Durability, Endpoint, Family, Installation, Launch, Layout,
    LayoutOption, Limits, Operation, Plan, RepeatedWrite, Schema, ServerOptions, SessionKind,
    StoreError, Table, TimeResolution, Typical, WriteSize,
};
use std::sync::Arc;

/// GridDB 5. It loads the C client when it is first needed.
pub type Griddb = Adapter<GriddbBackend>;

/// What [`Griddb`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct GriddbBackend;

impl Backend for GriddbBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = GriddbSession;
    type Administrator = GriddbAdministrator;

    fn description(&self) -> Description {
        let flushed = "logWriteMode 1: the log is flushed every second from the server's own memory, so that kill -9 alone loses acknowledged rows";
        Description {
            name: "griddb".to_owned(),
            title: "GridDB".to_owned(),
            embedded: false,
            session: SessionKind::Blocking,
            durability: vec![
                (Durability::Default, flushed.to_owned()),
                (
                    Durability::Durable,
                    "logWriteMode 0, and rows of a batch in one commit a container: a commit waits for the log on disk"
                        .to_owned(),
                ),
                (Durability::Relaxed, flushed.to_owned()),
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

    fn limits(&self, layout: &Layout, _: &Table) -> Limits {
        write::limits(layout)
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
        admin::version(endpoint)
    }

    async fn administrator(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<GriddbAdministrator, StoreError> {
        GriddbAdministrator::open(plan, model)
    }

    async fn connect(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<GriddbSession, StoreError> {
        GriddbSession::open(plan, model)
    }
}
