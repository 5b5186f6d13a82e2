//! DuckDB, in this process: a library that is found and loaded when it is first used. A database is a file in a folder; its connections block.
//!
//! - All connections of this process share one instance of a file ([`instance`]). Whoever finds the file taken by another process tries again for a while.
//! - `max_execution_time` bounds each statement.
//! - Rows that are asked for without a bound of time come as they are made, others when all are there.
//! - Encoders are `appender`, whose text names the table, `arrays`, a list for each slot, and `rows`.

use crate::fetched::Fetched;
use crate::{
    Block, Cell, Connection, Databases, Driver, EachRow, Fault, Named, Place, Prepared, Purpose, pieces,
};
use client::{Database, Kind, Library, Said};
use instance::Use;
use sensormark_kit::folder;
use sensormark_server::EmbeddedGroup;
use sensormark_server::find::{Search, install_advice};
use sensormark_store::{Endpoint, ErrorKind, Installation, LocalFuture, SessionKind, StoreError};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

mod client;

mod instance;

const OPERATION: &str = "use the DuckDB database";
/// The library's file.
const FILE: &str = "libduckdb.so";
/// DuckDB's memory, in MiB: what `--server-memory` gives a server by default. As it comes, DuckDB takes four fifths of the machine's.
const MEMORY: u64 = 1_024;
/// How long opening waits for another process that has the file open: one that ends closes it.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);

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
        Some(library().map(|(_, installation)| installation.clone()))
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

/// The library, found in the order of places that all stores have, and loaded when it is first needed.
fn library() -> Result<&'static (Library, Installation), StoreError> {
    static LIBRARY: OnceLock<(Library, Installation)> = OnceLock::new();
    if let Some(known) = LIBRARY.get() {
        return Ok(known);
    }
    let packages = ["/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let search = Search {
        name: "duckdb",
        title: "DuckDB",
        wanted: "the library libduckdb.so",
        inside: &["lib", "lib64", ""],
        on_path: false,
        packages: packages.map(PathBuf::from).into(),
        advice: install_advice("duckdb", "duckdb:/path/to/folder").replace("name a server", "name a folder"),
    };
    let found = search.find(|folder| Some(folder.join(FILE)).filter(|file| file.is_file()))?;
    let file = found.what.clone();
    let refuse = |problem: String| {
        let text =
            format!("{FILE} cannot be used: {problem}; install it with `sensormark install-servers duckdb`");
        StoreError::new(ErrorKind::NotInstalled, "load DuckDB", text)
    };
    let library = Library::load(&file).map_err(|error| refuse(error.to_string()))?;
    let version = library.version();
    if version.starts_with("0.") || version.starts_with("1.") {
        let needs = "sensormark needs 2.0, whose settings bound an operation's time and say what is flushed";
        return Err(refuse(format!("it is version {version}, and {needs}")));
    }
    Ok(LIBRARY.get_or_init(|| (library, found.installation(file, version))))
}

/// A connection. Statements are dropped before what they were prepared on.
struct DuckdbConnection {
    texts: Vec<Text>,
    /// None where a file is only looked at: each question opens it by itself.
    open: Option<Open>,
    file: PathBuf,
    library: Library,
    /// How long a statement may run.
    allowed: Option<Duration>,
}

/// A text, the types of its slots, and what it became when it was first used.
struct Text {
    text: String,
    kinds: Vec<Kind>,
    prepared: Option<client::Prepared>,
}

/// A connection to an instance. It is dropped before the use of it.
struct Open {
    connection: client::Connection,
    used: Use,
    /// How long the database lets a statement run.
    limit: Option<Duration>,
}

/// The connection, whose statements end in time. It fails when the database was dropped under it.
fn ready(open: &mut Option<Open>, allowed: Option<Duration>) -> Result<&client::Connection, Fault> {
    let Some(Open { connection, used, limit }) = open else {
        return Err(StoreError::unsupported(OPERATION, "a file that is looked at stays as it is").into());
    };
    if used.is_dropped() {
        let text = "it was dropped while this session had it open; create it again";
        return Err(StoreError::new(ErrorKind::NotFound, OPERATION, text).into());
    }
    if *limit != allowed {
        let millis = allowed.map_or(0, |time| time.as_millis().max(1));
        connection.query(&format!("SET SESSION max_execution_time = {millis}")).map_err(fault)?;
        *limit = allowed;
    }
    Ok(connection)
}

/// Opens a database's file. Nothing is fetched from the network.
fn opened(library: Library, file: &Path, (name, value): (&str, &str)) -> Said<Database> {
    let settings = ["autoinstall_known_extensions", "autoload_known_extensions"].map(|one| (one, "false"));
    Database::open(library, file, &[settings[0], settings[1], (name, value)])
}

impl DuckdbConnection {
    fn open(place: &Place) -> Result<Self, Fault> {
        let (library, file) = (library()?.0, place.file.clone());
        folder::check_made(&file, "open the DuckDB database")?;
        let mut opening = None;
        if place.purpose != Purpose::Look {
            // DuckDB takes no empty file, and makes its own.
            let is_empty = fs::metadata(&file).is_ok_and(|file| file.len() == 0);
            if is_empty && place.purpose == Purpose::Administer {
                fs::remove_file(&file).map_err(|cause| folder::file_error(OPERATION, cause))?;
            }
            // The client needs as much of a limit of both.
            let half = EmbeddedGroup::own_limit_bytes().map_or(MEMORY, |limit| limit >> 21);
            let memory = format!("{}MiB", half.min(MEMORY));
            let open = || opened(library, &file, ("memory_limit", &memory));
            let used = patiently(|| Use::of(&file, open))?;
            opening = Some(Open { connection: used.connect().map_err(fault)?, used, limit: None });
        }
        Ok(Self { texts: Vec::new(), open: opening, file, library, allowed: None })
    }

    /// A text with what it became, prepared when it is first used.
    fn prepared(&mut self, statement: Prepared) -> Result<(&client::Prepared, &[Kind]), Fault> {
        let connection = ready(&mut self.open, self.allowed)?;
        let Text { text, kinds, prepared } = &mut self.texts[statement.0];
        let known = match prepared.take() {
            Some(known) => known,
            None => connection.prepare(text).map_err(fault)?,
        };
        Ok((prepared.insert(known), kinds))
    }

    fn ask(&mut self, statement: Prepared, values: &[Cell<'_>], each: &mut EachRow<'_>) -> Result<(), Fault> {
        let text = &self.texts[statement.0];
        if self.open.is_none() {
            let open = || opened(self.library, &self.file, ("access_mode", "READ_ONLY"));
            let mut ask = |connection: &client::Connection| {
                connection.query(&text.text).map(|rows| hand_over(rows, each))
            };
            return patiently(|| instance::look(&self.file, open, &mut ask))?;
        }
        // Without values it may be several statements.
        if text.kinds.is_empty() && self.allowed.is_some() {
            let rows = ready(&mut self.open, self.allowed)?.query(&text.text);
            return hand_over(rows.map_err(fault)?, each);
        }
        let as_made = self.allowed.is_none();
        let (prepared, kinds) = self.prepared(statement)?;
        for (slot, (&value, &kind)) in values.iter().zip(kinds).enumerate() {
            prepared.bind(slot, kind, value).map_err(fault)?;
        }
        hand_over(prepared.run(as_made).map_err(fault)?, each)
    }

    fn write_block(&mut self, block: Block<'_>) -> Result<u64, Fault> {
        let rows = block.rows;
        if block.encoder == "appender" {
            let Text { text, kinds, .. } = &self.texts[block.statement.0];
            let table = text.split('"').nth(1).unwrap_or_default();
            ready(&mut self.open, self.allowed)?.append(table, kinds, rows).map_err(fault)?;
            return Ok(1);
        }
        let (prepared, kinds) = self.prepared(block.statement)?;
        let (width, are_lists) = (rows.sources.len().max(1), block.encoder == "arrays");
        let at_once = if are_lists { rows.len() } else { kinds.len() / width }.max(1);
        for first in (0..rows.len()).step_by(at_once) {
            for (slot, &kind) in kinds.iter().enumerate() {
                let bound = if are_lists {
                    prepared.bind_list(slot, kind, (0..rows.len()).map(|row| rows.cell(row, slot)))
                } else {
                    prepared.bind(slot, kind, rows.cell(first + slot / width, slot % width))
                };
                bound.map_err(fault)?;
            }
            prepared.run(false).map_err(fault)?;
        }
        Ok((rows.len() / at_once) as u64)
    }

    /// The plan of a text, with printed values in the place of its slots.
    fn planned(&mut self, explain: &str, values: &[String]) -> Result<Option<String>, Fault> {
        let kept = self.texts.iter().find(|kept| explain.ends_with(&kept.text));
        let kinds = kept.map_or(&[][..], |kept| &kept.kinds);
        let (mut text, mut plan) = (String::new(), String::new());
        for (slot, piece) in pieces(explain) {
            if let Some((kind, value)) = slot.and_then(|slot| Some((kinds.get(slot)?, values.get(slot)?))) {
                text.push_str(&kind.literal(value));
            }
            text.push_str(piece);
        }
        let rows = ready(&mut self.open, self.allowed)?.query(&text).map_err(fault)?;
        // The first column says which plan it is, the second has it.
        hand_over(rows, &mut |row| {
            plan.push_str(row.text(1)?);
            Ok(true)
        })?;
        Ok(Some(plan.trim_end().to_owned()))
    }
}

/// Tries again for a while where another process has the file open.
fn patiently<T>(mut work: impl FnMut() -> Said<T>) -> Result<T, Fault> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match work() {
            Err(said) if said.contains("Could not set lock") && Instant::now() < deadline => {
                std::thread::sleep(LOOK);
            }
            done => return done.map_err(fault),
        }
    }
}

fn hand_over(mut rows: client::Rows, each: &mut EachRow<'_>) -> Result<(), Fault> {
    while let Some(chunk) = rows.next().map_err(fault)? {
        for row in 0..chunk.rows {
            if !each(&Fetched(chunk.row(row)))? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A failure of the library: the first line of what it says, without the paths that failures of files have.
fn fault(said: String) -> Fault {
    let line = said.lines().next().unwrap_or_default();
    let line = line.split_once(" is held in ").map_or(line, |(before, _)| before);
    let pieces = line.split('"').map(|piece| if piece.starts_with('/') { "…" } else { piece });
    let text = pieces.collect::<Vec<_>>().join("\"");
    Fault::Refused { codes: Vec::new(), source: text.clone().into(), text }
}

impl Connection for DuckdbConnection {
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move { ready(&mut self.open, self.allowed)?.query(text).map(drop).map_err(fault) })
    }

    fn prepare<'a>(
        &'a mut self,
        text: &'a str,
        types: &'a [String],
    ) -> LocalFuture<'a, Result<Prepared, Fault>> {
        Box::pin(async move {
            let kind = |name: &String| {
                Kind::named(name).ok_or_else(|| format!("the driver has no type {name:?} for a slot"))
            };
            let kinds = types.iter().map(kind).collect::<Said<_>>().map_err(fault)?;
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
            let mut each = |row: &dyn sensormark_kit::Row| {
                changed = row.integer(0).unwrap_or_default();
                Ok(true)
            };
            self.ask(statement, values, &mut each)?;
            Ok(changed.unsigned_abs())
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
}
