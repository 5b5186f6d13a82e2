//! What a store itself has to say and do. All else is [`crate::Adapter`]'s.

use crate::mark::Found;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Acknowledgement, Answer, Batch, Capability, Documents, Durability, Endpoint, EntityReading, Family,
    Installation, Launch, Layout, LayoutOption, Limits, Operation, Plan, Query, RepeatedWrite, Schema,
    ServerOptions, SessionKind, Setting, Size, Statement, StoreError, Table, TimeResolution, Value,
    WriteSize,
};
use std::sync::Arc;

/// What a store says of itself. What each item means, and the errors of each function, are in the contract ([`sensormark_store::Store`]).
pub struct Declaration<M> {
    /// The name on the command line, lower case.
    pub name: &'static str,
    /// The database's name as people write it.
    pub title: &'static str,
    /// Whether the database runs inside the client's process.
    pub embedded: bool,
    /// How sessions wait.
    pub session: SessionKind,
    /// The durability classes that it has, and in its own words what each is.
    pub durability: &'static [(Durability, &'static str)],
    /// What a URL looks like.
    pub url_example: &'static str,
    /// How repeated writes end up where a reading is a record of its own.
    pub repeated_write: RepeatedWrite,
    /// Names of its logs, and the setting that bounds them; see [`sensormark_store::Logs`].
    pub logs: &'static [&'static str],
    /// That setting's name; none where no setting does.
    pub log_bound: Option<&'static str>,
    /// How finely the database's own type of time keeps times. It counts in layouts that use that type.
    pub native_resolution: TimeResolution,
    /// The layouts for a schema and family, the usual one first.
    pub layouts: fn(&Schema, Family) -> Vec<LayoutOption>,
    /// How an operation is done.
    pub capability: fn(Operation, &Layout, &Table) -> Capability,
    /// The largest statements.
    pub limits: fn(&Layout, &Table) -> Limits,
    /// The size of write that the database's documentation advises. The adapter keeps it within `limits`.
    pub write_size: fn(&Layout, &Table) -> WriteSize,
    /// The server on this machine, or the embedded library.
    pub installation: fn() -> Result<Installation, StoreError>,
    /// How to start that server. An embedded database has none.
    pub launch: Option<Launcher>,
    /// Reads a URL.
    pub endpoint: fn(&str) -> Result<Endpoint, StoreError>,
    /// What the plan's schema becomes in its layout, which the store offers. It fails when the layout cannot hold the schema.
    pub physical_schema: fn(&Plan) -> Result<M, StoreError>,
}

/// How to start a server: what is installed, its folder, and what was asked for.
pub type Launcher = fn(&Installation, &ServerFolder, &ServerOptions) -> Result<Launch, StoreError>;

/// A database as a store sees it. What each function means is in the contract ([`sensormark_store::Store`]).
#[expect(async_fn_in_trait, reason = "futures stay on their thread")]
pub trait Backend: Send + Sync + 'static {
    /// What a plan's schema becomes in its layout: tables, collections or containers.
    type PhysicalSchema: Send + Sync + 'static;
    /// One client's connection.
    type Session: BackendSession + 'static;
    /// What makes and removes a plan's database.
    type Administrator: BackendAdministrator + 'static;

    /// What the store says of itself, and the functions that need nothing but their arguments.
    const DECLARATION: Declaration<Self::PhysicalSchema>;

    /// How an operation is done, where that depends on the servers that were met.
    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        (Self::DECLARATION.capability)(operation, layout, table)
    }

    /// Why a server of sensormark's own may not listen on an address that other hosts reach, as [`sensormark_store::Store::keeps_to_loopback`] says.
    fn keeps_to_loopback(&self) -> Option<&'static str> {
        Some(sensormark_store::server::KEEPS_TO_LOOPBACK)
    }

    /// Asks the server for its version.
    ///
    /// # Errors
    /// When it is not ready for work.
    async fn version(&self, endpoint: &Endpoint) -> Result<String, StoreError>;

    /// What administers the plan's database.
    ///
    /// # Errors
    /// When the server is not reached, or it does not offer what the plan asks.
    async fn administrator(
        &self,
        plan: &Plan,
        schema: Arc<Self::PhysicalSchema>,
    ) -> Result<Self::Administrator, StoreError>;

    /// One client's connection.
    ///
    /// # Errors
    /// When the server is not reached, or it does not offer what the plan asks.
    async fn connect(
        &self,
        plan: &Plan,
        schema: Arc<Self::PhysicalSchema>,
    ) -> Result<Self::Session, StoreError>;
}

/// One client's connection. What each function means, and its errors, are in the contract ([`sensormark_store::Session`]). Numbers of
/// tables are those of the schema.
#[expect(async_fn_in_trait, reason = "futures stay on their thread")]
pub trait BackendSession {
    /// Writes a batch, which is not empty.
    ///
    /// # Errors
    /// What the database refuses, with how much of the batch it acknowledged.
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError>;

    /// Inserts a reading and updates its entity.
    ///
    /// # Errors
    /// What the database refuses, or cannot do.
    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError>;

    /// Answers a question.
    ///
    /// # Errors
    /// What the database refuses, or cannot do.
    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError>;

    /// Reads back every reading of a table.
    ///
    /// # Errors
    /// When it cannot be read.
    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError>;

    /// Reads back every entity of a table.
    ///
    /// # Errors
    /// When it cannot be read, or has none.
    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        let _ = sink;
        Err(StoreError::unsupported("read entities back", format!("table {table} has none in this layout")))
    }

    /// Keeps every statement from now on.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Unsupported`] where statements are not shown.
    fn keep_statements(&mut self) -> Result<(), StoreError> {
        Err(StoreError::unsupported("show statements", "this store does not show its statements"))
    }

    /// The statements since the last call.
    ///
    /// # Errors
    /// When the database gives no plan.
    async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        let _ = with_plans;
        Ok(Vec::new())
    }

    /// Says goodbye to the server, where dropping the session is not enough.
    ///
    /// # Errors
    /// What the server says.
    async fn close(self) -> Result<(), StoreError>
    where
        Self: Sized,
    {
        Ok(())
    }
}

/// What makes and removes one plan's database: a thin driver below [`crate::ownership`], which decides what may be done.
#[expect(async_fn_in_trait, reason = "futures stay on their thread")]
pub trait BackendAdministrator {
    /// The name that the plan's database has on the server, where it is not the plan's own.
    fn name_there(&self) -> Option<&str> {
        None
    }

    /// Fails where this server does not offer what the plan asks. It comes before anything is looked for or made.
    ///
    /// # Errors
    /// What the plan asks in vain.
    async fn check(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// What stands under a name.
    ///
    /// # Errors
    /// When it cannot be looked into.
    async fn found(&mut self, name: &str) -> Result<Found, StoreError>;

    /// The names of what the plan's database holds (tables, collections, containers), without what the database itself brings.
    ///
    /// # Errors
    /// When it cannot be read.
    async fn contents(&mut self) -> Result<Vec<String>, StoreError>;

    /// The names of what [`BackendAdministrator::make`] makes, that of the mark included.
    fn expected(&self) -> Vec<String>;

    /// Makes the plan's database, which is not there: the mark first, or all at once.
    ///
    /// # Errors
    /// When it cannot be made.
    async fn make(&mut self) -> Result<(), StoreError>;

    /// Removes the plan's database, which bears the plan's mark, with all that it holds.
    ///
    /// # Errors
    /// When it cannot be removed.
    async fn remove(&mut self) -> Result<(), StoreError>;

    /// The names on the server that may be sensormark's.
    ///
    /// # Errors
    /// When they cannot be listed.
    async fn names(&mut self) -> Result<Vec<String>, StoreError>;

    /// Brings the database to rest.
    ///
    /// # Errors
    /// When it does not come to rest.
    async fn settle(&mut self) -> Result<(), StoreError>;

    /// What a reader of the results has to know since the last call.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The settings that matter, read back.
    ///
    /// # Errors
    /// When they cannot be read.
    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError>;

    /// What the database counts of its documents.
    ///
    /// # Errors
    /// When it cannot be read.
    async fn documents(&mut self) -> Result<Option<Documents>, StoreError> {
        Ok(None)
    }

    /// The schema as the database states it.
    ///
    /// # Errors
    /// When it cannot be read.
    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// Runs one statement of an administrator, patiently. The first value of each row.
    ///
    /// # Errors
    /// What the database says.
    async fn perform(&mut self, statement: &str) -> Result<Vec<String>, StoreError> {
        Err(StoreError::unsupported("perform", statement))
    }

    /// What the database says that it occupies.
    ///
    /// # Errors
    /// When it cannot be read.
    async fn size(&mut self) -> Result<Size, StoreError>;
}
