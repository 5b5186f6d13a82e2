//! DuckDB, in this process: a library that is found and loaded when it is first used. A database is a file in a folder; its connections block.
//!
//! - All connections of this process share one instance of a file ([`instance`]). Whoever finds the file taken by another process tries again for a while.
//! - `max_execution_time` bounds each statement.
//! - Rows that are asked for without a bound of time come as they are made, others when all are there.
//! - Encoders are `appender`, whose text names the table, `arrays`, a list for each slot, and `rows`.

use crate::{Block, Cell, Connection, Databases, Driver, EachRow, Fault, Named, Place, Prepared, Purpose};
use client::{Appender, Database, Failure, Kind, Library, Value};
use instance::Use;
use row::Fetched;
use sensormark_kit::folder;
use sensormark_server::EmbeddedGroup;
use sensormark_server::find::{Found, Search, install_advice};
use sensormark_store::{Endpoint, ErrorKind, Installation, LocalFuture, SessionKind, StoreError};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

mod client;

mod instance;

mod row;

const OPERATION: &str = "use the DuckDB database";
/// The library's file.
const FILE: &str = "libduckdb.so";
/// DuckDB's memory, in MiB: what `--server-memory` gives a server by default. As it comes, DuckDB takes four fifths of the machine's.
const MEMORY: u64 = 1_024;
/// How long opening waits for another process that has the file open: one that ends closes it.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);
/// Nothing is fetched from the network.
const EXTENSIONS: [(&str, &str); 2] =
    [("autoinstall_known_extensions", "false"), ("autoload_known_extensions", "false")];

/// The driver.
#[derive(Debug, Clone, Copy, Default)]
pub struct Duckdb;

impl Driver for Duckdb {
    fn session(&self) -> SessionKind {
        SessionKind::Blocking
    }

    fn databases(&self) -> Databases {
        Databases::Files { ending: ".duckdb", log: ".wal" }
    }

    fn one_process(&self) -> Option<&'static str> {
        Some("DuckDB lets one process write to a database, and no other one read from it meanwhile")
    }

    fn endpoint(&self, store: &Named, url: &str) -> Result<Endpoint, StoreError> {
        folder::endpoint(&store.name, &store.title, &store.url, url)
    }

    fn installation(&self) -> Option<Result<Installation, StoreError>> {
        let of = |found: Found<PathBuf>| {
            let (file, version) = (found.what.clone(), library()?.version());
            Ok(found.installation(file, version))
        };
        Some(located().and_then(of))
    }

    fn forget(&self, file: &Path) {
        instance::forget(file);
    }

    fn open<'a>(&'a self, place: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>> {
        Box::pin(async move {
            let connection: Box<dyn Connection> = Box::new(DuckdbConnection::open(place)?);
            Ok(connection)
        })
    }
}

/// The library found, in the order of places that all stores have.
fn located() -> Result<Found<PathBuf>, StoreError> {
    let search = Search {
        name: "duckdb",
        title: "DuckDB",
        wanted: "the library libduckdb.so",
        inside: &["lib", "lib64", ""],
        on_path: false,
        packages: ["/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"]
            .map(PathBuf::from)
            .into(),
        advice: install_advice("duckdb", "duckdb:/path/to/folder").replace("name a server", "name a folder"),
    };
    search.find(|folder| Some(folder.join(FILE)).filter(|file| file.is_file()))
}

fn loaded(file: &Path) -> Result<Library, String> {
    let library = Library::load(file)?;
    let version = library.version();
    let major = version.split('.').next().and_then(|major| major.parse().ok());
    match major {
        Some(2_u32..) => Ok(library),
        _ => Err(format!(
            "it is version {version}, and sensormark needs 2.0, whose settings bound an operation's time and say what is flushed"
        )),
    }
}

/// The library, loaded when it is first needed.
fn library() -> Result<&'static Library, StoreError> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    if let Some(Ok(library)) = LIBRARY.get() {
        return Ok(library);
    }
    let found = located()?;
    let library = LIBRARY.get_or_init(|| loaded(&found.what));
    library.as_ref().map_err(|problem| {
        StoreError::new(
            ErrorKind::NotInstalled,
            "load DuckDB",
            format!("{FILE} cannot be used: {problem}; install it with `sensormark install-servers duckdb`"),
        )
    })
}

/// A connection. Fields are dropped in this order: statements before their connection, and that before the use of the database.
struct DuckdbConnection {
    texts: Vec<Text>,
    /// None where a file is only looked at: each question opens it by itself.
    open: Option<(client::Connection, Use)>,
    file: PathBuf,
    library: &'static Library,
    /// How long a statement may run.
    allowed: Option<Duration>,
    /// What the database was told of that.
    limit: Option<Duration>,
}

/// A text, the types of its slots, and what it became when it was first used.
struct Text {
    text: String,
    kinds: Vec<Kind>,
    prepared: Option<client::Prepared>,
}

impl DuckdbConnection {
    fn open(place: &Place) -> Result<Self, Fault> {
        let (library, file) = (library()?, place.file.clone());
        folder::check_made(&file, "open the DuckDB database")?;
        let mut opened = Self { texts: Vec::new(), open: None, file, library, allowed: None, limit: None };
        if place.purpose == Purpose::Look {
            return Ok(opened);
        }
        // DuckDB takes no empty file, and makes its own.
        if place.purpose == Purpose::Administer && fs::metadata(&place.file).is_ok_and(|file| file.len() == 0)
        {
            fs::remove_file(&place.file).map_err(|cause| folder::file_error(OPERATION, cause))?;
        }
        // The client needs as much of a limit of both.
        let half = EmbeddedGroup::own_limit_bytes().map_or(MEMORY, |limit| limit >> 21);
        let memory = format!("{}MiB", half.min(MEMORY));
        let settings = [("memory_limit", memory.as_str()), EXTENSIONS[0], EXTENSIONS[1]];
        let used = patiently(|| Use::of(&place.file, || Database::open(library, &place.file, &settings)))?;
        opened.open = Some((used.connect().map_err(fault)?, used));
        Ok(opened)
    }

    /// The connection, whose statements end in time. It fails when the database was dropped under it.
    fn connection(&mut self) -> Result<&client::Connection, Fault> {
        let failed = |kind, text| StoreError::new(kind, OPERATION, text);
        let Some((connection, used)) = &self.open else {
            return Err(failed(ErrorKind::Unsupported, "a file that is looked at stays as it is").into());
        };
        if used.is_dropped() {
            let text = "it was dropped while this session had it open; create it again";
            return Err(failed(ErrorKind::NotFound, text).into());
        }
        if self.limit != self.allowed {
            let millis = self.allowed.map_or(0, |time| time.as_millis().max(1));
            connection.run(&format!("SET SESSION max_execution_time = {millis}")).map_err(fault)?;
            self.limit = self.allowed;
        }
        Ok(connection)
    }

    /// A text with what it became, prepared when it is first used.
    fn prepared(&mut self, Prepared(number): Prepared) -> Result<(&client::Prepared, &[Kind]), Fault> {
        if self.texts[number].prepared.is_none() {
            let text = self.texts[number].text.clone();
            let prepared = self.connection()?.prepare(&text).map_err(fault)?;
            self.texts[number].prepared = Some(prepared);
        } else {
            self.connection()?;
        }
        let Text { prepared: Some(prepared), kinds, .. } = &self.texts[number] else {
            return Err(fault(Failure::of("a statement is not kept")));
        };
        Ok((prepared, kinds))
    }

    /// A statement with these values.
    fn bound(&mut self, statement: Prepared, values: &[Cell<'_>]) -> Result<&client::Prepared, Fault> {
        let library = self.library;
        let (prepared, kinds) = self.prepared(statement)?;
        for (place, (&value, &kind)) in values.iter().zip(kinds).enumerate() {
            Value::of(library, kind, value)
                .and_then(|value| prepared.bind(place + 1, &value))
                .map_err(fault)?;
        }
        Ok(prepared)
    }

    fn ask(&mut self, statement: Prepared, values: &[Cell<'_>], each: &mut EachRow<'_>) -> Result<(), Fault> {
        let text = &self.texts[statement.0];
        if self.open.is_none() {
            let settings = [("access_mode", "READ_ONLY"), EXTENSIONS[0], EXTENSIONS[1]];
            let open = || Database::open(self.library, &self.file, &settings);
            return patiently(|| {
                let ask = |connection: &client::Connection| {
                    connection.query(&text.text).map(|rows| hand_over(rows, each))
                };
                instance::look(&self.file, open, ask)
            })?;
        }
        let rows = if self.allowed.is_none() {
            self.bound(statement, values)?.stream()
        } else if text.kinds.is_empty() {
            // It may be several statements.
            let text = text.text.clone();
            self.connection()?.query(&text)
        } else {
            self.bound(statement, values)?.execute()
        };
        hand_over(rows.map_err(fault)?, each)
    }

    fn write_block(&mut self, block: Block<'_>) -> Result<u64, Fault> {
        let (library, rows) = (self.library, block.rows);
        if block.encoder == "appender" {
            self.append(block)?;
            return Ok(1);
        }
        let (prepared, kinds) = self.prepared(block.statement)?;
        if block.encoder == "arrays" {
            for (slot, &kind) in kinds.iter().enumerate() {
                let cells = (0..rows.len()).map(|row| rows.cell(row, slot));
                let list = Value::list(library, kind, cells);
                list.and_then(|list| prepared.bind(slot + 1, &list)).map_err(fault)?;
            }
            prepared.execute().map_err(fault)?;
            return Ok(1);
        }
        let width = rows.sources.len().max(1);
        let at_once = (kinds.len() / width).max(1);
        for first in (0..rows.len()).step_by(at_once) {
            for (place, &kind) in kinds.iter().enumerate() {
                let cell = rows.cell(first + place / width, place % width);
                let value = Value::of(library, kind, cell);
                value.and_then(|value| prepared.bind(place + 1, &value)).map_err(fault)?;
            }
            prepared.execute().map_err(fault)?;
        }
        Ok((rows.len() / at_once) as u64)
    }

    fn append(&mut self, block: Block<'_>) -> Result<(), Fault> {
        self.connection()?;
        let (Text { text, kinds, .. }, Some((connection, _))) = (&self.texts[block.statement.0], &self.open)
        else {
            return Ok(());
        };
        let table = text.split('"').nth(1).unwrap_or_default();
        let mut appender = Appender::open(connection, table, kinds).map_err(fault)?;
        appender.append(block.rows).and_then(|()| appender.close()).map_err(fault)
    }

    /// The plan of a text, with printed values in the place of its slots.
    fn planned(&mut self, explain: &str, values: &[String]) -> Result<Option<String>, Fault> {
        let kept = self.texts.iter().find(|kept| explain.ends_with(&kept.text));
        let kinds = kept.map(|kept| kept.kinds.clone()).unwrap_or_default();
        let mut pieces = explain.split('$');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let end = piece.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(piece.len());
            let (number, rest) = piece.split_at(end);
            let slot = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            match slot.and_then(|slot| Some((kinds.get(slot)?, values.get(slot)?))) {
                Some((kind, value)) => text.push_str(&kind.literal(value)),
                None => text.extend(["$", number]),
            }
            text.push_str(rest);
        }
        let rows = self.connection()?.query(&text).map_err(fault)?;
        let mut plan = String::new();
        // The first column says which plan it is, the second has it.
        hand_over(rows, &mut |row| {
            plan.push_str(row.text(1)?);
            Ok(true)
        })?;
        Ok(Some(plan.trim_end().to_owned()))
    }
}

/// Tries again for a while where another process has the file open.
fn patiently<T>(mut work: impl FnMut() -> Result<T, Failure>) -> Result<T, Fault> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match work() {
            Err(failure) if failure.text.contains("Could not set lock") && Instant::now() < deadline => {
                std::thread::sleep(LOOK);
            }
            done => return done.map_err(fault),
        }
    }
}

fn hand_over(mut rows: client::Rows, each: &mut EachRow<'_>) -> Result<(), Fault> {
    while let Some(chunk) = rows.next().map_err(fault)? {
        for row in 0..chunk.rows() {
            if !each(&Fetched { chunk: &chunk, row })? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A failure of the library: the first line of its message, without the paths that failures of files have.
fn fault(failure: Failure) -> Fault {
    let line = failure.text.lines().next().unwrap_or_default();
    let pieces = line.split('"').map(|piece| if piece.starts_with('/') { "…" } else { piece });
    let words = pieces.collect::<Vec<_>>().join("\"");
    let text = match words.split_once(" is held in ") {
        Some((before, _)) => format!("{before} is held"),
        None => words,
    };
    let source = Failure { code: failure.code, text: text.clone() };
    Fault::Refused { codes: vec![failure.code.to_string()], text, source: Box::new(source) }
}

impl Connection for DuckdbConnection {
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move { self.connection()?.run(text).map_err(fault) })
    }

    fn prepare<'a>(
        &'a mut self,
        text: &'a str,
        types: &'a [String],
    ) -> LocalFuture<'a, Result<Prepared, Fault>> {
        Box::pin(async move {
            let kind = |name: &String| {
                let unknown = || Failure::of(format!("the driver has no type {name:?} for a slot"));
                Kind::named(name).ok_or_else(unknown)
            };
            let kinds = types.iter().map(kind).collect::<Result<_, _>>().map_err(fault)?;
            self.texts.push(Text { text: text.to_owned(), kinds, prepared: None });
            Ok(Prepared(self.texts.len() - 1))
        })
    }

    fn text(&self, statement: Prepared) -> &str {
        &self.texts[statement.0].text
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.texts.clear();
        Box::pin(async { Ok(()) })
    }

    fn query<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
        each: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move { self.ask(statement, values, each) })
    }

    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move {
            let mut changed = 0;
            self.ask(statement, values, &mut |row| {
                changed = row.integer(0).unwrap_or_default();
                Ok(true)
            })?;
            Ok(u64::try_from(changed).unwrap_or_default())
        })
    }

    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move { self.write_block(block) })
    }

    fn within(&mut self, time: Option<Duration>) {
        self.allowed = time;
    }

    fn plan<'a>(
        &'a mut self,
        explain: &'a str,
        values: &'a [String],
    ) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        Box::pin(async move { self.planned(explain, values) })
    }

    fn own_settings(&self) -> Vec<(String, String)> {
        vec![("duckdb_version".to_owned(), self.library.version())]
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), Fault>> {
        Box::pin(async { Ok(()) })
    }
}
