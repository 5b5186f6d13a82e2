//! The published figures of four studies, as data, for the report to set beside measured ones.
//!
//! Billing's stand in [`crate::studies::billing`]. One TOML file a study, beside this one: figures as printed, the source, and notes on what the study leaves open or
//! says twice differently. Not measurements of sensormark, and no expected values of a workload: other hardware,
//! other versions. Units are in the fields' names or documented on them.

mod devops;
mod iot_platform;
mod machine_tool;
mod sensor_operations;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use devops::{DevOps, DevOpsResult};
pub use iot_platform::{InfluxDbFigures, IotPlatform, MongoDbFigures, PlatformClaims};
pub use machine_tool::{MachineTool, PrintedScore, ReadRow, WriteRow};
pub use sensor_operations::{Clients, Environment, Rates, SensorOperations};

/// Where figures come from, as far as the study's text reveals it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Title, or a description that says that it is one.
    pub title: String,
    /// Authors; empty where the text does not say.
    pub authors: Vec<String>,
    /// Where or as what it appeared.
    pub venue: Option<String>,
    /// When it appeared.
    pub published: Option<String>,
}

/// What software a study ran, as it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Software {
    /// The databases' versions, by title; "not stated" where it does not.
    pub versions: BTreeMap<String, String>,
    /// The operating system and what else it names, in words.
    pub system: String,
}

/// What machines a study used, as it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// The database's host.
    pub server: String,
    /// The clients' hosts, where writing and reading ones are not told apart.
    #[serde(alias = "clients")]
    pub client: Option<String>,
    /// The writing client's host.
    pub writer: Option<String>,
    /// The reading client's host.
    pub reader: Option<String>,
}

/// The machine-tool study: resources and scores of MariaDB, MongoDB and InfluxDB.
#[must_use]
pub fn machine_tool() -> MachineTool {
    embedded(include_str!("machine_tool.toml"))
}

/// The sensor-operations study: rates of Cassandra, MongoDB and PostgreSQL.
#[must_use]
pub fn sensor_operations() -> SensorOperations {
    embedded(include_str!("sensor_operations.toml"))
}

/// The DevOps study: InfluxDB and MongoDB.
#[must_use]
pub fn devops() -> DevOps {
    embedded(include_str!("devops.toml"))
}

/// The IoT-platform study: MongoDB and InfluxDB.
#[must_use]
pub fn iot_platform() -> IotPlatform {
    embedded(include_str!("iot_platform.toml"))
}

/// Reads a file that is part of the program; a test reads all of them, so that this cannot fail for a user.
fn embedded<T: DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).expect("published figures are part of the program")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_is_read_with_its_notes_and_source() {
        let studies = [
            (
                machine_tool().study,
                machine_tool().notes,
                machine_tool().source,
            ),
            (
                sensor_operations().study,
                sensor_operations().notes,
                sensor_operations().source,
            ),
            (devops().study, devops().notes, devops().source),
            (
                iot_platform().study,
                iot_platform().notes,
                iot_platform().source,
            ),
        ];
        let names: Vec<&str> = studies.iter().map(|(name, _, _)| name.as_str()).collect();
        let expected = [
            "machine-tool",
            "sensor-operations",
            "devops",
            "iot-platform",
        ];
        assert_eq!(names, expected);
        for (name, notes, source) in &studies {
            assert!(!notes.is_empty() && !source.title.is_empty(), "{name}");
        }
    }

    #[test]
    fn figures_are_the_printed_ones() {
        let operations = sensor_operations();
        assert_eq!(operations.operations_per_second.len(), 6);
        let last = &operations.operations_per_second[5];
        assert_eq!(
            (last.store.as_str(), last.environment),
            ("PostgreSQL", Environment::Virtual)
        );
        assert!((last.multi_read.multi_client - 360_000.0).abs() < 1e-9);
        assert!((iot_platform().influxdb.range_1_year_ms - 188.0).abs() < 1e-9);
    }

    /// What the files infer, and what does not follow from what the study prints, they say.
    #[test]
    fn what_is_inferred_says_so() {
        let says = |notes: &[String], words: &str| notes.iter().any(|note| note.contains(words));
        let tool = machine_tool();
        assert!(says(&tool.notes, "read = 71 is inferred"));
        // It follows from the printed total: (15 + 71) / 2 = 43.
        let row = &tool.score[0];
        assert_eq!((row.write + row.read) / 2, row.total);
        let devops = devops();
        assert!(says(
            &devops.notes,
            "43 bytes a value does not follow from 3.4 GB"
        ));
        let values = devops.values_per_host * devops.hosts * 8_640;
        let bytes = |unit: f64| 3.4 * unit / values as f64;
        assert!(bytes(1e9) < 39.0 && bytes(1_073_741_824.0) < 42.0);
    }

    #[test]
    fn versions_are_those_that_the_studies_state() {
        let of = |software: &Software, title: &str| software.versions.get(title).cloned();
        let operations = sensor_operations().software;
        assert_eq!(of(&operations, "PostgreSQL").as_deref(), Some("9.1.2"));
        assert_eq!(of(&devops().software, "MongoDB").as_deref(), Some("4.0.4"));
        assert_eq!(
            of(&iot_platform().software, "InfluxDB").as_deref(),
            Some("2.5.1")
        );
        let unstated = machine_tool().software.versions;
        assert!(unstated.values().all(|version| version == "not stated"));
    }

    /// The numbers of values agree with the study's own parameters only with 101 values a host.
    #[test]
    fn devops_total_is_hosts_times_ticks_times_values() {
        let study = devops();
        let ticks = study.duration_hours * 3_600 / study.interval_seconds;
        assert_eq!(
            study.hosts * ticks * study.values_per_host,
            study.total_values
        );
        let [influxdb, mongodb] = &study.result[..] else {
            panic!("two results");
        };
        let ratio = influxdb.ingest_values_per_second / mongodb.ingest_values_per_second;
        assert!((ratio - 2.51).abs() < 0.005, "{ratio}");
    }
}
