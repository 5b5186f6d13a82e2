//! QuestDB: questions by PostgreSQL's protocol ([`crate::postgres`]), readings as lines over HTTP (the encoder `lines`), and answers that wait until writes show.
//!
//! QuestDB acknowledges a write when it is in the write-ahead log, and applies it to the table afterwards. An answer lacks what is not applied. So the store's
//! `before` is a question for the table's numbers of transactions ([`State`]). What was acknowledged before it is answered is in the answer that
//! follows; the wait is a part of the operation's time. Where nobody writes, it is asked until all shows, and not again.
//!
//! A question that is only run is waited for, until what it shows is at rest: the numbers of transactions, or bytes that a table takes.

mod http;

mod lines;

mod shown;

mod url;

use self::shown::{Look, PAUSE, State};
use self::url::Options;
use crate::lines::Outlet;
use crate::postgres::value::{Parameter, WireRow};
use crate::postgres::{self, Session as Questions};
use crate::{Block, Cell, Connection, Driver, EachRow, Fault, Named, Place, Prepared, Purpose};
use futures_util::TryStreamExt;
use futures_util::future::join;
use sensormark_kit::url::existing_server;
use sensormark_store::{Endpoint, LocalFuture, StoreError};
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio_postgres::Statement;
use tokio_postgres::types::Type;

/// The one database, in which all tables are.
const DATABASE: &str = "qdb";
/// How long an administrator asks again while another run is in the way: it read, made or dropped a table that the server wanted.
const BUSY: Duration = Duration::from_secs(60);

/// Both protocols.
#[derive(Debug, Clone, Copy, Default)]
pub struct Questdb;

impl Driver for Questdb {
    fn refuses_least_number(&self) -> Option<&'static str> {
        Some("QuestDB's LONG keeps it as NULL")
    }

    fn endpoint(&self, store: &Named, url: &str) -> Result<Endpoint, StoreError> {
        Ok(existing_server(&store.name, url, Options::parse(url)?.ports()))
    }

    fn open<'a>(&'a self, place: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>> {
        Box::pin(async move {
            let options = Options::parse(place.endpoint.url.expose())?;
            let mut lines = http::Link::new(&options)?;
            if place.purpose == Purpose::Work {
                lines.live().await?;
            }
            let link = postgres::Link::open(&options.questions, DATABASE, place.timeout, false).await?;
            let session: Box<dyn Connection> = Box::new(Session {
                asking: Questions { links: vec![link], statements: Vec::new() },
                lines,
                outlet: Outlet::default(),
                looks: Vec::new(),
                wanted: None,
                nobody_writes: false,
                is_patient: place.purpose != Purpose::Work,
                allowed: place.timeout,
            });
            Ok(session)
        })
    }
}

/// A connection.
struct Session {
    asking: Questions,
    lines: http::Link,
    outlet: Outlet,
    looks: Vec<Look>,
    /// The look that the next question wants.
    wanted: Option<usize>,
    nobody_writes: bool,
    is_patient: bool,
    allowed: Duration,
}

/// The wire's name of a column's type: symbols are texts, and times whole numbers.
fn wire_type(name: &str) -> String {
    match name {
        "DOUBLE" => "float8",
        "SYMBOL" | "VARCHAR" => "varchar",
        _ => "int8",
    }
    .to_owned()
}

/// No reading is of a time before 1970, and the least whole number is none.
fn parameter<'a>((cell, kind): (&Cell<'a>, &Type)) -> Parameter<'a> {
    match *cell {
        Cell::I64(value) if *kind == Type::INT8 => Parameter::Cell(Cell::I64(value.max(0))),
        cell => Parameter::Cell(cell),
    }
}

/// Whether this passes when another run is through with its table. Sizes are those of all tables, of which one may go meanwhile.
fn is_passing(text: &str, fault: &Fault) -> bool {
    let Fault::Refused { text: words, .. } = fault else { return false };
    let is_of_all = text.contains("table_storage()");
    ["table busy", "could not lock", "cached query plan"].iter().any(|busy| words.contains(busy))
        || is_of_all && words.contains("does not exist")
}

impl Session {
    /// Asks, and in the same trip looks whether all shows; rows are handed over if it does, or if nobody looked.
    async fn asked(
        &mut self,
        look: Option<&Statement>,
        statement: &Statement,
        values: &[Cell<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<Option<State>, Fault> {
        let postgres::Link { client, pump, .. } = &mut self.asking.links[0];
        let client = &*client;
        let values = values.iter().zip(statement.params()).map(parameter);
        let mut request = Box::pin(client.query_raw(statement, values));
        let asking = pin!(async {
            let (state, rows) = match look {
                None => (None, request.as_mut().await?),
                Some(look) => {
                    let (state, rows) = join(Box::pin(shown::look(client, look)), request.as_mut()).await;
                    (state?, rows?)
                }
            };
            let mut rows = pin!(rows);
            let mut more = Ok(state.is_none_or(State::is_complete));
            // All is read whatever becomes of it, because the connection is used again.
            while let Some(row) = rows.try_next().await? {
                if let Ok(true) = more {
                    more = each(&WireRow(&row));
                }
            }
            Ok(more.map(|_| state))
        });
        Ok(pump.run("ask", asking).await??)
    }

    /// Asks once all shows that the question wants to see.
    async fn ask(
        &mut self,
        statement: &Statement,
        values: &[Cell<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let Some(place) = self.wanted.take() else {
            return self.asked(None, statement, values, each).await.map(drop);
        };
        self.looks[place].is_done = true;
        let mut seen = None;
        if self.looks[place].is_quiet {
            let look = self.prepared_look(place).await?;
            seen = self.asked(Some(&look), statement, values, each).await?;
            if seen.is_none_or(State::is_complete) {
                return Ok(());
            }
        }
        let at_once = self.wait(place, seen, false).await?;
        self.looks[place].is_quiet = seen.is_none() && at_once || self.nobody_writes;
        self.asked(None, statement, values, each).await.map(drop)
    }

    async fn run_one(&mut self, text: &str) -> Result<(), Fault> {
        if text.contains("wal_tables()") {
            let place = self.place(text);
            return self.wait(place, None, true).await.map(drop);
        }
        if text.starts_with("SELECT") {
            return self.wait_at_rest(text).await;
        }
        self.asking.links[0].run(text).await
    }
}

impl Connection for Session {
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let began = Instant::now();
            for one in text.split(';').map(str::trim).filter(|one| !one.is_empty()) {
                while let Err(fault) = self.run_one(one).await {
                    if began.elapsed() >= BUSY || !is_passing(one, &fault) {
                        return Err(fault);
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
            Ok(())
        })
    }

    /// A LATEST ON gets a text that nobody else has. QuestDB 9.3.4 hands a compiled one from one connection to the next, with the symbols of the list that it ran with
    /// first. The next one was answered about other series.
    fn prepare<'a>(
        &'a mut self,
        text: &'a str,
        types: &'a [String],
    ) -> LocalFuture<'a, Result<Prepared, Fault>> {
        Box::pin(async move {
            let types: Vec<String> = types.iter().map(|name| wire_type(name)).collect();
            let prepared = self.asking.prepare(text, &types).await?;
            if text.contains(" LATEST ON ") {
                let kept = &mut self.asking.statements[prepared.0];
                let postgres::Link { client, pump, .. } = &mut self.asking.links[0];
                let own = format!("{text} /* {:x} */", RandomState::new().hash_one(text));
                let preparing = pin!(client.prepare_typed(&own, &kept.types));
                kept.on[0] = Some(pump.run("prepare a statement in", preparing).await?);
            }
            Ok(prepared)
        })
    }

    fn text(&self, statement: Prepared) -> &str {
        self.asking.text(statement)
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.asking.forget()
    }

    fn query<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
        each: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let began = Instant::now();
            loop {
                let asked = match self.asking.ready(0, statement).await {
                    Ok(ready) => self.ask(&ready, values, each).await,
                    Err(fault) => Err(fault),
                };
                match asked {
                    Err(fault)
                        if self.is_patient
                            && began.elapsed() < BUSY
                            && is_passing(self.text(statement), &fault) =>
                    {
                        tokio::time::sleep(PAUSE).await;
                    }
                    done => return done,
                }
            }
        })
    }

    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>> {
        self.asking.execute(statement, values)
    }

    fn written(&self, block: &Block<'_>) -> Option<String> {
        self.first_lines(block)
    }

    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(self.write_lines(block))
    }

    /// Of several statements of an operation, the first one looks.
    fn within(&mut self, _: Option<Duration>) {
        self.looks.iter_mut().for_each(|look| look.is_done = false);
    }

    fn nobody_writes(&mut self, nobody: bool) {
        self.nobody_writes = nobody;
        self.looks.iter_mut().for_each(|look| look.is_quiet = false);
    }

    fn wants(&mut self, look: &str) -> bool {
        let place = self.place(look);
        let known = &self.looks[place];
        self.wanted = (!(known.is_done || known.is_quiet && self.nobody_writes)).then_some(place);
        self.wanted.is_some()
    }

    fn cancel(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.asking.cancel()
    }

    fn plan<'a>(
        &'a mut self,
        explain: &'a str,
        values: &'a [String],
    ) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        self.asking.plan(explain, values)
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), Fault>> {
        Box::new(self.asking).close()
    }
}
