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
use sensormark_kit::{Adapter, Backend, Declaration};
use sensormark_store::{Durability, Endpoint, Plan, RepeatedWrite, SessionKind, StoreError, TimeResolution};
use std::sync::Arc;

/// GridDB 5. It loads the C client when it is first needed.
pub type Griddb = Adapter<GriddbBackend>;

/// What [`Griddb`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct GriddbBackend;

/// What a class of durability is here, in words.
const FLUSHED: &str = "logWriteMode 1: the log is flushed every second from the server's own memory, so that kill -9 alone loses acknowledged rows";

impl Backend for GriddbBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = GriddbSession;
    type Administrator = GriddbAdministrator;

    const DECLARATION: Declaration<PhysicalSchema> = Declaration {
        name: "griddb",
        title: "GridDB",
        embedded: false,
        session: SessionKind::Blocking,
        durability: &[
            (Durability::Default, FLUSHED),
            (
                Durability::Durable,
                "logWriteMode 0, and rows of a batch in one commit a container: a commit waits for the log on disk",
            ),
            (Durability::Relaxed, FLUSHED),
        ],
        url_example: config::URL_EXAMPLE,
        repeated_write: RepeatedWrite::Replaces,
        logs: &["txnlog", "gs_log_*"],
        log_bound: None,
        native_resolution: TimeResolution::Milliseconds,
        layouts: layout_options::layouts,
        capability: layout_options::capability,
        limits: |layout, _| write::limits(layout),
        write_size: write_size::write_size,
        installation: server::installation,
        launch: Some(server::launch),
        endpoint: |url| Ok(Options::parse(url)?.endpoint(url)),
        physical_schema: |plan| PhysicalSchema::new(&plan.schema, plan.layout),
    };

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        Some(
            "gsserver listens on every interface whatever its configuration says, not on one address alone, and its ports for other nodes have no password",
        )
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        admin::version(endpoint)
    }

    async fn administrator(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<GriddbAdministrator, StoreError> {
        GriddbAdministrator::open(plan, physical)
    }

    async fn connect(&self, plan: &Plan, physical: Arc<PhysicalSchema>) -> Result<GriddbSession, StoreError> {
        GriddbSession::open(plan, physical)
    }
}
