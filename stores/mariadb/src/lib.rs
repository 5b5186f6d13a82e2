//! MariaDB as a store of sensormark: InnoDB tables, spoken to with mysql_async over TCP.
//!
//! The modules in the order that data flows:
//!
//! - [`server`]: where the server is
//! - [`config`] and [`connection`]: how it is reached
//! - [`schema`]: how readings become tables
//! - [`mod@write`] and [`query`]: how they are written and asked about
//!
//! README.md says what each layout is in MariaDB's own words.

mod config;
mod connection;
mod error;

mod server;

mod schema;

mod dialect;

mod write;

mod write_size;

mod query;

mod session;

mod sent;

mod shown;

mod admin;

use crate::admin::{MariadbAdministrator, check_durability};
use crate::config::{Options, URL_EXAMPLE};
use crate::connection::Link;
use crate::schema::layout_options;
use crate::session::MariadbSession;
use sensormark_kit::{Adapter, Backend};
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Capability, Description, Durability, Endpoint, Family, Index, Installation, Launch, Layout,
    LayoutOption, Limits, Operation, Plan, RepeatedWrite, Schema, ServerOptions, SessionKind,
    Shape, StoreError, Table, Typical, WriteSize,
};
use std::sync::Arc;
use std::time::Duration;

/// How long a server may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// MariaDB 10.6 or later.
pub type Mariadb = Adapter<MariadbBackend>;

/// What [`Mariadb`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct MariadbBackend;

impl Backend for MariadbBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = MariadbSession;
    type Administrator = MariadbAdministrator;

    fn description(&self) -> Description {
        Description {
            name: "mariadb".to_owned(),
            title: "MariaDB".to_owned(),
            embedded: false,
            session: SessionKind::Async,
            durability: vec![
                (
                    Durability::Default,
                    "innodb_flush_log_at_trx_commit = 1: each commit waits for the redo log on disk (binary log off)".to_owned(),
                ),
                (
                    Durability::Durable,
                    "the same as default, and checked: innodb_flush_log_at_trx_commit = 1".to_owned(),
                ),
                (
                    Durability::Relaxed,
                    "innodb_flush_log_at_trx_commit = 2: commits are written, and flushed to disk about once a second".to_owned(),
                ),
            ],
            url_example: URL_EXAMPLE.to_owned(),
            repeated_write: RepeatedWrite::KeepsBoth,
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        let mut offers = layout_options::layouts(schema, family);
        offers.retain(|offer| {
            schema
                .tables
                .iter()
                .all(|table| layout_options::missing(&offer.layout, table).is_none())
        });
        offers
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

    fn repeated_write(&self, layout: &Layout, _table: &Table) -> RepeatedWrite {
        if layout.index == Index::Clustered && layout.shape == Shape::RowPerReading {
            RepeatedWrite::Refused
        } else {
            RepeatedWrite::KeepsBoth
        }
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
        PhysicalSchema::new(&dialect::MariadbDialect, &plan.schema, plan.layout)
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        let options = Options::parse(endpoint.url.expose())?;
        let link = Link::open(&options, None, VERSION_TIMEOUT).await?;
        let version = link.server.version.clone();
        link.close().await?;
        Ok(version)
    }

    async fn administrator(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<MariadbAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        let link = Link::open(&options, None, Duration::from_millis(plan.timeout_ms)).await?;
        Ok(MariadbAdministrator::new(link, plan.clone(), model))
    }

    async fn connect(
        &self,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<MariadbSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        let database = Some(plan.database.as_str());
        let link = Link::open(&options, database, Duration::from_millis(plan.timeout_ms)).await?;
        check_durability(plan, link.server.flush_at_commit)?;
        Ok(MariadbSession::new(link, model))
    }
}
