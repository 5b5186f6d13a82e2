//! MariaDB as a store of sensormark: InnoDB tables, spoken to with mysql_async over TCP.
//!
//! The modules in the order that data flows:
//!
//! - [`server`]: where the server is
//! - [`cluster`]: how several are one
//! - [`config`], [`connection`] and [`members`]: how it is reached
//! - [`schema`]: how readings become tables
//! - [`mod@write`] and [`query`]: how they are written and asked about

mod config;
mod connection;
mod error;
mod members;

mod server;

mod cluster;

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
use crate::members::{Turns, open_other, open_writer};
use crate::schema::layout_options;
use crate::session::MariadbSession;
use sensormark_kit::{Adapter, Backend, Declaration};
use sensormark_relational::layouts;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Clusters, Durability, Endpoint, Index, Installation, Layout, MemberLaunch, Operation, Plan,
    RepeatedWrite, ServerOptions, SessionKind, Shape, StoreError, Table, TimeResolution,
};
use std::sync::Arc;
use std::time::Duration;

/// How long a server may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// MariaDB 10.6 or later.
pub type Mariadb = Adapter<MariadbBackend>;

/// What [`Mariadb`] is made of.
#[derive(Debug, Default)]
pub struct MariadbBackend {
    turns: Turns,
}

impl Backend for MariadbBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = MariadbSession;
    type Administrator = MariadbAdministrator;

    const DECLARATION: Declaration<PhysicalSchema> = Declaration {
        name: "mariadb",
        title: "MariaDB",
        embedded: false,
        session: SessionKind::Async,
        durability: &[
            (
                Durability::Default,
                "innodb_flush_log_at_trx_commit = 1: each commit waits for the redo log on disk (binary log off)",
            ),
            (Durability::Durable, "the same as default, and checked: innodb_flush_log_at_trx_commit = 1"),
            (
                Durability::Relaxed,
                "innodb_flush_log_at_trx_commit = 2: commits are written, and flushed to disk about once a second",
            ),
        ],
        url_example: URL_EXAMPLE,
        repeated_write: RepeatedWrite::KeepsBoth,
        logs: &["ib_logfile*", "aria_log.*", "galera.cache"],
        log_bound: Some("innodb_log_file_size"),
        native_resolution: TimeResolution::Nanoseconds,
        layouts: layout_options::layouts,
        capability: layout_options::capability,
        limits: write::limits,
        write_size: write_size::write_size,
        installation: server::installation,
        launch: Some(server::launch),
        endpoint: |url| Ok(Options::parse(url)?.endpoint(url)),
        physical_schema: |plan| PhysicalSchema::new(&dialect::MariadbDialect, &plan.schema, plan.layout),
    };

    fn derives(operation: Operation, layout: &Layout, _: &Table) -> bool {
        operation != Operation::Correlation && layouts::derives(operation, layout)
    }

    fn repeated_write(&self, layout: &Layout, _table: &Table) -> RepeatedWrite {
        if layout.index == Index::Clustered && layout.shape == Shape::RowPerReading {
            RepeatedWrite::Refused
        } else {
            RepeatedWrite::KeepsBoth
        }
    }

    fn clusters(&self) -> Result<Clusters, String> {
        cluster::clusters()
    }

    fn survives_loss(&self, consistency: &str) -> bool {
        cluster::survives_loss(consistency)
    }

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        // root has no password at first, and comes in from this host alone. The file of statements removes it before the server listens.
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

    fn start_again(&self, folders: &[ServerFolder], down: &[usize]) -> Result<Vec<usize>, StoreError> {
        cluster::start_again(folders, down)
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
        let turn = self.turns.of(&options);
        let link = open_writer(&options, &turn, None, VERSION_TIMEOUT).await?;
        let version = link.server.version.clone();
        link.close().await?;
        Ok(version)
    }

    async fn administrator(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<MariadbAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        let turn = self.turns.of(&options);
        let timeout = Duration::from_millis(plan.timeout_ms);
        let link = open_writer(&options, &turn, None, timeout).await?;
        Ok(MariadbAdministrator::new(link, options, plan.clone(), physical))
    }

    async fn connect(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<MariadbSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        let database = Some(plan.database.as_str());
        let turn = self.turns.of(&options);
        let timeout = Duration::from_millis(plan.timeout_ms);
        let link = open_writer(&options, &turn, database, timeout).await?;
        check_durability(plan, link.server.flush_at_commit)?;
        let replica = match options.reads_replicas {
            true => Some(open_other(&options, &turn, database, timeout).await?),
            false => None,
        };
        Ok(MariadbSession::new(link, replica, physical))
    }
}
