//! The databases that are files: a folder each, and the driver of its protocol. A new one is a folder and a function here.

use sensormark_drivers::Driver;
use sensormark_statements::FileStore;
use std::sync::Arc;

/// `store.toml` and the statements of a folder.
macro_rules! files {
    ($folder:literal) => {
        files!($folder, "sql")
    };
    ($folder:literal, $language:literal) => {
        (
            include_str!(concat!($folder, "/store.toml")),
            include_str!(concat!($folder, "/statements.", $language)),
        )
    };
}

/// SQLite, embedded.
#[cfg(feature = "sqlite")]
pub fn sqlite() -> FileStore {
    built_in(&[files!("sqlite")], sensormark_drivers::sqlite::Sqlite)
}

/// DuckDB 2.0 or later, embedded.
#[cfg(feature = "duckdb")]
pub fn duckdb() -> FileStore {
    built_in(&[files!("duckdb")], sensormark_drivers::duckdb::Duckdb)
}

/// PostgreSQL 14 or later.
#[cfg(feature = "postgresql")]
pub fn postgresql() -> FileStore {
    built_in(&[files!("postgresql")], sensormark_drivers::postgres::Postgres)
}

/// TimescaleDB, which extends PostgreSQL.
#[cfg(feature = "timescaledb")]
pub fn timescaledb() -> FileStore {
    built_in(&[files!("postgresql"), files!("timescaledb")], sensormark_drivers::postgres::Postgres)
}

/// MariaDB 10.6 or later.
#[cfg(feature = "mariadb")]
pub fn mariadb() -> FileStore {
    built_in(&[files!("mariadb")], sensormark_drivers::mysql::Mysql::default())
}

/// QuestDB 9.1 or later.
#[cfg(feature = "questdb")]
pub fn questdb() -> FileStore {
    built_in(&[files!("questdb")], sensormark_drivers::questdb::Questdb)
}

/// InfluxDB 1.8, or 2 by URL.
#[cfg(feature = "influxdb")]
pub fn influxdb() -> FileStore {
    built_in(&[files!("influxdb", "influxql")], sensormark_drivers::influxdb::Influxdb)
}

/// MongoDB 6.0 or later.
#[cfg(feature = "mongodb")]
pub fn mongodb() -> FileStore {
    built_in(&[files!("mongodb", "mongodb")], sensormark_drivers::mongodb::Mongodb::default())
}

/// Cassandra 4.0 or later.
#[cfg(feature = "cassandra")]
pub fn cassandra() -> FileStore {
    built_in(&[files!("cassandra", "cql")], sensormark_drivers::cassandra::Cassandra)
}

/// GridDB 4 and 5.
#[cfg(feature = "griddb")]
pub fn griddb() -> FileStore {
    built_in(&[files!("griddb", "tql")], sensormark_drivers::griddb::Griddb)
}

/// What is wrong with files that are built in is seen by the first test that runs.
fn built_in(layers: &[(&str, &str)], driver: impl Driver + 'static) -> FileStore {
    FileStore::new(layers, Arc::new(driver)).unwrap_or_else(|cause| panic!("{cause}"))
}

#[cfg(test)]
mod tests {
    use super::{cassandra, duckdb, griddb, influxdb, mariadb, mongodb, postgresql, questdb, sqlite};
    use sensormark_drivers::Fault;
    use sensormark_statements::{config::Config, meaning::failure};
    use sensormark_store::{
        DatabaseName, Durability, Endpoint, ErrorKind, Family, Layout, Plan, Schema, Secret, Store,
        TimeResolution,
    };
    use std::sync::Arc;

    fn plan(schema: &Arc<Schema>, layout: Layout) -> Plan {
        let endpoint =
            Endpoint { url: Secret::new(""), label: String::new(), managed: false, ports: Vec::new() };
        Plan {
            endpoint,
            database: DatabaseName::new("pins").unwrap(),
            owner: String::new(),
            schema: Arc::clone(schema),
            layout,
            durability: Durability::Default,
            clients: 1,
            timeout_ms: 1,
        }
    }

    /// A write looked for a chunk that `drop_chunks` took: "server stopped", and "the server's data is damaged", was said of it.
    #[test]
    fn a_chunk_that_was_dropped_is_no_damage() {
        let layers = [include_str!("postgresql/store.toml"), include_str!("timescaledb/store.toml")];
        let config = Config::read(layers.into_iter()).unwrap();
        let of = |text: &str| {
            let (codes, source) = (["XX000", "XX"].map(str::to_owned).to_vec(), text.into());
            failure(&config, "write readings", Fault::Refused { codes, text: text.to_owned(), source }).kind()
        };
        assert_eq!(of("could not open relation with OID 17399 (SQLSTATE XX000)"), ErrorKind::Overload);
        assert_eq!(of("invalid page in block 7 (SQLSTATE XX001)"), ErrorKind::Crashed);
    }

    /// Compares with `tests/pins/schema.txt` of each store.
    #[test]
    fn tables_and_indexes_are_as_they_were() {
        let files = [
            sqlite(),
            duckdb(),
            postgresql(),
            mariadb(),
            questdb(),
            influxdb(),
            mongodb(),
            cassandra(),
            griddb(),
        ];
        for store in files {
            let name = store.description().name;
            sensormark_conformance::pins::pin(
                &format!("{}/{name}", env!("CARGO_MANIFEST_DIR")),
                |schema, family| store.layouts(schema, family),
                |schema, offer| store.physical(&plan(schema, offer.layout)).unwrap().made().unwrap(),
            );
        }
    }

    /// The unit of a bucket is the nearest to the interval between two readings.
    #[test]
    fn a_bucket_of_mongodb_spans_the_unit_nearest_to_the_interval() {
        const SECOND: i64 = 1_000_000_000;
        let store = mongodb();
        let create = |interval_ns: i64| {
            let mut schema = Schema::of_sensors([1, 2], TimeResolution::Milliseconds);
            schema.tables[0].series = schema.tables[0].series.clone().every(interval_ns);
            let offers = store.layouts(&schema, Family::PerReading);
            let offer = offers.iter().find(|offer| offer.variant == "time-series");
            let layout = offer.expect("time-series collections").layout;
            let plan = plan(&Arc::new(schema), layout);
            store.physical(&plan).unwrap().made().unwrap()[0].clone()
        };
        assert!(!create(0).contains("granularity"), "{}", create(0));
        for (interval_ns, expected) in [
            (SECOND / 1_000, "seconds"),
            (30 * SECOND, "seconds"),
            (60 * SECOND, "minutes"),
            (900 * SECOND, "minutes"),
            (3_600 * SECOND, "hours"),
            (86_400 * SECOND, "hours"),
        ] {
            let expected = format!("granularity: \"{expected}\"");
            assert!(create(interval_ns).contains(&expected), "{interval_ns}: {}", create(interval_ns));
        }
    }
}
