//! Making, settling, inspecting and dropping one sensormark database.
//!
//! The owner's mark is a point in a measurement of its own; nothing is dropped that does not bear the plan's mark. A database
//! for datagrams is the one that the server's listener writes into: it bears the plan's name inside.

mod organisation;
mod settle;

use crate::config::Options;
use crate::connection::{Link, Message};
use crate::query::Reader;
use crate::schema::{OWNER, PhysicalSchema, database};
use crate::write::mark_line;
use bytes::Bytes;
use sensormark_kit::{BackendAdministrator, Found, Mark};
use sensormark_store::{ErrorKind, Plan, Setting, Size, StoreError, Value};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Making, settling and dropping may take longer than an operation.
const PATIENCE: Duration = Duration::from_secs(600);

/// The settings that matter for speed and durability, by the part of the server that states them. None of them holds a path, a host or a secret.
const SETTINGS: [(&str, &[&str]); 9] = [
    ("build", &["Version"]),
    ("runtime", &["GOARCH", "GOMAXPROCS", "GOOS", "version"]),
    (
        "config-data",
        &[
            "cache-max-memory-size",
            "cache-snapshot-memory-size",
            "cache-snapshot-write-cold-duration",
            "compact-full-write-cold-duration",
            "max-concurrent-compactions",
            "max-series-per-database",
            "max-values-per-tag",
            "compact-throughput",
            "compact-throughput-burst",
            "wal-fsync-delay",
        ],
    ),
    (
        "config-coordinator",
        &[
            "max-concurrent-queries",
            "max-select-buckets",
            "max-select-point",
            "max-select-series",
            "query-timeout",
            "write-timeout",
        ],
    ),
    ("config-httpd", &["enabled", "max-connection-limit", "max-row-limit"]),
    ("config-retention", &["enabled"]),
    ("config-monitor", &["store-enabled"]),
    ("config-cqs", &["enabled"]),
    ("config-precreator", &["enabled"]),
];

/// The administrator of a plan's database.
pub struct InfluxdbAdministrator {
    plan: Plan,
    physical: Arc<PhysicalSchema>,
    link: Link,
    database: String,
    notes: Vec<String>,
}

/// The owner's mark of the reader's database, if it has one.
pub(crate) async fn read_mark(reader: &mut Reader<'_>) -> Result<Option<Mark>, StoreError> {
    let statement = format!("SELECT \"mark\",\"name\" FROM \"{OWNER}\"");
    let all = reader.rows("read the owner's mark", &statement).await?;
    let Some(rows) = all.first().filter(|rows| rows.count > 0) else {
        return Ok(None);
    };
    let (_, values) = rows.cells().row(2)?;
    Ok(match values.as_slice() {
        [Value::Text(owner), Value::Text(database)] => {
            Some(Mark { owner: owner.clone(), database: database.clone() })
        }
        _ => None,
    })
}

impl InfluxdbAdministrator {
    /// Connects to the server.
    pub(crate) async fn open(
        options: &Options,
        plan: Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<Self, StoreError> {
        let database = database(&plan, options)?.to_owned();
        let mut link = Link::open(options, Duration::from_millis(plan.timeout_ms)).await?;
        // A connection may come about with a server that answers nothing: only one that answers is waited for longer.
        link.demand(Message::get("connect to InfluxDB", "/ping"))
            .await
            .map_err(|error| error.with_doubt(false))?;
        link.allow(PATIENCE);
        Ok(Self { plan, physical, link, database, notes: Vec::new() })
    }

    async fn shown_schema(&mut self) -> Result<Vec<String>, StoreError> {
        let database = self.database.clone();
        self.reader(&database).stated_schema().await
    }

    fn reader<'a>(&'a mut self, database: &'a str) -> Reader<'a> {
        Reader { link: &mut self.link, physical: &self.physical, database }
    }

    /// The first column of what a statement shows.
    async fn shown(&mut self, operation: &str, statement: &str) -> Result<Vec<String>, StoreError> {
        let name = if statement.contains(" ON ") { self.database.clone() } else { String::new() };
        let mut reader = self.reader(&name);
        let mut names = Vec::new();
        for rows in reader.rows(operation, statement).await? {
            for values in rows.plain()? {
                if let Some(Value::Text(name)) = values.into_iter().next() {
                    names.push(name);
                }
            }
        }
        Ok(names)
    }

    async fn run(&mut self, operation: &str, statement: &str) -> Result<(), StoreError> {
        self.reader("").rows(operation, statement).await.map(|_| ())
    }

    /// Whether this is the one database that the URL names, with nothing in it.
    async fn is_given_and_empty(&mut self, name: &str) -> Result<bool, StoreError> {
        Ok(self.link.given() == Some(name) && self.is_empty(name).await?)
    }

    /// Whether nobody has put anything into a database.
    async fn is_empty(&mut self, name: &str) -> Result<bool, StoreError> {
        let statement = format!("SHOW MEASUREMENTS ON \"{name}\"");
        let measurements = self.shown("list measurements", &statement).await?;
        Ok(measurements.is_empty())
    }

    /// The server's settings, where the user or token may see them.
    async fn read_settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        let read = match self.link.organisation() {
            Some(_) => self.read_configuration().await,
            None => self.read_diagnostics().await,
        };
        match read {
            Err(error) if matches!(error.kind(), ErrorKind::Authentication | ErrorKind::NotFound) => {
                let note = "settings are missing: the user may not read them (one with all privileges may)";
                self.notes.push(note.to_owned());
                Ok(Vec::new())
            }
            read => read,
        }
    }

    async fn read_diagnostics(&mut self) -> Result<Vec<Setting>, StoreError> {
        let mut settings = Vec::new();
        for shown in self.shown_wide(("", "read settings"), "SHOW DIAGNOSTICS").await? {
            let Some((part, wanted)) = SETTINGS.iter().find(|(part, _)| *part == shown.name) else {
                continue;
            };
            for (name, value) in shown.columns.iter().zip(shown.values.iter().flatten()) {
                if wanted.contains(&name.as_str()) {
                    settings.push(Setting {
                        name: format!("{part}.{name}"),
                        value: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                    });
                }
            }
        }
        settings.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(settings)
    }

    /// Diagnostics and counters come as JSON: InfluxDB breaks off where `MessagePack` has no type for a value.
    async fn shown_wide(
        &mut self,
        (database, operation): (&str, &str),
        statement: &str,
    ) -> Result<Vec<Shown>, StoreError> {
        let body = crate::query::form(database, statement, false);
        let message = Message::post(operation, "/query", "application/x-www-form-urlencoded", body);
        self.link.demand(message).await?;
        let answer: ShownAnswer = serde_json::from_slice(self.link.body())
            .map_err(|error| crate::error::garbled(operation, &error.to_string()))?;
        let mut all = Vec::new();
        for result in answer.results {
            if let Some(sentence) = result.error {
                return Err(crate::error::refused(operation, 200, &sentence));
            }
            all.extend(result.series);
        }
        Ok(all)
    }
}

/// What a statement shows, as JSON.
#[derive(Deserialize)]
struct ShownAnswer {
    #[serde(default)]
    results: Vec<ShownResult>,
}

#[derive(Deserialize)]
struct ShownResult {
    #[serde(default)]
    series: Vec<Shown>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    name: String,
    #[serde(default)]
    tags: HashMap<String, String>,
    columns: Vec<String>,
    #[serde(default)]
    values: Vec<Vec<serde_json::Value>>,
}

impl BackendAdministrator for InfluxdbAdministrator {
    fn name_there(&self) -> Option<&str> {
        Some(&self.database)
    }

    async fn check(&mut self) -> Result<(), StoreError> {
        crate::config::check_durability(self.plan.durability, self.physical.sends_datagrams())
    }

    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        if !self.names().await?.iter().any(|there| there == name) {
            return Ok(Found::Nothing);
        }
        match read_mark(&mut self.reader(name)).await {
            Ok(Some(mark)) => Ok(Found::Marked(mark)),
            // the one that the URL names is taken where nothing is in it
            Ok(None) if self.is_given_and_empty(name).await? => Ok(Found::Nothing),
            Ok(None) if self.is_empty(name).await? => Ok(Found::Empty),
            Ok(None) => Ok(Found::Unmarked),
            // a bucket that InfluxQL does not find has not been made by sensormark
            Err(error) if error.kind() == ErrorKind::NotFound && self.link.organisation().is_some() => {
                if self.is_given_and_empty(name).await? {
                    return Ok(Found::Nothing);
                }
                Ok(Found::Unmarked)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::Nothing),
            Err(error) => Err(error),
        }
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        let statement = format!("SHOW MEASUREMENTS ON \"{}\"", self.database);
        self.shown("list measurements", &statement).await
    }

    fn expected(&self) -> Vec<String> {
        self.physical.names().into_iter().map(str::to_owned).collect()
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        let name = self.database.clone();
        if self.link.organisation().is_some() {
            self.make_bucket(&name).await?;
        } else if self.link.given() != Some(name.as_str()) {
            let statement = format!(
                "CREATE DATABASE \"{name}\" WITH DURATION INF REPLICATION 1 SHARD DURATION 7d NAME \"autogen\""
            );
            self.run("create the database", &statement).await?;
        }
        let line = mark_line(&self.plan.owner, self.plan.database.as_str());
        let path = self.link.write_path(&name);
        let message =
            Message::post("set the owner's mark", &path, "text/plain; charset=utf-8", Bytes::from(line));
        self.link.demand(message).await.map(|_| ())
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        let name = self.database.clone();
        if self.link.organisation().is_some() {
            return self.remove_bucket(&name).await;
        }
        if self.link.given() == Some(name.as_str()) {
            let mut measurements = self.contents().await?;
            // The mark goes last: what a failure leaves behind still bears it.
            measurements.sort_by_key(|measurement| measurement == OWNER);
            for measurement in measurements {
                let statement = format!("DROP SERIES FROM \"{measurement}\"");
                self.reader(&name).rows("empty the database", &statement).await?;
            }
            return Ok(());
        }
        let statement = format!("DROP DATABASE \"{name}\"");
        self.run("drop the database", &statement).await
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        if self.link.organisation().is_some() {
            let buckets = self.buckets(None).await?;
            return Ok(buckets.into_iter().map(|bucket| bucket.name).collect());
        }
        self.shown("list databases", "SHOW DATABASES").await
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        match self.settle_all().await {
            Err(error) if error.kind() == ErrorKind::Authentication => {
                let note = "compactions were not waited for before the disk was measured: the user may not see them (SHOW STATS)";
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

    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError> {
        self.shown_schema().await
    }

    async fn perform(&mut self, statement: &str) -> Result<Vec<String>, StoreError> {
        let database = self.database.clone();
        let shown = self.shown_wide((&database, "administer InfluxDB"), statement).await?;
        let rows = shown.into_iter().flat_map(|series| series.values);
        Ok(rows.map(|row| serde_json::Value::from(row).to_string()).collect())
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        self.measure().await
    }
}
