//! Drivers: one a protocol. A store that is files (`sensormark-statements`) names the driver that carries its statements.
//!
//! A [`Driver`] opens [`Connection`]s. A connection prepares texts, sends values or a block of readings as [`Rows`], and gives rows back as [`Row`]. It knows
//! no layout and no question, and it measures nothing. What a code of the database's means is in the store's file, so a driver fails with a [`Fault`]: code
//! and text. What cuts across drivers (time-outs, what is in doubt) is around a connection ([`guard`]).
//!
//! Futures of a driver that blocks are ready when first polled.

use sensormark_kit::Row;
use sensormark_store::{Endpoint, Installation, LocalFuture, Plan, SessionKind, StoreError};
use std::path::{Path, PathBuf};
use std::time::Duration;

mod cell;

mod fault;

#[cfg(any(feature = "duckdb", feature = "griddb", feature = "sqlite"))]
mod fetched;

#[cfg(any(feature = "duckdb", feature = "griddb"))]
mod foreign;

pub mod guard;

pub mod lines;

mod pieces;

mod rows;

#[cfg(feature = "cassandra")]
pub mod cassandra;

#[cfg(feature = "duckdb")]
pub mod duckdb;

#[cfg(feature = "griddb")]
pub mod griddb;

#[cfg(feature = "influxdb")]
pub mod influxdb;

#[cfg(feature = "mongodb")]
pub mod mongodb;

#[cfg(feature = "mysql")]
pub mod mysql;

#[cfg(feature = "postgres")]
pub mod postgres;

#[cfg(feature = "questdb")]
pub mod questdb;

#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use cell::Cell;
pub use fault::Fault;
pub use pieces::{pieces, put_literals};
pub use rows::{MadeRow, RowShape, Rows, Shared, Source};

/// What speaks a protocol. One value serves any number of trials.
pub trait Driver: Send + Sync {
    /// How its connections wait.
    fn session(&self) -> SessionKind {
        SessionKind::Async
    }

    /// Where its databases are.
    fn databases(&self) -> Databases {
        Databases::Server
    }

    /// Why several writes cannot be one commit on the server that was met last; none where they can.
    fn two_commits(&self) -> Option<&'static str> {
        None
    }

    /// Why the database does not keep the least whole number of 64 bits; none where it does.
    fn refuses_least_number(&self) -> Option<&'static str> {
        None
    }

    /// Why an answer may for a moment lack what was acknowledged, as [`sensormark_store::Store::momentary_misses`] has it.
    fn momentary_misses(&self) -> Option<&'static str> {
        None
    }

    /// The name that a plan's database has on the server, where the URL or the way of writing gives it one.
    ///
    /// # Errors
    /// When the URL does not name what the layout needs.
    fn name_there(&self, plan: &Plan) -> Result<Option<String>, StoreError> {
        let _ = plan;
        Ok(None)
    }

    /// Reads the URL of a server, or a folder. Messages name the store as `store` says.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Configuration`], saying what a URL looks like.
    fn endpoint(&self, store: &Named, url: &str) -> Result<Endpoint, StoreError>;

    /// The library, where the database runs in this process, or where its server is reached by a library.
    fn installation(&self) -> Option<Result<Installation, StoreError>> {
        None
    }

    /// Why one process alone may have a database open; none where several may.
    fn one_process(&self) -> Option<&'static str> {
        None
    }

    /// Why its server listens on no other address than loopback, where that is the driver's matter.
    fn keeps_to_loopback(&self) -> Option<&'static str> {
        None
    }

    /// What a reader should know of a server that is about to be started.
    ///
    /// # Errors
    /// Why none may be started here.
    fn check_start(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// Says that a database's file is about to be removed.
    fn forget(&self, file: &Path) {
        let _ = file;
    }

    /// Opens a connection. Where the place's database is not there, it fails; nothing is made in silence.
    fn open<'a>(&'a self, place: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>>;
}

/// A store's name as messages have it.
#[derive(Debug, Clone)]
pub struct Named {
    /// The name on the command line.
    pub name: String,
    /// The database's name as people write it.
    pub title: String,
    /// What a URL looks like.
    pub url: String,
}

/// Where a driver's databases are, and so who makes, finds and removes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Databases {
    /// Each is a file of this ending in the endpoint's folder, with its log beside it.
    Files {
        /// The file's ending.
        ending: &'static str,
        /// The log's ending, behind the file's name.
        log: &'static str,
    },
    /// On a server, which makes and removes them by statements.
    Server,
}

/// What to connect to, and what for.
#[derive(Debug, Clone)]
pub struct Place {
    /// The server, with what it takes to get in.
    pub endpoint: Endpoint,
    /// The database; none for the server's own one, from which others are made and dropped.
    pub database: Option<String>,
    /// The database's file, where databases are files.
    pub file: PathBuf,
    /// How long connecting, and each operation after it, may take.
    pub timeout: Duration,
    /// What for.
    pub purpose: Purpose,
}

/// What a connection is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To look, leaving no trace (an owner's mark).
    Look,
    /// To make, settle, measure and remove: all of it on the server that takes writes.
    Administer,
    /// To write and to ask; replicas may answer.
    Work,
}

/// A text that a connection has prepared. It is valid until [`Connection::forget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Prepared(pub usize);

/// What is done with each row of an answer; `false` says that no more rows are wanted. A driver that asks series by series then hands over those of the same series and key alone.
pub type EachRow<'a> = dyn FnMut(&dyn Row) -> Result<bool, StoreError> + 'a;

/// One client's connection. Calls come one at a time.
///
/// Texts have the database's own placeholders. The kit puts them there in the style that `store.toml` says: `?1`, `$1` or `?`.
/// `types` has the type of each slot, in the order of their numbers. It is written as in `store.toml`: `int8`, `text`, `int4[]`. A driver without types ignores it.
pub trait Connection {
    /// Runs statements without values; their rows are thrown away.
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>>;

    /// Prepares a text. It may wait until the first use.
    fn prepare<'a>(
        &'a mut self,
        text: &'a str,
        types: &'a [String],
    ) -> LocalFuture<'a, Result<Prepared, Fault>>;

    /// The text of what was prepared.
    fn text(&self, statement: Prepared) -> &str;

    /// Gives up all that was prepared: a session that has met too many texts prepares them anew.
    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>>;

    /// Runs a statement and hands over its rows one after the other. Dropping the future between rows leaves the connection unusable.
    fn query<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
        each: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>>;

    /// Runs a statement for its effect; how many rows it changed.
    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>>;

    /// Writes a block of rows by the encoder that the statement names behind `->` (`rows`: an execution a row; others are the driver's own). Rows that a
    /// unique key refuses are written by `repeated`, where there is one. How many statements or requests carried them.
    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>>;

    /// What a block is sent as, or its beginning, where that is not its statement with values.
    fn written(&self, block: &Block<'_>) -> Option<String> {
        let _ = block;
        None
    }

    /// How long each operation from now on may take, and starts the time of the next one; none lifts the bound.
    fn within(&mut self, time: Option<Duration>) {
        let _ = time;
    }

    /// Bytes in datagrams so far.
    fn datagram_bytes(&self) -> u64 {
        0
    }

    /// Waits for the right to write, where a database has one writer at a time and its queue is this process's.
    ///
    /// # Errors
    /// When others wrote for the whole time allowed.
    fn enter(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Gives it back.
    fn leave(&mut self) {}

    /// Whether no session writes from now on, as [`sensormark_store::Session::nobody_writes`] has it.
    fn nobody_writes(&mut self, nobody: bool) {
        let _ = nobody;
    }

    /// What has to be so for the next statement (the store's `before`): a setting of the session (`SET …`), or that all writes show (a question). Where it is not
    /// known to be so, it is sent in one trip with the statement. Whether it is sent.
    fn wants(&mut self, setting: &str) -> bool {
        let _ = setting;
        false
    }

    /// Tells the server to give up what it is doing for this connection.
    fn cancel(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        Box::pin(async { Ok(()) })
    }

    /// The database's plan of a statement, in its own words; none where it has none. `explain` is the store's text that asks for it. It ends with the statement.
    fn plan<'a>(
        &'a mut self,
        explain: &'a str,
        values: &'a [String],
    ) -> LocalFuture<'a, Result<Option<String>, Fault>>;

    /// Settings of the connection that no statement shows.
    fn own_settings(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Statements that the connection made of texts and sent since the last call, with their values, where it makes several of one: it keeps them from the first call
    /// on. None where what is sent is the text.
    fn sent(&mut self) -> Option<Vec<(String, Vec<String>)>> {
        None
    }

    /// Says goodbye to the server.
    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), Fault>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A block of rows on its way into the database.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The statement: an INSERT of a row, or what the encoder sends (a COPY).
    pub statement: Prepared,
    /// What carries it.
    pub encoder: &'a str,
    /// The statement for a row whose key is there already.
    pub repeated: Option<Prepared>,
    /// The rows, with what each slot of the statement holds.
    pub rows: &'a Rows<'a>,
}
