//! Making, settling, inspecting and dropping the plan's database: one file with its log.
//!
//! The owner's mark is a table. A file without it is never written to: it is opened to be read only.

use crate::client::{Connection, Failure, Rows};
use crate::config::{self, FILE_ENDING};
use crate::error;
use crate::instance;
use crate::write::fill_tags;
use sensormark_kit::folder::{self, file_error};
use sensormark_kit::{BackendAdministrator, Found};
use sensormark_relational::ddl::{statements, table_names};
use sensormark_relational::physical_schema::{OWNER_TABLE, PhysicalSchema};
use sensormark_store::{Plan, Setting, Size, StoreError};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the log's name has behind the file's.
const LOG_ENDING: &str = ".wal";

/// Moves the log into the file. It waits for transactions of other sessions, such as one that reads the owner's mark, where a bare one fails:
/// <https://duckdb.org/docs/current/sql/statements/checkpoint>. Before 1.4 it ended them.
const CHECKPOINT: &str = "FORCE CHECKPOINT";

/// The tables of a database.
const TABLES: &str = "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND NOT temporary";

/// The settings that matter, read back.
const SETTINGS: [&str; 9] = [
    "access_mode",
    "checkpoint_threshold",
    "enable_optimistic_write",
    "fsync_mode",
    "index_scan_percentage",
    "memory_limit",
    "preserve_insertion_order",
    "storage_compatibility_version",
    "threads",
];

/// What looks after one database.
pub struct DuckdbAdministrator {
    plan: Plan,
    physical: Arc<PhysicalSchema>,
    file: PathBuf,
}

impl DuckdbAdministrator {
    /// The administrator of a plan's database, which need not exist.
    pub(crate) fn new(plan: &Plan, physical: Arc<PhysicalSchema>) -> Self {
        Self { plan: plan.clone(), physical, file: config::file(&plan.endpoint, &plan.database) }
    }

    fn fill(&self) -> Result<(), StoreError> {
        let (connection, _used) = config::open_or_make(&self.plan)?;
        let owner = self.plan.owner.replace('\'', "''");
        let work = || {
            connection.run(&format!(
                "BEGIN; CREATE TABLE {OWNER_TABLE} (owner VARCHAR NOT NULL); INSERT INTO {OWNER_TABLE} VALUES ('{owner}')"
            ))?;
            for statement in statements(&self.physical) {
                connection.run(&statement)?;
            }
            fill_tags(&connection, &self.physical)?;
            connection.run("COMMIT")?;
            connection.run(CHECKPOINT)
        };
        work().map_err(|failure| error::native("create tables", failure))
    }

    /// The texts that a question of the plan's database gives in its first columns, a row each.
    fn texts(&self, operation: &str, question: &str) -> Result<Vec<Vec<String>>, StoreError> {
        let (connection, _used) = config::open(&self.plan)?;
        connection.query(question).and_then(texts).map_err(|failure| error::native(operation, failure))
    }
}

/// All rows of a question whose columns are texts.
fn texts(mut rows: Rows) -> Result<Vec<Vec<String>>, Failure> {
    let mut all = Vec::new();
    while let Some(chunk) = rows.next()? {
        for row in 0..chunk.rows() {
            let columns = (0..).map_while(|column| chunk.vector(column));
            let texts = columns.map(|vector| vector.text(row).unwrap_or_default());
            all.push(texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect());
        }
    }
    Ok(all)
}

/// The owner's mark of a file; none where there is no mark.
fn read_mark(file: &Path) -> Result<Option<String>, StoreError> {
    let question = format!("SELECT owner FROM {OWNER_TABLE}");
    let read = |connection: &Connection| connection.query(&question).and_then(texts);
    let rows = config::look_into(file, read)?;
    Ok(rows.into_iter().flatten().next())
}

impl BackendAdministrator for DuckdbAdministrator {
    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        let folder = config::folder(&self.plan.endpoint);
        let file = folder.join(format!("{name}{FILE_ENDING}"));
        let tables = |connection: &Connection| connection.query(TABLES).and_then(texts);
        // DuckDB makes the file before its header.
        let is_empty = || {
            matches!(folder::blocks(&file), Ok(0))
                || config::look_into(&file, tables).is_ok_and(|tables| tables.is_empty())
        };
        Ok(match folder::found(&folder, name, FILE_ENDING, read_mark)? {
            Found::Unmarked if is_empty() => Found::Empty,
            found => found,
        })
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        Ok(self.texts("look at the tables that are there", TABLES)?.into_iter().flatten().collect())
    }

    fn expected(&self) -> Vec<String> {
        table_names(&self.physical)
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        fs::create_dir_all(config::folder(&self.plan.endpoint))
            .map_err(|cause| file_error("create the DuckDB database", cause))?;
        let made = self.fill();
        if made.is_err() {
            // The file was made a moment ago and holds nothing; what failed is reported.
            drop(self.remove().await);
        }
        made
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        instance::forget(&self.file);
        folder::drop_database("DuckDB", &self.plan.endpoint, &self.file)
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        let folder = config::folder(&self.plan.endpoint);
        folder::names(&folder, FILE_ENDING).map_err(|cause| file_error("list the DuckDB databases", cause))
    }

    /// Statistics for the optimizer, and the log moved into the file.
    async fn settle(&mut self) -> Result<(), StoreError> {
        let (connection, _used) = config::open(&self.plan)?;
        connection
            .run(&format!("ANALYZE; {CHECKPOINT}"))
            .map_err(|failure| error::native("settle the DuckDB database", failure))
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        let names = SETTINGS.map(|name| format!("'{name}'")).join(", ");
        let question =
            format!("SELECT name, value FROM duckdb_settings() WHERE name IN ({names}) ORDER BY name");
        let mut settings =
            vec![Setting { name: "duckdb_version".to_owned(), value: crate::server::library()?.version() }];
        for row in self.texts("read settings back", &question)? {
            let [name, value] = <[String; 2]>::try_from(row).unwrap_or_default();
            settings.push(Setting { name, value });
        }
        Ok(settings)
    }

    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        let question = format!(
            "SELECT sql FROM (SELECT table_oid AS place, sql FROM duckdb_tables() \
             WHERE NOT internal AND NOT temporary AND table_name <> '{OWNER_TABLE}' \
             UNION ALL SELECT index_oid, sql FROM duckdb_indexes() WHERE sql IS NOT NULL) ORDER BY place"
        );
        let texts = self.texts("show the schema", &question)?;
        Ok(texts.into_iter().flatten().collect())
    }

    async fn perform(&mut self, statement: &str) -> Result<Vec<String>, StoreError> {
        let rows = self.texts("administer the DuckDB database", statement)?;
        Ok(rows.into_iter().filter_map(|row| row.into_iter().next()).collect())
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        folder::size(&self.file, LOG_ENDING).map_err(|cause| file_error("measure the DuckDB database", cause))
    }
}
