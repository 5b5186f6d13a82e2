//! Making, settling, inspecting and dropping one sensormark database.
//!
//! The administrator speaks to the maintenance database, and to the plan's own while it is needed. It drops nothing
//! that does not bear the plan's mark.

use crate::config::Options;
use crate::connection::Link;
use crate::schema::owner_table;
use crate::session::session_settings;
use crate::write::fill_tags;
use sensormark_kit::{BackendAdministrator, Found};
use sensormark_relational::ddl::{statements, table_names};
use sensormark_relational::physical_schema::{OWNER_TABLE, PhysicalSchema};
use sensormark_store::{DatabaseName, Durability, ErrorKind, Plan, Setting, Size, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// Settling, making and dropping may take longer than an operation.
const PATIENCE: Duration = Duration::from_secs(600);

/// The settings that matter for speed and durability. None of them holds a path, a host or a secret.
const SETTINGS: [&str; 36] = [
    "autovacuum",
    "bgwriter_delay",
    "block_size",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "commit_siblings",
    "data_checksums",
    "default_toast_compression",
    "effective_cache_size",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "hot_standby_feedback",
    "huge_pages",
    "jit",
    "lc_collate",
    "maintenance_work_mem",
    "max_connections",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "max_wal_size",
    "max_worker_processes",
    "min_wal_size",
    "random_page_cost",
    "server_encoding",
    "shared_buffers",
    "synchronous_commit",
    "synchronous_standby_names",
    "temp_buffers",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
    "wal_writer_delay",
    "work_mem",
];

/// A text for each table: its columns, storage parameters and constraints, then its indexes, all in the server's words.
const CATALOGUE: &str = "SELECT 'TABLE ' || c.oid::regclass || E' (\\n  ' || (
    SELECT string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
        || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END, E',\\n  ' ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
  || coalesce((SELECT string_agg(E',\\n  ' || pg_get_constraintdef(o.oid), '' ORDER BY o.conname)
    FROM pg_constraint o WHERE o.conrelid = c.oid AND o.contype IN ('p', 'u', 'f', 'c')), '')
  || E'\\n)' || coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '')
  || coalesce((SELECT string_agg(E'\\n' || pg_get_indexdef(i.indexrelid), '' ORDER BY i.indexrelid)
    FROM pg_index i WHERE i.indrelid = c.oid AND NOT i.indisprimary), '')
 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p') AND n.nspname = 'public' AND c.relname <> $1 ORDER BY c.relname";

/// The administrator of a plan's database.
pub struct PostgresqlAdministrator {
    options: Options,
    plan: Plan,
    physical: Arc<PhysicalSchema>,
    maintenance: Link,
    notes: Vec<String>,
}

/// Settings without which a power cut takes acknowledged writes, whatever a session asks for.
const NEEDED_FOR_DURABLE: [&str; 2] = ["fsync", "full_page_writes"];

/// What a database of the user's own would have and one that was just made has not: anything with an identifier above the system's own.
const IS_EMPTY: &str = "SELECT NOT EXISTS (SELECT FROM pg_class WHERE oid >= 16384) AND NOT EXISTS (SELECT FROM pg_proc WHERE oid >= 16384) \
    AND NOT EXISTS (SELECT FROM pg_type WHERE oid >= 16384) AND NOT EXISTS (SELECT FROM pg_namespace WHERE oid >= 16384) \
    AND NOT EXISTS (SELECT FROM pg_extension WHERE oid >= 16384)";

impl PostgresqlAdministrator {
    /// Connects to the maintenance database.
    pub(crate) async fn open(
        options: Options,
        plan: Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<Self, StoreError> {
        let timeout = Duration::from_millis(plan.timeout_ms);
        let mut maintenance = Link::open(&options, &options.maintenance_database, timeout).await?;
        maintenance.wire.allow(PATIENCE);
        let settings = session_settings(plan.durability, &options)?;
        maintenance.batch("set up a session", &settings).await?;
        Ok(Self { options, plan, physical, maintenance, notes: Vec::new() })
    }

    async fn link(&self, database: &str) -> Result<Link, StoreError> {
        let timeout = Duration::from_millis(self.plan.timeout_ms);
        let mut link = Link::open(&self.options, database, timeout).await?;
        link.wire.allow(PATIENCE);
        let settings = session_settings(self.plan.durability, &self.options)?;
        link.batch("set up a session", &settings).await?;
        Ok(link)
    }

    async fn exists(&mut self, database: &str) -> Result<bool, StoreError> {
        let Link { client, wire, .. } = &mut self.maintenance;
        let text = "SELECT 1 FROM pg_database WHERE datname = $1";
        let found = wire.run("look for the database", client.query_opt(text, &[&database])).await?;
        Ok(found.is_some())
    }

    /// Makes mark, tables, indexes and rows of tags in one transaction, so that no half of them is ever there.
    async fn fill(&self, link: &mut Link) -> Result<(), StoreError> {
        let start = format!("BEGIN;{}", owner_table());
        link.batch("make the owner's table", &start).await?;
        let mark = format!("INSERT INTO \"{OWNER_TABLE}\" (mark) VALUES ($1)");
        let Link { client, wire, .. } = link;
        wire.run("set the owner's mark", client.execute(&mark, &[&self.plan.owner])).await?;
        let tables = statements(&self.physical).join(";");
        link.batch("make tables", &tables).await?;
        fill_tags(link, &self.physical, &self.physical.schema).await?;
        link.batch("commit the tables", "COMMIT").await
    }

    async fn settle_all(&mut self) -> Result<(), StoreError> {
        let mut link = self.link(self.plan.database.as_str()).await?;
        link.batch("vacuum and analyse", "VACUUM (ANALYZE)").await?;
        match link.batch("write a checkpoint", "CHECKPOINT").await {
            Err(error) if error.kind() == ErrorKind::Authentication => {
                let note = "no checkpoint before the disk was measured: the user may not (pg_checkpoint)";
                self.notes.push(note.to_owned());
            }
            done => done?,
        }
        link.close().await
    }

    async fn read_settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        let mut link = self.link(self.plan.database.as_str()).await?;
        let names: Vec<&str> = SETTINGS.to_vec();
        let text = "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY($1) ORDER BY name";
        let Link { client, wire, .. } = &mut link;
        let rows = wire.run("read settings", client.query(text, &[&names])).await?;
        let text = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
        let following = wire.run("count the replicas", client.query_one(text, &[])).await?;
        link.close().await?;
        let mut settings: Vec<Setting> =
            rows.iter().map(|row| Setting { name: row.get(0), value: row.get(1) }).collect();
        let off = turned_off(&settings);
        if self.plan.durability == Durability::Default && !off.is_empty() {
            self.notes.push(format!("the server has {off}: a power cut may take acknowledged writes"));
        }
        let replicas: i64 = following.get(0);
        if replicas > 0 {
            settings.push(Setting { name: "replicas that stream".to_owned(), value: replicas.to_string() });
        }
        Ok(settings)
    }

    /// Columns, constraints and indexes of each table, as the system catalogue has them; the owner's mark apart.
    async fn stated_schema(&mut self) -> Result<Vec<String>, StoreError> {
        let mut link = self.link(self.plan.database.as_str()).await?;
        let Link { client, wire, .. } = &mut link;
        let rows = wire.run("show the schema", client.query(CATALOGUE, &[&OWNER_TABLE])).await?;
        link.close().await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// The database's own files; the write-ahead log is the whole server's and is known to privileged users only.
    async fn measure(&mut self) -> Result<Size, StoreError> {
        let Link { client, wire, .. } = &mut self.maintenance;
        let name = self.plan.database.as_str();
        let row = wire
            .run("measure the database", client.query_one("SELECT pg_database_size($1::name)", &[&name]))
            .await?;
        let data: i64 = row.get(0);
        let text = "SELECT coalesce(sum(size), 0)::int8 FROM pg_ls_waldir()";
        let log: Option<i64> = match wire.run("measure the log", client.query_one(text, &[])).await {
            Ok(row) => Some(row.get(0)),
            Err(error) if error.kind() == ErrorKind::Authentication => None,
            Err(error) => return Err(error),
        };
        let log_bytes = log.map(i64::unsigned_abs);
        Ok(Size { total_bytes: data.unsigned_abs() + log_bytes.unwrap_or_default(), log_bytes })
    }
}

/// Those settings that are off and without which no class is durable, as the configuration has them; empty where all are on.
fn turned_off(settings: &[Setting]) -> String {
    let is_off =
        |setting: &&Setting| NEEDED_FOR_DURABLE.contains(&setting.name.as_str()) && setting.value == "off";
    let off = settings.iter().filter(is_off);
    let off: Vec<String> = off.map(|setting| format!("{} = off", setting.name)).collect();
    off.join(" and ")
}

/// The owner's mark of a database, if it bears one.
async fn read_mark(link: &mut Link) -> Result<Option<String>, StoreError> {
    if !list_tables(link).await?.iter().any(|table| table == OWNER_TABLE) {
        return Ok(None);
    }
    let text = format!("SELECT mark FROM \"{OWNER_TABLE}\"");
    let Link { client, wire, .. } = link;
    let reading = client.query_opt(&text, &[]);
    match wire.run("read the owner's mark", reading).await {
        Ok(row) => Ok(row.and_then(|row| row.try_get(0).ok())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether nobody has put anything into a database.
async fn is_empty(link: &mut Link) -> Result<bool, StoreError> {
    let Link { client, wire, .. } = link;
    let asking = client.query_one(IS_EMPTY, &[]);
    let row = wire.run("look into the database", asking).await?;
    Ok(row.get(0))
}

/// Tables, views and sequences of a database, without the server's own.
async fn list_tables(link: &mut Link) -> Result<Vec<String>, StoreError> {
    let Link { client, wire, .. } = link;
    let text = "SELECT relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')";
    let rows = wire.run("list tables", client.query(text, &[])).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

impl BackendAdministrator for PostgresqlAdministrator {
    async fn check(&mut self) -> Result<(), StoreError> {
        const OPERATION: &str = "set the durability class";
        if self.plan.durability != Durability::Durable {
            return Ok(());
        }
        let Link { client, wire, .. } = &mut self.maintenance;
        let text = "SELECT name, current_setting(name) FROM unnest($1::text[]) AS name";
        let named = NEEDED_FOR_DURABLE.to_vec();
        let rows = wire.run(OPERATION, client.query(text, &[&named])).await?;
        let settings = rows.iter().map(|row| Setting { name: row.get(0), value: row.get(1) });
        let off = turned_off(&settings.collect::<Vec<_>>());
        if off.is_empty() {
            return Ok(());
        }
        Err(StoreError::new(
            ErrorKind::Configuration,
            OPERATION,
            format!(
                "the server has {off}, and a power cut then takes acknowledged writes; set it to on in postgresql.conf and reload it, or ask for another class"
            ),
        ))
    }

    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        if !self.exists(name).await? {
            return Ok(Found::Nothing);
        }
        let mut link = self.link(name).await?;
        let found = match read_mark(&mut link).await? {
            None if is_empty(&mut link).await? => Found::Empty,
            mark => Found::with_mark(mark, name),
        };
        link.close().await?;
        Ok(found)
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        let mut link = self.link(self.plan.database.as_str()).await?;
        let tables = list_tables(&mut link).await;
        link.close().await?;
        tables
    }

    fn expected(&self) -> Vec<String> {
        table_names(&self.physical)
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        let name = self.plan.database.as_str().to_owned();
        let text = format!(
            "CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
        );
        self.maintenance.batch("create the database", &text).await?;
        let mut link = self.link(&name).await?;
        self.fill(&mut link).await?;
        link.close().await
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        let name = self.plan.database.as_str();
        let text = format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)");
        self.maintenance.batch("drop the database", &text).await
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        let Link { client, wire, .. } = &mut self.maintenance;
        let text =
            "SELECT datname FROM pg_database WHERE datallowconn AND starts_with(datname, $1) ORDER BY 1";
        let listing = client.query(text, &[&DatabaseName::PREFIX]);
        let rows = wire.run("list databases", listing).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        self.settle_all().await
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        self.read_settings().await
    }

    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        self.stated_schema().await
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        self.measure().await
    }
}

/// Refuses a database that the user's URL names and that holds tables: who writes so means that sensormark should use it.
///
/// # Errors
/// [`ErrorKind::Configuration`] that names the first table and says what to write instead.
pub(crate) async fn refuse_foreign_tables(link: &mut Link, database: &str) -> Result<(), StoreError> {
    const OPERATION: &str = "look into the URL's database";
    let asking = link.client.query_one(
        "SELECT count(*), min(n.nspname || '.' || c.relname) FROM pg_catalog.pg_class c \
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'f', 'm') \
         AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'",
        &[],
    );
    let row = link.wire.run(OPERATION, asking).await?;
    let (count, first): (i64, Option<String>) = (row.get(0), row.get(1));
    match first {
        None => Ok(()),
        Some(first) => Err(StoreError::new(
            ErrorKind::Configuration,
            OPERATION,
            format!(
                "the database {database:?} holds {count} tables that sensormark did not make (the first: {first}), and it touches none of them: \
                 it makes a database of its own. Name the server alone, postgresql://USER:PASSWORD@HOST:PORT/, or an empty database"
            ),
        )
        .with_doubt(false)),
    }
}
