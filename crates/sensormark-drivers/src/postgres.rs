//! PostgreSQL's protocol, by `tokio-postgres`: explicit types, binary values both ways, COPY, arrays, and a session's setting in one trip with its statement.

mod error;

mod pump;

pub(crate) mod url;

pub(crate) mod value;

mod writing;

use self::error::fault;
use self::pump::Pump;
use self::url::Options;
use self::value::{Parameter, WireRow, type_named};
use crate::{Block, Cell, Connection, Driver, EachRow, Fault, Named, Place, Prepared, Purpose};
use futures_util::TryStreamExt;
use futures_util::future::join;
use sensormark_kit::Row;
use sensormark_kit::url::existing_server;
use sensormark_store::{Endpoint, ErrorKind, LocalFuture, StoreError};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::time::Duration;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};

const OPERATION: &str = "ask";
const PREPARE: &str = "prepare a statement in";

/// The protocol.
#[derive(Debug, Clone, Copy, Default)]
pub struct Postgres;

impl Driver for Postgres {
    fn endpoint(&self, store: &Named, url: &str) -> Result<Endpoint, StoreError> {
        Ok(existing_server(&store.name, url, Options::parse(url)?.ports()))
    }

    fn open<'a>(&'a self, place: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>> {
        Box::pin(async move {
            let options = Options::parse(place.endpoint.url.expose())?;
            let database = place.database.as_deref().or(options.database()).unwrap_or("postgres");
            let mut links = vec![Link::open(&options, database, place.timeout, false).await?];
            if options.reads_replicas && place.purpose == Purpose::Work {
                links.push(Link::open(&options, database, place.timeout, true).await?);
            }
            let session: Box<dyn Connection> = Box::new(Session { links, statements: Vec::new() });
            Ok(session)
        })
    }
}

/// A connection to one server.
pub(crate) struct Link {
    pub(crate) client: Client,
    pub(crate) pump: Pump,
    /// What the session's setting is, and what the next statement wants it to be.
    setting: String,
    wanted: Option<String>,
    /// The server's own bound of an operation's time, and the statement that sets another one.
    time: Option<Duration>,
    bound: Option<String>,
}

/// A text with its types, and what each server knows it by.
pub(crate) struct Kept {
    pub(crate) text: String,
    pub(crate) types: Rc<[Type]>,
    /// Whether the server says how many rows it stored.
    is_counted: bool,
    pub(crate) on: [Option<Statement>; 2],
}

/// A connection: to the server that takes writes, and where the URL says so to one that answers questions.
pub(crate) struct Session {
    pub(crate) links: Vec<Link>,
    pub(crate) statements: Vec<Kept>,
}

/// Sends a request, and before it, in the same trip, what is to be set.
async fn with_change<T>(
    client: &Client,
    change: Option<String>,
    request: Pin<&mut impl Future<Output = Result<T, tokio_postgres::Error>>>,
) -> Result<T, tokio_postgres::Error> {
    let Some(change) = change else { return request.await };
    let (changed, done) = join(Box::pin(client.batch_execute(&change)), request).await;
    changed.and(done)
}

impl Link {
    pub(crate) async fn open(
        options: &Options,
        database: &str,
        timeout: Duration,
        to_replica: bool,
    ) -> Result<Self, Fault> {
        let (client, connection) = options.connect(database, timeout, to_replica).await?;
        Ok(Self {
            client,
            pump: Pump::new(connection, options.title),
            setting: String::new(),
            wanted: None,
            time: None,
            bound: None,
        })
    }

    /// What is to be set in one trip with the next statement.
    fn change(&mut self) -> Option<String> {
        if self.wanted.is_none() && self.bound.is_none() {
            return None;
        }
        let wanted = self.wanted.take().inspect(|setting| self.setting.clone_from(setting));
        let parts = [self.bound.take(), wanted];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    /// Runs texts without values. What is to be set comes in a request of its own: within one, the server measures time from the request's start.
    pub(crate) async fn run(&mut self, text: &str) -> Result<(), Fault> {
        let change = self.change();
        let mut request = pin!(self.client.batch_execute(text));
        let running = pin!(with_change(&self.client, change, request.as_mut()));
        self.pump.run("run statements in", running).await?;
        if text.starts_with("SET ") {
            text.clone_into(&mut self.setting);
        }
        Ok(())
    }

    /// Sends a statement with what must be set before it; how many rows it changed.
    async fn execute<'a>(
        &mut self,
        statement: &Statement,
        values: impl ExactSizeIterator<Item = Parameter<'a>>,
    ) -> Result<u64, Fault> {
        let change = self.change();
        // Boxed by itself: one large future costs more than two that malloc keeps at hand (1 kB).
        let mut request = Box::pin(self.client.execute_raw(statement, values));
        let sending = pin!(with_change(&self.client, change, request.as_mut()));
        self.pump.run("write to", sending).await
    }

    async fn query<'a>(
        &mut self,
        statement: &Statement,
        values: impl ExactSizeIterator<Item = Parameter<'a>>,
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let change = self.change();
        let mut request = Box::pin(self.client.query_raw(statement, values));
        let asking = pin!(async {
            let rows = with_change(&self.client, change, request.as_mut()).await?;
            let mut rows = pin!(rows);
            let mut more = Ok(true);
            // All is read whatever becomes of it, because the connection is used again.
            while let Some(row) = rows.try_next().await? {
                if let Ok(true) = more {
                    more = each(&WireRow(&row));
                }
            }
            Ok(more)
        });
        self.pump.run(OPERATION, asking).await??;
        Ok(())
    }
}

impl Session {
    /// The link that answers questions.
    fn reader(&self) -> usize {
        self.links.len() - 1
    }

    /// What a link's server knows a text by; it is prepared there when it is first used.
    pub(crate) async fn ready(&mut self, link: usize, statement: Prepared) -> Result<Statement, Fault> {
        let kept = &mut self.statements[statement.0];
        if let Some(known) = &kept.on[link] {
            return Ok(known.clone());
        }
        // A COPY has no slots: its types are those of the rows that follow.
        let types: &[Type] = if kept.text.starts_with("COPY") { &[] } else { &kept.types };
        let link_there = &mut self.links[link];
        let mut preparing = Box::pin(link_there.client.prepare_typed(&kept.text, types));
        let preparing = preparing.as_mut();
        let known = link_there.pump.run(PREPARE, preparing).await?;
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

    fn prepare<'a>(
        &'a mut self,
        text: &'a str,
        types: &'a [String],
    ) -> LocalFuture<'a, Result<Prepared, Fault>> {
        Box::pin(async move {
            let known = types.iter().map(|name| {
                let unknown = || {
                    let text = format!("the driver has no type {name:?} for a slot");
                    StoreError::new(ErrorKind::Configuration, format!("{PREPARE} PostgreSQL"), text)
                };
                type_named(name).ok_or_else(unknown)
            });
            let types = known.collect::<Result<_, _>>()?;
            let is_counted =
                text.starts_with("COPY") || text.starts_with("INSERT") && !text.contains("ON CONFLICT");
            self.statements.push(Kept { text: text.to_owned(), types, is_counted, on: [None, None] });
            Ok(Prepared(self.statements.len() - 1))
        })
    }

    fn text(&self, statement: Prepared) -> &str {
        &self.statements[statement.0].text
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.statements.clear();
        Box::pin(async { Ok(()) })
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
            let values = values.iter().map(|&cell| Parameter::Cell(cell));
            self.links[reader].query(&ready, values, each).await
        })
    }

    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move {
            let ready = self.ready(0, statement).await?;
            self.links[0].execute(&ready, values.iter().map(|&cell| Parameter::Cell(cell))).await
        })
    }

    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(self.write_block(block))
    }

    fn wants(&mut self, setting: &str) -> bool {
        for link in &mut self.links {
            link.wanted = (link.setting != setting).then(|| setting.to_owned());
        }
        self.links.iter().any(|link| link.wanted.is_some())
    }

    /// The server gets the same limit, so that it gives up by itself.
    fn within(&mut self, time: Option<Duration>) {
        let millis = time.map_or(0, |time| time.as_millis().clamp(1, 2_147_483_647));
        for link in self.links.iter_mut().filter(|link| link.time != time) {
            link.time = time;
            link.bound = Some(format!("SET statement_timeout = {millis}"));
        }
    }

    fn cancel(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        Box::pin(async move {
            for link in &self.links {
                let cancelling = link.client.cancel_token().cancel_query(tokio_postgres::NoTls).await;
                cancelling
                    .map_err(|error| fault(&format!("cancel a statement of {}", link.pump.title()), error))?;
            }
            Ok(())
        })
    }

    fn plan<'a>(
        &'a mut self,
        explain: &'a str,
        values: &'a [String],
    ) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        Box::pin(async move {
            let kept = self.statements.iter().find(|kept| explain.ends_with(&kept.text));
            let types = kept.map(|kept| Rc::clone(&kept.types)).unwrap_or_default();
            let reader = self.reader();
            let link = &mut self.links[reader];
            let statement = {
                let preparing = pin!(link.client.prepare_typed(explain, &types));
                link.pump.run(OPERATION, preparing).await?
            };
            let mut lines = Vec::new();
            let values = values.iter().map(|value| Parameter::Printed(value));
            let mut each = |row: &dyn Row| {
                lines.push(row.text(0)?.to_owned());
                Ok(true)
            };
            link.query(&statement, values, &mut each).await?;
            Ok(Some(lines.join("\n")))
        })
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), Fault>> {
        Box::pin(async move {
            let Self { links, statements } = *self;
            drop(statements);
            for Link { client, pump, .. } in links {
                drop(client);
                if !pump.is_broken() {
                    pump.finish().await;
                }
            }
            Ok(())
        })
    }
}
