//! Buckets of an InfluxDB 2: made, removed, measured and emptied by its HTTP interface, where InfluxDB 1.8 has statements.
//!
//! A bucket is a database here, and InfluxQL finds it by a mapping of that name. Where the URL names the one bucket that the token may write
//! into, that is neither made nor removed: what is in it is deleted.

use super::http::{Message, garbled};
use super::rest::Counters;
use super::{Session, escaped};
use crate::Fault;
use hyper::Method;
use sensormark_store::{ErrorKind, StoreError};
use serde_json::{Value, json};

/// Buckets of a page.
const PAGE: usize = 100;

/// A bucket, as the server describes it.
#[derive(Debug)]
pub(super) struct Bucket {
    id: String,
    pub(super) name: String,
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn missing(text: String) -> StoreError {
    StoreError::new(ErrorKind::NotFound, "look for a bucket", text)
}

impl Session {
    fn organisation(&self) -> &str {
        self.link.options.organisation.as_deref().unwrap_or_default()
    }

    async fn get(&mut self, path: &str) -> Result<Value, Fault> {
        self.link.ask(Message::get(path), &mut self.body).await?;
        Ok(serde_json::from_slice(&self.body).map_err(|error| garbled(&error.to_string()))?)
    }

    async fn tell_json(&mut self, path: &str, body: Value) -> Result<(), Fault> {
        let message = Message::post(path, "application/json", body.to_string().into());
        self.link.ask(message, &mut self.body).await.map(drop)
    }

    /// The organisation's buckets, or the one of this name.
    pub(super) async fn buckets(&mut self, name: Option<&str>) -> Result<Vec<Bucket>, Fault> {
        let mut all = Vec::new();
        loop {
            let named = name.map_or_else(String::new, |name| format!("&name={}", escaped(name)));
            let organisation = escaped(self.organisation());
            let path = format!("/api/v2/buckets?org={organisation}&limit={PAGE}&offset={}{named}", all.len());
            let page = match self.get(&path).await {
                // Asked by name, a bucket that is not there is an error.
                Err(Fault::Refused { codes, .. }) if name.is_some() && codes[0] == "404" => return Ok(all),
                page => page?,
            };
            let page = page["buckets"].as_array().cloned().unwrap_or_default();
            all.extend(
                page.iter().map(|one| Bucket { id: text_of(&one["id"]), name: text_of(&one["name"]) }),
            );
            if name.is_some() || page.len() < PAGE {
                return Ok(all);
            }
        }
    }

    /// The bucket of this name.
    async fn named_bucket(&mut self, name: &str) -> Result<Bucket, Fault> {
        let found = self.buckets(Some(name)).await?.pop();
        Ok(found.ok_or_else(|| missing(format!("the organisation has no bucket {name}; make it first")))?)
    }

    /// Makes a bucket that keeps readings for ever, in shards of a week, and the mapping by which InfluxQL finds it.
    pub(super) async fn make_bucket(
        &mut self,
        name: &str,
        is_given: bool,
    ) -> Result<Vec<Vec<String>>, Fault> {
        let told = self.get(&format!("/api/v2/orgs?org={}", escaped(self.organisation()))).await?;
        let id = told["orgs"][0]["id"].as_str().ok_or_else(|| {
            missing(
                "there is no organisation of this name, or the token does not see it; correct the URL"
                    .to_owned(),
            )
        })?;
        if !is_given {
            let rule = json!({"type": "expire", "everySeconds": 0, "shardGroupDurationSeconds": 604_800});
            self.tell_json("/api/v2/buckets", json!({"orgID": id, "name": name, "retentionRules": [rule]}))
                .await?;
        }
        let bucket = self.named_bucket(name).await?.id;
        let mapping = json!({"orgID": id, "bucketID": bucket, "database": name, "retention_policy": "autogen", "default": true});
        match self.tell_json("/api/v2/dbrps", mapping).await {
            // It may be there: later versions map every bucket by themselves.
            Err(fault) if !is_given => Err(fault),
            _ => Ok(Vec::new()),
        }
    }

    /// Removes a bucket; of the one that the URL names, its measurements. The mark goes last.
    pub(super) async fn remove_bucket(
        &mut self,
        name: &str,
        is_given: bool,
    ) -> Result<Vec<Vec<String>>, Fault> {
        if !is_given {
            for bucket in self.buckets(Some(name)).await? {
                let path = format!("/api/v2/buckets/{}", bucket.id);
                let message = Message { method: Method::DELETE, ..Message::get(&path) };
                self.link.ask(message, &mut self.body).await?;
            }
            return Ok(Vec::new());
        }
        let path = format!("/api/v2/delete?org={}&bucket={}", escaped(self.organisation()), escaped(name));
        let mut measurements = self.shown(&format!("SHOW MEASUREMENTS ON \"{name}\"")).await?;
        measurements.sort_by_key(|measurement| measurement == "sensormark_owner");
        for measurement in measurements {
            let predicate = format!("_measurement=\"{measurement}\"");
            let body = json!({"start": "1970-01-01T00:00:00Z", "stop": "2262-04-11T23:47:16Z", "predicate": predicate});
            self.tell_json(&path, body).await?;
        }
        Ok(Vec::new())
    }

    /// The counters of the bucket's shards, added up.
    pub(super) async fn bucket_counters(&mut self) -> Result<Counters, Fault> {
        let name = self.database.clone();
        let bucket = self.named_bucket(&name).await?;
        self.link.ask(Message::get("/metrics"), &mut self.body).await?;
        Ok(counters(&String::from_utf8_lossy(&self.body), &bucket.id))
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
        let (part, column) = match name {
            "storage_cache_inuse_bytes" => ("tsm1_cache", "memBytes"),
            "storage_compactions_active" => ("tsm1_engine", "CompactionsActive"),
            "storage_compactions_queued" => ("tsm1_engine", "CompactionsQueue"),
            "storage_tsm_files_total" => ("tsm1_filestore", "numFiles"),
            "storage_tsm_files_disk_bytes" => ("tsm1_filestore", "diskBytes"),
            "storage_wal_size" => ("tsm1_wal", "currentSegmentDiskBytes"),
            _ => continue,
        };
        // Whole numbers, which Prometheus may print with an exponent.
        let number: f64 = number.parse().unwrap_or_default();
        counters.add(part, column, format!("{number:.0}").parse().unwrap_or_default());
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

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
