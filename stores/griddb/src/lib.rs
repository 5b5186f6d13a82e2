//! GridDB as a store of sensormark: a container for each series, spoken to through GridDB's own C client, which is loaded when it is needed.
//!
//! The modules in the order in which a plan meets them: the C client (`client`), where the server is and how it starts (`server`), its
//! administration (`rest`), the URL (`config`), how a schema becomes containers (`schema`), making and dropping them (`admin`), one client's session
//! (`session`), writing (`write`), asking (`query`), and what errors mean (`error`). It measures nothing and knows no workload.

mod client;

mod server;

mod rest;

mod config;

mod schema;

mod admin;

mod session;

mod shown;

mod write;

mod write_size;

mod query;

mod error;

use self::admin::GriddbAdministrator;
use self::config::Options;
use self::schema::{Model, offers};
use self::session::GriddbSession;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Administrator, Capability, Description, Durability, Endpoint, Family, Installation, Launch,
    Layout, LayoutOffer, Limits, LocalFuture, Operation, Plan, RepeatedWrite, Schema,
    ServerOptions, Session, SessionKind, Store, StoreError, Table, TimeKey, TimeResolution,
    WriteSize,
};
use std::sync::{Arc, Mutex, PoisonError};

/// GridDB 5.
#[derive(Debug, Default)]
pub struct Griddb {
    /// The containers of the latest plan, which its sessions share.
    model: Mutex<Option<Arc<Model>>>,
}

impl Griddb {
    /// The store. It loads nothing and connects to nothing by itself.
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

impl Store for Griddb {
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

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOffer> {
        offers::layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        offers::capability(operation, layout, table)
    }

    fn limits(&self, layout: &Layout, _: &Table) -> Limits {
        write::limits(layout)
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
        let version = admin::version(endpoint);
        Box::pin(std::future::ready(version))
    }

    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        let opened = self
            .model(plan)
            .and_then(|model| GriddbAdministrator::open(plan, model));
        let administrator = opened.map(|one| Box::new(one) as Box<dyn Administrator>);
        Box::pin(std::future::ready(administrator))
    }

    fn connect<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        let opened = self
            .model(plan)
            .and_then(|model| GriddbSession::open(plan, model));
        let session = opened.map(|one| Box::new(one) as Box<dyn Session>);
        Box::pin(std::future::ready(session))
    }
}
