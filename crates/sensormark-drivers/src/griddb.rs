//! GridDB by its own C client (libgridstore), which is loaded when it is needed: questions in TQL, rows put into containers, and the server's administration over HTTP.
//!
//! No code of GridDB is built or shipped: without the library everything else works.

mod asking;

mod client;

mod containers;

mod foreign;

mod isolation;

mod kind;

mod library;

mod rest;

mod text;

mod url;

mod writing;

use self::client::{Container, Row};
use self::library::library;
use self::rest::Rest;
use self::text::Plan;
use self::url::Options;
use crate::fetched::Fetched;
use crate::{Block, Cell, Connection, Driver, EachRow, Fault, Named, Place, Prepared, Purpose};
use sensormark_kit::url::existing_server;
use sensormark_store::{
    DatabaseName, Endpoint, ErrorKind, Installation, LocalFuture, SessionKind, StoreError,
};
use std::collections::HashMap;
use std::future::ready;
use std::rc::Rc;
use std::time::Duration;

/// The C client.
#[derive(Debug, Clone, Copy, Default)]
pub struct Griddb;

impl Driver for Griddb {
    fn session(&self) -> SessionKind {
        SessionKind::Blocking
    }

    fn endpoint(&self, store: &Named, url: &str) -> Result<Endpoint, StoreError> {
        let ports = Options::parse(url)?.nodes.iter().map(|node| node.1).collect();
        Ok(existing_server(&store.name, url, ports))
    }

    fn installation(&self) -> Option<Result<Installation, StoreError>> {
        Some(library().map(|_| Installation::default()))
    }

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        Some(
            "gsserver listens on every interface whatever its configuration says, not on one address alone, and its ports for other nodes have no password",
        )
    }

    fn check_start(&self) -> Result<Option<String>, StoreError> {
        isolation::check()
    }

    fn open<'a>(&'a self, place: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>> {
        Box::pin(ready(Session::open(place).map(|session| -> Box<dyn Connection> { Box::new(session) })))
    }
}

/// A connection.
struct Session {
    connection: client::Connection,
    options: Options,
    time: Duration,
    /// Empty on the server's own connection.
    database: String,
    /// Whether rows are committed by hand.
    is_durable: bool,
    statements: Vec<(String, Rc<Option<Plan>>)>,
    /// Those that were opened, by name, and whether rows are committed by hand in them.
    containers: HashMap<(String, bool), Container>,
    /// Rows to be used again, by the name of what has their columns.
    spare: HashMap<String, Vec<Row>>,
}

fn absent(name: &str) -> StoreError {
    let text =
        format!("container {name} is not there: was its database dropped, or made with another schema?");
    StoreError::new(ErrorKind::NotFound, "open a container", text)
}

impl Session {
    fn open(place: &Place) -> Result<Self, Fault> {
        let (options, time) = (Options::parse(place.endpoint.url.expose())?, place.timeout);
        let connection =
            client::Connection::open(library()?, &Options::factory(time), &options.properties(time))?;
        let session = Self {
            connection,
            options,
            time,
            database: place.database.clone().unwrap_or_default(),
            is_durable: false,
            statements: Vec::new(),
            containers: HashMap::new(),
            spare: HashMap::new(),
        };
        match (place.purpose, &place.database) {
            (Purpose::Look, None) => session.greet(place.endpoint.managed)?,
            (Purpose::Work, Some(name)) => {
                let owner = format!("{name}-owner");
                session.connection.container(&owner)?.ok_or_else(|| absent(&owner))?;
            }
            _ => {}
        }
        Ok(session)
    }

    fn rest(&self) -> Rest<'_> {
        Rest { options: &self.options, time: self.time }
    }

    /// Fails until the node serves all of its partitions. A node of our own joins its cluster when it is first asked.
    fn greet(&self, is_managed: bool) -> Result<(), Fault> {
        let state = self.rest().state()?;
        let status = &state["cluster"]["nodeStatus"];
        if is_managed && status == "INACTIVE" {
            self.rest().join()?;
        }
        if status != "ACTIVE" {
            let text = format!(
                "the node is {status}, not ACTIVE: it is joining its cluster, or must be told to (gs_joincluster)"
            );
            let error = StoreError::new(ErrorKind::Unavailable, "ask GridDB for its version", text);
            return Err(error.with_doubt(false).into());
        }
        // It says why nobody is reached, which a question to all partitions does not.
        self.connection.container(&format!("{}-owner", DatabaseName::PREFIX))?;
        // An active node may not serve all of its partitions yet.
        self.connection.names(Some(1)).map(drop)
    }

    /// The container of a name, or of a series of this table.
    fn container(&mut self, name: &str, series: Option<u32>, by_hand: bool) -> Result<Container, Fault> {
        let name = match series {
            Some(series) => format!("{}-{name}-{series}", self.database),
            None => format!("{}-{name}", self.database),
        };
        let key = (name, by_hand);
        if let Some(known) = self.containers.get(&key) {
            return Ok(known.clone());
        }
        let container = self.connection.container(&key.0)?.ok_or_else(|| absent(&key.0))?;
        if by_hand {
            self.connection.commit_by_hand(&container)?;
        }
        self.containers.insert(key, container.clone());
        Ok(container)
    }

    /// After a failure a container may have been dropped, or made anew.
    fn kept<T>(&mut self, done: Result<T, Fault>) -> Result<T, Fault> {
        if done.is_err() {
            self.containers.clear();
            self.spare.clear();
        }
        done
    }

    fn answer(
        &mut self,
        statement: Prepared,
        cells: &[Cell<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let (text, plan) = self.statements[statement.0].clone();
        match &*plan {
            Some(plan) if plan.put.is_empty() => self.ask(plan, cells, each),
            Some(plan) => self.put_one(plan, &|slot| cells[slot]),
            None => {
                for row in self.tell(&text)? {
                    each(&Fetched(row.iter().map(|cell| Cell::Text(cell)).collect::<Vec<_>>()))?;
                }
                Ok(())
            }
        }
    }
}

impl Connection for Session {
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        let told = self.tell(text).map(drop);
        Box::pin(ready(self.kept(told)))
    }

    fn prepare<'a>(
        &'a mut self,
        text: &'a str,
        types: &'a [String],
    ) -> LocalFuture<'a, Result<Prepared, Fault>> {
        self.statements.push((text.to_owned(), Rc::new(Plan::read(text, types))));
        Box::pin(ready(Ok(Prepared(self.statements.len() - 1))))
    }

    fn text(&self, statement: Prepared) -> &str {
        &self.statements[statement.0].0
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.statements.clear();
        Box::pin(ready(Ok(())))
    }

    fn query<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
        each: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>> {
        let answered = self.answer(statement, values, each);
        Box::pin(ready(self.kept(answered)))
    }

    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>> {
        let done = self.answer(statement, values, &mut |_| Ok(true)).map(|()| 1);
        Box::pin(ready(self.kept(done)))
    }

    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        let plan = Rc::clone(&self.statements[block.statement.0].1);
        let written = match &*plan {
            Some(plan) => self.put(plan, block.encoder, block.rows),
            None => Err(sensormark_kit::unexpected("a block of what is no container").into()),
        };
        Box::pin(ready(self.kept(written)))
    }

    /// A question's value is the container that it was put to.
    fn plan<'a>(
        &'a mut self,
        explain: &'a str,
        values: &'a [String],
    ) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        // Nobody asked for these.
        let sent = self.connection.sent.take();
        let plan = || {
            let Some(container) = values.first() else { return Ok(None) };
            let Some(container) = self.connection.container(container)? else { return Ok(None) };
            Ok(Some(self.connection.ask(&[(container, explain)])?[0].plan()?))
        };
        let plan = plan();
        self.connection.sent.replace(sent);
        Box::pin(ready(plan))
    }

    fn sent(&mut self) -> Option<Vec<(String, Vec<String>)>> {
        self.connection.sent.replace(Some(Vec::new())).or_else(|| Some(Vec::new()))
    }
}
