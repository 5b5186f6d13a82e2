//! Cassandra for sensormark: rows of readings, and records of a span, partitioned by series and bucket of time.
//!
//! The modules in the order in which a plan meets them: where the server is and how it starts (`server`), the URL
//! (`config`), one connection (`connection`), how a schema becomes tables (`schema`), making and dropping them
//! (`admin`), one client's session (`session`), writing (`write`), asking (`query`), and what errors mean (`error`).
//! It measures nothing and knows no workload.

mod server;

mod config;

mod connection;

mod schema;

mod admin;

mod session;

mod shown;

mod write;

mod write_size;

mod query;

mod error;

use self::admin::CassandraAdministrator;
use self::config::Options;
use self::schema::{Model, offers};
use self::session::CassandraSession;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Administrator, Capability, Description, Durability, Endpoint, Family, Installation, Launch,
    Layout, LayoutOffer, Limits, LocalFuture, Operation, Plan, RepeatedWrite, Schema,
    ServerOptions, Session, SessionKind, Store, StoreError, Table, TimeKey, TimeResolution,
    WriteSize,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Cassandra 4.0 or later.
#[derive(Debug, Default)]
pub struct Cassandra {
    /// The tables of the latest plan, which its sessions share.
    model: Mutex<Option<Arc<Model>>>,
}

impl Cassandra {
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
        let model = Arc::new(Model::new(&plan.schema, plan.layout)?);
        *latest = Some(Arc::clone(&model));
        Ok(model)
    }
}

impl Store for Cassandra {
    fn description(&self) -> Description {
        let periodic = "commitlog_sync periodic: the commit log is flushed every 10 s, and an acknowledgement does not wait for it";
        Description {
            name: "cassandra".to_owned(),
            title: "Cassandra".to_owned(),
            embedded: false,
            session: SessionKind::Async,
            durability: vec![
                (Durability::Default, periodic.to_owned()),
                (
                    Durability::Durable,
                    "commitlog_sync batch: a write is acknowledged when the commit log is on disk"
                        .to_owned(),
                ),
                (Durability::Relaxed, periodic.to_owned()),
            ],
            url_example: config::URL_EXAMPLE.to_owned(),
            repeated_write: RepeatedWrite::Replaces,
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
            TimeKey::Native => TimeResolution::Milliseconds,
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
        Box::pin(admin::version(endpoint))
    }

    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        Box::pin(async move {
            let model = self.model(plan)?;
            let options = Options::parse(plan.endpoint.url.expose())?;
            let administrator = CassandraAdministrator::open(options, plan.clone(), model).await?;
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
            let session = CassandraSession::open(&options, plan, model).await?;
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }
}
