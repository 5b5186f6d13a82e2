//! SQLite, embedded: the store that needs nothing installed.
//!
//! Data flows through the modules in this order: [`config`] finds the folder and opens connections, [`server`] says which library
//! it is, [`schema`] offers layouts, [`dialect`] chooses for the relational planner, which makes tables of one, [`admin`] makes and drops the
//! file; a [`session`] writes ([`mod@write`]) and asks ([`query`]). Records of a span are the contract's ([`sensormark_store::record`]),
//! [`gate`] is the queue of writers, [`settings`] what is read back, [`shown`] the statements that ran, [`error`] SQLite's codes.

use sensormark_store::store::RepeatedWrite;
use sensormark_store::{
    Administrator, Capability, Description, Endpoint, ErrorKind, Family, Installation, Launch,
    Layout, LayoutOffer, Limits, LocalFuture, Operation, Plan, Schema, ServerOptions, Session,
    SessionKind, Store, StoreError, Table, WriteSize, server::ServerFolder,
};

pub mod config;

pub mod server;

pub mod schema;

pub mod dialect;

pub mod admin;

pub mod settings;

pub mod session;

pub mod shown;

pub mod write;

pub mod write_size;

pub mod query;

pub mod gate;

pub mod error;

/// The store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sqlite;

impl Sqlite {
    /// The store; it keeps nothing of its own.
    pub const fn new() -> Self {
        Self
    }
}

impl Store for Sqlite {
    fn description(&self) -> Description {
        Description {
            name: "sqlite".to_owned(),
            title: "SQLite".to_owned(),
            embedded: true,
            session: SessionKind::Blocking,
            durability: config::durability_classes(),
            url_example: config::URL_EXAMPLE.to_owned(),
            repeated_write: RepeatedWrite::KeepsBoth,
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOffer> {
        schema::layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        schema::capability(operation, layout, table)
    }

    fn limits(&self, layout: &Layout, table: &Table) -> Limits {
        schema::limits(layout, table)
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        write_size::write_size(layout, table)
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        Ok(server::installation())
    }

    fn launch(
        &self,
        _: &Installation,
        _: &ServerFolder,
        _: &ServerOptions,
    ) -> Result<Launch, StoreError> {
        Err(server::no_launch())
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        config::endpoint(url)
    }

    fn version<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> LocalFuture<'a, Result<String, StoreError>> {
        Box::pin(async {
            let folder = config::folder(endpoint);
            if folder.is_dir() || endpoint.managed {
                return Ok(rusqlite::version().to_owned());
            }
            Err(StoreError::new(
                ErrorKind::NotFound,
                "look at the folder",
                "the folder is no longer there; name another one",
            ))
        })
    }

    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        Box::pin(async {
            let administrator = admin::SqliteAdministrator::new(plan);
            Ok(Box::new(administrator) as Box<dyn Administrator>)
        })
    }

    fn connect<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        Box::pin(async {
            let session = session::SqliteSession::connect(plan)?;
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }
}
