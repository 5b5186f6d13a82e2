//! MongoDB's protocol, by its own crate: commands as mongosh writes them ([`text`]), answers as rows ([`reader`]), and documents straight from columns ([`writing`],
//! [`buckets`]).
//!
//! A command may have words that are not sent: `read` is the shape of its answer, `$db` the database that it goes to, `bucket` how buckets are filled. A list of
//! commands shows settings; one that is refused is left out. `{writeConcern: {j: …}}` by itself is the session's durability. `again` is asked where a reading is
//! behind the range. `begin`, `commit` and `abort` are a transaction.

mod buckets;

mod error;

mod reader;

mod server;

mod text;

mod url;

mod writer;

mod writing;

use self::error::{fault, refusal};
use self::reader::{Cells, Shape, at_path, printed, shape_of};
use self::text::{Node, parse};
use self::url::Options;
use self::writer::{Kind, Of, Values, Writer};
use crate::{Block, Cell, Connection, Driver, EachRow, Fault, Named, Place, Prepared, Purpose};
use futures_util::StreamExt;
use mongodb::bson::{Bson, Document, RawBsonRef, RawDocumentBuf, doc};
use mongodb::options::WriteConcern;
use mongodb::{Client, ClientSession, Database};
use sensormark_kit::url::existing_server;
use sensormark_kit::{Row, unexpected};
use sensormark_store::{Endpoint, ErrorKind, LocalFuture, StoreError};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

const OPERATION: &str = "ask MongoDB";
/// The largest command that a server takes as one document: 16 MiB and what may go around a document of that size. It hangs up on a larger one.
const LARGEST_COMMAND: usize = (16 << 20) + (16 << 10);
/// Documents in a part of an answer, unless it reaches 16 MiB before.
const BATCH_SIZE: u32 = 1_000_000;
/// The server has no right for this user.
const UNAUTHORIZED: &str = "13";
/// Characters of a stage that a plan shows.
const DETAILS: usize = 1_000;

/// The protocol, and what kind of deployment was met last.
#[derive(Debug, Default)]
pub struct Mongodb {
    met: AtomicU8,
}

/// Kinds of deployments.
const STANDALONE: u8 = 1;
const WITH_TRANSACTIONS: u8 = 2;

impl Driver for Mongodb {
    fn two_commits(&self) -> Option<&'static str> {
        match self.met.load(Ordering::Relaxed) {
            WITH_TRANSACTIONS => None,
            STANDALONE => Some(
                "transactions need a replica set or a sharded cluster; this is a standalone server: use the profile replica-set or the URL of a replica set",
            ),
            _ => Some("transactions need a replica set or a sharded cluster, and no server was met yet"),
        }
    }

    fn endpoint(&self, store: &Named, url: &str) -> Result<Endpoint, StoreError> {
        Ok(existing_server(&store.name, url, Options::parse(url)?.ports()))
    }

    fn open<'a>(&'a self, place: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>> {
        Box::pin(async move {
            let opened = self.connect(place).await;
            opened.map_err(|fault| match fault {
                Fault::Known(error) => Fault::Known(error.with_doubt(false)),
                fault => fault,
            })
        })
    }
}

impl Mongodb {
    async fn connect(&self, place: &Place) -> Result<Box<dyn Connection>, Fault> {
        const OPERATION: &str = "connect to MongoDB";
        let options = Options::parse(place.endpoint.url.expose())?;
        if place.purpose == Purpose::Look && place.endpoint.managed && options.is_alone() {
            server::prepare(&options, place.timeout).await?;
        }
        let client = options.client(place.timeout).await?;
        let name = place.database.as_deref().unwrap_or("admin");
        let database = client.database(name);
        let hello = database.run_command(doc! { "hello": 1 }).await;
        let hello = hello.map_err(|error| fault(OPERATION, error))?;
        let is_sharded = hello.get_str("msg").is_ok_and(|text| text == "isdbgrid");
        let is_member = hello.contains_key("setName") || hello.get_bool("isreplicaset").unwrap_or(false);
        let met = if is_sharded || is_member { WITH_TRANSACTIONS } else { STANDALONE };
        self.met.store(met, Ordering::Relaxed);
        // MongoDB makes a database in silence when it is written to.
        if place.purpose == Purpose::Work {
            let list = doc! { "listCollections": 1, "nameOnly": true, "authorizedCollections": true };
            let listed = database.run_command(list).await.map_err(|error| fault(OPERATION, error))?;
            let found = at_path(&listed, "cursor.firstBatch").and_then(Bson::as_array);
            if found.is_none_or(Vec::is_empty) {
                let text = format!("the database {name} is not there; create it first");
                return Err(StoreError::new(ErrorKind::NotFound, OPERATION, text).into());
            }
        }
        Ok(Box::new(Session {
            two_commits: self.two_commits(),
            topology: match (is_sharded, is_member) {
                (true, _) => "sharded cluster, collections not sharded: all on the database's primary shard",
                (_, true) => "replica set",
                _ => "standalone",
            },
            client,
            database,
            options,
            journal: None,
            allowed: Some(place.timeout),
            transaction: None,
            statements: Vec::new(),
        }))
    }
}

/// A command that can be sent.
struct Ready {
    name: String,
    node: Node,
    kinds: Vec<Kind>,
    shape: Option<Shape>,
    database: Option<String>,
    bucket: Option<Node>,
    /// The column of dates, where their range is among the values, and what is asked too where a row is behind it.
    again: Option<([usize; 3], Box<Self>)>,
    /// How it was last sent.
    sent: RefCell<Option<RawDocumentBuf>>,
}

impl Ready {
    fn new(mut node: Node, kinds: &[Kind]) -> Self {
        let database = node.take("$db").and_then(|name| Some(name.text()?.to_owned()));
        let (bucket, shape) = (node.take("bucket"), shape_of(&mut node));
        let again = node.take("again").and_then(|again| match again {
            Node::Array(mut parts) => match (parts.pop()?, parts.as_slice()) {
                (command, [column, Node::Slot(start), Node::Slot(end)]) => {
                    let column = usize::try_from(column.number()?).ok()?;
                    Some(([column, *start, *end], Box::new(Self::new(command, kinds))))
                }
                _ => None,
            },
            _ => None,
        });
        Self {
            again,
            name: node.first_name().to_owned(),
            node,
            kinds: kinds.to_vec(),
            shape,
            database,
            bucket,
            sent: RefCell::default(),
        }
    }

    fn is_any(&self, names: &[&str]) -> bool {
        names.contains(&self.name.as_str())
    }
}

/// A text and its command, or what is shown of settings.
struct Kept {
    text: String,
    ready: Rc<Ready>,
}

/// A connection.
struct Session {
    client: Client,
    database: Database,
    options: Options,
    /// What the durability class says of the journal.
    journal: Option<bool>,
    allowed: Option<Duration>,
    transaction: Option<ClientSession>,
    statements: Vec<Kept>,
    two_commits: Option<&'static str>,
    topology: &'static str,
}

fn read(text: &str) -> Result<Node, Fault> {
    parse(text).map_err(|cause| {
        StoreError::new(ErrorKind::Configuration, "read a command of MongoDB", format!("{cause}: {text}"))
            .into()
    })
}

impl Session {
    /// What a session says in each of its commands.
    fn put_further(&self, ready: &Ready, writer: &mut Writer) {
        let is_write = ready.is_any(&["insert", "update", "delete"]);
        if self.transaction.is_some() || !(is_write || ready.is_any(&["find", "aggregate"])) {
            return;
        }
        if let Some(allowed) = self.allowed {
            let millis = i64::try_from(allowed.as_millis()).unwrap_or(i64::MAX).clamp(1, i64::from(i32::MAX));
            writer.cell("maxTimeMS", Cell::I64(millis), Kind::Long);
        }
        if is_write && ready.node.get("writeConcern").is_none() {
            writer.open("writeConcern");
            for (name, value) in self.options.write_concern(self.journal) {
                writer.value(&name, &value);
            }
            writer.close();
        }
        if is_write {
            return;
        }
        let size = Cell::I64(BATCH_SIZE.into());
        match ready.name.as_str() {
            "find" => writer.cell("batchSize", size, Kind::Long),
            _ if ready.node.get("cursor").is_none() => {
                writer.open("cursor");
                writer.cell("batchSize", size, Kind::Long);
                writer.close();
            }
            _ => {}
        }
        if let Some(level) = self.options.level {
            writer.open("readConcern");
            writer.cell("level", Cell::Text(level), Kind::Long);
            writer.close();
        }
    }

    fn command(&self, ready: &Ready, cells: &[Cell<'_>]) -> Result<RawDocumentBuf, Fault> {
        let mut writer = Writer::document();
        writer.entries(&ready.node, &Values { kinds: &ready.kinds, of: Of::Question(cells) });
        self.put_further(ready, &mut writer);
        let command = writer.finish()?;
        let bytes = command.as_bytes().len();
        if bytes <= LARGEST_COMMAND {
            *ready.sent.borrow_mut() = Some(command.clone());
            return Ok(command);
        }
        let text = format!(
            "a command of {bytes} bytes; MongoDB takes at most 16 MiB: ask for fewer series, or write smaller records"
        );
        Err(StoreError::new(ErrorKind::TooLarge, OPERATION, text).into())
    }

    fn database(&self, ready: &Ready) -> Database {
        ready.database.as_ref().map_or_else(|| self.database.clone(), |name| self.client.database(name))
    }

    /// The whole answer of a command.
    async fn answer(&self, ready: &Ready, cells: &[Cell<'_>]) -> Result<Document, Fault> {
        let answer = self.database(ready).run_raw_command(self.command(ready, cells)?).await;
        let answer = answer.map_err(|error| fault(OPERATION, error))?;
        refusal(&answer).map_or(Ok(answer), |(_, fault)| Err(fault))
    }

    async fn ask(&self, ready: &Ready, cells: &[Cell<'_>], each: &mut EachRow<'_>) -> Result<(), Fault> {
        if !ready.is_any(&["find", "aggregate", "listCollections", "listIndexes"]) {
            let answer = self.answer(ready, cells).await?;
            let answer = RawDocumentBuf::try_from(&answer).map_err(|error| fault(OPERATION, error.into()))?;
            hand_over(ready, &mut std::iter::once(Ok(RawBsonRef::Document(&answer))), each)?;
            return Ok(());
        }
        let command = self.command(ready, cells)?;
        let database = self.database(ready);
        let asked = database.run_raw_cursor_command(command).batch_size(BATCH_SIZE).batch().await;
        let mut cursor = asked.map_err(|error| fault(OPERATION, error))?;
        while let Some(batch) = cursor.next().await {
            let batch = batch.map_err(|error| fault(OPERATION, error))?;
            let documents = batch.doc_slices().map_err(|error| fault(OPERATION, error))?;
            if !hand_over(ready, &mut documents.into_iter(), each)? {
                break;
            }
        }
        Ok(())
    }

    /// What these commands say of settings: a name and a value each.
    async fn settings(&self, commands: &[Node], each: &mut EachRow<'_>) -> Result<(), Fault> {
        for command in commands {
            let mut command = command.clone();
            let read = command.take("read");
            let ready = Ready::new(command, &[]);
            let found: Vec<(String, String)> = match self.answer(&ready, &[]).await {
                // This version, or a router or standalone server, has no such thing.
                Err(Fault::Refused { codes, .. }) if codes[0] != UNAUTHORIZED => Vec::new(),
                Err(Fault::Refused { .. }) => {
                    vec![(ready.name, "the user may not read it (the role clusterMonitor may)".to_owned())]
                }
                Err(fault) => return Err(fault),
                Ok(answer) => match read {
                    Some(Node::Array(paths)) => {
                        let value = |path: &str| {
                            let name = path.strip_prefix("parsed.").unwrap_or(path);
                            Some((name.to_owned(), printed(at_path(&answer, path)?)))
                        };
                        paths.iter().filter_map(Node::text).filter_map(value).collect()
                    }
                    _ => {
                        let listed = at_path(&answer, "cursor.firstBatch").and_then(Bson::as_array);
                        let documents = listed.into_iter().flatten().filter_map(Bson::as_document);
                        let without_what_differs = |document: &Document| {
                            let stays = |(name, _): &(&String, &Bson)| *name != "info" && *name != "idIndex";
                            let kept: Document = document
                                .iter()
                                .filter(stays)
                                .map(|(name, value)| (name.clone(), value.clone()))
                                .collect();
                            (ready.name.clone(), kept.to_string())
                        };
                        documents.map(without_what_differs).collect()
                    }
                },
            };
            for (name, value) in &found {
                let columns = vec![Some(RawBsonRef::String(name)), Some(RawBsonRef::String(value))];
                each(&Cells::of(columns))?;
            }
        }
        Ok(())
    }

    async fn run_one(&mut self, text: &str) -> Result<(), Fault> {
        let ready = Ready::new(read(text)?, &[]);
        match ready.name.as_str() {
            "writeConcern" => {
                let journal = ready.node.get("writeConcern").and_then(|concern| concern.get("j"));
                self.journal = journal.map(|value| *value == Node::Value(Bson::Boolean(true)));
                return Ok(());
            }
            // Collections are made outside of transactions.
            "begin" | "commit" | "abort" => return Ok(()),
            _ => {}
        }
        match self.answer(&ready, &[]).await {
            // Who may read and write alone drops the collections. The database goes with the last one.
            Err(Fault::Refused { codes, .. }) if ready.name == "dropDatabase" && codes[0] == UNAUTHORIZED => {
                let database = self.database(&ready);
                let mut names =
                    database.list_collection_names().await.map_err(|error| fault(OPERATION, error))?;
                names.retain(|name| !name.starts_with("system."));
                names.sort_by_key(|name| name == "sensormark_owner");
                for name in names {
                    let dropped = database.run_command(doc! { "drop": name }).await;
                    dropped.map_err(|error| fault(OPERATION, error))?;
                }
                Ok(())
            }
            done => done.map(drop),
        }
    }

    /// Begins, commits or gives up a transaction.
    async fn transact(&mut self, step: &str) -> Result<(), Fault> {
        const OPERATION: &str = "update an entity in MongoDB";
        let wrong = |error| fault(OPERATION, error);
        if let Some(reason) = self.two_commits {
            return Err(StoreError::unsupported(OPERATION, reason).into());
        }
        let transaction = self.transaction.take();
        match (step, transaction) {
            ("begin", _) => {
                let mut concern = WriteConcern::default();
                (concern.w, concern.journal) = (Some(self.options.acknowledgment.clone()), self.journal);
                let mut session = self.client.start_session().await.map_err(wrong)?;
                session.start_transaction().write_concern(concern).await.map_err(wrong)?;
                self.transaction = Some(session);
                Ok(())
            }
            ("commit", Some(mut session)) => session.commit_transaction().await.map_err(wrong),
            (_, Some(mut session)) => session.abort_transaction().await.map_err(wrong),
            _ => Ok(()),
        }
    }
}

/// Hands over the rows of documents; whether more are wanted.
fn hand_over<'d>(
    ready: &Ready,
    documents: &mut dyn Iterator<Item = mongodb::bson::error::Result<RawBsonRef<'d>>>,
    each: &mut EachRow<'_>,
) -> Result<bool, StoreError> {
    let mut cells = Cells::of(Vec::new());
    for element in documents {
        let element = element.map_err(|error| unexpected(&error.to_string()))?;
        let RawBsonRef::Document(document) = element else {
            return Err(unexpected("an element is no document"));
        };
        let more = match &ready.shape {
            Some(shape) => shape.rows(document, &mut cells, &mut |cells| each(cells))?,
            None => each(&Cells::of(vec![Some(element)]))?,
        };
        if !more {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Connection for Session {
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(self.run_one(text))
    }

    fn prepare<'a>(
        &'a mut self,
        text: &'a str,
        types: &'a [String],
    ) -> LocalFuture<'a, Result<Prepared, Fault>> {
        Box::pin(async move {
            let kinds: Vec<Kind> = types.iter().map(|name| Kind::of(name)).collect();
            let ready = Rc::new(Ready::new(read(text)?, &kinds));
            self.statements.push(Kept { text: text.to_owned(), ready });
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
            let ready = &self.statements[statement.0].ready;
            match &ready.node {
                Node::Array(commands) => self.settings(commands, each).await,
                _ => {
                    let Some(([column, start, end], command)) = &ready.again else {
                        return self.ask(ready, values, each).await;
                    };
                    let (Cell::I64(start), Cell::I64(end)) = (values[*start], values[*end]) else {
                        return Ok(());
                    };
                    let mut is_behind = false;
                    let in_range = &mut |row: &dyn Row| {
                        let ms = row.integer(*column)?.div_euclid(1_000_000);
                        is_behind |= ms >= end;
                        if (start..end).contains(&ms) { each(row) } else { Ok(true) }
                    };
                    self.ask(ready, values, in_range).await?;
                    if is_behind { self.ask(command, values, each).await } else { Ok(()) }
                }
            }
        })
    }

    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move {
            let ready = Rc::clone(&self.statements[statement.0].ready);
            if ready.is_any(&["begin", "commit", "abort"]) {
                return self.transact(&ready.name).await.map(|()| 0);
            }
            self.answer(&ready, values).await.map(|_| 1)
        })
    }

    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(self.write_block(block))
    }

    fn written(&self, block: &Block<'_>) -> Option<String> {
        self.shown(block)
    }

    fn within(&mut self, time: Option<Duration>) {
        self.allowed = time;
    }

    fn plan<'a>(
        &'a mut self,
        explain: &'a str,
        _: &'a [String],
    ) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        Box::pin(async move {
            // The command as it was last sent, whose values are of their types.
            let kept = self.statements.iter().find(|kept| explain.contains(&kept.text));
            let sent =
                kept.and_then(|kept| Document::try_from(kept.ready.sent.borrow().as_ref()?.as_ref()).ok());
            let Some(mut sent) = sent else { return Ok(None) };
            for further in ["maxTimeMS", "readConcern", "batchSize"] {
                sent.remove(further);
            }
            let asked = doc! { "explain": sent, "verbosity": "queryPlanner" };
            let answer = self.database.run_command(asked).await.map_err(|error| fault(OPERATION, error))?;
            Ok(Some(plan_lines(&answer).join("\n")))
        })
    }

    fn own_settings(&self) -> Vec<(String, String)> {
        let level = self.options.level.unwrap_or("as the server has it");
        let settings = [
            ("topology", self.topology.to_owned()),
            ("writeConcern", self.options.write_concern(self.journal).to_string()),
            ("readConcern", level.to_owned()),
            ("readPreference", "primary".to_owned()),
        ];
        settings.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), Fault>> {
        Box::pin(async move {
            let Self { client, database, .. } = *self;
            drop(database);
            client.shutdown().immediate(true).await;
            Ok(())
        })
    }
}

/// The plans that the server chose, and the stages that follow on them.
fn plan_lines(answer: &Document) -> Vec<String> {
    let mut lines = Vec::new();
    let top = answer.iter().filter(|(name, _)| *name == "queryPlanner");
    let stages = answer.get_array("stages").into_iter().flatten().filter_map(Bson::as_document).flatten();
    for (name, details) in top.chain(stages) {
        let planner =
            details.as_document().and_then(|one| one.get_document("queryPlanner").ok().or(Some(one)));
        let winning = planner.and_then(|planner| planner.get_document("winningPlan").ok());
        // The newer engine states the same plan under a name of its own, beside its program.
        let text = match winning {
            Some(plan) => plan.get_document("queryPlan").unwrap_or(plan).to_string(),
            None => format!("then {name} {details}"),
        };
        lines.push(match text.char_indices().nth(DETAILS) {
            None => text,
            Some((end, _)) => format!("{}…", &text[..end]),
        });
    }
    lines
}
