//! What the IoT-platform study printed, and which of our layouts and queries stand for its own.

use sensormark_workload::iot_platform::PlatformQuery as Query;

/// Points that it stored, and MongoDB's documents and bytes for them.
pub const POINTS: f64 = 5_594_177.0;
pub const DOCUMENTS: f64 = 36_000.0;
pub const DOCUMENT_BYTES: f64 = 300_000_000.0;
/// Temperatures in 90 days and in a year.
pub const TEMPERATURES: [f64; 2] = [8_500.0, 33_000.0];
/// The days that a year has here.
pub const YEAR: u64 = 365;
/// Times in ms: what was asked and what the study's prose calls it, of which database, over how many days.
pub const TIMES: [(Query, &str, &str, u64, f64); 5] = [
    (Query::Raw, "raw values of a day", MONGODB, 1, 35.0),
    (Query::RawWithoutDays, "the same without the filter by day", MONGODB, 1, 71.0),
    (Query::Raw, "raw values of a year", INFLUXDB, YEAR, 188.0),
    (Query::HourlyMeans, "hourly means of a year", INFLUXDB, YEAR, 54.0),
    (Query::DailyMeans, "daily means of a year", INFLUXDB, YEAR, 30.0),
];

pub const MONGODB: &str = "MongoDB";
pub const INFLUXDB: &str = "InfluxDB";
/// What it measured in MongoDB without an index of its own making, with documents of a day.
pub const WITHOUT_INDEX: [&str; 3] = ["bucketed-as-published", "bucketed-no-index", "bucketed"];
/// The same with the index on device and day.
pub const WITH_INDEX: [&str; 3] = ["bucketed-as-published-indexed", "bucketed-first-tag-index", "bucketed"];
/// What it measured in InfluxDB, by Flux.
pub const FLUX: [&str; 2] = ["flat-flux", "flat"];
/// Layouts without and with the study's own index, which has an ending that says which.
pub const OWN_INDEX: [[&str; 2]; 2] = [
    ["bucketed-as-published", "bucketed-as-published-indexed"],
    ["bucketed-no-index", "bucketed-first-tag-index"],
];
/// Queries that an index may help.
pub const INDEXED: [Query; 5] =
    [Query::Raw, Query::HourlyMeans, Query::DailyMeans, Query::DailyMeansFromSums, Query::TotalFromSums];
/// Queries from raw values, and the same from sums.
pub const FROM_SUMS: [(Query, Query); 3] = [
    (Query::DailyMeans, Query::DailyMeansFromSums),
    (Query::DayAndNight, Query::DayAndNightFromSums),
    (Query::Total, Query::TotalFromSums),
];
/// A query, and what tells its rows apart from those of others in the same table.
pub type Variants = &'static [(Query, &'static str)];

/// Tables of queries: identifier, title, and the queries in it.
pub const TABLES: [(&str, &str, Variants); 5] = [
    (
        "platform_raw",
        "Raw values in order",
        &[(Query::Raw, ""), (Query::RawWithoutDays, ", no filter by day")],
    ),
    ("platform_hourly", "Mean of each hour", &[(Query::HourlyMeans, "")]),
    (
        "platform_daily",
        "Mean of each day",
        &[(Query::DailyMeans, ""), (Query::DailyMeansFromSums, ", from sums")],
    ),
    (
        "platform_day_night",
        "Mean by day and by night",
        &[(Query::DayAndNight, ""), (Query::DayAndNightFromSums, ", from sums")],
    ),
    (
        "platform_total",
        "Mean of the whole span",
        &[(Query::Total, ""), (Query::TotalFromSums, ", from sums")],
    ),
];
