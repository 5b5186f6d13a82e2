//! Bringing a database to rest and measuring it, by the server's own counters; and its settings.
//!
//! InfluxDB has no command that flushes: a shard that is not written to for a while writes its cache out and is compacted. A server that
//! sensormark started has that while shortened to seconds. On others it may be hours, and settling waits only for what is running.

use super::Session;
use super::http::{Message, garbled, refused};
use crate::Fault;
use sensormark_store::{ErrorKind, StoreError};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The longest that settling takes.
const LONGEST: Duration = Duration::from_secs(100);
/// How often the counters are looked at.
const PAUSE: Duration = Duration::from_millis(250);
/// How often the server looks whether a full compaction is due, and until it has begun.
const LOOKED_FOR: Duration = Duration::from_secs(2);
/// Caches that are written out later than this are not waited for.
const LATEST: Duration = Duration::from_secs(30);

/// The counters of a database's shards, added up.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counters {
    cache_bytes: u64,
    pub(super) compactions: u64,
    files: u64,
    most_files: u64,
    pub(super) disk_bytes: u64,
    pub(super) log_bytes: u64,
}

impl Counters {
    pub(super) fn add(&mut self, part: &str, column: &str, number: u64) {
        match (part, column) {
            ("tsm1_cache", "memBytes") => self.cache_bytes += number,
            ("tsm1_engine", _)
                if column.ends_with("CompactionsActive") || column.ends_with("CompactionsQueue") =>
            {
                self.compactions += number;
            }
            ("tsm1_filestore", "numFiles") => {
                self.files += number;
                self.most_files = self.most_files.max(number);
            }
            ("tsm1_filestore", "diskBytes") => self.disk_bytes += number,
            ("tsm1_wal", "currentSegmentDiskBytes" | "oldSegmentsDiskBytes") => self.log_bytes += number,
            _ => {}
        }
    }
}

/// A duration as the server prints it ("1h0m0s", "10s", "100ms"), where that is no more than [`LATEST`].
fn soon(text: &str) -> Option<Duration> {
    let number = text.strip_suffix('s')?;
    let seconds = if number.ends_with(['m', 'µ']) { 0.0 } else { number.parse().ok()? };
    Duration::try_from_secs_f64(seconds).ok().filter(|soon| *soon <= LATEST)
}

/// A value as text, without the quotes of JSON.
fn printed(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Session {
    /// Hands on the names and values of each series in which the server speaks of itself. It is asked for JSON, because InfluxDB breaks off where `MessagePack` has
    /// no type for a value.
    async fn told(&mut self, text: &str, each: &mut dyn FnMut(&Value, &str, &Value)) -> Result<(), Fault> {
        let message = Message::post("/query", "application/x-www-form-urlencoded", self.form(text));
        self.link.ask(message, &mut self.body).await?;
        let told: Value = serde_json::from_slice(&self.body).map_err(|error| garbled(&error.to_string()))?;
        let result = &told["results"][0];
        if let Some(sentence) = result["error"].as_str() {
            return Err(refused(200, sentence));
        }
        for series in result["series"].as_array().into_iter().flatten() {
            let columns = series["columns"].as_array().into_iter().flatten();
            for (place, column) in columns.enumerate() {
                each(series, column.as_str().unwrap_or_default(), &series["values"][0][place]);
            }
        }
        Ok(())
    }

    async fn counters(&mut self) -> Result<Counters, Fault> {
        if self.link.options.organisation.is_some() {
            return self.bucket_counters().await;
        }
        let (mut counters, database) = (Counters::default(), self.database.clone());
        self.told("SHOW STATS", &mut |series, column, value| {
            if series["tags"]["database"] == *database {
                let part = series["name"].as_str().unwrap_or_default();
                counters.add(part, column, value.as_u64().unwrap_or_default());
            }
        })
        .await?;
        Ok(counters)
    }

    /// The bytes of files, or of the write-ahead log.
    pub(super) async fn bytes(&mut self, text: &str) -> Result<Vec<Vec<String>>, Fault> {
        let counters = self.counters().await?;
        let bytes = if text.contains("tsm1_wal") { counters.log_bytes } else { counters.disk_bytes };
        Ok(vec![vec![bytes.to_string()]])
    }

    /// All settings, by name: a user needs all privileges, of an InfluxDB 2 an operator's token.
    pub(super) async fn settings(&mut self) -> Result<Vec<Vec<String>>, Fault> {
        let mut settings = Vec::new();
        if self.link.options.organisation.is_some() {
            self.link.ask(Message::get("/api/v2/config"), &mut self.body).await?;
            let told: Value =
                serde_json::from_slice(&self.body).map_err(|error| garbled(&error.to_string()))?;
            let config = told["config"].as_object().into_iter().flatten();
            settings.extend(config.map(|(name, value)| vec![name.clone(), printed(value)]));
        } else {
            self.told("SHOW DIAGNOSTICS", &mut |series, column, value| {
                settings.push(vec![format!("{}.{column}", printed(&series["name"])), printed(value)]);
            })
            .await?;
        }
        settings.sort();
        Ok(settings)
    }

    /// Waits until the database is at rest.
    pub(super) async fn rest(&mut self) -> Result<Vec<Vec<String>>, Fault> {
        let (start, settings) = (Instant::now(), self.settings().await?);
        let cold =
            |name: &str| settings.iter().find(|one| one[0].ends_with(name)).and_then(|one| soon(&one[1]));
        let compacted = cold("compact-full-write-cold-duration").map(|cold| cold + LOOKED_FOR);
        // After the caches are empty: how long until a full compaction has begun where there is one to do.
        let quiet = compacted.filter(|_| cold("cache-snapshot-write-cold-duration").is_some());
        let (mut empty_since, mut last) = (None, Counters::default());
        loop {
            let counters = self.counters().await?;
            let is_idle = counters.compactions == 0 && counters.files == last.files;
            // A shard of which all was deleted keeps the log of that.
            let is_full = counters.cache_bytes > 0 || counters.log_bytes != last.log_bytes;
            last = counters;
            let is_quiet = match quiet {
                Some(_) if is_full => {
                    empty_since = None;
                    false
                }
                Some(quiet) => {
                    let since = empty_since.get_or_insert_with(Instant::now);
                    counters.most_files <= 1 || since.elapsed() > quiet
                }
                None => true,
            };
            if is_idle && is_quiet {
                return Ok(Vec::new());
            }
            if start.elapsed() > LONGEST {
                let text =
                    "the server still writes caches out or compacts; allow more time, or look at its disk";
                return Err(StoreError::new(ErrorKind::Timeout, "settle", text).into());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::soon;
    use std::time::Duration;

    #[test]
    fn durations_are_read() {
        assert_eq!(["10m0s", "4h0m0s", "1m30s", "31s", ""].map(soon), [None; 5]);
        let seconds = [30.0, 5.0, 0.0, 1.5, 0.0].map(|seconds| Some(Duration::from_secs_f64(seconds)));
        assert_eq!(["30s", "5s", "100ms", "1.5s", "0s"].map(soon), seconds);
    }
}
