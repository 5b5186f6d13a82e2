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
use sensormark_kit::{Adapter, Backend, Declaration};
use sensormark_relational::layouts;
use sensormark_store::{
    Durability, Endpoint, Layout, Limits, Operation, Plan, RepeatedWrite, SessionKind, StoreError, Table,
    TimeResolution,
};
use std::sync::Arc;
use std::time::Duration;

/// QuestDB 9.1 or later.
pub type Questdb = Adapter<QuestdbBackend>;

/// What [`Questdb`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuestdbBackend;

/// What a class of durability is here, in words.
const NOSYNC: &str = "cairo.commit.mode nosync: a commit is in the write-ahead log, and the kernel writes it to disk when it likes";

impl Backend for QuestdbBackend {
    type PhysicalSchema = Tables;
    type Session = QuestdbSession;
    type Administrator = QuestdbAdministrator;

    /// <https://questdb.com/docs/configuration/cairo-engine/#cairocommitmode>
    const DECLARATION: Declaration<Tables> = Declaration {
        name: "questdb",
        title: "QuestDB",
        embedded: false,
        session: SessionKind::Async,
        durability: &[
            (Durability::Default, NOSYNC),
            (
                Durability::Durable,
                "cairo.commit.mode sync: a commit waits until its write-ahead log is on disk; a power failure soon after a table's first rows may still stop the table",
            ),
            (Durability::Relaxed, NOSYNC),
        ],
        url_example: config::URL_EXAMPLE,
        repeated_write: RepeatedWrite::Replaces,
        logs: &["wal#"],
        log_bound: None,
        native_resolution: TimeResolution::Nanoseconds,
        typical: server::TYPICAL,
        layouts: schema::layouts,
        capability: schema::capability,
        limits: |_, _| Limits { readings_per_statement: write_size::READINGS },
        write_size: write_size::write_size,
        installation: server::installation,
        launch: Some(server::launch),
        endpoint: |url| Ok(Options::parse(url)?.endpoint(url)),
        physical_schema: |plan| Tables::new(&plan.schema, plan.layout),
    };

    fn derives(operation: Operation, layout: &Layout, _: &Table) -> bool {
        layouts::derives(operation, layout)
    }

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        // Both listeners have the generated password from the first moment on. All that reads or writes asks for it.
        None
    }

    fn runs_on_java(&self) -> bool {
        true
    }

    fn refuses_least_number(&self) -> Option<&'static str> {
        Some("QuestDB's LONG keeps it as NULL")
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
        tables: Arc<Tables>,
    ) -> Result<QuestdbAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        QuestdbAdministrator::open(&options, plan.clone(), tables).await
    }

    async fn connect(&self, plan: &Plan, tables: Arc<Tables>) -> Result<QuestdbSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        QuestdbSession::open(&options, plan, tables).await
    }
}
