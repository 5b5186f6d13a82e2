//! The DevOps study's figures as types. What they mean and where they come from: `devops.toml`.

use serde::{Deserialize, Serialize};

use super::{Hardware, Software, Source};

/// InfluxDB and MongoDB on a day of 100 hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevOps {
    /// The workload's name.
    pub study: String,
    /// Where the figures come from.
    pub source: Source,
    /// The versions that it ran.
    pub software: Software,
    /// What the study leaves open or says twice differently.
    pub notes: Vec<String>,
    /// Its machines.
    pub hardware: Hardware,
    /// Hosts that report.
    pub hosts: u64,
    /// Values of one host at one time.
    pub values_per_host: u64,
    /// Seconds between two readings.
    pub interval_seconds: u64,
    /// Hours covered.
    pub duration_hours: u64,
    /// Values in all.
    pub total_values: u64,
    /// Workers that load at a time.
    pub load_workers: u32,
    /// One a store.
    pub result: Vec<DevOpsResult>,
}

/// One store's figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevOpsResult {
    /// The store.
    pub store: String,
    /// Values loaded in a second.
    pub ingest_values_per_second: f64,
    /// Disk after loading and compaction, as printed.
    pub disk: String,
    /// Bytes on disk a value.
    pub disk_bytes_per_value: f64,
    /// Mean response time of the query, one worker, ms.
    pub query_mean_ms: f64,
    /// Queries in a second, one worker.
    pub query_per_second: f64,
}
