//! The databases that are files: a folder each, and the driver of its protocol. A new one is a folder and a function here.

use sensormark_drivers::Driver;
use sensormark_statements::FileStore;
use std::sync::Arc;

/// `store.toml` and the statements of a folder.
macro_rules! files {
    ($folder:literal) => {
        files!($folder, "/statements.sql")
    };
    ($folder:literal, $statements:literal) => {
        (include_str!(concat!($folder, "/store.toml")), include_str!(concat!($folder, $statements)))
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

/// Cassandra 4.0 or later.
#[cfg(feature = "cassandra")]
pub fn cassandra() -> FileStore {
    built_in(&[files!("cassandra", "/statements.cql")], sensormark_drivers::cassandra::Cassandra)
}

/// What is wrong with files that are built in is seen by the first test that runs.
fn built_in(layers: &[(&str, &str)], driver: impl Driver + 'static) -> FileStore {
    FileStore::new(layers, Arc::new(driver)).unwrap_or_else(|cause| panic!("{cause}"))
}

#[cfg(test)]
mod tests {
    use super::{cassandra, duckdb, mariadb, postgresql, questdb, sqlite};
    use sensormark_store::{DatabaseName, Durability, Endpoint, Plan, Secret, Store};

    /// Compares with `tests/pins/schema.txt` of each store.
    #[test]
    fn tables_and_indexes_are_as_they_were() {
        for store in [sqlite(), duckdb(), postgresql(), mariadb(), questdb(), cassandra()] {
            let name = store.description().name;
            sensormark_conformance::pins::pin(
                &format!("{}/{name}", env!("CARGO_MANIFEST_DIR")),
                |schema, family| store.layouts(schema, family),
                |schema, offer| {
                    let endpoint = Endpoint {
                        url: Secret::new(""),
                        label: String::new(),
                        managed: false,
                        ports: Vec::new(),
                    };
                    let plan = Plan {
                        endpoint,
                        database: DatabaseName::new("pins").unwrap(),
                        owner: String::new(),
                        schema: schema.clone(),
                        layout: offer.layout,
                        durability: Durability::Default,
                        clients: 1,
                        timeout_ms: 1,
                    };
                    store.physical(&plan).unwrap().made().unwrap()
                },
            );
        }
    }
}
