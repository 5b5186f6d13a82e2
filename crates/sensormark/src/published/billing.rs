//! The billing study's figures as types. What they mean and where they come from: `billing.toml`.

use serde::{Deserialize, Serialize};

use super::{Hardware, Software, Source};

/// GridDB and MariaDB in a sensor billing application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Billing {
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
    /// Clients in all, one a thread.
    pub threads: u32,
    /// Readings of one device in the ingest test: a year, hourly.
    pub records_per_device: u32,
    /// Readings in one bill: a month.
    pub records_per_bill: u32,
    /// Rates of ingest, one a store.
    pub ingest: Vec<Ingest>,
    /// Times of extraction, one a number of devices.
    pub extract: Vec<Extract>,
    /// Use of resources, one a side and phase.
    pub resources: Vec<Resources>,
}

/// A rate of ingest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ingest {
    /// The store.
    pub store: String,
    /// Operations in a second: a meter updated and a reading inserted.
    pub operations_per_second: f64,
}

/// Times to extract one bill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// Devices loaded.
    pub devices: u32,
    /// GridDB's, ms.
    #[serde(rename = "GridDB_ms")]
    pub griddb_ms: f64,
    /// MariaDB's, ms.
    #[serde(rename = "MariaDB_ms")]
    pub mariadb_ms: f64,
}

/// Whose resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The database's host.
    Server,
    /// A client's host.
    Client,
}

/// In which phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Loading readings.
    Ingest,
    /// Computing bills.
    Extract,
}

/// Resources of one side in one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Whose.
    pub side: Side,
    /// When.
    pub phase: Phase,
    /// With GridDB.
    #[serde(rename = "GridDB")]
    pub griddb: Load,
    /// With MariaDB.
    #[serde(rename = "MariaDB")]
    pub mariadb: Load,
}

/// One host's load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Load average.
    pub load_average: f64,
    /// CPU, percent as printed.
    pub cpu_percent: f64,
    /// Memory, MB.
    pub memory_mb: f64,
}
