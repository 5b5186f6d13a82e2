//! Making, settling, inspecting and dropping the plan's database: one file with its log.
//!
//! The owner's mark is a table. A file without it is never written to: it is opened to be read only.

use crate::client::{Connection, Failure, Rows};
use crate::config::{self, FILE_ENDING};
use crate::error;
use crate::instance;
use crate::write::fill_tags;
use sensormark_kit::folder::{self, blocks, file_error};
use sensormark_kit::{BackendAdministrator, Found};
use sensormark_relational::ddl::{statements, table_names};
use sensormark_relational::physical_schema::{OWNER_TABLE, PhysicalSchema};
use sensormark_store::{ErrorKind, Plan, Setting, Size, StoreError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the log's name has behind the file's.
const LOG_ENDING: &str = ".wal";

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
    model: Arc<PhysicalSchema>,
    file: PathBuf,
}

impl DuckdbAdministrator {
    /// The administrator of a plan's database, which need not exist.
    pub(crate) fn new(plan: &Plan, model: Arc<PhysicalSchema>) -> Self {
        Self {
            plan: plan.clone(),
            model,
            file: config::file(&plan.endpoint, &plan.database),
        }
    }

    fn fill(&self) -> Result<(), StoreError> {
        let (connection, _used) = config::open_or_make(&self.plan)?;
        let owner = self.plan.owner.replace('\'', "''");
        let work = || {
            connection.run("BEGIN")?;
            connection.run(&format!(
                "CREATE TABLE {OWNER_TABLE} (owner VARCHAR NOT NULL)"
            ))?;
            connection.run(&format!("INSERT INTO {OWNER_TABLE} VALUES ('{owner}')"))?;
            for statement in statements(&self.model) {
                connection.run(&statement)?;
            }
            fill_tags(&connection, &self.model)?;
            connection.run("COMMIT")?;
            connection.run("CHECKPOINT")
        };
        work().map_err(|failure| error::native("create tables", failure))
    }

    /// The files of the database: its own, its log, and what DuckDB keeps beside them for a while.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let own = self.file.file_name().unwrap_or_default();
        let own = own.to_string_lossy().into_owned();
        let mut files = Vec::new();
        let entries = match fs::read_dir(config::folder(&self.plan.endpoint)) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(files),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(&own) {
                files.push(entry.path());
            }
        }
        Ok(files)
    }

    fn remove_files(&self) -> io::Result<()> {
        for file in self.files()? {
            let removed = if file.is_dir() {
                fs::remove_dir_all(&file)
            } else {
                fs::remove_file(&file)
            };
            match removed {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
                _ => {}
            }
        }
        Ok(())
    }

    fn occupied(&self) -> io::Result<Size> {
        let mut size = Size {
            total_bytes: 0,
            log_bytes: Some(0),
        };
        for file in self.files()? {
            let bytes = blocks(&file)?;
            size.total_bytes += bytes;
            if file.to_string_lossy().ends_with(LOG_ENDING) {
                size.log_bytes = Some(bytes);
            }
        }
        Ok(size)
    }

    /// The texts that a question of the plan's database gives in its first columns, a row each.
    fn texts(&self, operation: &str, question: &str) -> Result<Vec<Vec<String>>, StoreError> {
        let (connection, _used) = config::open(&self.plan)?;
        connection
            .query(question)
            .and_then(texts)
            .map_err(|failure| error::native(operation, failure))
    }
}

/// All rows of a question whose columns are texts.
fn texts(mut rows: Rows) -> Result<Vec<Vec<String>>, Failure> {
    let mut all = Vec::new();
    while let Some(chunk) = rows.next()? {
        for row in 0..chunk.rows() {
            let columns = (0..).map_while(|column| chunk.vector(column));
            let texts = columns.map(|vector| vector.text(row).unwrap_or_default());
            all.push(
                texts
                    .map(|text| String::from_utf8_lossy(text).into_owned())
                    .collect(),
            );
        }
    }
    Ok(all)
}

/// The owner's mark of a file; none where there is no mark.
fn read_mark(file: &Path) -> Result<Option<String>, StoreError> {
    let question = format!("SELECT owner FROM {OWNER_TABLE}");
    let read = |connection: &Connection| connection.query(&question).and_then(texts);
    match config::look_into(file, read) {
        Ok(rows) => Ok(rows.into_iter().flatten().next()),
        Err(failure) => match failure.kind() {
            ErrorKind::NotFound | ErrorKind::Foreign | ErrorKind::Rejected => Ok(None),
            _ => Err(failure),
        },
    }
}

impl BackendAdministrator for DuckdbAdministrator {
    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        let file = config::folder(&self.plan.endpoint).join(format!("{name}{FILE_ENDING}"));
        if !file.exists() {
            return Ok(Found::Nothing);
        }
        Ok(Found::with_mark(read_mark(&file)?, name))
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        let names = self.texts(
            "look at the tables that are there",
            "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND NOT temporary",
        )?;
        Ok(names.into_iter().flatten().collect())
    }

    fn expected(&self) -> Vec<String> {
        table_names(&self.model)
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        let wrong = |cause| file_error("create the DuckDB database", cause);
        fs::create_dir_all(config::folder(&self.plan.endpoint)).map_err(wrong)?;
        let made = self.fill();
        if made.is_err() {
            // The file was made a moment ago and holds nothing; what failed is reported.
            instance::forget(&self.file);
            drop(self.remove_files());
        }
        made
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        instance::forget(&self.file);
        self.remove_files()
            .map_err(|cause| file_error("drop the DuckDB database", cause))?;
        if self.plan.endpoint.managed {
            // Fails, as it should, while other databases are in it.
            drop(fs::remove_dir(config::folder(&self.plan.endpoint)));
        }
        Ok(())
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        let folder = config::folder(&self.plan.endpoint);
        folder::names(&folder, FILE_ENDING)
            .map_err(|cause| file_error("list the DuckDB databases", cause))
    }

    /// Statistics for the optimizer, and the log moved into the file.
    async fn settle(&mut self) -> Result<(), StoreError> {
        let (connection, _used) = config::open(&self.plan)?;
        connection
            .run("ANALYZE; CHECKPOINT")
            .map_err(|failure| error::native("settle the DuckDB database", failure))
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        let names = SETTINGS.map(|name| format!("'{name}'")).join(", ");
        let question = format!(
            "SELECT name, value FROM duckdb_settings() WHERE name IN ({names}) ORDER BY name"
        );
        let mut settings = vec![Setting {
            name: "duckdb_version".to_owned(),
            value: crate::server::library()?.version(),
        }];
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

    async fn size(&mut self) -> Result<Size, StoreError> {
        self.occupied()
            .map_err(|cause| file_error("measure the DuckDB database", cause))
    }
}
