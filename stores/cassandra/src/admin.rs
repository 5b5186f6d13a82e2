//! Making, settling, inspecting and dropping one sensormark keyspace.
//!
//! It drops nothing that does not bear the plan's mark. A server of our own is flushed by nodetool, from the server's own jars, over loopback.

use crate::config::Options;
use crate::connection::PIPELINE;
use crate::connection::{Cells, Link};
use crate::error;
use crate::query::decode;
use crate::schema::{LOOKUP, OWNER, PhysicalSchema, has_tags, statements, table_names};
use crate::server;
use crate::session::check_durability;
use crate::write::{note_cells, note_statement};
use futures_util::future::try_join_all;
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use scylla::statement::Consistency;
use sensormark_kit::{BackendAdministrator, Found};
use sensormark_store::{Durability, Endpoint, ErrorKind, Plan, Setting, Size, StoreError};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
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

/// The administrator of a plan's keyspace.
pub struct CassandraAdministrator {
    link: Link,
    options: Options,
    plan: Plan,
    physical: Arc<PhysicalSchema>,
    notes: Vec<String>,
}

/// The server's version. The first time that a server of our own is asked, its accounts are set up.
pub(crate) async fn version(endpoint: &Endpoint) -> Result<String, StoreError> {
    const OPERATION: &str = "ask Cassandra for its version";
    let options = Options::parse(endpoint.url.expose())?;
    let patience = Duration::from_secs(10);
    let link = if endpoint.managed {
        server::open_own(&options, patience).await?
    } else {
        Link::open(&options, patience).await?
    };
    let rows = link.rows(OPERATION, "SELECT release_version FROM system.local").await?;
    let mut version = None;
    decode::each(&[rows], |row| {
        version = Some(decode::text(decode::next(row)?)?.to_owned());
        Ok(())
    })?;
    version.ok_or_else(|| error::unexpected(OPERATION, "it states none"))
}

impl CassandraAdministrator {
    /// Connects.
    pub(crate) async fn open(
        options: Options,
        plan: Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<Self, StoreError> {
        check_durability(plan.durability)?;
        // Schema changes take long on a busy server; that they are slow is no failure.
        let patience = Duration::from_millis(plan.timeout_ms).max(Duration::from_secs(30));
        let mut all = options.clone();
        if matches!(options.consistency, Some(Consistency::One)) {
            // What everybody looks things up in is everywhere before anybody does.
            all.consistency = Some(Consistency::All);
        }
        let link = Link::open(&all, patience).await?;
        let administrator = Self { link, options, plan, physical, notes: Vec::new() };
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

    /// Fails where the server does not acknowledge as the plan's class says: that is its own setting.
    async fn check_server(&self) -> Result<(), StoreError> {
        let (expected, wanted): (&[&str], _) = match self.plan.durability {
            Durability::Durable => (&["batch", "group"], "batch or group"),
            Durability::Relaxed => (&["periodic"], "periodic"),
            // as it comes
            Durability::Default | Durability::Unacknowledged => return Ok(()),
        };
        let text = "SELECT value FROM system_views.settings WHERE name = 'commitlog_sync'";
        let sync = self.texts("read commitlog_sync", text).await?;
        let sync = sync.into_iter().flatten().next().unwrap_or_default();
        if expected.contains(&sync.as_str()) {
            return Ok(());
        }
        Err(StoreError::new(
            ErrorKind::Configuration,
            "set the durability class",
            format!(
                "the server's commitlog_sync is {sync:?}; set it to {wanted} in cassandra.yaml and start the server again, or ask for another class"
            ),
        ))
    }

    async fn fill_tags(&self) -> Result<(), StoreError> {
        let name = self.plan.database.as_str();
        let insert = note_statement(name);
        let insert = self.link.prepare("fill in the tags", &insert).await?;
        let (link, insert) = (&self.link, &insert);
        for table in &self.physical.schema.tables {
            if !has_tags(&self.physical, table) {
                continue;
            }
            for (tag, column) in table.tags.iter().zip(table.series.columns()) {
                let fill = async |series: u32| {
                    let value = column.text(series);
                    let cells = note_cells(&table.name, &tag.name, &value, i64::from(series));
                    let cells = Cells(&cells);
                    let filled = link.execute("fill in the tags", insert, &cells);
                    filled.await.map(drop)
                };
                let filled = iter(0..table.series.len()).map(fill);
                filled.buffer_unordered(PIPELINE).try_collect::<()>().await?;
            }
        }
        Ok(())
    }

    async fn settle_all(&self) -> Result<(), StoreError> {
        let name = self.plan.database.as_str();
        self.nodetool(&["flush", name]).await?;
        let members = self.member_links().await?;
        let start = Instant::now();
        let mut quiet = 0;
        while quiet < 2 && start.elapsed() < PATIENCE {
            let mut is_busy = self.is_busy(&self.link).await?;
            for link in &members {
                is_busy |= self.is_busy(link).await?;
            }
            quiet = if is_busy { 0 } else { quiet + 1 };
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

    /// What nodetool prints for each of our own servers that is there, all asked at once.
    async fn nodetool(&self, command: &[&str]) -> Result<Vec<String>, StoreError> {
        let there = self.options.jmx.iter().filter(|port| self.is_there(**port));
        let asked = there.map(|port| server::nodetool(*port, command, PATIENCE));
        try_join_all(asked).await
    }

    /// Whether a server is there; one that is alone is taken to be, so that its absence is an error. One of several that was lost has nothing to bring to rest.
    fn is_there(&self, port: u16) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let limit = Duration::from_secs(1);
        self.options.hosts.len() < 2 || TcpStream::connect_timeout(&address, limit).is_ok()
    }

    /// A connection to each member of a cluster of our own that is there, and to it alone: what a node does, only that node says.
    async fn member_links(&self) -> Result<Vec<Link>, StoreError> {
        let mut links = Vec::new();
        if self.options.jmx.len() < 2 {
            return Ok(links);
        }
        for (place, port) in self.options.jmx.iter().enumerate() {
            if !self.is_there(*port) {
                continue;
            }
            match Link::open_alone(&self.options.only(place), PATIENCE).await {
                Ok(link) => links.push(link),
                // The others answer; this one's address does not.
                Err(error) if error.kind() == ErrorKind::Unavailable => {}
                Err(error) => return Err(error),
            }
        }
        Ok(links)
    }

    /// Whether anything is being flushed or compacted.
    async fn is_busy(&self, link: &Link) -> Result<bool, StoreError> {
        let name = self.plan.database.as_str();
        let text =
            format!("SELECT table_name FROM system_views.sstable_tasks WHERE keyspace_name = '{name}'");
        let rows = link.rows("look for compactions", &text).await?;
        let mut is_busy = false;
        decode::each(&[rows], |row| {
            decode::text(decode::next(row)?)?;
            is_busy = true;
            Ok(())
        })?;
        Ok(is_busy)
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
        let text = "SELECT name, value FROM system_views.system_properties WHERE name IN ('java.version', 'java.vm.name')";
        for row in self.texts("read settings", text).await? {
            if let Ok([name, value]) = <[String; 2]>::try_from(row) {
                settings.push(Setting { name, value });
            }
        }
        if let Some(info) = self.nodetool(&["info"]).await?.first() {
            let value = largest_heap(info)
                .ok_or_else(|| error::unexpected("read the heap's size", "nodetool info lacks it"))?
                .to_owned();
            let name = "largest heap in MiB (nodetool info)".to_owned();
            settings.push(Setting { name, value });
        }
        if self.options.consistency.is_some() {
            let value = format!("{:?}", self.options.level());
            let name = "consistency level".to_owned();
            settings.push(Setting { name, value });
        }
        settings.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(settings)
    }

    /// What was done; or nothing, with a note, where the user may not read the server's own tables.
    fn noted<T: Default>(&mut self, done: Result<T, StoreError>, what: &str) -> Result<T, StoreError> {
        match done {
            Err(error) if error.kind() == ErrorKind::Authentication => {
                self.notes.push(format!("{what}: the user may not read system_views"));
                Ok(T::default())
            }
            done => done,
        }
    }

    async fn occupied(&self) -> Result<Size, StoreError> {
        let name = self.plan.database.as_str();
        let texts = self.nodetool(&["tablestats", "-F", "json", name]).await?;
        if !texts.is_empty() {
            return Ok(Size {
                total_bytes: texts.iter().map(|text| space_used(text)).sum(),
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
        Ok(Size { total_bytes: u64::try_from(mebibytes).unwrap_or(0) << 20, log_bytes: None })
    }
}

/// The owner's mark in a table's comment, where there is one.
fn mark<'a>(table: &str, comment: &'a str) -> Option<&'a str> {
    comment.strip_prefix(OWNER).filter(|_| table == LOOKUP)
}

/// The most that the heap may take, in MiB, in nodetool's report.
fn largest_heap(report: &str) -> Option<&str> {
    let line = report.lines().find(|line| line.trim_start().starts_with("Heap Memory (MB)"))?;
    Some(line.split_once(':')?.1.split_once('/')?.1.trim())
}

/// The sum of the tables' space in nodetool's report.
fn space_used(report: &str) -> u64 {
    let key = "\"space_used_total\"";
    let mut total = 0;
    for part in report.split(key).skip(1) {
        let digits = part.trim_start_matches([':', ' ', '"']);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        total += digits[..end].parse::<u64>().unwrap_or(0);
    }
    total
}

impl BackendAdministrator for CassandraAdministrator {
    async fn check(&mut self) -> Result<(), StoreError> {
        self.check_server().await
    }

    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        let text =
            format!("SELECT table_name, comment FROM system_schema.tables WHERE keyspace_name = '{name}'");
        let tables = self.texts("list tables", &text).await?;
        if let Some(owner) = tables.iter().find_map(|row| mark(&row[0], &row[1])) {
            return Ok(Found::with_mark(Some(owner.to_owned()), name));
        }
        let text =
            format!("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = '{name}'");
        let keyspaces = self.texts("look for the keyspace", &text).await?;
        Ok(if keyspaces.is_empty() {
            Found::Nothing
        } else if tables.is_empty() {
            Found::Empty
        } else {
            Found::Unmarked
        })
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        let text = format!(
            "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{}'",
            self.plan.database
        );
        let tables = self.texts("list tables", &text).await?;
        Ok(tables.into_iter().flatten().collect())
    }

    fn expected(&self) -> Vec<String> {
        table_names(&self.physical)
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        let name = self.plan.database.as_str();
        let copies = self.options.replication;
        let replication = match &self.options.datacenter {
            Some(datacenter) => {
                format!("{{'class': 'NetworkTopologyStrategy', '{datacenter}': {copies}}}")
            }
            None => format!("{{'class': 'SimpleStrategy', 'replication_factor': {copies}}}"),
        };
        let text = format!("CREATE KEYSPACE {name} WITH replication = {replication}");
        self.link.run("make the keyspace", &text).await?;
        for text in statements(&self.physical, name, &self.plan.owner, copies) {
            self.link.run("make a table", &text).await?;
        }
        self.fill_tags().await
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        let text = format!("DROP KEYSPACE IF EXISTS {}", self.plan.database);
        self.link.run("drop the keyspace", &text).await.map(drop)
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        let text = "SELECT keyspace_name FROM system_schema.keyspaces";
        let keyspaces = self.texts("list keyspaces", text).await?;
        Ok(keyspaces.into_iter().flatten().collect())
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        let done = self.settle_all().await;
        self.noted(done, "compactions were not waited for before the disk was measured")
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        let read = self.read_settings().await;
        self.noted(read, "settings are missing")
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        crate::shown::schema(&self.link, self.plan.database.as_str()).await
    }

    async fn perform(&mut self, statement: &str) -> Result<Vec<String>, StoreError> {
        const OPERATION: &str = "administer Cassandra";
        if let Some(command) = statement.strip_prefix("nodetool ") {
            return self.nodetool(&command.split(' ').collect::<Vec<_>>()).await;
        }
        if !statement.starts_with("SELECT") {
            return self.link.run(OPERATION, statement).await.map(|_| Vec::new());
        }
        let rows = self.texts(OPERATION, statement).await?;
        Ok(rows.into_iter().flatten().collect())
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        self.occupied().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heap_is_read_from_the_report() {
        let report = "Load                   : 1 KiB\nHeap Memory (MB)       : 149.77 / 512.00\nOff Heap Memory (MB)   : 0.01\n";
        assert_eq!(largest_heap(report), Some("512.00"));
        assert_eq!(largest_heap("Off Heap Memory (MB) : 0.01"), None);
    }

    #[test]
    fn only_the_table_that_is_looked_up_in_bears_a_mark() {
        assert_eq!(mark("lookup", "sensormark, owner it's me"), Some("it's me"));
        assert_eq!(mark("other", "sensormark, owner me"), None);
        assert_eq!(mark("lookup", "somebody's"), None);
    }

    #[test]
    fn space_is_added_up() {
        let report = r#"{"k":{"tables":{"a":{"space_used_total":"120","x":1},"b":{"space_used_total": 5}}}}"#;
        assert_eq!(space_used(report), 125);
    }
}
