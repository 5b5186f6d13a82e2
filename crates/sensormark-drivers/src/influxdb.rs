//! InfluxDB over HTTP: questions in InfluxQL or Flux, readings as lines of points, which may go in datagrams too.
//!
//! Statements are InfluxQL, or Flux (the module `flux`). `INSERT` is that of its shell, and `GET /ping` asks for the version. The driver asks `SHOW STATS` until
//! a database is at rest (`rest`). An InfluxDB 2 is asked by its own interface (`second`).

mod accounts;

mod answer;

mod flux;

mod http;

mod rest;

mod row;

mod second;

mod text;

mod url;

mod writing;

use self::answer::Wanted;
use self::flux::Question;
use self::http::{Link, Message, garbled};
use self::row::Cells;
use self::url::{FIRST, Options, SECOND};
use crate::{Block, Cell, Connection, Driver, EachRow, Fault, Named, Place, Prepared, Purpose};
use ::url::form_urlencoded::byte_serialize;
use bytes::Bytes;
use sensormark_kit::Row;
use sensormark_kit::url::existing_server;
use sensormark_store::wire::DatagramPath;
use sensormark_store::{Endpoint, ErrorKind, LocalFuture, Plan, StoreError};
use std::rc::Rc;
use std::time::Duration;
use tokio::net::UdpSocket;

/// HTTP, and datagrams.
#[derive(Debug, Clone, Copy, Default)]
pub struct Influxdb;

impl Driver for Influxdb {
    fn momentary_misses(&self) -> Option<&'static str> {
        Some(
            "the server counts a series' values in its cache before it copies them: where another session writes and a third asks in between, the last are left out",
        )
    }

    fn name_there(&self, plan: &Plan) -> Result<Option<String>, StoreError> {
        Options::parse(plan.endpoint.url.expose())?.name_there(plan)
    }

    fn endpoint(&self, store: &Named, url: &str) -> Result<Endpoint, StoreError> {
        Ok(existing_server(&store.name, url, vec![Options::parse(url)?.port]))
    }

    fn open<'a>(&'a self, place: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>> {
        Box::pin(async move {
            let options = Options::parse(place.endpoint.url.expose())?;
            let mut session = Session {
                link: Link::open(options).await?,
                database: place.database.clone().unwrap_or_default(),
                version: String::new(),
                statements: Vec::new(),
                body: Vec::new(),
                packed: Vec::new(),
                in_parts: false,
                socket: None,
                datagram_bytes: 0,
            };
            // A connection may come about with a server that answers nothing: only one that answers is waited for longer.
            if place.purpose != Purpose::Work {
                session.greet().await?;
            }
            if place.purpose == Purpose::Look {
                session.enter(place.endpoint.managed).await?;
            }
            let session: Box<dyn Connection> = Box::new(session);
            Ok(session)
        })
    }
}

/// A connection.
struct Session {
    link: Link,
    /// Empty on the server's own connection.
    database: String,
    version: String,
    statements: Vec<Rc<Statement>>,
    /// The latest answer's body; its memory is used again.
    body: Vec<u8>,
    packed: Vec<u8>,
    /// Whether answers come in parts: those of any length.
    in_parts: bool,
    socket: Option<(UdpSocket, DatagramPath)>,
    datagram_bytes: u64,
}

struct Statement {
    text: String,
    types: Vec<String>,
    wanted: Wanted,
    flux: Option<Question>,
}

/// A value as it stands in a URL's question, and in a form.
fn escaped(value: &str) -> String {
    byte_serialize(value.as_bytes()).collect()
}

/// The name between the first double quotes of a statement.
fn name_in(text: &str) -> &str {
    text.split('"').nth(1).unwrap_or_default()
}

impl Session {
    /// Asks for the version, and fails where the URL is of another generation of InfluxDB than the server.
    async fn greet(&mut self) -> Result<(), Fault> {
        let version = self.link.ask(Message::get("/ping"), &mut self.body).await?;
        version.trim_start_matches('v').clone_into(&mut self.version);
        let version = &self.version;
        let (kind, advice) = match (version.chars().next(), &self.link.options.organisation) {
            (Some('2'), None) => (
                ErrorKind::Configuration,
                format!("it has organisations and tokens in place of users: name both by {SECOND}"),
            ),
            (Some('1'), Some(_)) => (
                ErrorKind::Configuration,
                format!("it has users in place of organisations and tokens: name one by {FIRST}"),
            ),
            (Some('3'), _) => (
                ErrorKind::Unsupported,
                "it has no Flux and makes no databases by these interfaces; name a server of 1.8 or 2"
                    .to_owned(),
            ),
            (None, None) => return Err(garbled("the answer to /ping states no version").into()),
            _ => return Ok(()),
        };
        let text = format!("this is InfluxDB {version}; {advice}");
        Err(StoreError::new(kind, "ask InfluxDB for its version", text).into())
    }

    /// Asks a statement of InfluxQL.
    async fn ask(&mut self, text: &str, wanted: &Wanted, each: &mut EachRow<'_>) -> Result<(), Fault> {
        let body = self.form(text);
        let content = "application/x-www-form-urlencoded";
        let message = Message { accept: "application/x-msgpack", ..Message::post("/query", content, body) };
        if !self.in_parts {
            self.link.ask(message, &mut self.body).await?;
            return answer::read(&self.body, wanted, false, each).map(drop);
        }
        let (mut pending, mut again_at) = (Vec::new(), 0);
        let sink = &mut |part: &[u8]| {
            pending.extend_from_slice(part);
            if pending.len() >= again_at {
                let used = answer::read(&pending, wanted, true, each)?;
                pending.drain(..used);
                again_at = pending.len() * 5 / 4;
            }
            Ok(())
        };
        self.link.stream(message, sink).await?;
        match answer::read(&pending, wanted, true, each)? {
            used if used < pending.len() => Err(garbled("the answer ends too early").into()),
            _ => Ok(()),
        }
    }

    /// The form that carries a statement.
    fn form(&self, text: &str) -> Bytes {
        let database =
            if self.database.is_empty() { String::new() } else { format!("db={}&", self.database) };
        let parts = if self.in_parts { "chunked=true&chunk_size=10000&" } else { "" };
        format!("{database}epoch=ns&{parts}q={}", escaped(text)).into()
    }

    /// The first column of what a statement shows.
    async fn shown(&mut self, text: &str) -> Result<Vec<String>, Fault> {
        let mut names = Vec::new();
        let each = &mut |row: &dyn Row| {
            names.push(row.printed(0)?);
            Ok(true)
        };
        self.ask(text, &Wanted::default(), each).await?;
        Ok(names)
    }

    /// What InfluxQL says, and what the driver does in its place; the rows are texts, if there are any.
    async fn tell(&mut self, text: &str) -> Result<Option<Vec<Vec<String>>>, Fault> {
        let is_second = self.link.options.organisation.is_some();
        let is_given = self.link.options.given.as_deref() == Some(name_in(text));
        let begins = |words: &str| text.starts_with(words);
        if text == "GET /ping" {
            Ok(Some(vec![vec![self.version.clone()]]))
        } else if begins("INSERT ") {
            self.insert(text).await.map(Some)
        } else if text == "SHOW STATS" {
            self.rest().await.map(Some)
        } else if begins("SHOW STATS") {
            self.bytes(text).await.map(Some)
        } else if text == "SHOW DIAGNOSTICS" {
            self.settings().await.map(Some)
        } else if is_second && text == "SHOW DATABASES" {
            let names = self.buckets(None).await?.into_iter().map(|bucket| vec![bucket.name]);
            Ok(Some(names.collect()))
        } else if is_second && begins("CREATE DATABASE") {
            self.make_bucket(name_in(text), is_given).await.map(Some)
        } else if is_second && begins("DROP DATABASE") {
            self.remove_bucket(name_in(text), is_given).await.map(Some)
        } else if is_given && begins("CREATE DATABASE") {
            Ok(Some(Vec::new()))
        } else if is_given && begins("DROP DATABASE") {
            self.empty(name_in(text)).await.map(Some)
        } else {
            Ok(None)
        }
    }

    /// Drops what is in a database that has to stay. The mark goes last: what a failure leaves behind still bears it.
    async fn empty(&mut self, name: &str) -> Result<Vec<Vec<String>>, Fault> {
        let mut measurements = self.shown(&format!("SHOW MEASUREMENTS ON \"{name}\"")).await?;
        measurements.sort_by_key(|measurement| measurement == "sensormark_owner");
        name.clone_into(&mut self.database);
        for measurement in measurements {
            self.shown(&format!("DROP SERIES FROM \"{measurement}\"")).await?;
        }
        Ok(Vec::new())
    }

    /// What Flux calls the database.
    fn bucket(&self) -> String {
        let policy = if self.link.options.organisation.is_some() { "" } else { "/autogen" };
        format!("{}{policy}", self.database)
    }

    async fn ask_flux(&mut self, script: &str) -> Result<(), Fault> {
        let dialect = serde_json::json!({"header": true, "delimiter": ",", "annotations": []});
        let body = serde_json::json!({"query": script, "type": "flux", "dialect": dialect}).to_string();
        let organisation = self.link.options.organisation.as_ref();
        let question = organisation.map_or_else(String::new, |name| format!("?org={}", escaped(name)));
        let path = format!("/api/v2/query{question}");
        let message = Message { accept: "text/csv", ..Message::post(&path, "application/json", body.into()) };
        self.link.ask(message, &mut self.body).await.map(drop)
    }

    async fn answer(
        &mut self,
        number: usize,
        cells: &[Cell<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let statement = Rc::clone(&self.statements[number]);
        let Statement { text, types, wanted, flux } = &*statement;
        if let Some(question) = flux {
            let holds_stop = self.link.options.organisation.is_none();
            let Some(script) = question.with(types, cells, holds_stop) else { return Ok(()) };
            self.ask_flux(&script).await?;
            return question.rows(&self.body, cells, each);
        }
        let told = if text.starts_with("INSERT ") {
            self.tell(&writing::with_texts(text, cells)).await?
        } else {
            self.tell(text).await?
        };
        match told {
            Some(rows) => {
                for row in rows {
                    each(&Cells::plain(row.iter().map(|cell| Cell::Text(cell)).collect()))?;
                }
                Ok(())
            }
            None => self.ask(&text::influxql(text, types, cells), wanted, each).await,
        }
    }
}

impl Connection for Session {
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            match self.tell(text).await? {
                Some(_) => Ok(()),
                None => self.shown(text).await.map(drop),
            }
        })
    }

    fn prepare<'a>(
        &'a mut self,
        text: &'a str,
        types: &'a [String],
    ) -> LocalFuture<'a, Result<Prepared, Fault>> {
        let flux = Question::read(text, &self.bucket());
        let statement =
            Statement { text: text.to_owned(), types: types.to_vec(), wanted: Wanted::of(text), flux };
        self.statements.push(Rc::new(statement));
        Box::pin(std::future::ready(Ok(Prepared(self.statements.len() - 1))))
    }

    fn text(&self, statement: Prepared) -> &str {
        &self.statements[statement.0].text
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.statements.clear();
        Box::pin(std::future::ready(Ok(())))
    }

    fn query<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
        each: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(self.answer(statement.0, values, each))
    }

    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move { self.answer(statement.0, values, &mut |_| Ok(true)).await.map(|()| 0) })
    }

    fn written(&self, block: &Block<'_>) -> Option<String> {
        self.first_lines(block)
    }

    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(self.write_lines(block))
    }

    fn within(&mut self, time: Option<Duration>) {
        self.in_parts = time.is_none();
    }

    fn datagram_bytes(&self) -> u64 {
        self.datagram_bytes
    }

    /// Values are printed as SQL has them.
    fn plan<'a>(
        &'a mut self,
        explain: &'a str,
        values: &'a [String],
    ) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        Box::pin(async move {
            let mut text = String::new();
            for (slot, piece) in crate::pieces(explain) {
                text.push_str(slot.and_then(|slot| values.get(slot)).map_or("", String::as_str));
                text.push_str(piece);
            }
            let mut lines = Vec::new();
            let each = &mut |row: &dyn Row| {
                lines.push(row.printed(0)?);
                Ok(true)
            };
            self.ask(&text, &Wanted::of(explain), each).await?;
            Ok(Some(lines.join("\n")))
        })
    }
}
