//! SQLite, in this process. A database is a file in a folder; its connections block.
//!
//! - The progress handler bounds an operation's time.
//! - Writers of one process queue in the order in which they came ([`writer_queue`]).
//! - Plans do not follow bound values: SQLite would plan anew at almost every execution of a statement that orders its rows.

use crate::cell::Cell;
use crate::fault::Fault;
use crate::fetched::{Cells, Fetched, wrong_type};
use crate::pieces::{pieces, put_literals};
use crate::rows::{Rows, Source};
use crate::{Block, Connection, Databases, Driver, EachRow, Named, Place, Prepared, Purpose};
use rusqlite::config::DbConfig;
use rusqlite::types::{Null, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, OpenFlags, ffi};
use sensormark_kit::{MOST_SHAPES, Row, folder, unexpected};
use sensormark_store::{Endpoint, ErrorKind, Installation, LocalFuture, SessionKind, StoreError};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use writer_queue::{WriterQueue, WriterTurn};

mod writer_queue;

/// Instructions of SQLite's virtual machine between two looks at the clock.
const LOOK_EVERY: i32 = 20_000;

/// Bytes of statements in one string.
const TEXT: usize = 16 << 10;

/// The driver.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sqlite;

impl Driver for Sqlite {
    fn session(&self) -> SessionKind {
        SessionKind::Blocking
    }

    fn databases(&self) -> Databases {
        Databases::Files { ending: ".sqlite", log: "-wal" }
    }

    fn endpoint(&self, store: &Named, url: &str) -> Result<Endpoint, StoreError> {
        folder::endpoint(&store.name, &store.title, &store.url, url)
    }

    fn installation(&self) -> Option<Result<Installation, StoreError>> {
        Some(Ok(Installation::bundled(rusqlite::version())))
    }

    fn open<'a>(&'a self, place: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>> {
        Box::pin(async move {
            let connection: Box<dyn Connection> = Box::new(SqliteConnection::open(place)?);
            Ok(connection)
        })
    }
}

/// When the running operation has taken too long: shared with SQLite's progress handler.
#[derive(Debug, Clone)]
struct Deadline {
    base: Instant,
    /// Nanoseconds after `base`.
    at: Arc<AtomicU64>,
}

impl Deadline {
    fn is_over(&self) -> bool {
        self.base.elapsed().as_nanos() > u128::from(self.at.load(Ordering::Relaxed))
    }

    fn set(&self, time: Option<Duration>) {
        let end = time.map(|time| u64::try_from((self.base.elapsed() + time).as_nanos()).unwrap_or(u64::MAX));
        self.at.store(end.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn instant(&self) -> Instant {
        self.base + Duration::from_nanos(self.at.load(Ordering::Relaxed))
    }
}

struct SqliteConnection {
    connection: rusqlite::Connection,
    texts: Vec<Text>,
    deadline: Deadline,
    queue: Arc<WriterQueue>,
    turn: Option<WriterTurn>,
    buffer: Vec<u8>,
}

/// A prepared text, and how many slots it has.
struct Text {
    text: String,
    slots: usize,
}

impl SqliteConnection {
    fn open(place: &Place) -> Result<Self, Fault> {
        const OPERATION: &str = "open the SQLite database";
        folder::check_made(&place.file, OPERATION)?;
        let connection = if place.purpose == Purpose::Look {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            let address = immutable(&place.file);
            rusqlite::Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        } else {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            rusqlite::Connection::open_with_flags(&place.file, flags)
        };
        let mut connection = connection.map_err(fault)?;
        connection.busy_timeout(place.timeout).map_err(fault)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fault)?;
        connection.set_prepared_statement_cache_capacity(MOST_SHAPES);
        let deadline = Deadline { base: Instant::now(), at: Arc::new(AtomicU64::new(u64::MAX)) };
        let looked_at = deadline.clone();
        connection.progress_handler(LOOK_EVERY, Some(move || looked_at.is_over())).map_err(fault)?;
        let queue = WriterQueue::of(&place.file);
        Ok(Self { connection, texts: Vec::new(), deadline, queue, turn: None, buffer: Vec::new() })
    }

    fn statement(&self, statement: Prepared) -> Result<CachedStatement<'_>, Fault> {
        self.connection.prepare_cached(&self.texts[statement.0].text).map_err(fault)
    }

    /// The statement with these values.
    fn bound(&self, statement: Prepared, values: &[Cell<'_>]) -> Result<CachedStatement<'_>, Fault> {
        let mut statement = self.statement(statement)?;
        for (place, value) in values.iter().enumerate() {
            bind(&mut statement, place + 1, *value).map_err(fault)?;
        }
        Ok(statement)
    }

    fn each_row(
        &self,
        statement: Prepared,
        values: &[Cell<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let mut statement = self.bound(statement, values)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(fault)? {
            if !each(&Fetched(row))? {
                break;
            }
        }
        Ok(())
    }

    fn write_block(&mut self, block: Block<'_>) -> Result<u64, Fault> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let slots = self.texts[block.statement.0].slots;
        let written = match block.encoder {
            "statements" => self.write_text(block.statement, block.rows, &mut buffer),
            _ if slots > block.rows.sources.len() => self.write_many(block.statement, block.rows, slots),
            _ => self.write_each(block, &mut buffer),
        };
        self.buffer = buffer;
        written
    }

    /// One execution a row. Parameters keep their values between executions, so a series is bound only when it changes.
    fn write_each(&self, block: Block<'_>, buffer: &mut Vec<u8>) -> Result<u64, Fault> {
        let rows = block.rows;
        let mut statement = self.statement(block.statement)?;
        let slots: Vec<usize> = (0..rows.sources.len()).collect();
        let changing: Vec<usize> =
            slots.iter().copied().filter(|&slot| !rows.sources[slot].is_of_series()).collect();
        let mut bound = None;
        for row in 0..rows.len() {
            let series = rows.series(row);
            let wanted = if bound == Some(series) { &changing } else { &slots };
            bound = Some(series);
            bind_row(&mut statement, rows, row, wanted, buffer)?;
            match (statement.raw_execute(), block.repeated) {
                (Ok(_), _) => {}
                (Err(cause), Some(repeated)) if is_repeated(&cause) => {
                    let mut statement = self.statement(repeated)?;
                    bind_row(&mut statement, rows, row, &slots, buffer)?;
                    statement.raw_execute().map_err(fault)?;
                }
                (Err(cause), _) => return Err(fault(cause)),
            }
        }
        Ok(rows.len() as u64)
    }

    /// Several rows an execution.
    fn write_many(&self, statement: Prepared, rows: &Rows<'_>, slots: usize) -> Result<u64, Fault> {
        let mut statement = self.statement(statement)?;
        let width = rows.sources.len();
        for first in (0..rows.len()).step_by(slots / width) {
            for place in 0..slots {
                let cell = rows.cell(first + place / width, place % width);
                bind(&mut statement, place + 1, cell).map_err(fault)?;
            }
            statement.raw_execute().map_err(fault)?;
        }
        Ok((rows.len() * width / slots) as u64)
    }

    /// All rows as statements in one string, values as literals, parsed anew each time.
    fn write_text(&self, statement: Prepared, rows: &Rows<'_>, text: &mut Vec<u8>) -> Result<u64, Fault> {
        let pieces: Vec<_> = pieces(&self.texts[statement.0].text).collect();
        text.clear();
        for row in 0..rows.len() {
            put_literals(pieces.iter().copied(), |slot| rows.cell(row, slot), text);
            text.push(b';');
            // The library copies the whole rest of a string for each statement in it.
            if text.len() >= TEXT || row + 1 == rows.len() {
                let statements = std::str::from_utf8(text)
                    .map_err(|cause| unexpected("statements are not UTF-8").with_source(cause))?;
                self.connection.execute_batch(statements).map_err(fault)?;
                text.clear();
            }
        }
        Ok(rows.len() as u64)
    }

    /// The plan, a line a step, each under the step that it belongs to; none where there is nothing to look for.
    fn planned(&self, explain: &str) -> Result<Option<String>, Fault> {
        let mut prepared = self.connection.prepare(explain).map_err(fault)?;
        let mut rows = prepared.raw_query();
        let (mut depths, mut lines) = (HashMap::from([(0_i64, 0_usize)]), Vec::new());
        while let Some(row) = rows.next().map_err(fault)? {
            let row = Fetched(row);
            let depth = depths.get(&row.integer(1)?).copied().unwrap_or(0);
            depths.insert(row.integer(0)?, depth + 1);
            lines.push(format!("{}{}", "  ".repeat(depth), row.text(3)?));
        }
        Ok((!lines.is_empty()).then(|| lines.join("\n")))
    }
}

impl Connection for SqliteConnection {
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move { self.connection.execute_batch(text).map_err(fault) })
    }

    fn prepare<'a>(
        &'a mut self,
        text: &'a str,
        types: &'a [String],
    ) -> LocalFuture<'a, Result<Prepared, Fault>> {
        Box::pin(async move {
            self.texts.push(Text { text: text.to_owned(), slots: types.len() });
            Ok(Prepared(self.texts.len() - 1))
        })
    }

    fn text(&self, statement: Prepared) -> &str {
        &self.texts[statement.0].text
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        Box::pin(async move {
            self.texts.clear();
            self.connection.flush_prepared_statement_cache();
            Ok(())
        })
    }

    fn query<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
        each: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move { self.each_row(statement, values, each) })
    }

    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move {
            let changed = self.bound(statement, values)?.raw_execute().map_err(fault)?;
            Ok(changed as u64)
        })
    }

    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move { self.write_block(block) })
    }

    fn within(&mut self, time: Option<Duration>) {
        self.deadline.set(time);
    }

    fn enter(&mut self) -> Result<(), Fault> {
        let turn = self.queue.enter(self.deadline.instant());
        if turn.is_none() {
            let text = "SQLite has one writer at a time, and others wrote for the whole time allowed; fewer clients or a longer time-out help";
            let late = StoreError::new(ErrorKind::Timeout, "wait for other writers", text);
            return Err(late.with_doubt(false).into());
        }
        self.turn = turn;
        Ok(())
    }

    fn leave(&mut self) {
        self.turn = None;
    }

    fn plan<'a>(
        &'a mut self,
        explain: &'a str,
        _: &'a [String],
    ) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        Box::pin(async move { self.planned(explain) })
    }

    fn own_settings(&self) -> Vec<(String, String)> {
        let stable = self.connection.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG).unwrap_or(false);
        let stable = if stable { "on" } else { "off" };
        [("sqlite_version", rusqlite::version()), ("query_planner_stability_guarantee", stable)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec()
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), Fault>> {
        Box::pin(async move { self.connection.close().map_err(|(_, cause)| fault(cause)) })
    }
}

/// A file's address that is opened without locks, log or any trace.
fn immutable(file: &Path) -> String {
    let mut address = String::from("file:");
    for byte in file.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02x}"));
        }
    }
    address + "?immutable=1"
}

/// Whether a table has this key already.
fn is_repeated(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|code| code.extended_code == ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
}

/// Binds these slots of a row. One buffer serves the documents of all rows.
#[inline]
fn bind_row(
    statement: &mut CachedStatement<'_>,
    rows: &Rows<'_>,
    row: usize,
    slots: &[usize],
    buffer: &mut Vec<u8>,
) -> Result<(), Fault> {
    for &slot in slots {
        let source = rows.sources[slot];
        if matches!(source, Source::Json | Source::Packed) {
            buffer.clear();
            rows.document(row, source, buffer)?;
            let data = if source == Source::Json { ValueRef::Text(buffer) } else { ValueRef::Blob(buffer) };
            statement.raw_bind_parameter(slot + 1, ToSqlOutput::Borrowed(data)).map_err(fault)?;
        } else {
            bind(statement, slot + 1, rows.cell(row, slot)).map_err(fault)?;
        }
    }
    Ok(())
}

/// Binds one value.
#[inline(always)]
fn bind(statement: &mut CachedStatement<'_>, place: usize, cell: Cell<'_>) -> rusqlite::Result<()> {
    match cell {
        Cell::Null | Cell::Integers(_) | Cell::Texts(_) => statement.raw_bind_parameter(place, Null),
        Cell::Bool(value) => statement.raw_bind_parameter(place, value),
        Cell::I64(value) => statement.raw_bind_parameter(place, value),
        Cell::F64(value) => statement.raw_bind_parameter(place, value),
        Cell::Text(value) => statement.raw_bind_parameter(place, value),
        Cell::Bytes(value) => {
            statement.raw_bind_parameter(place, ToSqlOutput::Borrowed(ValueRef::Blob(value)))
        }
    }
}

/// A failure of the driver or the library.
fn fault(error: rusqlite::Error) -> Fault {
    let (code, message) = match &error {
        rusqlite::Error::SqliteFailure(code, message) => (*code, message.clone().unwrap_or_default()),
        rusqlite::Error::SqlInputError { error, msg, .. } => (*error, msg.clone()),
        rusqlite::Error::NulError(_) | rusqlite::Error::InvalidPath(_) => {
            return Fault::Known(StoreError::new(
                ErrorKind::Configuration,
                "open the SQLite database",
                "the path holds a character that SQLite cannot open; choose another folder",
            ));
        }
        other => {
            let text = other.to_string();
            return StoreError::new(ErrorKind::Protocol, "use SQLite", text).with_source(error).into();
        }
    };
    // The driver appends the path to failures of opening.
    let text = message.split(": /").next().unwrap_or_default();
    let known = ffi::code_to_str(code.extended_code);
    Fault::Refused {
        codes: vec![code.extended_code.to_string(), (code.extended_code & 0xff).to_string()],
        text: if text.is_empty() { known.to_owned() } else { text.to_owned() },
        source: Box::new(code),
    }
}

impl Cells for &rusqlite::Row<'_> {
    #[inline(always)]
    fn cell(&self, place: usize) -> Result<Cell<'_>, StoreError> {
        Ok(match self.get_ref_unwrap(place) {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(value) => Cell::I64(value),
            ValueRef::Real(value) => Cell::F64(value),
            ValueRef::Text(bytes) => Cell::Text(std::str::from_utf8(bytes).map_err(|_| wrong_type())?),
            ValueRef::Blob(bytes) => Cell::Bytes(bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::StatementStatus;

    /// The reason for the planner's guarantee: without it this fails, and each execution costs several times as much.
    #[test]
    fn bound_values_do_not_plan_statements_anew() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("test.sqlite");
        std::fs::File::create_new(&file).unwrap();
        let place = Place {
            endpoint: folder::endpoint("sqlite", "SQLite", "", folder.path().to_str().unwrap()).unwrap(),
            database: None,
            file,
            timeout: Duration::from_secs(5),
            purpose: Purpose::Work,
        };
        let opened = SqliteConnection::open(&place).unwrap();
        let tables = "CREATE TABLE r (s INTEGER, t INTEGER, v REAL); CREATE INDEX i ON r (s, t)";
        opened.connection.execute_batch(tables).unwrap();
        let sql = "SELECT v FROM r WHERE s = ?1 AND t >= ?2 AND t < ?3 ORDER BY t LIMIT 1";
        let mut statement = opened.connection.prepare(sql).unwrap();
        for start in 0..100_i64 {
            statement.clear_bindings();
            assert!(!statement.exists((start % 2, start, start * 2)).unwrap());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
