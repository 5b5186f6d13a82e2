//! The IoT-platform study's figures as types. What they mean and where they come from: `iot_platform.toml`.

use serde::{Deserialize, Serialize};

use super::{Software, Source};

/// MongoDB and InfluxDB behind an IoT platform, one home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IotPlatform {
    /// The workload's name.
    pub study: String,
    /// Where the figures come from.
    pub source: Source,
    /// The versions that it ran.
    pub software: Software,
    /// What the study leaves open or says twice differently.
    pub notes: Vec<String>,
    /// Its one machine.
    pub hardware: String,
    /// Points stored.
    pub points: u64,
    /// Documents that they make in MongoDB.
    pub mongodb_documents: u64,
    /// Bytes that they take in MongoDB.
    pub mongodb_bytes: u64,
    /// MongoDB's figures.
    pub mongodb: MongoDbFigures,
    /// InfluxDB's figures.
    pub influxdb: InfluxDbFigures,
    /// What the study concludes.
    pub claims: PlatformClaims,
}

/// MongoDB's figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MongoDbFigures {
    /// A day's range, found by day and time, ms.
    pub range_1_day_with_day_filter_ms: f64,
    /// A day's range, found by time alone, ms.
    pub range_1_day_without_day_filter_ms: f64,
}

/// InfluxDB's figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InfluxDbFigures {
    /// Values in a range of 90 days.
    pub values_in_90_days: u64,
    /// Values in a range of a year.
    pub values_in_1_year: u64,
    /// A year's range, ms.
    pub range_1_year_ms: f64,
    /// Hourly windows over a year (about 8,000 values returned), ms.
    pub window_1_hour_over_1_year_ms: f64,
    /// Daily windows over a year (about 350 values returned), ms.
    pub window_1_day_over_1_year_ms: f64,
}

/// What the study concludes, in a sentence each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlatformClaims {
    /// On ranges of raw values.
    pub range: String,
    /// On the index.
    pub index: String,
    /// On sums kept at write time.
    pub precomputed: String,
    /// On doing without them.
    pub naive: String,
}
