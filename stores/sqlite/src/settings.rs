//! The settings that matter, read back from the library: an allow-list of pragmas and compile-time options.

use crate::error;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use sensormark_store::{Setting, StoreError};

const PRAGMAS: [&str; 12] = [
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "mmap_size",
    "wal_autocheckpoint",
    "journal_size_limit",
    "temp_store",
    "foreign_keys",
    "auto_vacuum",
    "busy_timeout",
    "encoding",
];
/// How the compile-time options begin that change speed or durability.
const OPTIONS: [&str; 7] =
    ["COMPILER", "DEFAULT_", "ENABLE_API_ARMOR", "ENABLE_STAT4", "MAX_VARIABLE", "TEMP_STORE", "THREADSAFE"];

/// The settings of a connection that was opened as sessions are.
///
/// # Errors
/// What SQLite says.
pub fn read(connection: &Connection) -> Result<Vec<Setting>, StoreError> {
    read_all(connection).map_err(|cause| error::native("read settings back", cause))
}

fn read_all(connection: &Connection) -> rusqlite::Result<Vec<Setting>> {
    let setting = |name: &str, value: String| Setting { name: name.to_owned(), value };
    let stable = connection.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG)?;
    let mut settings = vec![
        setting("sqlite_version", rusqlite::version().to_owned()),
        setting("query_planner_stability_guarantee", if stable { "on" } else { "off" }.to_owned()),
    ];
    for name in PRAGMAS {
        let value = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?;
        settings.push(setting(name, text(name, value)));
    }
    let mut statement = connection.prepare("PRAGMA compile_options")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let option: String = row.get(0)?;
        if OPTIONS.iter().any(|start| option.starts_with(start)) {
            let (name, value) = option.split_once('=').unwrap_or((&option, "1"));
            settings.push(setting(&format!("compile_option.{name}"), value.to_owned()));
        }
    }
    Ok(settings)
}

/// SQLite's own words for settings that it prints as numbers.
fn text(name: &str, value: Value) -> String {
    match (name, value) {
        ("synchronous", Value::Integer(value @ 0..=3)) => {
            ["OFF", "NORMAL", "FULL", "EXTRA"][usize::try_from(value).unwrap_or(0)].to_owned()
        }
        (_, Value::Integer(value)) => value.to_string(),
        (_, Value::Real(value)) => value.to_string(),
        (_, Value::Text(value)) => value,
        (_, Value::Null | Value::Blob(_)) => String::new(),
    }
}
