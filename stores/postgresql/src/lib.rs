//! PostgreSQL for sensormark: rows of readings, rows of channels, and records of a span in JSONB or arrays.
//!
//! The modules in the order in which a plan meets them: where the server is and how it starts (`server`), the URL
//! (`config`), one connection (`connection`), which layouts there are (`schema`) and what the relational planner chooses for them (`dialect`), making and dropping them
//! (`admin`), one client's session (`session`), writing (`write`), asking (`query`), and what errors mean (`error`).
//! It measures nothing and knows no workload.

mod server;

mod config;

mod connection;

mod schema;

mod dialect;

mod admin;

mod session;

mod cell;

mod shown;

mod write;

mod write_size;

mod query;

mod error;

use self::admin::PostgresqlAdministrator;
use self::config::Options;
use self::connection::Link;
use self::schema::offers;
use self::session::PostgresqlSession;
use sensormark_relational::model::Model;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Administrator, Capability, Description, Durability, Endpoint, Family, Installation, Launch,
    Layout, LayoutOffer, Limits, LocalFuture, Operation, Plan, RepeatedWrite, Schema,
    ServerOptions, Session, SessionKind, Store, StoreError, Table, TimeKey, TimeResolution,
    WriteSize,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// PostgreSQL 14 or later.
#[derive(Debug, Default)]
pub struct Postgresql {
    /// The tables of the latest plan, which its sessions share.
    model: Mutex<Option<Arc<Model>>>,
}

impl Postgresql {
    /// The store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn model(&self, plan: &Plan) -> Result<Arc<Model>, StoreError> {
        let mut latest = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = latest.as_ref()
            && Arc::ptr_eq(&model.schema, &plan.schema)
            && model.layout == plan.layout
        {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(Model::new(&dialect::Postgresql, &plan.schema, plan.layout)?);
        *latest = Some(Arc::clone(&model));
        Ok(model)
    }
}

impl Store for Postgresql {
    fn description(&self) -> Description {
        Description {
            name: "postgresql".to_owned(),
            title: "PostgreSQL".to_owned(),
            embedded: false,
            session: SessionKind::Async,
            durability: vec![
                (
                    Durability::Default,
                    "synchronous_commit on: a commit waits until its log is on disk".to_owned(),
                ),
                (
                    Durability::Durable,
                    "synchronous_commit on: a commit waits until its log is on disk".to_owned(),
                ),
                (
                    Durability::Relaxed,
                    "synchronous_commit off: the log is flushed every 200 ms or so".to_owned(),
                ),
            ],
            url_example: config::URL_EXAMPLE.to_owned(),
            repeated_write: RepeatedWrite::KeepsBoth,
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOffer> {
        offers::layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        offers::capability(operation, layout, table)
    }

    fn limits(&self, layout: &Layout, table: &Table) -> Limits {
        write::limits(layout, table)
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        write_size::write_size(layout, table)
    }

    fn time_resolution(&self, layout: &Layout, _: &Table) -> TimeResolution {
        match layout.time {
            TimeKey::Nanoseconds => TimeResolution::Nanoseconds,
            TimeKey::Native => TimeResolution::Microseconds,
        }
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

    fn version<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> LocalFuture<'a, Result<String, StoreError>> {
        Box::pin(async move {
            let options = Options::parse(endpoint.url.expose())?;
            let mut link = Link::open(
                &options,
                &options.maintenance_database,
                Duration::from_secs(10),
            )
            .await?;
            let asking = link
                .client
                .query_one("SELECT current_setting('server_version')", &[]);
            let row = link
                .wire
                .run("ask PostgreSQL for its version", asking)
                .await?;
            let version: String = row.get(0);
            if options.is_named && !endpoint.managed {
                admin::refuse_foreign_tables(&mut link, &options.maintenance_database).await?;
            }
            link.close().await?;
            Ok(version)
        })
    }

    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        Box::pin(async move {
            let model = self.model(plan)?;
            let options = Options::parse(plan.endpoint.url.expose())?;
            let administrator = PostgresqlAdministrator::open(options, plan.clone(), model).await?;
            Ok(Box::new(administrator) as Box<dyn Administrator>)
        })
    }

    fn connect<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        Box::pin(async move {
            let model = self.model(plan)?;
            let options = Options::parse(plan.endpoint.url.expose())?;
            let session = PostgresqlSession::open(&options, plan, model).await?;
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }
}
