//! One connection to the server: time-outs, the cache of prepared statements, and what every statement travels through.
//!
//! The driver polls its own socket, so that a request is one wake-up of the caller's task. It knows neither tables nor layouts. A connection
//! whose fate is unknown (a time-out, a broken pipe) is given up; the session says so from then on.

use crate::config::Options;
use crate::error::{is_fatal, store_error};
use crate::sent::Kept;
use bytes::Bytes;
use futures_util::StreamExt;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Params, Row, Statement, Value};
use sensormark_kit::MOST_SHAPES;
use sensormark_store::{ErrorKind, StoreError};
use std::collections::HashMap;
use std::time::Duration;

/// How much longer than the server's own statement time-out the client waits, so that the server may say so itself.
const GRACE: Duration = Duration::from_millis(250);

/// Bytes of one packet of a LOAD DATA stream.
const INFILE_PACKET: usize = 1 << 18;

/// A connection, with the time allowed and its prepared statements.
pub(crate) struct Link {
    conn: Option<Conn>,
    timeout: Duration,
    statements: HashMap<Box<str>, Statement>,
    /// What was sent, where statements are shown.
    pub(crate) kept: Kept,
    /// What the server said of itself when it was connected to.
    pub(crate) server: ServerFacts,
    /// Whether the server is a member of a cluster, as the URL says.
    is_member: bool,
}

/// What matters of the server for a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerFacts {
    /// `VERSION()`.
    pub(crate) version: String,
    /// `innodb_flush_log_at_trx_commit`.
    pub(crate) flush_at_commit: i64,
    /// `max_allowed_packet`, in bytes.
    pub(crate) largest_packet: usize,
}

impl Link {
    /// Connects to one of the hosts within the time allowed, and sets the session up.
    pub(crate) async fn open(
        options: &Options,
        host: usize,
        database: Option<&str>,
        timeout: Duration,
    ) -> Result<Self, StoreError> {
        const OPERATION: &str = "set a MariaDB session up";
        let conn = options.connect(host, database, timeout).await?;
        let mut link = Self {
            conn: Some(conn),
            timeout,
            statements: HashMap::new(),
            kept: Kept::default(),
            server: ServerFacts::default(),
            is_member: options.hosts() > 1,
        };
        let lock_seconds = timeout.as_secs().max(1);
        link.text(
            OPERATION,
            format!(
                "SET SESSION autocommit = 1, time_zone = '+00:00', group_concat_max_len = 1048576, \
                 sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', \
                 max_statement_time = {:.3}, innodb_lock_wait_timeout = {lock_seconds}, lock_wait_timeout = {lock_seconds}",
                timeout.as_secs_f64()
            ),
        )
        .await?;
        if let Some(bits) = options.sync_wait {
            link.text(OPERATION, format!("SET SESSION wsrep_sync_wait = {bits}")).await?;
        }
        let mut facts = ServerFacts::default();
        let question =
            "SELECT VERSION(), @@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.max_allowed_packet";
        link.rows(OPERATION, question, Vec::new(), &mut |row| {
            facts = ServerFacts {
                version: cell::text(&row, 0)?.to_owned(),
                flush_at_commit: cell::integer(&row, 1)?,
                largest_packet: usize::try_from(cell::integer(&row, 2)?).unwrap_or_default(),
            };
            Ok(())
        })
        .await?;
        link.server = facts;
        link.require_mariadb()?;
        Ok(link)
    }

    fn require_mariadb(&self) -> Result<(), StoreError> {
        let version = &self.server.version;
        let mut numbers = version.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
        let number = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version.contains("MariaDB") && number >= (10, 6) {
            return Ok(());
        }
        Err(StoreError::unsupported(
            "use this server",
            format!("it is version {version}; MariaDB 10.6 or later is needed (JSON_TABLE, bulk execution)"),
        ))
    }

    /// Gives statements another time from now on, on both sides.
    pub(crate) async fn allow(&mut self, timeout: Duration) -> Result<(), StoreError> {
        self.timeout = timeout;
        let text = format!("SET SESSION max_statement_time = {:.3}", timeout.as_secs_f64());
        self.text("set a time-out", text).await
    }

    /// Does something with the connection within the time allowed.
    async fn run<T>(
        &mut self,
        operation: &str,
        action: impl AsyncFnOnce(&mut Conn) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let Some(conn) = self.conn.as_mut() else {
            return Err(StoreError::new(
                ErrorKind::Unavailable,
                operation,
                "this session's connection is gone after an earlier failure; connect again",
            )
            .with_doubt(false));
        };
        match tokio::time::timeout(self.timeout + GRACE, action(conn)).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                if is_fatal(&error) {
                    self.conn = None;
                }
                let error = store_error(operation, error);
                // A commit that other members have may go on after its statement was given up.
                let doubt = error.is_in_doubt() || self.is_member && error.kind() == ErrorKind::Timeout;
                Err(error.with_doubt(doubt))
            }
            Err(_) => {
                self.conn = None;
                Err(StoreError::new(
                    ErrorKind::Timeout,
                    operation,
                    format!(
                        "no answer within {} ms; allow more time, ask for less, or look into the server's log",
                        self.timeout.as_millis()
                    ),
                ))
            }
        }
    }

    /// The prepared statement with this text.
    async fn statement(&mut self, operation: &str, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        if self.statements.len() >= MOST_SHAPES {
            for (_, old) in std::mem::take(&mut self.statements) {
                self.run(operation, async |conn: &mut Conn| conn.close(old).await).await?;
            }
        }
        let statement = self
            .run(operation, async |conn: &mut Conn| conn.prep(sql).await)
            .await
            .map_err(|error| error.with_doubt(false))?;
        self.statements.insert(sql.into(), statement.clone());
        Ok(statement)
    }

    /// Executes a prepared statement that gives no rows; how many rows it found or wrote.
    pub(crate) async fn execute(
        &mut self,
        operation: &str,
        sql: &str,
        parameters: Vec<Value>,
    ) -> Result<u64, StoreError> {
        self.kept.note(sql, &parameters);
        let statement = self.statement(operation, sql).await?;
        self.run(operation, async |conn: &mut Conn| {
            conn.exec_drop(&statement, positional(parameters)).await?;
            Ok(conn.affected_rows())
        })
        .await
    }

    /// Executes a prepared statement once with many rows of parameters (`COM_STMT_BULK_EXECUTE`): one statement, one commit.
    pub(crate) async fn execute_bulk(
        &mut self,
        operation: &str,
        sql: &str,
        rows: Vec<Vec<Value>>,
    ) -> Result<(), StoreError> {
        self.kept.note_bulk(sql, &rows);
        let statement = self.statement(operation, sql).await?;
        self.run(operation, async |conn: &mut Conn| {
            conn.exec_batch(&statement, rows.into_iter().map(Params::Positional)).await
        })
        .await
    }

    /// Sends statements as text, several with semicolons between them; waits for all of them.
    pub(crate) async fn text(&mut self, operation: &str, sql: impl Into<String>) -> Result<(), StoreError> {
        let sql = sql.into();
        self.kept.note_text(&sql, None);
        self.run(operation, async |conn: &mut Conn| conn.query_drop(sql).await).await
    }

    /// Runs LOAD DATA LOCAL INFILE with these bytes as the file: rows written and warnings.
    pub(crate) async fn load(
        &mut self,
        operation: &str,
        sql: &str,
        mut file: Bytes,
    ) -> Result<(u64, u16), StoreError> {
        let bytes = file.len();
        self.kept.note_text(sql, Some(format_args!("a file of {bytes} bytes goes with it")));
        self.run(operation, async |conn: &mut Conn| {
            let packets = std::iter::from_fn(move || {
                let length = file.len().min(INFILE_PACKET);
                (length > 0).then(|| Ok(file.split_to(length)))
            });
            conn.set_infile_handler(async move { Ok(futures_util::stream::iter(packets).boxed()) });
            conn.query_drop(sql).await?;
            Ok((conn.affected_rows(), conn.get_warnings()))
        })
        .await
    }

    /// Executes a prepared question, and hands over its rows as they come. The time allowed is for all of them together.
    pub(crate) async fn rows(
        &mut self,
        operation: &str,
        sql: &str,
        parameters: Vec<Value>,
        sink: &mut dyn FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.kept.note(sql, &parameters);
        let statement = self.statement(operation, sql).await?;
        self.run(operation, async |conn: &mut Conn| {
            let mut result = conn.exec_iter(&statement, positional(parameters)).await?;
            let mut told = Ok(());
            while let Some(row) = result.next().await? {
                if told.is_ok() {
                    told = sink(row);
                }
            }
            result.drop_result().await?;
            Ok(told)
        })
        .await?
    }

    /// The whole number that a question answers; 0 without a row.
    pub(crate) async fn number(&mut self, operation: &str, sql: &str) -> Result<i64, StoreError> {
        let mut number = 0;
        self.rows(operation, sql, Vec::new(), &mut |row| {
            number = cell::integer(&row, 0)?;
            Ok(())
        })
        .await?;
        Ok(number)
    }

    /// Executes a question as text and hands over its rows as they come, however long that takes; only a pause counts as a time-out.
    pub(crate) async fn stream(
        &mut self,
        operation: &str,
        sql: &str,
        sink: &mut dyn FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let statement =
            self.statement(operation, &format!("SET STATEMENT max_statement_time = 0 FOR {sql}")).await?;
        let (timeout, pause) = (self.timeout, self.timeout + GRACE);
        self.timeout = Duration::from_secs(u64::from(u32::MAX));
        let told = self
            .run(operation, async |conn: &mut Conn| {
                let Ok(result) = tokio::time::timeout(pause, conn.exec_iter(&statement, Params::Empty)).await
                else {
                    return Ok(None);
                };
                let (mut result, mut told) = (result?, Ok(()));
                loop {
                    match tokio::time::timeout(pause, result.next()).await {
                        Err(_) => return Ok(None),
                        Ok(row) => match row? {
                            None => break,
                            Some(row) if told.is_ok() => told = sink(row),
                            Some(_) => {}
                        },
                    }
                }
                result.drop_result().await?;
                Ok(Some(told))
            })
            .await;
        self.timeout = timeout;
        told?.unwrap_or_else(|| {
            self.conn = None;
            Err(StoreError::new(
                ErrorKind::Timeout,
                operation,
                format!("no further row within {} ms", timeout.as_millis()),
            ))
        })
    }

    /// Says goodbye.
    pub(crate) async fn close(mut self) -> Result<(), StoreError> {
        let Some(conn) = self.conn.take() else {
            return Ok(());
        };
        // The server answers a goodbye by closing; a server that does not is left alone.
        let _ = tokio::time::timeout(self.timeout, conn.disconnect()).await;
        Ok(())
    }
}

fn positional(parameters: Vec<Value>) -> Params {
    if parameters.is_empty() { Params::Empty } else { Params::Positional(parameters) }
}

/// Cells of a row, read as what a column holds.
pub(crate) mod cell {
    use mysql_async::{Row, Value};
    use sensormark_store::{ErrorKind, StoreError};

    /// The error of a cell that holds something else than it should.
    pub(crate) fn unexpected(column: usize, what: &str) -> StoreError {
        StoreError::new(
            ErrorKind::Protocol,
            "read an answer of MariaDB",
            format!("column {column} holds no {what}; was the database created with another schema?"),
        )
    }

    /// The cell, `None` where it is NULL.
    pub(crate) fn value(row: &Row, column: usize) -> Option<&Value> {
        row.as_ref(column).filter(|value| **value != Value::NULL)
    }

    /// A whole number of 64 bits; decimals without a fraction too.
    pub(crate) fn integer(row: &Row, column: usize) -> Result<i64, StoreError> {
        match value(row, column) {
            Some(Value::Int(value)) => Some(*value),
            Some(Value::UInt(value)) => i64::try_from(*value).ok(),
            Some(Value::Bytes(digits)) => str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()),
            _ => None,
        }
        .ok_or_else(|| unexpected(column, "whole number"))
    }

    /// Text.
    pub(crate) fn text(row: &Row, column: usize) -> Result<&str, StoreError> {
        match value(row, column) {
            Some(Value::Bytes(bytes)) => str::from_utf8(bytes).ok(),
            _ => None,
        }
        .ok_or_else(|| unexpected(column, "text"))
    }
}
