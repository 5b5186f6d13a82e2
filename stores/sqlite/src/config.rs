//! Which folder, and how a connection is opened: the URL, the file's name and the pragmas of every connection.
//!
//! It neither makes nor drops anything: that is [`crate::admin`].

use crate::error;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use sensormark_kit::{MOST_SHAPES, folder};
use sensormark_store::{DatabaseName, Durability, Endpoint, ErrorKind, Plan, StoreError};
use std::path::PathBuf;
use std::time::Duration;

/// The store's name.
pub const NAME: &str = "sqlite";
/// What a URL looks like. Messages show it.
pub const URL_EXAMPLE: &str = "sqlite:/path/to/folder";
/// The ending of a database's file.
pub const FILE_ENDING: &str = ".sqlite";
/// Page cache of all connections together, in KiB: SQLite's own 2 MiB a connection is the least that each gets.
const CACHE_KIB: u32 = 256 * 1024;
const LEAST_CACHE_KIB: u32 = 2 * 1024;

/// Reads a URL: a folder, with or without `sqlite:` before it.
///
/// # Errors
/// [`ErrorKind::Configuration`] when it is empty, names a file, or is SQLite's own notation for memory.
pub fn endpoint(url: &str) -> Result<Endpoint, StoreError> {
    folder::endpoint(NAME, "SQLite", URL_EXAMPLE, url)
}

/// The folder that an endpoint names.
pub fn folder(endpoint: &Endpoint) -> PathBuf {
    folder::path(NAME, endpoint)
}

/// The file of a database.
pub fn file(endpoint: &Endpoint, database: &DatabaseName) -> PathBuf {
    folder(endpoint).join(format!("{database}{FILE_ENDING}"))
}

/// Opens the plan's database, which exists, with the pragmas of its durability class.
///
/// # Errors
/// [`ErrorKind::NotFound`] when it does not exist, [`ErrorKind::Unsupported`] for a class that SQLite does not have.
pub fn open(plan: &Plan) -> Result<Connection, StoreError> {
    const OPERATION: &str = "open the SQLite database";
    let synchronous = synchronous(plan.durability)?;
    let file = file(&plan.endpoint, &plan.database);
    folder::check_made(&file, OPERATION)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(&file, flags).map_err(|cause| error::native(OPERATION, cause))?;
    let wrong = |cause| error::native("set pragmas", cause);
    connection.busy_timeout(Duration::from_millis(plan.timeout_ms)).map_err(wrong)?;
    let mode: String =
        connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(wrong)?;
    if mode != "wal" {
        return Err(StoreError::new(
            ErrorKind::Configuration,
            OPERATION,
            format!(
                "write-ahead logging cannot be had here (journal mode {mode}); use a folder on a local disk"
            ),
        ));
    }
    // Plans must not follow bound values: SQLite would plan anew at almost every execution of a statement that orders its rows.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(wrong)?;
    let cache = (CACHE_KIB / plan.clients.max(1)).max(LEAST_CACHE_KIB);
    connection
        .execute_batch(&format!("PRAGMA synchronous = {synchronous}; PRAGMA cache_size = -{cache};"))
        .map_err(wrong)?;
    connection.set_prepared_statement_cache_capacity(MOST_SHAPES);
    Ok(connection)
}

/// SQLite's word for a durability class.
fn synchronous(durability: Durability) -> Result<&'static str, StoreError> {
    match durability {
        Durability::Default => Ok("NORMAL"),
        Durability::Durable => Ok("FULL"),
        Durability::Relaxed => Ok("OFF"),
        Durability::Unacknowledged => Err(StoreError::unsupported(
            "open the SQLite database",
            "SQLite acknowledges every write; choose default, durable or relaxed",
        )),
    }
}

/// The durability classes in SQLite's own words.
pub const DURABILITY: &[(Durability, &str)] = &[
    (
        Durability::Default,
        "WAL, synchronous NORMAL: flushed at checkpoints; a power failure may lose the latest commits, a crash of the process none",
    ),
    (Durability::Durable, "WAL, synchronous FULL: the log is flushed before each commit returns"),
    (
        Durability::Relaxed,
        "WAL, synchronous OFF: nothing is flushed; a power failure may damage the file, a crash of the process loses nothing",
    ),
];
