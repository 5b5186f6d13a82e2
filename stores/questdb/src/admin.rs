//! Making, settling, inspecting and dropping one sensormark database.
//!
//! QuestDB has one database for all tables. So a database of sensormark's is the tables whose names begin with its name and a dot. The owner's
//! mark is in a table of them.

use crate::asking::Link;
use crate::config::Options;
use crate::schema::{DATABASE, Tables, in_database, table_name, written_tables};
use crate::session::check_durability;
use crate::visible::Lookout;
use sensormark_kit::{BackendAdministrator, Found};
use sensormark_relational::ddl::{statements, table_names};
use sensormark_relational::physical_schema::OWNER_TABLE;
use sensormark_store::{DatabaseName, Durability, ErrorKind, Plan, Setting, Size, StoreError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::Row;

/// Settling, making and dropping may take longer than an operation.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long settling waits for writers to close, and how often it looks. A server with longer settings keeps them open.
const CLOSING: Duration = Duration::from_secs(60);
const CLOSING_PAUSE: Duration = Duration::from_millis(100);

/// Whether another session read, made or dropped a table that the server wanted.
fn is_busy(error: &StoreError) -> bool {
    ["table busy", "could not lock"].iter().any(|words| error.context().contains(words))
}

/// Asks again, for a minute at most, while another run is in the way.
async fn patiently<T, F: Future<Output = Result<T, StoreError>>>(
    is_passing: impl Fn(&StoreError) -> bool,
    ask: impl Fn() -> F,
) -> Result<T, StoreError> {
    let start = Instant::now();
    loop {
        match ask().await {
            Err(error) if is_passing(&error) && start.elapsed() < CLOSING => {
                tokio::time::sleep(CLOSING_PAUSE).await;
            }
            answer => return answer,
        }
    }
}

/// How long a writer stays open that nobody uses, and how often the server looks for such writers, in ms:
/// <https://questdb.com/docs/configuration/cairo-engine/>.
const WRITER_TIMES: [&str; 2] = ["cairo.inactive.writer.ttl", "cairo.idle.check.interval"];

/// The settings that matter for speed and durability. None of them holds a path, a host or a secret.
const SETTINGS: [&str; 24] = [
    "cairo.commit.mode",
    "cairo.idle.check.interval",
    "cairo.inactive.writer.ttl",
    "cairo.max.uncommitted.rows",
    "cairo.o3.max.lag",
    "cairo.o3.partition.split.min.size",
    "cairo.page.frame.reduce.queue.capacity",
    "cairo.sql.jit.mode",
    "cairo.sql.page.frame.max.rows",
    "cairo.sql.parallel.filter.enabled",
    "cairo.sql.parallel.groupby.enabled",
    "cairo.wal.apply.worker.count",
    "cairo.wal.inactive.writer.ttl",
    "cairo.wal.max.lag.txn.count",
    "cairo.wal.purge.interval",
    "cairo.wal.segment.rollover.row.count",
    "cairo.writer.data.append.page.size",
    "http.net.connection.limit",
    "line.auto.create.new.tables",
    "pg.net.connection.limit",
    "query.timeout.sec",
    "ram.usage.limit.bytes",
    "shared.worker.count",
    "telemetry.enabled",
];

/// The server's version.
pub(crate) async fn version(link: &Link) -> Result<String, StoreError> {
    let operation = "ask QuestDB for its version";
    let texts = link.texts(operation, "SELECT build()").await?;
    let stated = texts.first().and_then(|text| {
        let rest = text.split("QuestDB ").nth(1)?;
        rest.split(',').next().map(str::to_owned)
    });
    stated.ok_or_else(|| {
        let text = "the server does not say that it is QuestDB; correct host and port";
        StoreError::new(ErrorKind::Protocol, operation, text)
    })
}

/// The administrator of a plan's database.
pub struct QuestdbAdministrator {
    plan: Plan,
    tables: Arc<Tables>,
    link: Link,
}

impl QuestdbAdministrator {
    /// Connects.
    pub(crate) async fn open(options: &Options, plan: Plan, tables: Arc<Tables>) -> Result<Self, StoreError> {
        check_durability(plan.durability)?;
        let timeout = Duration::from_millis(plan.timeout_ms);
        let mut link = Link::open(options, timeout).await?;
        link.allow(PATIENCE);
        Ok(Self { plan, tables, link })
    }

    /// The tables of sensormark's databases.
    async fn all_tables(&self) -> Result<Vec<String>, StoreError> {
        let text = "SELECT table_name FROM tables() ORDER BY table_name";
        let names = self.link.texts("list tables", text).await?;
        let is_ours = |name: &String| name.starts_with(DatabaseName::PREFIX) && name.contains('.');
        Ok(names.into_iter().filter(is_ours).collect())
    }

    /// The tables of one of them, without its name.
    async fn tables_of(&self, database: &str) -> Result<Vec<String>, StoreError> {
        let names = self.all_tables().await?;
        let of = |name: &String| Some(name.strip_prefix(database)?.strip_prefix('.')?.to_owned());
        Ok(names.iter().filter_map(of).collect())
    }

    /// Waits until the tables' writers have closed and given back what they had allocated ahead, 16 MiB a column. They have when the tables did not shrink for as
    /// long as the server leaves an idle writer open.
    async fn close_writers(&mut self) -> Result<(), StoreError> {
        let settings = self.parameters("settle").await?;
        let milliseconds = |name: &str| {
            let found = settings.iter().find(|one| one.name == name);
            found.and_then(|one| one.value.parse::<u64>().ok())
        };
        let times = WRITER_TIMES.map(|name| milliseconds(name).unwrap_or(u64::MAX));
        let idle = Duration::from_millis(times.into_iter().fold(200, u64::saturating_add));
        let start = Instant::now();
        let (mut least, mut since) = (u64::MAX, start);
        while idle < CLOSING && since.elapsed() < idle && start.elapsed() < CLOSING {
            let bytes = self.size().await?.total_bytes;
            if bytes < least {
                (least, since) = (bytes, Instant::now());
            }
            tokio::time::sleep(CLOSING_PAUSE).await;
        }
        Ok(())
    }

    async fn parameters(&self, operation: &str) -> Result<Vec<Setting>, StoreError> {
        let text = "SELECT property_path, value FROM (SHOW PARAMETERS) ORDER BY property_path";
        let rows = self.link.rows(operation, text).await?;
        let text = |row: &Row, place| row.try_get(place).unwrap_or_default();
        let setting = |row: &Row| Setting { name: text(row, 0), value: text(row, 1) };
        Ok(rows.iter().map(setting).collect())
    }
}

impl BackendAdministrator for QuestdbAdministrator {
    /// Fails where the server does not acknowledge as the plan's class says: that is its own setting.
    async fn check(&mut self) -> Result<(), StoreError> {
        const OPERATION: &str = "set the durability class";
        let wanted = match self.plan.durability {
            Durability::Durable => "sync",
            Durability::Relaxed => "nosync",
            // as it comes
            Durability::Default | Durability::Unacknowledged => return Ok(()),
        };
        let settings = self.parameters(OPERATION).await?;
        let mode = settings.iter().find(|one| one.name == "cairo.commit.mode");
        let mode = mode.map_or("unknown", |one| one.value.as_str());
        if mode == wanted {
            return Ok(());
        }
        Err(StoreError::new(
            ErrorKind::Configuration,
            OPERATION,
            format!(
                "the server's cairo.commit.mode is {mode}; set it to {wanted} in server.conf and start the server again, or ask for another class"
            ),
        ))
    }

    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        let tables = self.tables_of(name).await?;
        if tables.is_empty() {
            return Ok(Found::Nothing);
        }
        if !tables.iter().any(|table| table == OWNER_TABLE) {
            return Ok(Found::Unmarked);
        }
        let owner = table_name(name, OWNER_TABLE);
        let text = format!("SELECT mark FROM \"{owner}\"");
        let read = || self.link.texts("read the owner's mark", &text);
        match patiently(is_busy, read).await {
            Ok(marks) if marks.is_empty() && tables.len() == 1 => Ok(Found::Empty),
            Ok(marks) => Ok(Found::with_mark(marks.into_iter().next(), name)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::Nothing),
            Err(error) => Err(error),
        }
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        self.tables_of(self.plan.database.as_str()).await
    }

    fn expected(&self) -> Vec<String> {
        let prefix = format!("{DATABASE}.");
        let names = table_names(&self.tables.physical).into_iter();
        names.map(|name| name.replace(&prefix, "")).collect()
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        let database = self.plan.database.as_str();
        let owner = table_name(database, OWNER_TABLE);
        let text = format!("CREATE TABLE \"{owner}\" (mark VARCHAR)");
        self.link.batch("make the owner's table", &text).await?;
        let text = format!("INSERT INTO \"{owner}\" VALUES ($1)");
        let (client, mark) = (&self.link.client, &self.plan.owner);
        let marking = async { client.execute(&text, &[mark]).await };
        self.link.run("set the owner's mark", marking).await?;
        for statement in statements(&self.tables.physical) {
            let text = in_database(&statement, database);
            self.link.batch("make a table", &text).await?;
        }
        Ok(())
    }

    /// The owner's table last: what a failure leaves behind still bears the mark.
    async fn remove(&mut self) -> Result<(), StoreError> {
        let database = self.plan.database.as_str();
        let mut tables = self.tables_of(database).await?;
        tables.sort_by_key(|table| table == OWNER_TABLE);
        for table in tables {
            let text = format!("DROP TABLE IF EXISTS \"{}\"", table_name(database, &table));
            // Another run may read the owner's mark meanwhile.
            patiently(is_busy, || self.link.batch("drop a table", &text)).await?;
        }
        Ok(())
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        let tables = self.all_tables().await?;
        let databases = tables.iter().filter_map(|name| name.split('.').next());
        let mut names: Vec<String> = databases.map(str::to_owned).collect();
        names.dedup();
        Ok(names)
    }

    /// Until all writes are applied and no writer is open; QuestDB compacts nothing afterwards.
    async fn settle(&mut self) -> Result<(), StoreError> {
        let lookout = Lookout::new(&self.link).await?;
        for table in &self.tables.physical.schema.tables {
            for name in written_tables(self.plan.database.as_str(), table) {
                lookout.wait(&self.link, &name, None, true).await?;
            }
        }
        self.close_writers().await
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        let all = self.parameters("read settings").await?;
        let is_stated = |one: &Setting| SETTINGS.contains(&one.name.as_str());
        Ok(all.into_iter().filter(is_stated).collect())
    }

    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        let database = self.plan.database.as_str();
        let mut texts = Vec::new();
        for table in self.tables_of(database).await? {
            if table != OWNER_TABLE {
                let text = format!("SHOW CREATE TABLE \"{}\"", table_name(database, &table));
                texts.extend(self.link.texts("show the schema", &text).await?);
            }
        }
        Ok(texts)
    }

    async fn perform(&mut self, statement: &str) -> Result<Vec<String>, StoreError> {
        self.link.texts("administer QuestDB", statement).await
    }

    /// All files of the tables, the write-ahead logs included, which are a part of a table's folder.
    async fn size(&mut self) -> Result<Size, StoreError> {
        let text = "SELECT tableName, diskSize FROM table_storage()";
        let measure = || self.link.rows("measure the database", text);
        // It looks at all tables, and another run may drop one meanwhile.
        let is_passing = |error: &StoreError| error.kind() == ErrorKind::NotFound || is_busy(error);
        let rows = patiently(is_passing, measure).await?;
        let prefix = format!("{}.", self.plan.database.as_str());
        let bytes = |row: &Row| {
            let name: String = row.try_get(0).unwrap_or_default();
            row.try_get::<_, i64>(1).ok().filter(|_| name.starts_with(&prefix))
        };
        let total: i64 = rows.iter().filter_map(bytes).sum();
        Ok(Size { total_bytes: total.unsigned_abs(), log_bytes: None })
    }
}
