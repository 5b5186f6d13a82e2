//! Which folder, and how a database is opened: the URL, the file's name and the settings.
//!
//! It neither makes nor drops anything: that is [`crate::admin`].

use crate::client::{Connection, Database, Failure};
use crate::error;
use crate::instance::{self, Use};
use crate::server;
use sensormark_kit::folder;
use sensormark_server::EmbeddedGroup;
use sensormark_store::{DatabaseName, Durability, Endpoint, Plan, StoreError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The store's name.
pub(crate) const NAME: &str = "duckdb";
/// The ending of a database's file.
pub(crate) const FILE_ENDING: &str = ".duckdb";
const OPERATION: &str = "open the DuckDB database";
/// DuckDB's memory, in MiB: what `--server-memory` gives a server by default. As it comes, DuckDB takes four fifths of the machine's.
const MEMORY: u64 = 1_024;
/// How long opening waits for another process that has the file open: one that ends closes it.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);

/// Reads a URL: a folder, with or without `duckdb:` before it.
///
/// # Errors
/// [`sensormark_store::ErrorKind::Configuration`] when it is empty, names a file, or is DuckDB's own notation for memory.
pub(crate) fn endpoint(url: &str) -> Result<Endpoint, StoreError> {
    folder::endpoint(NAME, "DuckDB", server::URL_EXAMPLE, url)
}

/// The folder that an endpoint names.
pub(crate) fn folder(endpoint: &Endpoint) -> PathBuf {
    folder::path(NAME, endpoint)
}

/// The file of a database.
pub(crate) fn file(endpoint: &Endpoint, database: &DatabaseName) -> PathBuf {
    folder(endpoint).join(format!("{database}{FILE_ENDING}"))
}

/// A connection to the plan's database, which is there, and the use of the database that it needs.
///
/// # Errors
/// [`sensormark_store::ErrorKind::NotFound`] when it is not there, [`sensormark_store::ErrorKind::Unsupported`] for a durability class that DuckDB does not have.
pub(crate) fn open(plan: &Plan) -> Result<(Connection, Use), StoreError> {
    folder::check_made(&file(&plan.endpoint, &plan.database), OPERATION)?;
    open_or_make(plan)
}

/// The same, where the file may have to be made.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_or_make(plan: &Plan) -> Result<(Connection, Use), StoreError> {
    let fsync_mode = fsync_mode(plan.durability)?;
    let library = server::library()?;
    let file = file(&plan.endpoint, &plan.database);
    // The client needs as much of a limit of both.
    let half = EmbeddedGroup::own_limit_bytes().map_or(MEMORY, |limit| limit >> 21);
    let memory = format!("{}MiB", half.min(MEMORY));
    let settings = [
        ("memory_limit", memory.as_str()),
        ("fsync_mode", fsync_mode),
        // Nothing is fetched from the network.
        ("autoinstall_known_extensions", "false"),
        ("autoload_known_extensions", "false"),
    ];
    let used = patiently(|| Use::of(&file, || Database::open(library, &file, &settings)))?;
    let connection = used.connect().map_err(|failure| error::native(OPERATION, failure))?;
    Ok((connection, used))
}

/// Reads something from a file that may be anybody's. It is opened to be read only, unless this process has it open.
///
/// # Errors
/// What DuckDB says.
pub(crate) fn look_into<T>(
    file: &Path,
    read: impl Fn(&Connection) -> Result<T, Failure>,
) -> Result<T, StoreError> {
    let library = server::library()?;
    let settings = [
        ("access_mode", "READ_ONLY"),
        ("autoinstall_known_extensions", "false"),
        ("autoload_known_extensions", "false"),
    ];
    patiently(|| instance::look(file, || Database::open(library, file, &settings), &read))
}

/// Tries again for a while where another process has the file open.
fn patiently<T>(work: impl Fn() -> Result<T, Failure>) -> Result<T, StoreError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match work() {
            Ok(done) => return Ok(done),
            Err(failure) if error::is_locked(&failure) && Instant::now() < deadline => {
                std::thread::sleep(LOOK);
            }
            Err(failure) => return Err(error::native(OPERATION, failure)),
        }
    }
}

/// DuckDB's word for a durability class.
fn fsync_mode(durability: Durability) -> Result<&'static str, StoreError> {
    match durability {
        Durability::Default | Durability::Durable => Ok("STANDARD"),
        Durability::Relaxed => Ok("NONE"),
        Durability::Unacknowledged => Err(StoreError::unsupported(
            OPERATION,
            "DuckDB acknowledges every write; choose default, durable or relaxed",
        )),
    }
}

/// What the default is, in words.
const FLUSHED: &str = "fsync_mode STANDARD: the write-ahead log is flushed before a commit returns";

/// The durability classes in DuckDB's own words.
pub(crate) const DURABILITY: &[(Durability, &str)] = &[
    (Durability::Default, FLUSHED),
    (Durability::Durable, FLUSHED),
    (
        Durability::Relaxed,
        "fsync_mode NONE: nothing is flushed; a power failure may damage the file, a crash of the process loses nothing",
    ),
];
