//! Making, settling, inspecting and dropping the plan's database: one file with its log and the log's index.
//!
//! The owner's mark is a table. A file without it is never written to, nor opened in a way that leaves traces.

use crate::config::{self, FILE_ENDING};
use crate::error;
use crate::settings;
use crate::write::fill_tags;
use rusqlite::{Connection, OpenFlags};
use sensormark_kit::folder::{self, file_error};
use sensormark_kit::{BackendAdministrator, Found};
use sensormark_relational::ddl::{statements, table_names};
use sensormark_relational::physical_schema::{OWNER_TABLE, PhysicalSchema};
use sensormark_store::{ErrorKind, Plan, Setting, Size, StoreError};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The log's ending, behind the file's name.
const LOG_ENDING: &str = "-wal";
/// Rows of each index that statistics look at: enough for the planner, and settling does not read the whole file.
const ANALYSIS_LIMIT: u32 = 1_000;
/// How long dropping waits for a writer.
const RENAME_TIMEOUT: Duration = Duration::from_secs(1);

/// What looks after one database.
pub struct SqliteAdministrator {
    plan: Plan,
    physical: Arc<PhysicalSchema>,
    file: PathBuf,
}

impl SqliteAdministrator {
    /// The administrator of a plan's database, which need not exist.
    pub fn new(plan: &Plan, physical: Arc<PhysicalSchema>) -> Self {
        Self { plan: plan.clone(), physical, file: config::file(&plan.endpoint, &plan.database) }
    }

    fn fill(&self) -> Result<(), StoreError> {
        let wrong = |cause| error::native("create tables", cause);
        let connection = config::open(&self.plan)?;
        let work = || {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            connection.execute_batch(&format!("CREATE TABLE {OWNER_TABLE} (owner TEXT NOT NULL) STRICT"))?;
            connection.execute(&format!("INSERT INTO {OWNER_TABLE} VALUES (?1)"), [&self.plan.owner])?;
            for statement in statements(&self.physical) {
                connection.execute_batch(&statement)?;
            }
            fill_tags(&connection, &self.physical)?;
            connection.execute_batch("COMMIT")
        };
        work().map_err(wrong)?;
        // The mark belongs in the file itself, where it is looked for without opening the log.
        checkpoint(&connection).map(|_| ()).map_err(wrong)?;
        connection.close().map_err(|(_, cause)| wrong(cause))
    }

    /// Renames the tables, so that sessions that are still open find them no longer: they would go on reading and writing
    /// files that have no name any more.
    fn rename_tables(&self) -> Result<(), StoreError> {
        let wrong = |cause| error::native("drop the SQLite database", cause);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags).map_err(wrong)?;
        connection.busy_timeout(RENAME_TIMEOUT).map_err(wrong)?;
        let ours = table_names(&self.physical);
        for name in ours.iter().filter(|name| *name != OWNER_TABLE) {
            connection
                .execute_batch(&format!("ALTER TABLE \"{name}\" RENAME TO \"dropped {name}\""))
                .map_err(wrong)?;
        }
        Ok(())
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

/// Moves the log into the file; whether all of it could be moved.
fn checkpoint(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0).map(|busy: i64| busy == 0))
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
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address, flags).map_err(wrong)?;
    let mark = connection.query_row(&format!("SELECT owner FROM {OWNER_TABLE}"), [], |row| row.get(0));
    match mark {
        Ok(owner) => Ok(Some(owner)),
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        Err(cause) => Err(wrong(cause)),
    }
}

impl BackendAdministrator for SqliteAdministrator {
    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        let folder = config::folder(&self.plan.endpoint);
        folder::found(&folder, name, FILE_ENDING, read_mark)
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        let wrong = |cause| error::native("look at the tables that are there", cause);
        let connection = config::open(&self.plan)?;
        let mut statement = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
            .map_err(wrong)?;
        statement.query_map([], |row| row.get(0)).and_then(Iterator::collect).map_err(wrong)
    }

    fn expected(&self) -> Vec<String> {
        table_names(&self.physical)
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        let wrong = |cause| file_error("create the SQLite database", cause);
        fs::create_dir_all(config::folder(&self.plan.endpoint)).map_err(wrong)?;
        File::create_new(&self.file).map_err(wrong)?;
        let made = self.fill();
        if made.is_err() {
            // The file was made a moment ago and holds nothing; what failed is reported.
            drop(folder::remove_files(&self.file));
        }
        made
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        // Best effort: the files go in any case, also when the disk is full or a writer hangs.
        drop(self.rename_tables());
        folder::drop_database("SQLite", &self.plan.endpoint, &self.file)
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        let folder = config::folder(&self.plan.endpoint);
        folder::names(&folder, FILE_ENDING).map_err(|cause| file_error("list the SQLite databases", cause))
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        self.settle_database()
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        settings::read(&config::open(&self.plan)?)
    }

    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        stated_schema(&config::open(&self.plan)?)
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        folder::size(&self.file, LOG_ENDING).map_err(|cause| file_error("measure the SQLite database", cause))
    }
}
