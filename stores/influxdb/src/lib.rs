//! InfluxDB for sensormark: a point a reading, over HTTP or in datagrams, asked in InfluxQL or Flux.
//!
//! The modules in the order in which a plan meets them:
//!
//! - `server`: where the server is and how it starts
//! - `config`: the URL
//! - `connection`: one connection
//! - `schema`: how a schema becomes measurements
//! - `admin`: making and dropping databases
//! - `session`: one client's session
//! - `write`: writing
//! - `query`: asking
//! - `error`: what errors mean
//!
//! It measures nothing and knows no workload.

mod server;

mod config;

mod paths;

mod connection;

mod schema;

mod admin;

mod session;

mod sent;

mod shown;

mod write;

mod write_size;

mod query;

mod error;

#[cfg(test)]
mod second;

use self::admin::InfluxdbAdministrator;
use self::config::Options;
use self::connection::{Link, Message};
use self::query::Reader;
use self::schema::{PhysicalSchema, layout_options};
use self::session::InfluxdbSession;
use sensormark_kit::{Adapter, Backend, Declaration};
use sensormark_store::{
    Durability, Endpoint, ErrorKind, Layout, Operation, Plan, RepeatedWrite, Schema, SessionKind, StoreError,
    Table, TimeResolution,
};
use std::sync::Arc;
use std::time::Duration;

/// InfluxDB 1.8, or 2 by URL.
pub type Influxdb = Adapter<InfluxdbBackend>;

/// What [`Influxdb`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct InfluxdbBackend;

/// Asks for the version, and makes the first user of a server that sensormark has just started.
async fn version(endpoint: &Endpoint) -> Result<String, StoreError> {
    const OPERATION: &str = "ask InfluxDB for its version";
    let options = Options::parse(endpoint.url.expose())?;
    let mut link = Link::open(&options, Duration::from_secs(10)).await?;
    let head = link.demand(Message::get(OPERATION, "/ping")).await?;
    let stated = head.version.as_deref().unwrap_or_default();
    check_generation(stated.trim_start_matches('v'), &options)?;
    if let Some(organisation) = &options.organisation {
        let path = paths::organisation(organisation);
        link.demand(Message::get(OPERATION, &path)).await?;
        link.close();
        return Ok(stated.trim_start_matches('v').to_owned());
    }
    let none = Arc::new(Schema { tables: Vec::new() });
    let physical = PhysicalSchema::new(&none, Layout::row_per_reading());
    let mut reader = Reader { link: &mut link, physical: &physical, database: "" };
    let asked = reader.rows(OPERATION, "SHOW DATABASES").await.map(|_| ());
    if endpoint.managed {
        server::complete_accounts(&mut reader, &options, asked).await?;
    } else {
        asked?;
    }
    link.close();
    head.version.ok_or_else(|| {
        StoreError::new(
            ErrorKind::Protocol,
            OPERATION,
            "the answer to /ping states none; check that the URL is InfluxDB's",
        )
    })
}

/// Fails where the URL is of another generation of InfluxDB than the server.
fn check_generation(version: &str, options: &Options) -> Result<(), StoreError> {
    let wrong = |kind, advice: String| {
        Err(StoreError::new(
            kind,
            "ask InfluxDB for its version",
            format!("this is InfluxDB {version}; {advice}"),
        ))
    };
    match (version.chars().next(), &options.organisation) {
        (Some('2'), None) => wrong(
            ErrorKind::Configuration,
            format!(
                "it has organisations and tokens in place of users: name both by {}",
                config::SECOND_URL_EXAMPLE
            ),
        ),
        (Some('1'), Some(_)) => wrong(
            ErrorKind::Configuration,
            format!("it has users in place of organisations and tokens: name one by {}", config::URL_EXAMPLE),
        ),
        (Some('3'), _) => wrong(
            ErrorKind::Unsupported,
            "it has no Flux and makes no databases by these interfaces; name a server of 1.8 or 2".to_owned(),
        ),
        _ => Ok(()),
    }
}

impl Backend for InfluxdbBackend {
    type PhysicalSchema = PhysicalSchema;
    type Session = InfluxdbSession;
    type Administrator = InfluxdbAdministrator;

    const DECLARATION: Declaration<PhysicalSchema> = Declaration {
        name: "influxdb",
        title: "InfluxDB",
        embedded: false,
        session: SessionKind::Async,
        durability: &[
            (
                Durability::Default,
                "wal-fsync-delay 0: a write over HTTP is acknowledged when its log is on disk; datagrams are not acknowledged",
            ),
            (
                Durability::Durable,
                "wal-fsync-delay 0: a write over HTTP is acknowledged when its log is on disk",
            ),
            (
                Durability::Unacknowledged,
                "datagrams (layout udp): lost ones are counted by nobody but the kernel",
            ),
        ],
        url_example: config::URL_EXAMPLE,
        repeated_write: RepeatedWrite::Replaces,
        logs: &["wal"],
        log_bound: Some("config-data.cache-snapshot-memory-size"),
        native_resolution: TimeResolution::Nanoseconds,
        typical: server::TYPICAL,
        layouts: layout_options::layouts,
        capability: layout_options::capability,
        limits: write::limits,
        write_size: write_size::write_size,
        installation: server::installation,
        launch: Some(server::launch),
        endpoint: |url| Ok(Options::parse(url)?.endpoint(url)),
        physical_schema: |plan| Ok(PhysicalSchema::new(&plan.schema, plan.layout)),
    };

    /// InfluxQL has these; the client answers the rest, and what is asked in Flux.
    fn derives(operation: Operation, layout: &Layout, _: &Table) -> bool {
        matches!(operation, Operation::StandardDeviation | Operation::RowsByValue | Operation::OutOfRange)
            && !layout.in_second_language()
    }

    fn momentary_misses(&self) -> Option<&'static str> {
        Some(
            "the server counts a series' values in its cache before it copies them: where another session writes and a third asks in between, the last are left out",
        )
    }

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        // The first user is made in a start on loopback. On the named address there is no listener of datagrams, which ask for no password.
        None
    }

    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError> {
        version(endpoint).await
    }

    async fn administrator(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<InfluxdbAdministrator, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        InfluxdbAdministrator::open(&options, plan.clone(), physical).await
    }

    async fn connect(
        &self,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<InfluxdbSession, StoreError> {
        let options = Options::parse(plan.endpoint.url.expose())?;
        InfluxdbSession::open(&options, plan, physical).await
    }
}
