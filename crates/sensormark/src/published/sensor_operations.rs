//! The sensor-operations study's figures as types. What they mean and where they come from: `sensor_operations.toml`.

use serde::{Deserialize, Serialize};

use super::{Hardware, Software, Source};

/// Rates of Cassandra, MongoDB and PostgreSQL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensorOperations {
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
    /// One a store and environment.
    pub operations_per_second: Vec<Rates>,
}

/// Where the database ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// On the machine itself.
    Physical,
    /// In a virtual one.
    Virtual,
}

/// One store's rates in one environment, operations a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// The store.
    pub store: String,
    /// Where it ran.
    pub environment: Environment,
    /// One measurement written by a statement.
    pub single_write: Clients,
    /// One measurement read by a statement.
    pub single_read: Clients,
    /// Many measurements written by a statement; the rate counts measurements.
    pub multi_write: Clients,
    /// Many measurements read by a statement; the rate counts measurements.
    pub multi_read: Clients,
}

/// A rate by number of clients, operations a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clients {
    /// With one client.
    pub single_client: f64,
    /// With more than one; how many is not said.
    pub multi_client: f64,
}
