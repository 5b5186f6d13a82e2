//! Making, settling, inspecting and dropping the plan's database: one file with its log and the log's index.
//!
//! The owner's mark is a table. A file without it is never written to, nor opened in a way that leaves traces.

use crate::config::{self, FILE_ENDING, beside};
use crate::dialect::SqliteDialect;
use crate::error;
use crate::settings;
use crate::write::fill_tags;
use rusqlite::{Connection, OpenFlags};
use sensormark_relational::ddl::{statements, table_names};
use sensormark_relational::model::{Model, OWNER_TABLE};
use sensormark_store::{
    Administrator, DatabaseName, ErrorKind, LocalFuture, Plan, Setting, Size, StoreError,
};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The log and the log's index.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Rows of each index that statistics look at: enough for the planner, and settling does not read the whole file.
const ANALYSIS_LIMIT: u32 = 1_000;
/// How long dropping waits for a writer.
const RENAME_TIMEOUT: Duration = Duration::from_secs(1);

/// What looks after one database.
pub struct SqliteAdministrator {
    plan: Plan,
    file: PathBuf,
}

impl SqliteAdministrator {
    /// The administrator of a plan's database, which need not exist.
    pub fn new(plan: &Plan) -> Self {
        Self {
            plan: plan.clone(),
            file: config::file(&plan.endpoint, &plan.database),
        }
    }

    fn create_database(&self) -> Result<(), StoreError> {
        const OPERATION: &str = "create the SQLite database";
        let model = Model::new(&SqliteDialect, &self.plan.schema, self.plan.layout)?;
        let folder = config::folder(&self.plan.endpoint);
        fs::create_dir_all(&folder).map_err(|cause| file_error(OPERATION, cause))?;
        match File::create_new(&self.file) {
            Ok(_) => {}
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                return self.accept_own(&model);
            }
            Err(cause) => return Err(file_error(OPERATION, cause)),
        }
        let made = self.fill(&model);
        if made.is_err() {
            // The file was made a moment ago and holds nothing; what failed is reported.
            drop(self.remove_files());
        }
        made
    }

    fn fill(&self, model: &Model) -> Result<(), StoreError> {
        let wrong = |cause| error::native("create tables", cause);
        let connection = config::open(&self.plan)?;
        let work = || {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            connection.execute_batch(&format!(
                "CREATE TABLE {OWNER_TABLE} (owner TEXT NOT NULL) STRICT"
            ))?;
            connection.execute(
                &format!("INSERT INTO {OWNER_TABLE} VALUES (?1)"),
                [&self.plan.owner],
            )?;
            for statement in statements(model) {
                connection.execute_batch(&statement)?;
            }
            fill_tags(&connection, model)?;
            connection.execute_batch("COMMIT")
        };
        work().map_err(wrong)?;
        // The mark belongs in the file itself, where it is looked for without opening the log.
        checkpoint(&connection).map(|_| ()).map_err(wrong)?;
        connection.close().map_err(|(_, cause)| wrong(cause))
    }

    /// A file of our name is there: it is ours if it bears the plan's mark and holds our tables alone.
    fn accept_own(&self, model: &Model) -> Result<(), StoreError> {
        self.require_mark("create the SQLite database")?;
        let wrong = |cause| error::native("look at the tables that are there", cause);
        let connection = config::open(&self.plan)?;
        let mut statement = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
            .map_err(wrong)?;
        let mut present: Vec<String> = statement
            .query_map([], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(wrong)?;
        let mut expected = table_names(model);
        expected.sort();
        present.sort();
        if expected == present {
            return Ok(());
        }
        Err(foreign(
            "create the SQLite database",
            "its tables are not those of this schema and layout; drop it or choose another name",
        ))
    }

    /// Fails unless the file bears this plan's mark.
    fn require_mark(&self, operation: &str) -> Result<(), StoreError> {
        match read_mark(&self.file)? {
            Some(owner) if owner == self.plan.owner => Ok(()),
            Some(_) => Err(foreign(operation, "it bears the mark of another run")),
            None => Err(foreign(
                operation,
                "it does not bear sensormark's mark; move the file away or choose another folder",
            )),
        }
    }

    fn drop_files(&self) -> Result<(), StoreError> {
        const OPERATION: &str = "drop the SQLite database";
        if !self.file.exists() {
            return Ok(());
        }
        self.require_mark(OPERATION)?;
        // Best effort: the files go in any case, also when the disk is full or a writer hangs.
        drop(self.rename_tables());
        self.remove_files()
            .map_err(|cause| file_error(OPERATION, cause))?;
        if self.plan.endpoint.managed {
            // Fails, as it should, while other databases are in it.
            drop(fs::remove_dir(config::folder(&self.plan.endpoint)));
        }
        Ok(())
    }

    /// Renames the tables, so that sessions that are still open find them no longer: they would go on reading and writing
    /// files that have no name any more.
    fn rename_tables(&self) -> Result<(), StoreError> {
        let wrong = |cause| error::native("drop the SQLite database", cause);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags).map_err(wrong)?;
        connection.busy_timeout(RENAME_TIMEOUT).map_err(wrong)?;
        let model = Model::new(&SqliteDialect, &self.plan.schema, self.plan.layout)?;
        let ours = table_names(&model);
        for name in ours.iter().filter(|name| *name != OWNER_TABLE) {
            connection
                .execute_batch(&format!(
                    "ALTER TABLE \"{name}\" RENAME TO \"dropped {name}\""
                ))
                .map_err(wrong)?;
        }
        Ok(())
    }

    fn remove_files(&self) -> io::Result<()> {
        fs::remove_file(&self.file)?;
        for ending in BESIDE {
            match fs::remove_file(beside(&self.file, ending)) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
                _ => {}
            }
        }
        Ok(())
    }

    fn find_databases(&self) -> Result<Vec<(String, String)>, StoreError> {
        let wrong = |cause| file_error("list the SQLite databases", cause);
        let folder = config::folder(&self.plan.endpoint);
        let entries = match fs::read_dir(&folder) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(wrong)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(wrong)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(name) = name.strip_suffix(FILE_ENDING) else {
                continue;
            };
            if DatabaseName::try_from(name.to_owned()).is_ok()
                && let Ok(Some(owner)) = read_mark(&entry.path())
            {
                found.push((name.to_owned(), owner));
            }
        }
        found.sort();
        Ok(found)
    }

    fn settle_database(&self) -> Result<(), StoreError> {
        let wrong = |cause| error::native("settle the SQLite database", cause);
        let connection = config::open(&self.plan)?;
        let statistics = format!("PRAGMA analysis_limit = {ANALYSIS_LIMIT}; ANALYZE;");
        connection.execute_batch(&statistics).map_err(wrong)?;
        if checkpoint(&connection).map_err(wrong)? {
            return Ok(());
        }
        Err(StoreError::new(
            ErrorKind::Timeout,
            "settle the SQLite database",
            "readers or writers kept the log busy for the whole time allowed; close other sessions first",
        ))
    }

    fn occupied(&self) -> Result<Size, StoreError> {
        let wrong = |cause| file_error("measure the SQLite database", cause);
        let data = blocks(&self.file).map_err(wrong)?;
        let mut beside_bytes = [0; BESIDE.len()];
        for (bytes, ending) in beside_bytes.iter_mut().zip(BESIDE) {
            *bytes = blocks(&beside(&self.file, ending)).map_err(wrong)?;
        }
        Ok(Size {
            total_bytes: data + beside_bytes.iter().sum::<u64>(),
            log_bytes: Some(beside_bytes[0]),
        })
    }
}

/// The statements that make the file's tables and indexes, as SQLite keeps them; the owner's mark apart.
fn stated_schema(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let read = || {
        let text = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid";
        let mut statement = connection.prepare(text)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        rows.collect::<rusqlite::Result<Vec<String>>>()
    };
    let mut texts = read().map_err(|cause| error::native("show the schema", cause))?;
    texts.retain(|text| !text.contains(OWNER_TABLE));
    Ok(texts)
}

/// Bytes of the blocks that a file occupies; 0 where there is none.
fn blocks(path: &Path) -> io::Result<u64> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.blocks() * 512),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(cause) => Err(cause),
    }
}

/// Moves the log into the file; whether all of it could be moved.
fn checkpoint(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        row.get(0).map(|busy: i64| busy == 0)
    })
}
/// The owner's mark of a file, read without locks, log or any trace; none where there is no mark.
fn read_mark(file: &Path) -> Result<Option<String>, StoreError> {
    let wrong = |cause| error::native("read the owner's mark", cause);
    let mut address = String::from("file:");
    for byte in file.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02x}")),
        }
    }
    address.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address, flags).map_err(wrong)?;
    let mark = connection.query_row(&format!("SELECT owner FROM {OWNER_TABLE}"), [], |row| {
        row.get(0)
    });
    match mark {
        Ok(owner) => Ok(Some(owner)),
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        Err(cause) => {
            let failure = wrong(cause);
            match failure.kind() {
                ErrorKind::NotFound | ErrorKind::Foreign | ErrorKind::Rejected => Ok(None),
                _ => Err(failure),
            }
        }
    }
}

fn foreign(operation: &str, context: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Foreign,
        operation,
        format!("a file of this name is there, and {context}"),
    )
}

/// A failure of the file system, in the contract's terms.
fn file_error(operation: &str, cause: io::Error) -> StoreError {
    let (kind, advice) = match cause.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => (
            ErrorKind::Configuration,
            "this user may not write there; choose another folder",
        ),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => (
            ErrorKind::DiskFull,
            "free space on the disk that holds the folder",
        ),
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => (
            ErrorKind::Configuration,
            "a file is where the folder should be; choose another folder",
        ),
        io::ErrorKind::NotFound => (ErrorKind::NotFound, "it is not there"),
        _ => (ErrorKind::Unavailable, "see the kernel's log"),
    };
    StoreError::new(kind, operation, format!("{cause}; {advice}")).with_source(cause)
}

impl Administrator for SqliteAdministrator {
    fn create(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(async { self.create_database() })
    }

    fn drop_database(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(async { self.drop_files() })
    }

    fn databases(&mut self) -> LocalFuture<'_, Result<Vec<(String, String)>, StoreError>> {
        Box::pin(async { self.find_databases() })
    }

    fn settle(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(async { self.settle_database() })
    }

    fn settings(&mut self) -> LocalFuture<'_, Result<Vec<Setting>, StoreError>> {
        Box::pin(async { settings::read(&config::open(&self.plan)?) })
    }

    fn schema_text(&mut self) -> LocalFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(async { stated_schema(&config::open(&self.plan)?) })
    }

    fn size(&mut self) -> LocalFuture<'_, Result<Size, StoreError>> {
        Box::pin(async { self.occupied() })
    }
}
