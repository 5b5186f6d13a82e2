//! Bringing a database to rest and measuring it, by the server's own counters.
//!
//! InfluxDB has no command that flushes: a shard that is not written to for a while writes its cache out and is compacted. A server that
//! sensormark started has that while shortened to seconds; on others it may be hours, and settling waits only for what is running.

use super::InfluxdbAdministrator;
use sensormark_store::{ErrorKind, Size, StoreError};
use std::time::{Duration, Instant};

/// The longest that settling takes.
const LONGEST: Duration = Duration::from_secs(100);

/// How often the counters are looked at.
const PAUSE: Duration = Duration::from_millis(250);

/// After the caches are empty: how long until a full compaction has begun where there is one to do.
const QUIET: Duration = Duration::from_secs(crate::server::COLD_SECONDS + 2);

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
            ("tsm1_engine", column)
                if column.ends_with("CompactionsActive") || column.ends_with("CompactionsQueue") =>
            {
                self.compactions += number;
            }
            ("tsm1_filestore", "numFiles") => {
                self.files += number;
                self.most_files = self.most_files.max(number);
            }
            ("tsm1_filestore", "diskBytes") => self.disk_bytes += number,
            ("tsm1_wal", "currentSegmentDiskBytes" | "oldSegmentsDiskBytes") => {
                self.log_bytes += number;
            }
            _ => {}
        }
    }
}

impl InfluxdbAdministrator {
    async fn counters(&mut self) -> Result<Counters, StoreError> {
        let name = self.database.clone();
        if self.link.organisation().is_some() {
            return self.bucket_counters(&name).await;
        }
        let mut counters = Counters::default();
        for shown in self.shown_wide(("", "read counters"), "SHOW STATS").await? {
            if shown.tags.get("database") != Some(&name) {
                continue;
            }
            for (column, value) in shown.columns.iter().zip(shown.values.iter().flatten()) {
                counters.add(&shown.name, column, value.as_u64().unwrap_or_default());
            }
        }
        Ok(counters)
    }

    /// Whether shards that rest are written out within seconds.
    async fn rests_soon(&mut self) -> Result<bool, StoreError> {
        let settings = self.read_settings().await?;
        let is_soon = |name: &str| {
            let setting = settings.iter().find(|setting| setting.name.ends_with(name));
            setting.is_some_and(|setting| is_soon(&setting.value))
        };
        Ok(is_soon("cache-snapshot-write-cold-duration") && is_soon("compact-full-write-cold-duration"))
    }

    pub(super) async fn settle_all(&mut self) -> Result<(), StoreError> {
        let start = Instant::now();
        let waits = self.rests_soon().await?;
        let mut empty_since = None;
        let mut last = Counters::default();
        loop {
            let counters = self.counters().await?;
            let idle = counters.compactions == 0 && counters.files == last.files;
            // A shard of which all was deleted keeps the log of that.
            let logs = counters.log_bytes != last.log_bytes;
            last = counters;
            if !waits {
                if idle {
                    return Ok(());
                }
            } else if counters.cache_bytes > 0 || logs {
                empty_since = None;
            } else {
                let since = *empty_since.get_or_insert_with(Instant::now);
                if idle && (counters.most_files <= 1 || since.elapsed() > QUIET) {
                    return Ok(());
                }
            }
            if start.elapsed() > LONGEST {
                return Err(StoreError::new(
                    ErrorKind::Timeout,
                    "settle",
                    "the server still writes caches out or compacts; allow more time, or look at its disk",
                ));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Files and caches' logs of the database's shards; without its index of series.
    pub(super) async fn measure(&mut self) -> Result<Size, StoreError> {
        let counters = self.counters().await?;
        Ok(Size {
            total_bytes: counters.disk_bytes + counters.log_bytes,
            log_bytes: Some(counters.log_bytes),
        })
    }
}

/// Whether a duration as the server prints it ("1h0m0s", "10s", "100ms") is half a minute at most.
fn is_soon(text: &str) -> bool {
    let number = text.strip_suffix('s').unwrap_or_default();
    number.parse().map_or(number.ends_with(['m', 'µ']), |seconds: f64| seconds <= 30.0)
}

#[cfg(test)]
mod tests {
    use super::is_soon;

    #[test]
    fn durations_are_read() {
        assert_eq!(["10m0s", "4h0m0s", "1m30s", "31s", ""].map(is_soon), [false; 5]);
        assert_eq!(["30s", "5s", "100ms", "1.5s", "0s"].map(is_soon), [true; 5]);
    }
}
