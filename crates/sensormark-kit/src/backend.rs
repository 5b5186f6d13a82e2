//! What a store itself has to say and do. All else is [`crate::Adapter`]'s.

use crate::mark::Found;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Acknowledgement, Answer, Batch, Capability, Clusters, Documents, Durability, Endpoint, EntityReading,
    Family, Installation, Launch, Layout, LayoutOption, Limits, MemberLaunch, ONE_SERVER, Operation, Plan,
    Query, RepeatedWrite, Schema, ServerOptions, SessionKind, Setting, Size, Statement, StoreError, Table,
    TimeResolution, Value, WriteSize,
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

    /// Whether the database answers this operation, which [`Operation::is_derived`], by itself. Else the client answers it, from the readings.
    fn derives(operation: Operation, layout: &Layout, table: &Table) -> bool {
        let _ = (operation, layout, table);
        false
    }

    /// How repeated writes end, where it is not as the contract has it by the description.
    fn repeated_write(&self, layout: &Layout, table: &Table) -> RepeatedWrite {
        let _ = table;
        Self::DECLARATION.repeated_write.in_layout(layout)
    }

    /// Why an answer may for a moment lack acknowledged readings.
    fn momentary_misses(&self) -> Option<&'static str> {
        None
    }

    /// Why the least whole number of 64 bits is refused.
    fn refuses_least_number(&self) -> Option<&'static str> {
        None
    }

    /// Whether the server runs on a Java virtual machine.
    fn runs_on_java(&self) -> bool {
        false
    }

    /// The clusters that sensormark can start of it.
    ///
    /// # Errors
    /// Why it starts none, in words that follow "not supported: ".
    fn clusters(&self) -> Result<Clusters, String> {
        Err(ONE_SERVER.to_owned())
    }

    /// Why a server of sensormark's own may not listen on an address that other hosts reach, as [`sensormark_store::Store::keeps_to_loopback`] says.
    fn keeps_to_loopback(&self) -> Option<&'static str> {
        Some(sensormark_store::server::KEEPS_TO_LOOPBACK)
    }

    /// Whether a write that was acknowledged at this consistency level is on several members, so that the loss of any one of them loses nothing. A drill holds
    /// the level to that. Not said: what was acknowledged may be on one member alone.
    fn survives_loss(&self, consistency: &str) -> bool {
        let _ = consistency;
        false
    }

    /// How to start one member of a cluster, `member` from 0: files are written in its folder, nothing is started. `folders` are those of all members. The options
    /// are one member's, and name the cluster.
    ///
    /// # Errors
    /// As [`sensormark_store::Store::launch_member`].
    fn launch_member(
        &self,
        installation: &Installation,
        folders: &[ServerFolder],
        member: usize,
        options: &ServerOptions,
    ) -> Result<MemberLaunch, StoreError> {
        let _ = (installation, folders, member, options);
        Err(StoreError::unsupported("start a cluster", ONE_SERVER))
    }

    /// Says in which order members start again that were down.
    ///
    /// # Errors
    /// As [`sensormark_store::Store::start_again`].
    fn start_again(&self, folders: &[ServerFolder], down: &[usize]) -> Result<Vec<usize>, StoreError> {
        let _ = folders;
        Ok(down.to_vec())
    }

    /// Joins members that answer into a cluster.
    ///
    /// # Errors
    /// When a member is not reached, or does not join in time.
    async fn form_cluster(
        &self,
        members: &[Endpoint],
        options: &ServerOptions,
    ) -> Result<Endpoint, StoreError> {
        let _ = (members, options);
        Err(StoreError::unsupported("form a cluster", ONE_SERVER))
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

    /// The most series of a tag that this question by a tag names in place of the tag. With so many at most, [`BackendSession::query`] meets the question as one
    /// about these series ([`sensormark_store::Selection::Set`], or `One`). 0 leaves all tags to the database.
    fn most_named(&self, query: &Query) -> usize {
        let _ = query;
        0
    }

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

    /// Waits for what is not acknowledged.
    ///
    /// # Errors
    /// When the connection fails.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether from now on no session writes, of any process.
    fn nobody_writes(&mut self, nobody: bool) {
        let _ = nobody;
    }

    /// Whether writes are acknowledged before they show.
    fn shows_later(&self) -> bool {
        false
    }

    /// Bytes in datagrams so far.
    fn datagram_bytes(&self) -> u64 {
        0
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
