//! The traits that a store implements, and what passes through them.
//!
//! A [`Store`] knows its database's layouts, capabilities and servers; an [`Administrator`] makes, settles, inspects and
//! drops one sensormark database; a [`Session`] is one client's connection. None of them measures anything: instants are
//! taken by the engine alone.

use crate::answer::Answer;
use crate::batch::Batch;
use crate::capability::{Capability, Operation};
use crate::durability::Durability;
use crate::endpoint::Endpoint;
use crate::error::{ErrorKind, StoreError};
use crate::layout::{Family, Layout, LayoutOption, Shape};
use crate::name::DatabaseName;
use crate::query::Query;
use crate::schema::{Entity, Schema, Table, TimeResolution, Value};
use crate::server::{Installation, KEEPS_TO_LOOPBACK, Launch, ServerFolder, ServerOptions};
use crate::size::{Documents, Logs, Size};
use crate::statement::Statement;
use crate::write_size::WriteSize;
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A future that stays on its thread. Sessions of drivers that block return one that is ready when first polled.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// What speaks to one database. One value serves any number of trials.
pub trait Store: Send + Sync {
    /// Name, title and fixed traits.
    fn description(&self) -> Description;

    /// Its name on the command line: [`Description::name`], where nothing else of it is asked.
    fn name(&self) -> String {
        self.description().name
    }

    /// The layouts that the store offers for this schema and family, the usual one first; none where it has none.
    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption>;

    /// How the store does an operation with this layout and table.
    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability;

    /// The largest statements with this layout and table.
    fn limits(&self, layout: &Layout, table: &Table) -> Limits;

    /// The size of write that the database's documentation advises for loading, with this layout and table. It fits into one statement.
    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize;

    /// How repeated writes of the same (series, time) end up with this layout and table. Unless a store says otherwise:
    /// as its description says where a reading is a record of its own, and both are kept where readings share one.
    fn repeated_write(&self, layout: &Layout, table: &Table) -> RepeatedWrite {
        let _ = table;
        self.description().repeated_write.in_layout(layout)
    }

    /// How finely times are kept with this layout and table, nanoseconds unless a store says otherwise. A store that keeps less cuts off the rest
    /// (towards the past) itself when it writes; its answers are then exact for the times so cut, bounds of ranges included.
    fn time_resolution(&self, layout: &Layout, table: &Table) -> TimeResolution {
        let _ = (layout, table);
        TimeResolution::Nanoseconds
    }

    /// Why an answer may for a moment lack acknowledged readings while other sessions write to the same series; none where it never does.
    fn momentary_misses(&self) -> Option<&'static str> {
        None
    }

    /// Why one process alone may have the database open at a time; none where several may. All clients of a phase are then in one process.
    fn one_process(&self) -> Option<&'static str> {
        None
    }

    /// Why the database does not keep the least whole number of 64 bits, −2⁶³, in words; none where it does. A reading that holds it is refused
    /// with [`ErrorKind::TooLarge`].
    fn refuses_least_number(&self) -> Option<&'static str> {
        None
    }

    /// The server on this machine (or the embedded library).
    ///
    /// # Errors
    /// [`ErrorKind::NotInstalled`], with the command that installs it.
    fn installation(&self) -> Result<Installation, StoreError>;

    /// How to start that server in this folder: files are written, nothing is started.
    ///
    /// # Errors
    /// When a file cannot be written or the server does not offer an option; embedded stores are [`ErrorKind::Unsupported`].
    fn launch(
        &self,
        installation: &Installation,
        folder: &ServerFolder,
        options: &ServerOptions,
    ) -> Result<Launch, StoreError>;

    /// Why a server of sensormark's own may not listen on an address that other hosts reach, in words. None where it may: every way in asks for the generated
    /// password, from the first moment on. [`Launch::set_up`] is for servers that make accounts only while they listen.
    fn keeps_to_loopback(&self) -> Option<&'static str> {
        Some(KEEPS_TO_LOOPBACK)
    }

    /// Whether the server runs on a Java virtual machine, whose code is slow until it is compiled. It is warmed up before anything counts.
    fn runs_on_java(&self) -> bool {
        false
    }

    /// Reads the URL of an existing server, the part after `NAME=`. An embedded store has a folder there.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`], saying what a URL looks like.
    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError>;

    /// Asks the server for its version, which shows that it is ready for work.
    fn version<'a>(&'a self, endpoint: &'a Endpoint) -> LocalFuture<'a, Result<String, StoreError>>;

    /// What makes, settles, inspects and drops the plan's database.
    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>>;

    /// One client's connection to the plan's database. Statements that its layout needs are prepared here or on first use.
    /// Where the database is not there, this or the session's first operation fails with [`ErrorKind::NotFound`]; nothing is made in silence.
    fn connect<'a>(&'a self, plan: &'a Plan) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>>;
}

/// Name and fixed traits of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The name on the command line, lower case.
    pub name: String,
    /// The database's name as people write it.
    pub title: String,
    /// Whether the database runs inside the client's process.
    pub embedded: bool,
    /// How its sessions wait.
    pub session: SessionKind,
    /// The durability classes that it has, and in its own words what each is.
    pub durability: Vec<(Durability, String)>,
    /// What a URL looks like. Messages show it.
    pub url_example: String,
    /// How repeated writes of the same (series, time) end up where a reading is a record of its own; see [`Store::repeated_write`].
    pub repeated_write: RepeatedWrite,
    /// Its logs, which are no price of a reading.
    pub logs: Logs,
}

/// How a session waits for its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// Its futures are ready when first polled; each client needs a thread of its own.
    Blocking,
    /// Many sessions share a current-thread tokio runtime.
    Async,
}

/// How repeated writes of the same (series, time) end up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatedWrite {
    /// The later one replaces the earlier one.
    Replaces,
    /// Both are kept.
    KeepsBoth,
    /// The later one is refused with [`ErrorKind::Conflict`].
    Refused,
}

impl RepeatedWrite {
    /// What it is in a layout, where this is what it is where a reading is a record of its own: both are kept where readings share one.
    #[must_use]
    pub const fn in_layout(self, layout: &Layout) -> Self {
        match layout.shape {
            Shape::RowPerReading | Shape::RowPerField | Shape::Summary { .. } | Shape::NativeTimeSeries => {
                self
            }
            Shape::RecordPerSpan { .. } | Shape::Bucketed { .. } | Shape::GrowingArray => Self::KeepsBoth,
        }
    }
}

/// The largest statements of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Readings in one statement of [`Session::write`]; larger batches are split, and the acknowledgement counts the statements.
    pub readings_per_statement: usize,
}

/// What a write's success says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Acknowledgement {
    /// Readings that the database acknowledged; 0 where it acknowledges nothing ([`Durability::Unacknowledged`], datagrams).
    pub readings: u64,
    /// Readings that were sent.
    pub sent: u64,
    /// Statements or requests that carried them.
    pub statements: u64,
}

/// Whether an entity's update and its reading are one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Atomicity {
    /// Two commits, entity first.
    Separate,
    /// Both or neither.
    Atomic,
}

/// One reading that also updates its entity: insert the entity if it is new, set its last time, insert the reading.
#[derive(Debug, Clone, Copy)]
pub struct EntityReading<'a> {
    /// The reading: a batch of exactly one.
    pub reading: &'a Batch,
    /// Values of the entity's columns, in the schema's order. They are written when the entity is new.
    pub entity: &'a [Value],
    /// One commit or two.
    pub atomicity: Atomicity,
}

impl EntityReading<'_> {
    /// The entity of the reading's table, once all fits to it.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the table has no entity, [`ErrorKind::Rejected`] for any number of readings but one, and for values that do not match
    /// the entity's columns.
    pub fn check<'a>(&self, table: &'a Table) -> Result<&'a Entity, StoreError> {
        const OPERATION: &str = "update an entity";
        let rejected = |text: String| Err(StoreError::new(ErrorKind::Rejected, OPERATION, text));
        let Some(entity) = &table.entity else {
            return Err(StoreError::unsupported(OPERATION, "the table has no entity"));
        };
        let (readings, values, columns) = (self.reading.len(), self.entity.len(), entity.columns.len());
        if readings != 1 {
            return rejected(format!("an entity is updated with one reading, not {readings}"));
        }
        if values != columns {
            return rejected(format!("{values} values for {columns} columns"));
        }
        Ok(entity)
    }
}

/// One client's connection. Calls come one at a time.
pub trait Session {
    /// Writes a batch (checked by the caller against its table). It is split where [`Limits`] says. When it returns, everything is
    /// acknowledged as the durability class promises, and every later query of every session finds it. An error says how much of it was.
    /// An empty batch is acknowledged as nothing sent. Entities are not touched: only [`Session::upsert`] does that.
    fn write<'a>(&'a mut self, batch: &'a Batch) -> LocalFuture<'a, Result<Acknowledgement, StoreError>>;

    /// Inserts a reading and updates its entity, whose last time becomes this reading's. Callers write each entity's readings in order of time.
    fn upsert<'a>(
        &'a mut self,
        write: EntityReading<'a>,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>>;

    /// Answers a question.
    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>>;

    /// Reads back every stored reading of a table, in batches of any size and any order, with all fields.
    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>>;

    /// Reads back every entity of a table: series, time of the last reading in ns, and the entity's columns.
    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        let _ = sink;
        Box::pin(async move {
            Err(StoreError::unsupported(
                "read entities back",
                format!("table {table} has none in this layout"),
            ))
        })
    }

    /// Waits until the server has done everything that this session wrote without an acknowledgement ([`Durability::Unacknowledged`]), or that it
    /// acknowledged before it shows ([`Session::shows_later`]). Else there is nothing to wait for, and no way to where writes are datagrams.
    fn catch_up(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    /// Says whether from now on no session writes, of any process, until it is said otherwise. Nobody has written since, so that a session need find out only once
    /// whether all that was acknowledged shows. Without a word somebody may write.
    fn nobody_writes(&mut self, nobody: bool) {
        let _ = nobody;
    }

    /// Whether the database acknowledges writes before they show, so that every answer waits for them. A load then ends when they show.
    fn shows_later(&self) -> bool {
        false
    }

    /// Bytes on the wire in datagrams so far, which the kernel's counters of connections do not show: payload with UDP and IP headers,
    /// by the rule of [`crate::wire`].
    fn datagram_bytes(&self) -> u64 {
        0
    }

    /// From now on, the session keeps every statement that it sends, from the place that sends it, for [`Session::take_statements`].
    /// Nothing is kept, and nothing costs time, before this call. Fails with [`ErrorKind::Unsupported`] where a store does not show its statements.
    fn keep_statements(&mut self) -> Result<(), StoreError> {
        Err(StoreError::unsupported("show statements", "this store does not show its statements"))
    }

    /// The statements that were sent since the last call, in order and whole. `with_plans` asks for the database's own plan of each, where it has
    /// one. A plan is made without running the statement again.
    fn take_statements(&mut self, with_plans: bool) -> LocalFuture<'_, Result<Vec<Statement>, StoreError>> {
        let _ = with_plans;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Says goodbye to the server.
    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>>;
}

/// What makes, settles, inspects and drops one sensormark database.
pub trait Administrator {
    /// Makes the plan's database with an owner's mark inside, and its tables, indexes and rows of tags.
    ///
    /// Fails with [`ErrorKind::Foreign`] when one of this name is there that does not bear this plan's mark, or
    /// that holds tables which sensormark did not make. One of this plan's own, of an earlier attempt, is dropped and made anew.
    fn create(&mut self) -> LocalFuture<'_, Result<(), StoreError>>;

    /// Drops the plan's database if it bears this plan's mark; fails with [`ErrorKind::Foreign`] if it does not. Nothing there is fine.
    fn drop_database(&mut self) -> LocalFuture<'_, Result<(), StoreError>>;

    /// The sensormark databases that are there (names and owner's marks). What a crash left behind is found by it.
    fn databases(&mut self) -> LocalFuture<'_, Result<Vec<(String, String)>, StoreError>>;

    /// Brings the database to rest by its own means (checkpoint, flush, compaction, statistics).
    fn settle(&mut self) -> LocalFuture<'_, Result<(), StoreError>>;

    /// What a reader of the results has to know since the last call, in words. Examples: what was left out because this user lacks the right, and a setting of the
    /// server's that makes an acknowledgement worth less.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The settings that matter for speed and durability, read back from the server. An allow-list: no secret, path or host.
    fn settings(&mut self) -> LocalFuture<'_, Result<Vec<Setting>, StoreError>>;

    /// What the database itself counts of its documents, without reading them; none where it keeps no such count.
    fn documents(&mut self) -> LocalFuture<'_, Result<Option<Documents>, StoreError>> {
        Box::pin(async { Ok(None) })
    }

    /// The schema as the database itself states it, a text for each table, index, collection or measurement; without path, host or secret. Empty
    /// where a store does not show it.
    fn schema_text(&mut self) -> LocalFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Runs one statement of an administrator in the database's own language (SQL, CQL, InfluxQL; a command of MongoDB's as JSON), with as much time as
    /// settling has. Of each row the first value as text; MongoDB gives documents, as JSON.
    fn perform<'a>(&'a mut self, statement: &'a str) -> LocalFuture<'a, Result<Vec<String>, StoreError>> {
        Box::pin(async move { Err(StoreError::unsupported("perform", statement)) })
    }

    /// What the database says that it occupies. (For a server that sensormark started, the blocks of its data folder are measured instead.)
    fn size(&mut self) -> LocalFuture<'_, Result<Size, StoreError>>;
}

/// One setting, as the server states it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The server's name for it.
    pub name: String,
    /// Its value, as the server prints it.
    pub value: String,
}

/// Everything that a session or an administrator needs to know.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Which server, or which folder of an embedded store.
    pub endpoint: Endpoint,
    /// The database's name.
    pub database: DatabaseName,
    /// The owner's mark that is kept inside the database: a run's random name.
    pub owner: String,
    /// What the readings look like.
    pub schema: Arc<Schema>,
    /// How they are kept.
    pub layout: Layout,
    /// What an acknowledgement promises.
    pub durability: Durability,
    /// How many sessions there will be at once.
    pub clients: u32,
    /// How long an operation may take, in ms, before it counts as timed out.
    pub timeout_ms: u64,
}

impl Plan {
    /// A failure of kind [`ErrorKind::NotFound`] for a table number that the schema does not have, else the table.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn table(&self, table: usize) -> Result<&Table, StoreError> {
        self.schema.table(table)
    }
}

/// Where expected answers come from: the generator. The contract's null store answers from it.
pub trait AnswerSource: Send + Sync {
    /// The answer to a question over everything that the workload has written.
    fn answer(&self, query: &Query) -> Answer;

    /// Everything that the workload has written to this table, in batches.
    fn scan(&self, table: usize, sink: &mut dyn FnMut(&Batch));

    /// Every entity of this table as the workload's upserts leave it: series, time of the last reading in ns, and the entity's columns. None
    /// unless a source says otherwise.
    fn scan_entities(&self, table: usize, sink: &mut dyn FnMut(u32, i64, &[Value])) {
        let _ = (table, sink);
    }
}
