//! What makes, settles, inspects and drops one sensormark database.
//!
//! Only databases whose name starts with sensormark_ and that bear the plan's mark are touched. Global settings of the server are changed on
//! servers alone that sensormark started.

use crate::config::Options;
use crate::connection::{Link, cell};
use crate::members;
use crate::schema::{owner_table, quoted};
use crate::write::value::native;
use mysql_async::Value;
use sensormark_kit::{BackendAdministrator, Found};
use sensormark_relational::cell::Cell;
use sensormark_relational::ddl;
use sensormark_relational::physical_schema::{OWNER_TABLE, PhysicalSchema};
use sensormark_store::{Durability, ErrorKind, Plan, Setting, Size, StoreError};
use std::sync::Arc;
use std::time::Duration;

mod settle;

/// Settings that are read back, all of them harmless to show.
const SETTINGS: &[&str] = &[
    "binlog_format",
    "character_set_server",
    "collation_server",
    "eq_range_index_dive_limit",
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_size",
    "innodb_change_buffering",
    "innodb_compression_default",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_fill_factor",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_page_size",
    "innodb_purge_threads",
    "innodb_read_io_threads",
    "innodb_use_native_aio",
    "innodb_write_io_threads",
    "join_buffer_size",
    "local_infile",
    "log_bin",
    "max_allowed_packet",
    "max_connections",
    "max_heap_table_size",
    "optimizer_switch",
    "performance_schema",
    "query_cache_size",
    "query_cache_type",
    "sort_buffer_size",
    "sync_binlog",
    "table_open_cache",
    "thread_cache_size",
    "thread_handling",
    "tmp_table_size",
    "tx_isolation",
    "version",
    "version_comment",
    "wsrep_on",
    "wsrep_slave_threads",
];

/// Speaks to the server about one database.
pub struct MariadbAdministrator {
    link: Link,
    options: Options,
    plan: Plan,
    physical: Arc<PhysicalSchema>,
    notes: Vec<String>,
}

/// Sets, on a server of sensormark's own, what an acknowledgement promises; on others, checks that the server promises it.
pub(crate) fn check_durability(plan: &Plan, flush_at_commit: i64) -> Result<(), StoreError> {
    let (fits, wanted) = match plan.durability {
        Durability::Default => (true, 1),
        Durability::Durable => (matches!(flush_at_commit, 1 | 3), 1),
        Durability::Relaxed => (flush_at_commit == 2, 2),
        Durability::Unacknowledged => {
            return Err(StoreError::unsupported(
                "choose a durability class",
                "MariaDB acknowledges every statement",
            ));
        }
    };
    if fits {
        return Ok(());
    }
    Err(StoreError::new(
        ErrorKind::Configuration,
        "choose a durability class",
        format!(
            "the server has innodb_flush_log_at_trx_commit = {flush_at_commit}, which is not {}; \
             run SET GLOBAL innodb_flush_log_at_trx_commit = {wanted} there, or ask for another class",
            plan.durability.text()
        ),
    ))
}

impl MariadbAdministrator {
    /// Administers this plan's database over this connection.
    pub(crate) const fn new(link: Link, options: Options, plan: Plan, physical: Arc<PhysicalSchema>) -> Self {
        Self { link, options, plan, physical, notes: Vec::new() }
    }

    fn name(&self) -> &str {
        self.plan.database.as_str()
    }

    /// The first column of all rows, as text.
    async fn texts(
        &mut self,
        operation: &str,
        sql: &str,
        parameters: Vec<Value>,
    ) -> Result<Vec<String>, StoreError> {
        let mut texts = Vec::new();
        self.link
            .rows(operation, sql, parameters, &mut |row| {
                texts.push(cell::text(&row, 0)?.to_owned());
                Ok(())
            })
            .await?;
        Ok(texts)
    }

    /// The owner's mark inside a database.
    async fn mark(&mut self, operation: &str, database: &str) -> Result<Option<String>, StoreError> {
        let sql = format!("SELECT `owner` FROM {}.{}", quoted(database), quoted(OWNER_TABLE));
        match self.texts(operation, &sql, Vec::new()).await {
            Ok(marks) => Ok(marks.into_iter().next()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether nobody has put anything into a database, but for the table that its mark was to be in.
    async fn is_empty(&mut self, database: &str) -> Result<bool, StoreError> {
        let sql = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? \
             UNION ALL SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ?";
        let named = vec![Value::from(database); 2];
        let names = self.texts("look into the database", sql, named).await?;
        Ok(names.iter().all(|name| name == OWNER_TABLE))
    }

    /// Puts a row a series into the tables of tags.
    async fn fill_tags(&mut self) -> Result<(), StoreError> {
        const ROWS: usize = 1_000;
        let physical = Arc::clone(&self.physical);
        for (table, described) in physical.schema.tables.iter().zip(&physical.tables) {
            let Some(tags) = &described.tags else {
                continue;
            };
            let marks = vec!["?"; table.tags.len() + 1].join(",");
            let sql = format!("REPLACE INTO {tags} VALUES ({marks})");
            let row = |series: u32| {
                let tags = (0..table.tags.len()).map(|tag| native(Cell::tag(table, tag, series)));
                std::iter::once(Value::from(series)).chain(tags).collect()
            };
            let rows: Vec<Vec<Value>> = (0..table.series.len()).map(row).collect();
            for rows in rows.chunks(ROWS) {
                self.link.execute_bulk("store tags", &sql, rows.to_vec()).await?;
            }
        }
        Ok(())
    }

    /// Connections to all members of a cluster that answer; none to a server alone.
    async fn members(&self) -> Result<Vec<Link>, StoreError> {
        let mut links = Vec::new();
        if self.options.hosts() == 1 {
            return Ok(links);
        }
        let timeout = Duration::from_millis(self.plan.timeout_ms);
        for host in 0..self.options.hosts() {
            match Link::open(&self.options, host, None, timeout).await {
                Ok(link) => links.push(link),
                Err(error) if error.kind() == ErrorKind::Unavailable => {}
                Err(error) => return Err(error),
            }
        }
        Ok(links)
    }

    async fn rest(&mut self) -> Result<(), StoreError> {
        let names = ddl::table_names(&self.physical);
        let tables: Vec<String> =
            names.iter().map(|table| format!("{}.{}", quoted(self.name()), quoted(table))).collect();
        let tables = tables.join(", ");
        let managed = self.plan.endpoint.managed;
        if self.options.hosts() == 1 {
            let timeout = Duration::from_millis(self.plan.timeout_ms);
            if !settle::alone(&mut self.link, &tables, managed).await? {
                let note =
                    "pages were not flushed before the disk was measured: the user may not (FLUSH TABLES)";
                self.notes.push(note.to_owned());
            }
            return self.link.allow(timeout).await;
        }
        for mut link in self.members().await? {
            settle::member(&mut link, &tables, managed).await?;
            link.close().await?;
        }
        Ok(())
    }

    async fn read_settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        let marks = vec!["?"; SETTINGS.len()].join(",");
        let sql = format!(
            "SELECT LOWER(VARIABLE_NAME), VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES \
             WHERE VARIABLE_NAME IN ({marks}) ORDER BY VARIABLE_NAME"
        );
        let names = SETTINGS.iter().map(|&name| Value::from(name.to_uppercase())).collect();
        let mut settings = Vec::new();
        self.link
            .rows("read settings", &sql, names, &mut |row| {
                settings.push(Setting {
                    name: cell::text(&row, 0)?.to_owned(),
                    value: cell::text(&row, 1)?.to_owned(),
                });
                Ok(())
            })
            .await?;
        if self.plan.durability == Durability::Default && !self.plan.endpoint.managed {
            let found = self.unsafe_settings().await?;
            if !found.is_empty() {
                self.notes.push(format!("the server has {found}: a power cut may take acknowledged writes"));
            }
        }
        if self.options.hosts() > 1 {
            settings.extend(members::settings(&mut self.link).await?);
        }
        Ok(settings)
    }

    /// Settings of an existing server with which a power cut takes acknowledged writes, as its configuration has them; empty where there are none.
    async fn unsafe_settings(&mut self) -> Result<String, StoreError> {
        let sql = "SELECT CONCAT(LOWER(VARIABLE_NAME), ' = ', VARIABLE_VALUE) FROM information_schema.GLOBAL_VARIABLES WHERE \
             (VARIABLE_NAME = 'INNODB_FLUSH_LOG_AT_TRX_COMMIT' AND VARIABLE_VALUE NOT IN ('1', '3')) \
             OR (VARIABLE_NAME = 'INNODB_DOUBLEWRITE' AND VARIABLE_VALUE = 'OFF') \
             OR (VARIABLE_NAME = 'INNODB_FLUSH_METHOD' AND VARIABLE_VALUE IN ('nosync', 'littlesync')) \
             OR (VARIABLE_NAME = 'SYNC_BINLOG' AND VARIABLE_VALUE <> '1' AND @@GLOBAL.log_bin = 1)";
        let found = self.texts("read settings", sql, Vec::new()).await?;
        Ok(found.join(" and "))
    }

    /// Fails where an existing server does not acknowledge as the plan's class says.
    async fn check_existing(&mut self) -> Result<(), StoreError> {
        check_durability(&self.plan, self.link.server.flush_at_commit)?;
        if self.plan.durability != Durability::Durable {
            return Ok(());
        }
        let found = self.unsafe_settings().await?;
        if found.is_empty() {
            return Ok(());
        }
        Err(StoreError::new(
            ErrorKind::Configuration,
            "choose a durability class",
            format!(
                "the server has {found}, and a power cut then takes acknowledged writes; change that there, or ask for another class"
            ),
        ))
    }

    async fn measure(&mut self) -> Result<Size, StoreError> {
        const OPERATION: &str = "read the size";
        let name = self.name().to_owned();
        let files = format!(
            "SELECT CAST(COALESCE(SUM(FILE_SIZE), 0) AS SIGNED) FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE '{}/%'",
            name.replace('_', "\\_")
        );
        let data = match self.link.number(OPERATION, &files).await {
            Ok(bytes) => bytes,
            // Without the right to see files: what the tables say of themselves.
            Err(error) if error.kind() == ErrorKind::Authentication => {
                let tables = format!(
                    "SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS SIGNED) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{name}'"
                );
                self.link.number(OPERATION, &tables).await?
            }
            Err(error) => return Err(error),
        };
        let log = self.link.number(OPERATION, "SELECT @@GLOBAL.innodb_log_file_size").await?;
        let (data, log) = (data.max(0).cast_unsigned(), log.max(0).cast_unsigned());
        Ok(Size { total_bytes: data + log, log_bytes: Some(log) })
    }
}

impl BackendAdministrator for MariadbAdministrator {
    async fn check(&mut self) -> Result<(), StoreError> {
        const OPERATION: &str = "create a database";
        if !self.plan.endpoint.managed {
            return self.check_existing().await;
        }
        let flush = if self.plan.durability == Durability::Relaxed { 2 } else { 1 };
        let sql = format!("SET GLOBAL innodb_flush_log_at_trx_commit = {flush}");
        self.link.text(OPERATION, sql.as_str()).await?;
        for mut link in self.members().await? {
            link.text(OPERATION, sql.as_str()).await?;
            link.close().await?;
        }
        Ok(())
    }

    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        const OPERATION: &str = "look for the database";
        let there = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?";
        let named = vec![Value::from(name)];
        if self.texts(OPERATION, there, named).await?.is_empty() {
            return Ok(Found::Nothing);
        }
        let mark = self.mark(OPERATION, name).await?;
        if mark.is_none() && self.is_empty(name).await? {
            return Ok(Found::Empty);
        }
        Ok(Found::with_mark(mark, name))
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        let tables = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?";
        let named = vec![Value::from(self.plan.database.as_str())];
        self.texts("list tables", tables, named).await
    }

    fn expected(&self) -> Vec<String> {
        ddl::table_names(&self.physical)
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        const OPERATION: &str = "create a database";
        let name = quoted(self.name());
        let sql = format!("CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin");
        self.link.text(OPERATION, sql).await?;
        self.link.text(OPERATION, format!("USE {name}")).await?;
        self.link.text(OPERATION, owner_table()).await?;
        let mark = format!("INSERT IGNORE INTO {} VALUES (?)", quoted(OWNER_TABLE));
        let owner = vec![Value::from(self.plan.owner.as_str())];
        self.link.execute(OPERATION, &mark, owner).await?;
        for statement in ddl::statements(&self.physical) {
            self.link.text(OPERATION, statement).await?;
        }
        self.fill_tags().await
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        let sql = format!("DROP DATABASE {}", quoted(self.name()));
        self.link.text("drop a database", sql).await
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        let sql =
            "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'sensormark\\_%'";
        self.texts("list databases", sql, Vec::new()).await
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        self.rest().await
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        self.read_settings().await
    }

    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        let database = self.plan.database.as_str();
        self.link.stated_schema(database, OWNER_TABLE).await
    }

    async fn perform(&mut self, statement: &str) -> Result<Vec<String>, StoreError> {
        self.link.allow(settle::SETTLE).await?;
        self.texts("administer MariaDB", statement, Vec::new()).await
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        self.measure().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{DatabaseName, Endpoint, Layout, Schema, Secret};

    fn plan(durability: Durability) -> Plan {
        Plan {
            endpoint: Endpoint {
                url: Secret::new(""),
                label: String::new(),
                managed: false,
                ports: Vec::new(),
            },
            database: DatabaseName::new("d").unwrap(),
            owner: String::new(),
            schema: Arc::new(Schema { tables: Vec::new() }),
            layout: Layout::row_per_reading(),
            durability,
            clients: 1,
            timeout_ms: 1,
        }
    }

    #[test]
    fn a_server_that_promises_less_or_more_than_asked_is_refused() {
        for (durability, flush, kind) in [
            (Durability::Default, 0, None),
            (Durability::Durable, 1, None),
            (Durability::Durable, 2, Some(ErrorKind::Configuration)),
            (Durability::Durable, 0, Some(ErrorKind::Configuration)),
            (Durability::Relaxed, 2, None),
            (Durability::Relaxed, 1, Some(ErrorKind::Configuration)),
            (Durability::Unacknowledged, 1, Some(ErrorKind::Unsupported)),
        ] {
            let refused = check_durability(&plan(durability), flush).err();
            assert_eq!(refused.map(|error| error.kind()), kind, "{durability:?} with {flush}");
        }
    }
}
