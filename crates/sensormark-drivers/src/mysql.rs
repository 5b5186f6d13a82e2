//! MySQL's protocol as MariaDB speaks it, by `mysql_async`: prepared statements, one of them executed for many rows, files of LOAD DATA out of memory.
//!
//! A URL may name several hosts, the members of a Galera cluster ([`members`]).

mod error;

mod members;

mod url;

mod value;

mod writing;

use self::error::{fault, is_fatal};
use self::members::{Turns, open_other, open_writer};
use self::url::Options;
use self::value::{WireRow, native, plan_line, read};
use crate::{Cell, Connection, Driver, EachRow, Fault, Named, Place, Prepared, Purpose};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Params, Row, Statement, Value};
use sensormark_kit::url::existing_server;
use sensormark_store::{Endpoint, ErrorKind, LocalFuture, StoreError};
use std::time::Duration;

const OPERATION: &str = "ask MariaDB";

/// The time of a statement ran out, or it was killed. In a cluster, a commit that other members have may go on nevertheless.
const GIVEN_UP: [&str; 3] = ["1317", "1969", "3024"];

/// The protocol, and which members of clusters take this process's writes.
#[derive(Debug, Default)]
pub struct Mysql {
    turns: Turns,
}

impl Driver for Mysql {
    fn endpoint(&self, store: &Named, url: &str) -> Result<Endpoint, StoreError> {
        Ok(existing_server(&store.name, url, Options::parse(url)?.ports()))
    }

    fn open<'a>(&'a self, place: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>> {
        Box::pin(async move {
            let options = Options::parse(place.endpoint.url.expose())?;
            let turn = self.turns.of(&options);
            let database = place.database.as_deref();
            let mut links = vec![open_writer(&options, &turn, database, place.timeout).await?];
            if options.reads_replicas && place.purpose == Purpose::Work {
                links.push(open_other(&options, &turn, database, place.timeout).await?);
            }
            let session: Box<dyn Connection> =
                Box::new(Session { links, statements: Vec::new(), sync_wait: options.sync_wait });
            Ok(session)
        })
    }
}

/// A connection to one server.
struct Link {
    /// None when it is of no more use.
    conn: Option<Conn>,
    /// Whether the server is a member of a cluster, as the URL says.
    is_member: bool,
    /// The server's own bound of an operation's time, and the statement that sets another one.
    time: Option<Duration>,
    bound: Option<String>,
}

/// A text, and what each server knows it by.
struct Kept {
    text: String,
    on: [Option<Statement>; 2],
}

/// A connection: to the server that takes writes, and where the URL says so to a member that answers questions.
struct Session {
    links: Vec<Link>,
    statements: Vec<Kept>,
    sync_wait: Option<u8>,
}

fn positional(values: Vec<Value>) -> Params {
    if values.is_empty() { Params::Empty } else { Params::Positional(values) }
}

/// The statement that bounds the time of those that follow, and of waiting for locks.
fn bound(time: Option<Duration>) -> String {
    let Some(time) = time else { return "SET SESSION max_statement_time = 0".to_owned() };
    let (seconds, whole) = (time.as_secs_f64().max(0.001), time.as_secs().max(1));
    format!(
        "SET SESSION max_statement_time = {seconds:.3}, innodb_lock_wait_timeout = {whole}, lock_wait_timeout = {whole}"
    )
}

impl Link {
    async fn open(options: &Options, host: usize, database: Option<&str>) -> Result<Self, Fault> {
        let conn = options.connect(host, database).await?;
        let is_member = options.hosts() > 1;
        let mut link = Self { conn: Some(conn), is_member, time: None, bound: None };
        if let Some(bits) = options.sync_wait {
            link.run(&format!("SET SESSION wsrep_sync_wait = {bits}")).await?;
        }
        Ok(link)
    }

    /// Does something with the connection, once its time is bounded. A connection is of no more use after some failures, and when what it does is dropped.
    async fn with<T>(
        &mut self,
        operation: &str,
        action: impl AsyncFnOnce(&mut Conn) -> Result<T, Error>,
    ) -> Result<T, Fault> {
        let Some(mut conn) = self.conn.take() else {
            let text = "this session's connection is gone after an earlier failure; connect again";
            let error = StoreError::new(ErrorKind::Unavailable, operation, text).with_doubt(false);
            return Err(Fault::Known(error));
        };
        let bounded = match self.bound.take() {
            Some(bound) => conn.query_drop(bound).await,
            None => Ok(()),
        };
        let done = match bounded {
            Ok(()) => action(&mut conn).await,
            Err(error) => Err(error),
        };
        let error = match done {
            Ok(done) => {
                self.conn = Some(conn);
                return Ok(done);
            }
            Err(error) => error,
        };
        if !is_fatal(&error) {
            self.conn = Some(conn);
        }
        match fault(operation, error) {
            Fault::Refused { codes, text, source }
                if self.is_member && codes.iter().any(|code| GIVEN_UP.contains(&code.as_str())) =>
            {
                let error = StoreError::new(ErrorKind::Timeout, operation, text).with_doubt(true);
                Err(Fault::Known(error.with_source(source)))
            }
            fault => Err(fault),
        }
    }

    /// Runs texts without values, several with semicolons between them.
    async fn run(&mut self, text: &str) -> Result<(), Fault> {
        self.with("run statements in MariaDB", async |conn: &mut Conn| conn.query_drop(text).await).await
    }

    async fn query(
        &mut self,
        statement: &Statement,
        values: Vec<Value>,
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let more = self
            .with(OPERATION, async |conn: &mut Conn| {
                let mut result = conn.exec_iter(statement, positional(values)).await?;
                let mut more = Ok(true);
                // All is read whatever becomes of it, because the connection is used again.
                while let Some(row) = result.next().await? {
                    if let Ok(true) = more {
                        more = each(&WireRow(&row));
                    }
                }
                result.drop_result().await?;
                Ok(more)
            })
            .await?;
        more?;
        Ok(())
    }

    /// Says goodbye. The server answers by closing; one that does not is left alone.
    async fn close(self) {
        if let Some(conn) = self.conn {
            drop(conn.disconnect().await);
        }
    }
}

impl Session {
    /// The link that answers questions.
    fn reader(&self) -> usize {
        self.links.len() - 1
    }

    /// What a link's server knows a text by; it is prepared there when it is first used.
    async fn ready(&mut self, link: usize, statement: Prepared) -> Result<Statement, Fault> {
        let kept = &mut self.statements[statement.0];
        if let Some(known) = &kept.on[link] {
            return Ok(known.clone());
        }
        let text = kept.text.as_str();
        let known = self.links[link]
            .with("prepare a statement in MariaDB", async |conn: &mut Conn| conn.prep(text).await)
            .await?;
        Ok(kept.on[link].insert(known).clone())
    }
}

impl Connection for Session {
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            for link in &mut self.links {
                link.run(text).await?;
            }
            Ok(())
        })
    }

    fn prepare<'a>(&'a mut self, text: &'a str, _: &'a [String]) -> LocalFuture<'a, Result<Prepared, Fault>> {
        self.statements.push(Kept { text: text.to_owned(), on: [None, None] });
        let prepared = Prepared(self.statements.len() - 1);
        Box::pin(async move { Ok(prepared) })
    }

    fn text(&self, statement: Prepared) -> &str {
        &self.statements[statement.0].text
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        Box::pin(async move {
            for kept in std::mem::take(&mut self.statements) {
                for (link, known) in self.links.iter_mut().zip(kept.on) {
                    let Some(known) = known else { continue };
                    link.with("give up a statement of MariaDB", async |conn: &mut Conn| {
                        conn.close(known).await
                    })
                    .await?;
                }
            }
            Ok(())
        })
    }

    fn query<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
        each: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let reader = self.reader();
            let ready = self.ready(reader, statement).await?;
            let values = values.iter().map(|&cell| native(cell)).collect();
            self.links[reader].query(&ready, values, each).await
        })
    }

    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move {
            // What has no values (START TRANSACTION) need not be prepared.
            if values.is_empty() {
                let text = self.statements[statement.0].text.as_str();
                return self.links[0].run(text).await.map(|()| 0);
            }
            let values = values.iter().map(|&cell| native(cell)).collect();
            self.execute_once(statement, values).await
        })
    }

    fn write<'a>(&'a mut self, block: crate::Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(self.write_block(block))
    }

    /// The server gets the same limit, so that it gives up by itself.
    fn within(&mut self, time: Option<Duration>) {
        for link in self.links.iter_mut().filter(|link| link.time != time) {
            link.time = time;
            link.bound = Some(bound(time));
        }
    }

    fn plan<'a>(
        &'a mut self,
        explain: &'a str,
        values: &'a [String],
    ) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        Box::pin(async move {
            let reader = self.reader();
            let values: Vec<Value> = values.iter().map(|value| read(value)).collect();
            let lines = self.links[reader]
                .with(OPERATION, async |conn: &mut Conn| {
                    let statement = conn.prep(explain).await?;
                    let rows: Vec<Row> = conn.exec(&statement, positional(values)).await?;
                    conn.close(statement).await?;
                    Ok(rows.iter().map(plan_line).collect::<Vec<String>>())
                })
                .await?;
            Ok(Some(lines.join("\n")))
        })
    }

    fn own_settings(&self) -> Vec<(String, String)> {
        let bits = self.sync_wait.map(|bits| ("wsrep_sync_wait".to_owned(), bits.to_string()));
        bits.into_iter().collect()
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), Fault>> {
        Box::pin(async move {
            for link in self.links {
                link.close().await;
            }
            Ok(())
        })
    }
}
