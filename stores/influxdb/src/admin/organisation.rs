//! Buckets of an InfluxDB 2: made, removed, measured and emptied by its HTTP interface, where InfluxDB 1.8 has statements.
//!
//! A bucket is a database here, and InfluxQL finds it by a mapping of that name. Where the URL names the one bucket that the token may write
//! into, that is neither made nor removed: its sensormark measurements are deleted.

use super::InfluxdbAdministrator;
use super::settle::Counters;
use crate::connection::Message;
use crate::error::garbled;
use crate::paths;
use bytes::Bytes;
use sensormark_store::{ErrorKind, Setting, StoreError};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A bucket, as the server describes it.
#[derive(Debug, Deserialize)]
pub(super) struct Bucket {
    id: String,
    pub(super) name: String,
}

#[derive(Deserialize)]
struct Buckets {
    buckets: Vec<Bucket>,
}

#[derive(Deserialize)]
struct Organisations {
    orgs: Vec<Described>,
}

#[derive(Deserialize)]
struct Described {
    id: String,
}

const JSON: &str = "application/json";

/// The settings that matter for speed and durability, as InfluxDB 2 calls them. None of them holds a path, a host or a secret.
const SETTINGS: [&str; 11] = [
    "influxql-max-select-buckets",
    "influxql-max-select-point",
    "influxql-max-select-series",
    "query-concurrency",
    "query-memory-bytes",
    "storage-cache-max-memory-size",
    "storage-cache-snapshot-memory-size",
    "storage-cache-snapshot-write-cold-duration",
    "storage-compact-full-write-cold-duration",
    "storage-max-concurrent-compactions",
    "storage-wal-fsync-delay",
];

/// The request for a bucket that keeps readings for ever, in shards of a week.
fn bucket_request(organisation: &str, name: &str) -> String {
    let rule = serde_json::json!({"type": "expire", "everySeconds": 0, "shardGroupDurationSeconds": 604_800});
    serde_json::json!({"orgID": organisation, "name": name, "retentionRules": [rule]}).to_string()
}

/// The request for a mapping by which InfluxQL finds a bucket.
fn mapping_request(organisation: &str, bucket: &Bucket) -> String {
    serde_json::json!({
        "orgID": organisation,
        "bucketID": bucket.id,
        "database": bucket.name,
        "retention_policy": "autogen",
        "default": true,
    })
    .to_string()
}

/// The request to delete all readings of a measurement.
fn delete_request(measurement: &str) -> String {
    serde_json::json!({
        "start": "1970-01-01T00:00:00Z",
        "stop": "2262-04-11T23:47:16Z",
        "predicate": format!("_measurement=\"{measurement}\""),
    })
    .to_string()
}

impl InfluxdbAdministrator {
    fn read<T: DeserializeOwned>(&self, operation: &str) -> Result<T, StoreError> {
        serde_json::from_slice(self.link.body()).map_err(|error| garbled(operation, &error.to_string()))
    }

    fn organisation(&self) -> &str {
        self.link.organisation().unwrap_or_default()
    }

    /// The organisation's buckets, or the one of this name.
    pub(super) async fn buckets(&mut self, name: Option<&str>) -> Result<Vec<Bucket>, StoreError> {
        const OPERATION: &str = "list buckets";
        let mut all = Vec::new();
        loop {
            let path = paths::buckets(self.organisation(), name, all.len());
            let asked = self.link.demand(Message::get(OPERATION, &path)).await;
            match asked {
                // asked by name, a bucket that is not there is an error
                Err(error) if name.is_some() && error.kind() == ErrorKind::NotFound => {
                    return Ok(Vec::new());
                }
                other => other?,
            };
            let page: Buckets = self.read(OPERATION)?;
            let count = page.buckets.len();
            all.extend(page.buckets);
            if name.is_some() || count < 100 {
                return Ok(all);
            }
        }
    }

    /// The bucket of this name.
    async fn bucket(&mut self, name: &str) -> Result<Bucket, StoreError> {
        self.buckets(Some(name)).await?.pop().ok_or_else(|| {
            let text = format!("the organisation has no bucket {name}; make it first");
            StoreError::new(ErrorKind::NotFound, "look for a bucket", text)
        })
    }

    async fn organisation_number(&mut self) -> Result<String, StoreError> {
        const OPERATION: &str = "find the organisation";
        let path = paths::organisation(self.organisation());
        self.link.demand(Message::get(OPERATION, &path)).await?;
        let found: Organisations = self.read(OPERATION)?;
        let first = found.orgs.into_iter().next();
        first.map(|one| one.id).ok_or_else(|| {
            StoreError::new(
                ErrorKind::NotFound,
                OPERATION,
                "there is none of this name, or the token does not see it; correct the URL",
            )
        })
    }

    /// Makes a bucket and the mapping by which InfluxQL finds it.
    pub(super) async fn make_bucket(&mut self, name: &str) -> Result<(), StoreError> {
        const OPERATION: &str = "make a bucket";
        let number = self.organisation_number().await?;
        if self.link.given().is_none() {
            let body = Bytes::from(bucket_request(&number, name));
            let message = Message::post(OPERATION, "/api/v2/buckets", JSON, body);
            self.link.demand(message).await?;
        }
        let bucket = self.bucket(name).await?;
        let body = Bytes::from(mapping_request(&number, &bucket));
        let message = Message::post("map a bucket", "/api/v2/dbrps", JSON, body);
        match self.link.demand(message).await {
            // it may be there: later versions map every bucket by themselves
            Err(error) if self.link.given().is_none() => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes a bucket; of the one bucket that the URL names, the measurements that sensormark made.
    pub(super) async fn remove_bucket(&mut self, name: &str) -> Result<(), StoreError> {
        if self.link.given().is_some() {
            let physical = std::sync::Arc::clone(&self.physical);
            let path = paths::delete(self.organisation(), name);
            // The mark goes last.
            for measurement in physical.names().into_iter().rev() {
                let body = Bytes::from(delete_request(measurement));
                let message = Message::post("empty the bucket", &path, JSON, body);
                self.link.demand(message).await?;
            }
            return Ok(());
        }
        for bucket in self.buckets(Some(name)).await? {
            let path = format!("/api/v2/buckets/{}", bucket.id);
            let message = Message::delete("remove the bucket", &path);
            self.link.demand(message).await?;
        }
        Ok(())
    }

    /// The server's settings, which an operator's token alone may see.
    pub(super) async fn read_configuration(&mut self) -> Result<Vec<Setting>, StoreError> {
        const OPERATION: &str = "read settings";
        #[derive(Deserialize)]
        struct Configuration {
            config: serde_json::Map<String, serde_json::Value>,
        }
        self.link.demand(Message::get(OPERATION, "/api/v2/config")).await?;
        let stated: Configuration = self.read(OPERATION)?;
        let setting = |name: &&str| {
            let value = stated.config.get(*name)?;
            Some(Setting {
                name: (*name).to_owned(),
                value: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            })
        };
        Ok(SETTINGS.iter().filter_map(setting).collect())
    }

    /// The counters of a bucket's shards, added up.
    pub(super) async fn bucket_counters(&mut self, name: &str) -> Result<Counters, StoreError> {
        const OPERATION: &str = "read counters";
        let bucket = self.bucket(name).await?;
        self.link.demand(Message::get(OPERATION, "/metrics")).await?;
        let text = String::from_utf8_lossy(self.link.body());
        Ok(counters(&text, &bucket.id))
    }
}

/// The counters of one bucket in the server's metrics (`name{bucket="…",…} number`).
fn counters(metrics: &str, bucket: &str) -> Counters {
    let label = format!("bucket=\"{bucket}\"");
    let mut counters = Counters::default();
    for line in metrics.lines().filter(|line| line.contains(&label)) {
        let (Some((name, _)), Some((_, number))) = (line.split_once('{'), line.rsplit_once(' ')) else {
            continue;
        };
        // gauges of bytes and counts: whole numbers, which Prometheus may print with an exponent
        let number: f64 = number.parse().unwrap_or_default();
        let number = format!("{number:.0}").parse().unwrap_or_default();
        let (part, column) = match name {
            "storage_cache_inuse_bytes" => ("tsm1_cache", "memBytes"),
            "storage_compactions_active" => ("tsm1_engine", "tsmFullCompactionsActive"),
            "storage_compactions_queued" => ("tsm1_engine", "tsmFullCompactionsQueue"),
            "storage_tsm_files_total" => ("tsm1_filestore", "numFiles"),
            "storage_tsm_files_disk_bytes" => ("tsm1_filestore", "diskBytes"),
            "storage_wal_size" => ("tsm1_wal", "currentSegmentDiskBytes"),
            _ => continue,
        };
        counters.add(part, column, number);
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_what_the_interface_takes() {
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(
            parsed(&bucket_request("0a", "sensormark_x")),
            parsed(
                r#"{"orgID":"0a","name":"sensormark_x","retentionRules":[{"type":"expire","everySeconds":0,"shardGroupDurationSeconds":604800}]}"#
            )
        );
        let bucket = Bucket { id: "0b".to_owned(), name: "sensormark_x".to_owned() };
        assert_eq!(
            parsed(&mapping_request("0a", &bucket)),
            parsed(
                r#"{"orgID":"0a","bucketID":"0b","database":"sensormark_x","retention_policy":"autogen","default":true}"#
            )
        );
        assert_eq!(parsed(&delete_request("m"))["predicate"], "_measurement=\"m\"");
    }

    #[test]
    fn counters_are_of_one_bucket() {
        let metrics = "# TYPE storage_wal_size gauge\n\
            storage_wal_size{bucket=\"0b\",engine=\"tsm1\",id=\"1\"} 1000\n\
            storage_wal_size{bucket=\"0c\",engine=\"tsm1\",id=\"2\"} 5\n\
            storage_tsm_files_disk_bytes{bucket=\"0b\",engine=\"tsm1\",id=\"1\"} 1.5e+06\n\
            storage_compactions_active{bucket=\"0b\",engine=\"tsm1\",id=\"1\",level=\"full\"} 1\n";
        let counters = counters(metrics, "0b");
        assert_eq!(counters.log_bytes, 1_000);
        assert_eq!(counters.disk_bytes, 1_500_000);
        assert_eq!(counters.compactions, 1);
    }
}
