//! Making, settling, inspecting and dropping one sensormark database.
//!
//! It drops nothing that does not bear the plan's mark, a document in a collection of its own.

use crate::config::Options;
use crate::connection::{Link, TimeLimit};
use crate::members;
use crate::schema::{OWNER_COLLECTION, PhysicalSchema};
use crate::topology::Topology;
use mongodb::bson::{Bson, Document, doc};
use sensormark_kit::{BackendAdministrator, Found};
use sensormark_store::{DatabaseName, Documents, Durability, ErrorKind, Plan, Setting, Size, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// Settling, making and dropping may take longer than an operation.
const PATIENCE: Duration = Duration::from_secs(600);

/// The parameters that matter for speed and durability. None of them holds a path, a host or a secret.
const PARAMETERS: [&str; 8] = [
    "featureCompatibilityVersion",
    "internalQueryExecYieldIterations",
    "internalQueryMaxBlockingSortMemoryUsageBytes",
    "journalCommitInterval",
    "syncdelay",
    "ttlMonitorEnabled",
    "wiredTigerConcurrentReadTransactions",
    "wiredTigerConcurrentWriteTransactions",
];

/// What of the command line and configuration file is stated.
const OPTIONS: [&str; 11] = [
    "net.compression.compressors",
    "net.maxIncomingConnections",
    "net.tls.mode",
    "replication.oplogSizeMB",
    "security.authorization",
    "storage.directoryPerDB",
    "storage.journal.commitIntervalMs",
    "storage.journal.enabled",
    "storage.syncPeriodSecs",
    "storage.wiredTiger.collectionConfig.blockCompressor",
    "storage.wiredTiger.engineConfig.cacheSizeGB",
];

/// What of the server's state is stated.
const STATES: [&str; 4] = [
    "storageEngine.name",
    "storageEngine.persistent",
    "wiredTiger.cache.maximum bytes configured",
    "connections.available",
];

/// The administrator of a plan's database.
pub struct MongodbAdministrator {
    plan: Plan,
    physical: Arc<PhysicalSchema>,
    link: Link,
    topology: Topology,
    notes: Vec<String>,
}

/// Whose a database is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It bears this owner's mark.
    Of(String),
    /// It bears none, or is not there.
    None,
}

/// Looks for a database's mark.
pub(crate) async fn owner_of(link: &Link, database: &str) -> Result<Mark, StoreError> {
    let find =
        doc! { "find": OWNER_COLLECTION, "filter": { "_id": "owner" }, "limit": 1, "singleBatch": true };
    let answer = link.command_of(database, "read the owner's mark", find).await?;
    let mark = answer
        .get_document("cursor")
        .and_then(|cursor| cursor.get_array("firstBatch"))
        .ok()
        .and_then(|found| found.first()?.as_document()?.get_str("mark").ok());
    Ok(mark.map_or(Mark::None, |mark| Mark::Of(mark.to_owned())))
}

impl MongodbAdministrator {
    /// Connects.
    pub(crate) async fn open(
        options: &Options,
        plan: Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<Self, StoreError> {
        let timeout = Duration::from_millis(plan.timeout_ms);
        let mut link = Link::open(options, plan.database.as_str(), timeout).await?;
        let hello = link.command("connect to MongoDB", doc! { "hello": 1 }).await;
        let hello = match hello {
            Ok(hello) => hello,
            Err(error) => {
                link.close().await?;
                return Err(error.with_doubt(false));
            }
        };
        link.allow(PATIENCE);
        Ok(Self { plan, physical, link, topology: Topology::of(&hello), notes: Vec::new() })
    }

    /// The kind of deployment.
    pub(crate) const fn topology(&self) -> Topology {
        self.topology
    }

    /// The names of the database's collections, without those that time-series collections bring.
    async fn collections(&self) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        let list = doc! { "listCollections": 1, "nameOnly": true, "authorizedCollections": true };
        let take = |document: &mongodb::bson::RawDocument| {
            let name = document.get_str("name").unwrap_or_default();
            if !name.starts_with("system.") {
                names.push(name.to_owned());
            }
            Ok(())
        };
        self.link.ask_of(None, "list collections", list, TimeLimit::Whole, take).await?;
        Ok(names)
    }

    async fn read_settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        let what = "read settings";
        let mut settings = Vec::new();
        let mut is_refused = false;
        for parameter in PARAMETERS {
            let get = doc! { "getParameter": 1, parameter: 1 };
            match self.link.command_of("admin", what, get).await {
                Ok(answer) => settings.extend(setting(&answer, parameter)),
                // this version, or a router, has no parameter of that name
                Err(error) if is_absent(error.kind()) => {}
                Err(error) if error.kind() == ErrorKind::Authentication => is_refused = true,
                Err(error) => return Err(error),
            }
        }
        let line = self.link.command_of("admin", what, doc! { "getCmdLineOpts": 1 }).await;
        if let Ok(line) = line
            && let Ok(parsed) = line.get_document("parsed")
        {
            settings.extend(OPTIONS.iter().filter_map(|name| setting(parsed, name)));
        }
        let status = doc! { "serverStatus": 1, "metrics": 0, "locks": 0, "tcmalloc": 0 };
        match self.link.command_of("admin", what, status).await {
            Ok(status) => {
                settings.extend(STATES.iter().filter_map(|name| setting(&status, name)));
            }
            Err(error) if error.kind() == ErrorKind::Authentication => is_refused = true,
            Err(error) => return Err(error),
        }
        if is_refused {
            let note = "settings are missing: the user may not read them (the role clusterMonitor may)";
            self.notes.push(note.to_owned());
        }
        let concern = doc! { "getDefaultRWConcern": 1 };
        match self.link.command_of("admin", what, concern).await {
            Ok(answer) => settings.extend(setting(&answer, "defaultWriteConcern")),
            // a standalone server has none
            Err(error) if is_absent(error.kind()) || error.kind() == ErrorKind::Authentication => {}
            Err(error) => return Err(error),
        }
        settings.push(Setting { name: "topology".to_owned(), value: self.topology.text().to_owned() });
        let concern = self.link.consistency.write_concern(self.plan.durability);
        settings.push(Setting { name: "writeConcern".to_owned(), value: concern.to_string() });
        let consistency = self.link.consistency.settings();
        settings.extend(consistency.map(|(name, value)| Setting { name: name.to_owned(), value }));
        Ok(settings)
    }

    /// The database's own files; the journal is the whole server's and MongoDB does not state its size.
    async fn measure(&mut self) -> Result<Size, StoreError> {
        let stats = self.link.command("measure the database", doc! { "dbStats": 1 }).await?;
        let bytes = |name: &str| number(stats.get(name)).max(0).cast_unsigned();
        Ok(Size { total_bytes: bytes("storageSize") + bytes("indexSize"), log_bytes: None })
    }

    /// The documents of all collections of readings and entities, and their bytes. A time-series collection tells of its buckets.
    async fn count_documents(&mut self) -> Result<Option<Documents>, StoreError> {
        const OPERATION: &str = "count documents";
        let mut all = Documents::default();
        for name in self.physical.collections() {
            let stats = match self.link.command(OPERATION, doc! { "collStats": name }).await {
                Ok(stats) => stats,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let buckets =
                stats.get_document("timeseries").ok().and_then(|buckets| buckets.get("bucketCount"));
            all.count += number(buckets.or_else(|| stats.get("count"))).max(0).cast_unsigned();
            all.bytes += number(stats.get("size")).max(0).cast_unsigned();
        }
        Ok(Some(all))
    }
}

/// Whether a parameter or command is not there, rather than not to be had.
const fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Rejected | ErrorKind::Unsupported)
}

/// The setting at a path with dots; the parts after the first two may hold blanks.
fn setting(document: &Document, path: &str) -> Option<Setting> {
    let mut parts = path.split('.');
    let mut value = document.get(parts.next()?)?;
    for part in parts {
        value = value.as_document()?.get(part)?;
    }
    let text = match value {
        Bson::String(text) => text.clone(),
        other => other.to_string(),
    };
    Some(Setting { name: path.to_owned(), value: text })
}

#[expect(clippy::cast_possible_truncation, reason = "sizes in bytes are whole numbers far below 2^53")]
fn number(value: Option<&Bson>) -> i64 {
    match value {
        Some(Bson::Int32(value)) => i64::from(*value),
        Some(Bson::Int64(value)) => *value,
        Some(Bson::Double(value)) => *value as i64,
        _ => 0,
    }
}

impl BackendAdministrator for MongodbAdministrator {
    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        Ok(match owner_of(&self.link, name).await? {
            Mark::Of(owner) => Found::with_mark(Some(owner), name),
            Mark::None if name != self.plan.database.as_str() => Found::Unmarked,
            Mark::None if self.collections().await?.is_empty() => Found::Nothing,
            Mark::None => Found::Unmarked,
        })
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        self.collections().await
    }

    fn expected(&self) -> Vec<String> {
        let mut names = self.physical.collections();
        names.push(OWNER_COLLECTION.to_owned());
        names
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        let mark = doc! { "_id": "owner", "mark": &self.plan.owner };
        let concern = self.link.consistency.write_concern(Durability::Durable);
        let insert = doc! { "insert": OWNER_COLLECTION, "documents": [mark], "writeConcern": concern };
        let made = self.link.command("set the owner's mark", insert).await?;
        if made.contains_key("writeErrors") {
            return Err(StoreError::new(
                ErrorKind::Foreign,
                "set the owner's mark",
                format!("somebody else has just made {}; choose another name", self.plan.database),
            ));
        }
        for command in self.physical.commands() {
            self.link.command("make collections", command).await?;
        }
        Ok(())
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        let dropped = self.link.command("drop the database", doc! { "dropDatabase": 1 }).await;
        match dropped {
            // Who may read and write alone drops the collections. The database goes with the last one, which has the mark.
            Err(error) if error.kind() == ErrorKind::Authentication => {
                let mut names = self.collections().await?;
                names.sort_by_key(|name| name == OWNER_COLLECTION);
                for name in names {
                    self.link.command("drop a collection", doc! { "drop": name }).await?;
                }
                Ok(())
            }
            dropped => dropped.map(|_| ()),
        }
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        let pattern = format!("^{}", DatabaseName::PREFIX);
        let list = doc! { "listDatabases": 1, "nameOnly": true, "filter": { "name": { "$regex": pattern } } };
        let answer = self.link.command_of("admin", "list databases", list).await?;
        let named = |entry: &Bson| {
            let name = entry.as_document()?.get_str("name").ok()?;
            Some(name.to_owned())
        };
        let entries = answer.get_array("databases").into_iter().flatten();
        Ok(entries.filter_map(named).collect())
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        match members::settle(&self.link, self.topology, PATIENCE).await {
            Err(error) if error.kind() == ErrorKind::Authentication => {
                let note = "no checkpoint before the disk was measured: the user may not (fsync, which the role hostManager may)";
                self.notes.push(note.to_owned());
                Ok(())
            }
            done => done,
        }
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        self.read_settings().await
    }

    async fn documents(&mut self) -> Result<Option<Documents>, StoreError> {
        self.count_documents().await
    }

    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        crate::shown::schema(&self.link, OWNER_COLLECTION).await
    }

    async fn perform(&mut self, statement: &str) -> Result<Vec<String>, StoreError> {
        const OPERATION: &str = "administer MongoDB";
        let unread = |error: serde_json::Error| StoreError::unsupported(OPERATION, error.to_string());
        let command = serde_json::from_str(statement).map_err(unread)?;
        let answer = self.link.command(OPERATION, command).await?;
        if let Some(errors) = answer.get("writeErrors") {
            return Err(StoreError::new(ErrorKind::Rejected, OPERATION, errors.to_string()));
        }
        let found = answer.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch"));
        Ok(found
            .map_or_else(|_| vec![answer.to_string()], |found| found.iter().map(Bson::to_string).collect()))
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        self.measure().await
    }
}
