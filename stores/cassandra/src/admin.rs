//! Making, settling, inspecting and dropping one sensormark keyspace.
//!
//! It drops nothing that does not bear the plan's mark. A server of our own is flushed by nodetool, from the server's own jars, over loopback.

use crate::config::Options;
use crate::connection::{Cell, Cells, Link};
use crate::query::decode;
use crate::schema::{Model, OWNER_TABLE, has_tags, statements, table_names};
use crate::server;
use crate::session::check_durability;
use crate::write::PIPELINE;
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use sensormark_store::{
    Administrator, DatabaseName, Durability, Endpoint, ErrorKind, LocalFuture, Plan, Setting, Size,
    StoreError,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Settling, making and dropping may take longer than an operation.
const PATIENCE: Duration = Duration::from_secs(300);

/// The settings that matter for speed and durability. None of them holds a path, a host or a secret.
const SETTINGS: [&str; 31] = [
    "auto_snapshot",
    "batch_size_fail_threshold",
    "batch_size_warn_threshold",
    "cdc_enabled",
    "column_index_size",
    "commit_failure_policy",
    "commitlog_segment_size",
    "commitlog_sync",
    "commitlog_sync_group_window",
    "commitlog_sync_period",
    "commitlog_total_space",
    "compaction_throughput",
    "concurrent_compactors",
    "concurrent_reads",
    "concurrent_writes",
    "disk_access_mode",
    "disk_failure_policy",
    "file_cache_enabled",
    "file_cache_size",
    "hinted_handoff_enabled",
    "key_cache_size",
    "memtable_allocation_type",
    "memtable_flush_writers",
    "memtable_heap_space",
    "memtable_offheap_space",
    "native_transport_max_threads",
    "num_tokens",
    "partitioner",
    "read_request_timeout",
    "row_cache_size",
    "write_request_timeout",
];

/// What a keyspace of the plan's name holds.
enum Found {
    /// There is none.
    Nothing,
    /// It bears this mark; its tables.
    Marked(String, Vec<String>),
    /// It bears no mark.
    Unmarked,
}

/// The administrator of a plan's keyspace.
pub(crate) struct CassandraAdministrator {
    link: Link,
    options: Options,
    plan: Plan,
    model: Arc<Model>,
}

/// The server's version. The first time that a server of our own is asked, its accounts are set up.
pub(crate) async fn version(endpoint: &Endpoint) -> Result<String, StoreError> {
    const OPERATION: &str = "ask Cassandra for its version";
    let options = Options::parse(endpoint.url.expose())?;
    let patience = Duration::from_secs(10);
    let link = match Link::open(&options, patience).await {
        Err(error) if endpoint.managed && error.kind() == ErrorKind::Authentication => {
            server::set_up_accounts(&options, patience).await?;
            Link::open(&options, patience).await?
        }
        other => other?,
    };
    let rows = link
        .rows(OPERATION, "SELECT release_version FROM system.local")
        .await?;
    let mut version = None;
    decode::each(&[rows], |row| {
        version = Some(decode::text(decode::next(row)?)?.to_owned());
        Ok(())
    })?;
    version.ok_or_else(|| crate::error::unexpected(OPERATION, "it states none"))
}

impl CassandraAdministrator {
    /// Connects.
    pub(crate) async fn open(
        options: Options,
        plan: Plan,
        model: Arc<Model>,
    ) -> Result<Self, StoreError> {
        check_durability(plan.durability)?;
        // Schema changes take long on a busy server; that they are slow is no failure.
        let patience = Duration::from_millis(plan.timeout_ms).max(Duration::from_secs(30));
        let link = Link::open(&options, patience).await?;
        let administrator = Self {
            link,
            options,
            plan,
            model,
        };
        Ok(administrator)
    }

    /// The texts of a statement's first column, or the first two joined by `=`.
    async fn texts(&self, what: &str, text: &str) -> Result<Vec<Vec<String>>, StoreError> {
        let rows = self.link.rows(what, text).await?;
        let mut texts = Vec::new();
        decode::each(&[rows], |row| {
            let mut columns = Vec::new();
            while row.columns_remaining() > 0 {
                let bytes = decode::optional(row)?.unwrap_or_default();
                columns.push(decode::text(bytes)?.to_owned());
            }
            texts.push(columns);
            Ok(())
        })?;
        Ok(texts)
    }

    async fn found(&self, name: &str) -> Result<Found, StoreError> {
        let text = format!(
            "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = '{name}'"
        );
        if self.texts("look for the keyspace", &text).await?.is_empty() {
            return Ok(Found::Nothing);
        }
        let text =
            format!("SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{name}'");
        let tables: Vec<String> = self
            .texts("list tables", &text)
            .await?
            .into_iter()
            .flatten()
            .collect();
        if !tables.iter().any(|table| table == OWNER_TABLE) {
            return Ok(Found::Unmarked);
        }
        let text = format!("SELECT mark FROM {name}.{OWNER_TABLE}");
        let marks = self.texts("read the owner's mark", &text).await?;
        Ok(match marks.into_iter().flatten().next() {
            Some(mark) => Found::Marked(mark, tables),
            None => Found::Unmarked,
        })
    }

    fn foreign(&self, what: &str) -> StoreError {
        StoreError::new(
            ErrorKind::Foreign,
            "use a keyspace",
            format!(
                "{} {what}; it is left alone: choose another name or remove it yourself",
                self.plan.database
            ),
        )
    }

    /// Fails where the server is not as durable as the plan asks: that is its own setting.
    async fn check_server(&self) -> Result<(), StoreError> {
        if self.plan.durability != Durability::Durable {
            return Ok(());
        }
        let text = "SELECT value FROM system_views.settings WHERE name = 'commitlog_sync'";
        let sync = self.texts("read commitlog_sync", text).await?;
        let sync = sync.into_iter().flatten().next().unwrap_or_default();
        if matches!(sync.as_str(), "batch" | "group") {
            return Ok(());
        }
        Err(StoreError::new(
            ErrorKind::Configuration,
            "set the durability class",
            format!(
                "the server's commitlog_sync is {sync:?}; set it to batch in cassandra.yaml and start the server again, or ask for another class"
            ),
        ))
    }

    async fn create_all(&self) -> Result<(), StoreError> {
        self.check_server().await?;
        let name = self.plan.database.as_str();
        match self.found(name).await? {
            Found::Nothing => {}
            Found::Unmarked => return Err(self.foreign("is there without sensormark's mark")),
            Found::Marked(mark, _) if mark != self.plan.owner => {
                return Err(self.foreign("is there and belongs to another run"));
            }
            Found::Marked(_, tables) => {
                let own = table_names(&self.model);
                if let Some(other) = tables.iter().find(|table| !own.contains(table)) {
                    return Err(self.foreign(&format!(
                        "holds a table {other:?} that sensormark did not make"
                    )));
                }
                self.drop_keyspace().await?;
            }
        }
        let copies = self.options.replication;
        let replication = match &self.options.datacenter {
            Some(datacenter) => {
                format!("{{'class': 'NetworkTopologyStrategy', '{datacenter}': {copies}}}")
            }
            None => format!("{{'class': 'SimpleStrategy', 'replication_factor': {copies}}}"),
        };
        let text = format!("CREATE KEYSPACE {name} WITH replication = {replication}");
        self.link.run("make the keyspace", &text).await?;
        let text = format!("CREATE TABLE {name}.{OWNER_TABLE} (mark text PRIMARY KEY)");
        self.link.run("make the owner's table", &text).await?;
        let mark = format!("INSERT INTO {name}.{OWNER_TABLE} (mark) VALUES (?)");
        let mark = self.link.prepare("set the owner's mark", &mark).await?;
        let cells = [Cell::Bytes(self.plan.owner.as_bytes())];
        self.link
            .execute("set the owner's mark", &mark, &Cells(&cells))
            .await?;
        for text in statements(&self.model, name) {
            self.link.run("make a table", &text).await?;
        }
        self.fill_tags().await
    }

    async fn fill_tags(&self) -> Result<(), StoreError> {
        let name = self.plan.database.as_str();
        for (table, own) in self.model.schema.tables.iter().zip(&self.model.tables) {
            if !has_tags(&self.model, table) {
                continue;
            }
            let text = format!(
                "INSERT INTO {name}.\"{}\" (\"_tag\", \"_value\", \"_series\") VALUES (?, ?, ?)",
                own.tags()
            );
            let insert = self.link.prepare("fill the table of tags", &text).await?;
            let (link, insert) = (&self.link, &insert);
            for (tag, column) in table.tags.iter().zip(table.series.columns()) {
                let fill = async |series: u32| {
                    let value = column.text(series);
                    let cells = [
                        Cell::Bytes(tag.name.as_bytes()),
                        Cell::Bytes(value.as_bytes()),
                        Cell::Int(series.cast_signed()),
                    ];
                    let cells = Cells(&cells);
                    let filled = link.execute("fill the table of tags", insert, &cells);
                    filled.await.map(drop)
                };
                let filled = iter(0..table.series.len()).map(fill);
                filled
                    .buffer_unordered(PIPELINE)
                    .try_collect::<()>()
                    .await?;
            }
        }
        Ok(())
    }

    async fn drop_keyspace(&self) -> Result<(), StoreError> {
        let text = format!("DROP KEYSPACE IF EXISTS {}", self.plan.database.as_str());
        self.link.run("drop the keyspace", &text).await.map(drop)
    }

    async fn drop_own(&self) -> Result<(), StoreError> {
        match self.found(self.plan.database.as_str()).await? {
            Found::Nothing => Ok(()),
            Found::Unmarked => Err(self.foreign("does not bear sensormark's mark")),
            Found::Marked(mark, _) if mark != self.plan.owner => {
                Err(self.foreign("belongs to another run"))
            }
            Found::Marked(..) => self.drop_keyspace().await,
        }
    }

    async fn all(&self) -> Result<Vec<(String, String)>, StoreError> {
        let text = "SELECT keyspace_name FROM system_schema.keyspaces";
        let names = self.texts("list keyspaces", text).await?;
        let mut databases = Vec::new();
        for name in names.into_iter().flatten() {
            // only names that sensormark gives, which need no quoting, are looked into
            let Ok(name) = DatabaseName::try_from(name) else {
                continue;
            };
            if let Ok(Found::Marked(mark, _)) = self.found(name.as_str()).await {
                databases.push((name.as_str().to_owned(), mark));
            }
        }
        Ok(databases)
    }

    async fn settle_all(&self) -> Result<(), StoreError> {
        if let Some(port) = self.options.jmx {
            server::nodetool(port, &["flush", self.plan.database.as_str()], PATIENCE).await?;
        }
        let start = Instant::now();
        let mut quiet = 0;
        while quiet < 2 && start.elapsed() < PATIENCE {
            quiet = if self.is_busy().await? { 0 } else { quiet + 1 };
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        if quiet < 2 {
            return Err(StoreError::new(
                ErrorKind::Timeout,
                "settle Cassandra",
                format!("it still compacts after {} s", PATIENCE.as_secs()),
            ));
        }
        Ok(())
    }

    /// Whether anything is being flushed or compacted.
    async fn is_busy(&self) -> Result<bool, StoreError> {
        let name = self.plan.database.as_str();
        let text = format!(
            "SELECT table_name FROM system_views.sstable_tasks WHERE keyspace_name = '{name}'"
        );
        Ok(!self.texts("look for compactions", &text).await?.is_empty())
    }

    async fn read_settings(&self) -> Result<Vec<Setting>, StoreError> {
        let names = SETTINGS.map(|name| format!("'{name}'")).join(", ");
        let text = format!("SELECT name, value FROM system_views.settings WHERE name IN ({names})");
        let rows = self.texts("read settings", &text).await?;
        let mut settings: Vec<Setting> = rows
            .into_iter()
            .filter_map(|row| {
                let [name, value] = <[String; 2]>::try_from(row).ok()?;
                Some(Setting { name, value })
            })
            .collect();
        settings.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(settings)
    }

    async fn occupied(&self) -> Result<Size, StoreError> {
        let name = self.plan.database.as_str();
        if let Some(port) = self.options.jmx {
            let text =
                server::nodetool(port, &["tablestats", "-F", "json", name], PATIENCE).await?;
            return Ok(Size {
                total_bytes: space_used(&text),
                log_bytes: None,
            });
        }
        let text = format!(
            "SELECT mebibytes FROM system_views.disk_usage WHERE keyspace_name = '{name}' ALLOW FILTERING"
        );
        let rows = self.link.rows("read disk usage", &text).await?;
        let mut mebibytes = 0_i64;
        decode::each(&[rows], |row| {
            mebibytes += decode::big(decode::next(row)?)?;
            Ok(())
        })?;
        Ok(Size {
            total_bytes: u64::try_from(mebibytes).unwrap_or(0) << 20,
            log_bytes: None,
        })
    }
}

/// The sum of the tables' space in nodetool's report.
fn space_used(report: &str) -> u64 {
    let key = "\"space_used_total\"";
    let mut total = 0;
    for part in report.split(key).skip(1) {
        let digits = part.trim_start_matches([':', ' ', '"']);
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        total += digits[..end].parse::<u64>().unwrap_or(0);
    }
    total
}

impl Administrator for CassandraAdministrator {
    fn create(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(self.create_all())
    }

    fn drop_database(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(self.drop_own())
    }

    fn databases(&mut self) -> LocalFuture<'_, Result<Vec<(String, String)>, StoreError>> {
        Box::pin(self.all())
    }

    fn settle(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(self.settle_all())
    }

    fn settings(&mut self) -> LocalFuture<'_, Result<Vec<Setting>, StoreError>> {
        Box::pin(self.read_settings())
    }

    fn size(&mut self) -> LocalFuture<'_, Result<Size, StoreError>> {
        Box::pin(self.occupied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_added_up() {
        let report = r#"{"k":{"tables":{"a":{"space_used_total":"120","x":1},"b":{"space_used_total": 5}}}}"#;
        assert_eq!(space_used(report), 125);
    }
}
